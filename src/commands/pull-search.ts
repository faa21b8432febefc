/**
 * Which of the reports that wait to be fetched a filter matches. Few may match of very many, so one call looks at a bounded number of rows, in the order in which they
 * are handed out, and says where to go on. It changes nothing and waits for nobody: what it finds is handed out by its key (pull.ts).
 */
import type { CommandParts } from "../store/command-parts.ts";
import type { PullPosition, PullSearch } from "../store/port/reports.ts";
import { LOG_PAGE_ROWS } from "../store/port/tracking.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";
import { PLATFORM_FILTER, platformValues } from "./platform-filter.ts";

const WAITING = 0;
const HANDED_OUT = 1;
const LAST_KEY = "9223372036854775807";

type Place = Omit<PullPosition, "pull">;

export function pullSearchCommands({ sql }: CommandParts) {
  const { dialect } = sql;
  const after = "pull = ? AND pull_at_ms BETWEEN ? AND ? AND (pull_at_ms > ? OR key > ?)";
  const inOrder = "ORDER BY pull_at_ms, message.key";
  const statements = (index: string, where: string) => {
    const from = `FROM message ${dialect.along(index)} WHERE ${where} AND ${after}`;
    const place = 'pull_at_ms AS "atMs", CAST(key AS TEXT) AS key';
    return {
      end: sql.prepare<Value[], Place>(`SELECT ${place} ${from} ${inOrder} LIMIT 1 OFFSET ?`),
      found: sql.prepare<Value[], Place>(
        `SELECT ${place} ${from} AND (pull_at_ms < ? OR key <= ?) ${PLATFORM_FILTER} ${inOrder} LIMIT ?`,
      ),
    };
  };
  const ofAccount = statements("message_to_pull", "account_id = ?");
  const ofBulk = statements("message_to_pull_of_bulk", "account_id = ? AND bulk_id = ?");

  return commands({
    async searchReports({ accountId, bulkId, platform, sinceMs, nowMs, limit, after: from }: PullSearch) {
      const { pull, atMs, key } = from ?? { pull: HANDED_OUT, atMs: sinceMs, key: LAST_KEY };
      const { end, found } = bulkId === null ? ofAccount : ofBulk;
      const names = bulkId === null ? [accountId] : [accountId, bulkId];
      // A clock that steps back must not hide what waits; what was handed out can wait for it.
      const untilMs = pull === HANDED_OUT ? nowMs : Number.MAX_SAFE_INTEGER;
      const until = (lastMs: number): Value[] => [...names, pull, atMs, lastMs, atMs, BigInt(key)];
      const last = (await end.get(...until(untilMs), LOG_PAGE_ROWS - 1)) ?? null;
      const bottom = last ?? { atMs: untilMs, key: LAST_KEY };
      const page = [...until(bottom.atMs), bottom.atMs, BigInt(bottom.key)];
      const rows = await found.all(...page, ...platformValues(platform), limit);
      const keys = rows.map((row) => row.key);
      if (rows.length >= limit) return { keys, next: { pull, ...rows.at(-1)! } };
      if (last !== null) return { keys, next: { pull, ...last } };
      return { keys, next: pull === WAITING ? null : { pull: WAITING, atMs: sinceMs, key: LAST_KEY } };
    },
  });
}
