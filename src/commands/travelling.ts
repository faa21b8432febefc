/** What moving the sandbox's clock needs of the store. */
import type { CommandParts } from "../store/command-parts.ts";
import { commands } from "./entry.ts";

/** Rows that are looked at for one count, whosever they are. */
const COUNTED_ROWS = 10_000;

/** A message of a paused bulk stays where it is when its time comes. */
const IS_NOT_PAUSED = `(waiting.bulk_version IS NULL OR NOT EXISTS (SELECT 1 FROM bulk
  WHERE bulk.account_id = waiting.account_id AND bulk.bulk_id = waiting.bulk_id AND bulk.state = 'paused'))`;

interface Counted {
  readonly count: number;
  readonly first: number | null;
}

export function travellingCommands({ sql }: CommandParts) {
  const moveSessions = sql.prepare<[number, number, number]>(
    "UPDATE session SET created_at_ms = created_at_ms + ?, used_at_ms = used_at_ms + ?, expires_at_ms = expires_at_ms + ?",
  );
  /** In the order of an index that has only what waits, and no more rows than the bound. Of these, `counts` says which would act. */
  const counting = (table: string, condition: string, columns: string, counts: string) => {
    const rows = `SELECT ${columns} FROM ${table} WHERE ${condition} AND due_at_ms <= ? ORDER BY due_at_ms LIMIT ${COUNTED_ROWS}`;
    const count = sql.prepare<[number, number | null], Counted>(
      `SELECT count(*) AS count, min(due_at_ms) AS first FROM (${rows}) AS waiting
       WHERE ${counts} AND account_id = coalesce(CAST(? AS BIGINT), account_id)`,
    );
    return async (untilMs: number, accountId: number | null) => (await count.get(untilMs, accountId))!;
  };
  const messages = counting(
    "message",
    `${sql.dialect.waits} = 0`,
    "account_id, due_at_ms, bulk_id, bulk_version",
    IS_NOT_PAUSED,
  );
  const waitingReports = "held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL";
  const reports = counting("report", waitingReports, "account_id, due_at_ms", "1 = 1");

  return commands({
    async moveSessions({ byMs }) {
      await moveSessions.run(byMs, byMs, byMs);
    },

    async waitingUntil({ untilMs, accountId }) {
      const [scheduled, tries] = [await messages(untilMs, accountId), await reports(untilMs, accountId)];
      return { messages: scheduled.count, reports: tries.count, firstMessageAtMs: scheduled.first };
    },
  });
}
