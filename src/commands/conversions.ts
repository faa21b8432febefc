/** Conversions: the client tells that a message brought what it was sent for. The first time counts, and a second is answered the same. */
import type { KeptConversion } from "../message/conversion.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { IS_NOT_REJECTED, keyOf } from "../store/rows.ts";
import type { MessageRow } from "../store/schema/message.ts";
import { commands } from "./entry.ts";

export function conversionOf({ conversion }: Pick<MessageRow, "conversion">): KeptConversion | null {
  return conversion === null ? null : (JSON.parse(conversion) as KeptConversion);
}

export function conversionCommands({ sql, tables }: CommandParts) {
  const byName = sql.prepare<[number, string], { key: string }>(
    `SELECT CAST(key AS TEXT) AS key FROM message ${sql.dialect.along("message_named_by_client")}
     WHERE account_id = ? AND client_message_id = ? AND ${IS_NOT_REJECTED} LIMIT 1`,
  );

  async function ownMessage(accountId: number, key: string): Promise<MessageRow | null> {
    await tables.load({ messages: [key] });
    const row = tables.messages.get(key);
    return row?.account_id === accountId ? row : null;
  }

  /** By the id that it was given, or by the client's own. */
  async function find(accountId: number, messageId: string): Promise<MessageRow | null> {
    const key = keyOf(messageId);
    const row = key === null ? null : await ownMessage(accountId, key.toString());
    if (row !== null) return row;
    const named = await byName.get(accountId, messageId);
    return named === undefined ? null : ownMessage(accountId, named.key);
  }

  return commands({
    async endConversion({ accountId, messageId, atMs }) {
      const row = await find(accountId, messageId);
      const kept = row === null ? null : conversionOf(row);
      if (row === null || kept === null) return null;
      const ended: KeptConversion = { ...kept, endedAtMs: atMs };
      if (kept.endedAtMs === null) tables.messages.change(row, { conversion: JSON.stringify(ended) });
      return { processKey: kept.processKey };
    },
  });
}
