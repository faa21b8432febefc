/**
 * Reports that were not taken: dead letters, listed for people and sent again when they say so, and those that wait for their next try, which may be
 * tried at once. There may be a million of either. So one call changes a page of them, and says where the next one begins.
 */
import { firstIdAt } from "../runtime/ids.ts";
import { hostOf } from "../runtime/urls.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { DeadLetter, DeadLetterFilter } from "../store/port/reports.ts";
import { LAST_KEY } from "../store/rows.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";

interface DeadLetterRow extends Omit<DeadLetter, "history"> {
  readonly history: string;
}

/** Dead letters that one call looks at for those that it is to send again. */
const LOOK_ROWS = 2_000;

export function deadLetterCommands({ sql, unit }: CommandParts) {
  const account = "(SELECT id FROM account WHERE key = ?)";
  /** The ways to go through them, each along an index of its own; a URL is compared with each. */
  const walks = ([index, where]: readonly [string, string]) => {
    const dead = `FROM report ${sql.dialect.along(index)} WHERE ${where} report.dead_at_ms IS NOT NULL`;
    return {
      list: sql.prepare<Value[], DeadLetterRow>(
        `SELECT CAST(report.id AS TEXT) AS id, (SELECT key FROM account WHERE account.id = report.account_id) AS "accountKey", report.url,
           json_array_length(${sql.dialect.json("items")}) AS "itemCount", attempts, dead_at_ms AS "deadAtMs",
           coalesce(reason, '') AS reason, history
         ${dead} AND report.id >= ? AND report.id < ? AND report.url = coalesce(?, report.url) AND coalesce(host, '') = coalesce(?, host, '')
         ORDER BY report.id DESC LIMIT ?`,
      ),
      look: sql.prepare<Value[], { id: string; url: string }>(
        `SELECT CAST(report.id AS TEXT) AS id, report.url ${dead} AND report.id >= ? AND report.id > ? ORDER BY report.id LIMIT ?`,
      ),
    };
  };
  const ofHost = walks(["report_dead_of_host", `account_id = ${account} AND host = ? AND`]);
  const ofAccount = walks(["report_dead_of_account", `account_id = ${account} AND`]);
  const ofAll = walks(["report_dead", ""]);

  const walkOf = ({ accountKey, host = null }: DeadLetterFilter): { walk: typeof ofAll; names: Value[] } => {
    if (accountKey === null) return { walk: ofAll, names: [] };
    return host === null ? { walk: ofAccount, names: [accountKey] } : { walk: ofHost, names: [accountKey, host] };
  };
  const firstId = ({ sinceMs = null }: DeadLetterFilter): bigint => (sinceMs === null ? 0n : firstIdAt(sinceMs));

  const isOwn = `account_id = coalesce(${account}, account_id)`;
  // As new: the schedule begins again, and what happened before stays to be seen.
  const revive = sql.prepare<[number, bigint, string | null]>(
    `UPDATE report SET dead_at_ms = NULL, attempts = 0, tried = 1, due_at_ms = ?, held_by = NULL
     WHERE id = ? AND dead_at_ms IS NOT NULL AND ${isOwn}`,
  );
  const waitingOfHost = sql.prepare<Value[], { id: string }>(
    `SELECT CAST(report.id AS TEXT) AS id FROM report ${sql.dialect.along("report_failing")}
     WHERE account_id = ${account} AND host = ? AND dead_at_ms IS NULL AND report.id > ? ORDER BY report.id LIMIT ?`,
  );
  const hasten = sql.prepare<[number, bigint, number, string | null]>(
    `UPDATE report SET due_at_ms = ? WHERE id = ? AND dead_at_ms IS NULL AND held_by IS NULL AND due_at_ms > ? AND host IS NOT NULL AND ${isOwn}`,
  );

  /** One after the other: they are of one transaction. Returns how many there were. */
  const changeEach = async (
    ids: readonly string[],
    change: (id: bigint) => number | Promise<number>,
  ): Promise<number> => {
    let count = 0;
    for (const id of ids) count += await change(BigInt(id));
    // Whoever pushes reports should look at once.
    if (count > 0) unit().reportsWait = true;
    return count;
  };

  /** The next ones that the filter means, and where the look ended; null where there are no more. */
  const look = async (filter: DeadLetterFilter & { afterId?: string | null }, limit: number) => {
    const { walk, names } = walkOf(filter);
    const { url: wantedUrl, host = null } = filter;
    const rows = await walk.look.all(...names, firstId(filter), BigInt(filter.afterId ?? 0), LOOK_ROWS);
    const meant = rows.filter(
      ({ url }) =>
        (wantedUrl === null || url === wantedUrl) && (host === null || walk === ofHost || hostOf(url) === host),
    );
    const taken = meant.slice(0, limit);
    const isCut = meant.length > limit;
    const end = rows.length < LOOK_ROWS ? null : rows.at(-1)!.id;
    return { ids: taken.map(({ id }) => id), next: isCut ? taken.at(-1)!.id : end };
  };

  return commands({
    async deadLetters(filter) {
      const { walk, names } = walkOf(filter);
      const { url, host = null, beforeId, limit } = filter;
      const before = beforeId === null ? LAST_KEY : BigInt(beforeId);
      const rows = await walk.list.all(...names, firstId(filter), before, url, host, limit);
      return rows.map((row) => ({ ...row, history: JSON.parse(row.history) }));
    },

    async replayDeadLetters(input) {
      const { nowMs, limit, accountKey } = input;
      const found = "ids" in input ? { ids: input.ids.slice(0, limit), next: null } : await look(input, limit);
      const replayed = await changeEach(found.ids, (id) => revive.run(nowMs, id, accountKey));
      return { replayed, next: found.next };
    },

    async retryReports(input) {
      const { nowMs, limit, accountKey } = input;
      let ids: readonly string[];
      let next: string | null = null;
      if ("ids" in input) ids = input.ids.slice(0, limit);
      else {
        const rows = await waitingOfHost.all(input.accountKey, input.host, BigInt(input.afterId ?? 0), limit);
        ids = rows.map(({ id }) => id);
        next = rows.length < limit ? null : rows.at(-1)!.id;
      }
      const retried = await changeEach(ids, (id) => hasten.run(nowMs, id, nowMs, accountKey));
      return { retried, next };
    },
  });
}
