/**
 * Receipts that match no message, and messages from phones to a number that is nobody's, are kept for whoever wants to find out why. Strangers
 * can cause any number of them, so they have an age and a number at which they go, the oldest first and a page at a time.
 */
import { firstIdAt } from "../../runtime/ids.ts";
import type { CommandHandlers } from "../port.ts";
import type { CommandParts } from "./parts.ts";

export function unmatchedCommands({ sql }: CommandParts): Pick<CommandHandlers, "dropUnmatched"> {
  // The newest of those that are too many.
  const receiptAt = sql.prepare<[number], { id: number }>(
    "SELECT id FROM parked_receipt ORDER BY id DESC LIMIT 1 OFFSET ?",
  );
  const messageAt = sql.prepare<[number], { key: string }>(
    `SELECT CAST(key AS TEXT) AS key FROM incoming_message WHERE account_id IS NULL
     ORDER BY incoming_message.key DESC LIMIT 1 OFFSET ?`,
  );
  // Ids follow time, so of the oldest page by id those that are too old are all that there is to find.
  const dropReceipts = sql.prepare<[number, number, number]>(
    `DELETE FROM parked_receipt WHERE id IN (SELECT id FROM parked_receipt ORDER BY id LIMIT ?) AND (at_ms < ? OR id <= ?)`,
  );
  const dropMessages = sql.prepare<[bigint, number]>(
    `DELETE FROM incoming_message WHERE key IN
       (SELECT key FROM incoming_message WHERE account_id IS NULL AND key < ? ORDER BY key LIMIT ?)`,
  );

  return {
    async dropUnmatched({ beforeMs, keepRows, limit }) {
      const lastReceipt = (await receiptAt.get(keepRows))?.id ?? 0;
      const lastMessage = BigInt((await messageAt.get(keepRows))?.key ?? "0");
      const oldKey = firstIdAt(beforeMs);
      const receipts = await dropReceipts.run(limit, beforeMs, lastReceipt);
      const messages = await dropMessages.run(lastMessage >= oldKey ? lastMessage + 1n : oldKey, limit);
      return { count: receipts + messages, more: receipts === limit || messages === limit };
    },
  };
}
