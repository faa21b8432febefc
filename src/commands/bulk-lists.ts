/**
 * Bulks for people who look at them: which there are, newest first, and what became of their messages, a page at a time. A bulk may have millions of
 * messages. So nobody counts them all at once: whoever wants to know goes on from page to page, and need not come back to a page that is finished.
 */
import { STATUS, statusById } from "../sms/statuses.ts";
import { purging } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { BulkCount, ListedBulk } from "../store/port/bulks.ts";
import { compareKeys } from "../store/rows.ts";
import { STATE_NUMBER } from "../store/schema/message.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";

const DELIVERED_GROUP = STATUS.DELIVERED_TO_HANDSET.groupId;

/** Messages of a page that are in the same state and have the same status. */
interface CountRow {
  readonly state: number;
  readonly statusId: number;
  readonly count: number;
  readonly lastDueAtMs: number;
  readonly lastSentAtMs: number | null;
  readonly lastKey: string;
}

export function bulkListCommands({ sql }: CommandParts) {
  const columns = `bulk_id AS "bulkId", made_at_ms AS "madeAtMs", send_at_ms AS "sendAtMs",
    CASE at_once WHEN 1 THEN 'at once' ELSE state END AS state`;
  const newest = sql.prepare<[number, number], ListedBulk>(
    `SELECT ${columns} FROM bulk WHERE account_id = ? ORDER BY made_at_ms DESC, bulk_id DESC LIMIT ?`,
  );
  const before = sql.prepare<Value[], ListedBulk>(
    `SELECT ${columns} FROM bulk WHERE account_id = ? AND made_at_ms <= ? AND (made_at_ms < ? OR bulk_id < ?)
     ORDER BY made_at_ms DESC, bulk_id DESC LIMIT ?`,
  );
  const named = sql.prepare<[number, string], ListedBulk>(
    `SELECT ${columns} FROM bulk WHERE account_id = ? AND bulk_id = ?`,
  );
  const firstMessage = sql.prepare<[number, string], { receivedAtMs: number }>(
    `SELECT received_at_ms AS "receivedAtMs" FROM message ${sql.dialect.along("message_of_bulk")}
     WHERE account_id = ? AND bulk_id = ? ORDER BY message.key LIMIT 1`,
  );
  // Progress a second late is good enough, and whoever watches it should not be felt by those who send. A message that its carrier put off is on its way.
  const page = sql.prepareStaleRead<[number, string, bigint, number], CountRow>(
    `SELECT state, status_id AS "statusId", count(*) AS count, max(due_at_ms) AS "lastDueAtMs", max(sent_at_ms) AS "lastSentAtMs",
       CAST(max(key) AS TEXT) AS "lastKey"
     FROM (SELECT key, CASE WHEN state = ${STATE_NUMBER.scheduled} AND bulk_version < 0 THEN ${STATE_NUMBER.queued} ELSE state END AS state,
         status_id, due_at_ms, sent_at_ms
       FROM message ${sql.dialect.along("message_of_bulk")}
       WHERE account_id = ? AND bulk_id = ? AND message.key > ? ORDER BY message.key LIMIT ?) AS page
     GROUP BY state, status_id`,
  );

  return commands({
    purgeListedBulks: purging(sql, {
      table: "bulk",
      key: "account_id, bulk_id",
      at: "made_at_ms",
      only: "at_once = 1",
    }),

    listedBulks: ({ accountId, before: position, limit }) =>
      position === null
        ? newest.all(accountId, limit)
        : before.all(accountId, position.madeAtMs, position.madeAtMs, position.bulkId, limit),

    async listedBulk({ accountId, bulkId }) {
      const listed = await named.get(accountId, bulkId);
      if (listed !== undefined) return listed;
      const first = await firstMessage.get(accountId, bulkId);
      if (first === undefined) return null;
      return { bulkId, madeAtMs: first.receivedAtMs, sendAtMs: first.receivedAtMs, state: "at once" };
    },

    countBulk: async ({ accountId, bulkId, afterKey, limit }) =>
      sumOf(await page.all(accountId, bulkId, BigInt(afterKey), limit)),
  });
}

function sumOf(rows: readonly CountRow[]): BulkCount {
  const counted = (isMeant: (row: CountRow) => boolean): number =>
    rows.reduce((sum, row) => sum + (isMeant(row) ? row.count : 0), 0);
  const inState = (state: keyof typeof STATE_NUMBER) => counted((row) => row.state === STATE_NUMBER[state]);
  const isDelivered = ({ state, statusId }: CountRow): boolean =>
    state === STATE_NUMBER.done && statusById(statusId).groupId === DELIVERED_GROUP;
  const delivered = counted(isDelivered);
  const dueTimes = rows.flatMap(({ state, lastDueAtMs }) => (state === STATE_NUMBER.scheduled ? [lastDueAtMs] : []));
  const keys = rows.map(({ lastKey }) => lastKey).sort(compareKeys);
  return {
    scheduled: inState("scheduled"),
    queued: inState("queued"),
    submitted: inState("submitted"),
    delivered,
    failed: inState("done") - delivered,
    anySent: rows.some(({ lastSentAtMs }) => lastSentAtMs !== null),
    lastDueAtMs: dueTimes.length === 0 ? null : Math.max(...dueTimes),
    lastKey: keys.at(-1) ?? null,
  };
}
