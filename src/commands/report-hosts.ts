/**
 * Which hosts do not take reports, for whoever asks why his server gets none. A report has its host from its first failure on, so everything here goes
 * along indexes that have only reports that failed, and is counted up to a bound. Nothing is felt by reports that are taken at once, and what is
 * shown may be a second late.
 */
import type { ReportAttempt } from "../message/callback.ts";
import { hostOf as originOf } from "../runtime/urls.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { MAX_COUNTED_REPORTS, type ReportHost } from "../store/port/reports.ts";
import { LAST_KEY } from "../store/rows.ts";
import { REPORT, type ReportRow } from "../store/schema/report.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";
import { batchOf } from "./report-items.ts";

/** Of the reports of a host, so many of the oldest and of the newest are looked at for its first and its last try. */
const SAMPLED = 3;

interface HostName {
  readonly accountId: number;
  readonly host: string;
}

interface FailedRow extends Pick<ReportRow, "id" | "url" | "attempts" | "history"> {
  readonly accountKey: string;
  readonly itemCount: number;
  readonly reason: string;
  readonly dueAtMs: number;
}

export function reportHostCommands({ sql }: CommandParts) {
  const { along, json } = sql.dialect;
  /** A state that reports of a host can be in, with its index. */
  const inState = (index: string, state: string) => {
    const from = `FROM report ${along(index)} WHERE ${state}`;
    const sample = (order: "ASC" | "DESC") =>
      sql.prepareStaleRead<[number, string], { history: string }>(
        `SELECT history ${from} AND account_id = ? AND host = ? ORDER BY report.id ${order} LIMIT ${SAMPLED}`,
      );
    return {
      nextHost: sql.prepareStaleRead<[number, string], HostName>(
        `SELECT account_id AS "accountId", host ${from} AND (account_id, host) > (?, ?) ORDER BY account_id, host LIMIT 1`,
      ),
      oldest: sample("ASC"),
      newest: sample("DESC"),
      from,
    };
  };
  const waiting = inState("report_failing", "host IS NOT NULL AND dead_at_ms IS NULL");
  const dead = inState("report_dead_of_host", "host IS NOT NULL AND dead_at_ms IS NOT NULL");
  const countWaiting = sql.prepareStaleRead<[number, string], { count: number; nextTryAtMs: number | null }>(
    `SELECT count(*) AS count, min(due_at_ms) AS "nextTryAtMs" FROM (
       SELECT due_at_ms ${waiting.from} AND account_id = ? AND host = ? ORDER BY report.id LIMIT ${MAX_COUNTED_REPORTS}) AS counted`,
  );
  const countDead = sql.prepareStaleRead<[number, string], { count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT report.id ${dead.from} AND account_id = ? AND host = ? ORDER BY report.id LIMIT ${MAX_COUNTED_REPORTS}) AS counted`,
  );
  const accountNamed = sql.prepareStaleRead<[string], { id: number }>("SELECT id FROM account WHERE key = ?");
  const keyOfAccount = sql.prepareStaleRead<[number], { key: string }>("SELECT key FROM account WHERE id = ?");
  const listWaiting = sql.prepareStaleRead<Value[], FailedRow>(
    `SELECT CAST(report.id AS TEXT) AS id, url, json_array_length(${json("items")}) AS "itemCount", attempts, coalesce(reason, '') AS reason,
       history, due_at_ms AS "dueAtMs" ${waiting.from} AND account_id = ? AND host = ? AND report.id < ? ORDER BY report.id DESC LIMIT ?`,
  );
  const reportById = sql.prepareStaleRead<[bigint], ReportRow>(`SELECT ${REPORT.list} FROM report WHERE report.id = ?`);

  /** Hosts with such reports, found by hops along the index, however many reports each has. */
  async function hostsWith(state: typeof waiting, accountId: number | null, limit: number): Promise<HostName[]> {
    const found: HostName[] = [];
    let after: HostName = { accountId: accountId ?? 0, host: "" };
    while (found.length < limit) {
      const next = await state.nextHost.get(after.accountId, after.host);
      if (next === undefined || (accountId !== null && next.accountId !== accountId)) break;
      found.push(next);
      after = next;
    }
    return found;
  }

  async function hostOf({ accountId, host }: HostName): Promise<ReportHost> {
    const name = [accountId, host] as const;
    const { count, nextTryAtMs } = (await countWaiting.get(...name))!;
    const samples = await Promise.all(
      [waiting.oldest, waiting.newest, dead.oldest, dead.newest].map((statement) => statement.all(...name)),
    );
    const tries = samples
      .flat()
      .flatMap(({ history }) => JSON.parse(history) as ReportAttempt[])
      .sort((one, other) => one.atMs - other.atMs);
    return {
      accountKey: (await keyOfAccount.get(accountId))?.key ?? "",
      host,
      waiting: count,
      dead: (await countDead.get(...name))!.count,
      nextTryAtMs,
      failingSinceMs: tries[0]?.atMs ?? null,
      last: tries.at(-1) ?? null,
    };
  }

  return commands({
    async reportHosts({ accountKey, limit }) {
      const accountId = accountKey === null ? null : ((await accountNamed.get(accountKey))?.id ?? -1);
      const found = [...(await hostsWith(waiting, accountId, limit)), ...(await hostsWith(dead, accountId, limit))];
      const names = new Map(found.map((name) => [`${name.accountId} ${name.host}`, name]));
      return Promise.all([...names.values()].slice(0, limit).map(hostOf));
    },

    async waitingReports({ accountKey, host, beforeId, limit }) {
      const accountId = (await accountNamed.get(accountKey))?.id ?? -1;
      const rows = await listWaiting.all(accountId, host, beforeId === null ? LAST_KEY : BigInt(beforeId), limit);
      return rows.map(({ dueAtMs, history, ...row }) => ({
        ...row,
        accountKey,
        nextTryAtMs: dueAtMs,
        history: JSON.parse(history),
      }));
    },

    async failedReport({ accountKey, id }) {
      const row = await reportById.get(BigInt(id));
      if (row === undefined || (row.host === null && row.attempts === 0)) return null;
      const owner = (await keyOfAccount.get(row.account_id))?.key ?? "";
      if (accountKey !== null && owner !== accountKey) return null;
      const batch = batchOf(row);
      return {
        id,
        accountKey: owner,
        url: row.url,
        host: row.host ?? originOf(row.url),
        itemCount: batch.items.length,
        attempts: row.attempts,
        reason: row.reason ?? "",
        history: JSON.parse(row.history),
        nextTryAtMs: row.dead_at_ms === null ? row.due_at_ms : null,
        deadAtMs: row.dead_at_ms,
        batch,
      };
    },
  });
}
