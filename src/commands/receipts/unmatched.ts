/**
 * Receipts that match no message, and messages from phones to a number that is nobody's, are kept for whoever wants to find out why. Strangers
 * can cause any number of them, so they have an age and a number at which they go, the oldest first and a page at a time.
 */
import { firstIdAt } from "../../runtime/ids.ts";
import type { CommandParts } from "../../store/command-parts.ts";
import { commands } from "../entry.ts";
import {
  MAX_PARKED_REPEATS,
  MAX_REPEAT_AGE_MS,
  MAX_REPEAT_WAIT_MS,
  MAX_SETTLED_NAMES,
  MAX_SETTLED_ROWS,
} from "./repeats.ts";

/** Rows of receipts that were applied are small, and many come in a minute: so many times as many go at once. */
const SETTLED_AT_ONCE = 10;

export function unmatchedCommands({ sql, now }: CommandParts) {
  /** Rows of a table, or some of them, whose ids follow time: each kind has an age and a number of its own. `upTo`: the last that has to go in any case. */
  const dropping = (table: string, isMeant: string) => {
    // The newest of those that are too many.
    const beyond = sql.prepare<[number], { id: number }>(
      `SELECT id FROM ${table} WHERE ${isMeant} ORDER BY id DESC LIMIT 1 OFFSET ?`,
    );
    // Of the oldest page by id those that are too old are all that there is to find.
    const drop = sql.prepare<[number, number, number]>(
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ${isMeant} ORDER BY id LIMIT ?) AND (at_ms < ? OR id <= ?)`,
    );
    return async (beforeMs: number, keepRows: number, limit: number, upTo = 0): Promise<number> =>
      drop.run(limit, beforeMs, Math.max(upTo, (await beyond.get(keepRows))?.id ?? 0));
  };
  const dropReceipts = dropping("parked_receipt", "repeated = 0");
  const dropRepeats = dropping("parked_receipt", "repeated = 1");
  const dropSettled = dropping("settled_receipt", "TRUE");
  const messageAt = sql.prepare<[number], { key: string }>(
    `SELECT CAST(key AS TEXT) AS key FROM incoming_message WHERE account_id IS NULL
     ORDER BY incoming_message.key DESC LIMIT 1 OFFSET ?`,
  );
  const dropMessages = sql.prepare<[bigint, number]>(
    `DELETE FROM incoming_message WHERE key IN
       (SELECT key FROM incoming_message WHERE account_id IS NULL AND key < ? ORDER BY key LIMIT ?)`,
  );
  // Of the receipts that are remembered so that their repeats are known: the newest row beyond so many names in so many rows.
  const settledBeyond = sql.prepare<[number, number], { id: number | null }>(
    `SELECT max(id) AS id FROM (
       SELECT id, sum(name_count) OVER (ORDER BY id DESC) AS names
       FROM (SELECT id, name_count FROM settled_receipt ORDER BY id DESC LIMIT ?) AS newest) AS counted
     WHERE names > ?`,
  );

  return commands({
    async dropUnmatched({ beforeMs, keepRows, limit }) {
      const beyondNames = (await settledBeyond.get(MAX_SETTLED_ROWS, MAX_SETTLED_NAMES))?.id ?? 0;
      const mostSettled = limit * SETTLED_AT_ONCE;
      const oldMs = now() - MAX_REPEAT_AGE_MS;
      const settled = await dropSettled(oldMs, MAX_SETTLED_ROWS, mostSettled, beyondNames);
      const lastMessage = BigInt((await messageAt.get(keepRows))?.key ?? "0");
      const oldKey = firstIdAt(beforeMs);
      const receipts = await dropReceipts(beforeMs, keepRows, limit);
      const repeats = await dropRepeats(now() - MAX_REPEAT_WAIT_MS, MAX_PARKED_REPEATS, limit);
      const messages = await dropMessages.run(lastMessage >= oldKey ? lastMessage + 1n : oldKey, limit);
      const more = [receipts, repeats, messages].includes(limit) || settled === mostSettled;
      return { count: receipts + messages, more };
    },
  });
}
