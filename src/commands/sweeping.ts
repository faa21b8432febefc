/** Ends what has waited too long: messages past their validity, and parts whose receipt never came. */
import type { CommandParts } from "../store/command-parts.ts";
import { nameKey } from "../store/part-names.ts";
import { SWEEP_START } from "../store/port/delivery.ts";
import type { OutstandingRow, ParkedReceipt, PartName } from "../store/port/receipts.ts";
import { PART, type PartRow, STATE_NUMBER } from "../store/schema/message.ts";
import { MAX_SAME_ID } from "../store/tables.ts";
import { commands } from "./entry.ts";
import type { Matches } from "./receipts/matches.ts";
import { type TakenParts, waitingNames } from "./submitting.ts";

export function sweepingCommands({ sql, tables }: CommandParts, { expire }: TakenParts, beginMatches: () => Matches) {
  const { dialect } = sql;
  const outstandingParts = sql.prepare<[number, string, number], OutstandingRow>(
    `SELECT part.id AS "rowId", carrier_message_id AS "carrierMessageId", message.recipient AS "to",
       submitted_at_ms AS "submittedAtMs", part.expires_at_ms AS "expiresAtMs"
     FROM part JOIN message ON message.key = part.message_key
     WHERE part.id > ? AND ${dialect.plain("part.carrier_id")} = ? ORDER BY part.id LIMIT ?`,
  );
  const lastPart = sql.prepareStaleRead<[], { id: number | null }>("SELECT max(id) AS id FROM part");
  const partById = sql.prepare<[number], PartRow>(`SELECT ${PART.list} FROM part WHERE id = ?`);
  const expiredBacklog = sql.prepareStaleRead<[number, number], { key: string }>(
    `SELECT CAST(key AS TEXT) AS key FROM message ${dialect.along("message_backlog_by_expiry")}
     WHERE ${dialect.waits} = 1 AND owner IS NULL AND expires_at_ms BETWEEN 0 AND ? ORDER BY expires_at_ms LIMIT ?`,
  );
  const anyBacklog = sql.prepareStaleRead<[], { key: string }>(
    `SELECT CAST(key AS TEXT) AS key FROM message ${dialect.along("message_backlog_by_expiry")}
     WHERE ${dialect.waits} = 1 AND owner IS NULL LIMIT 1`,
  );
  const partsAfter = sql.prepareStaleRead<[number, number, number], PartRow & { id: number }>(
    `SELECT ${PART.list} FROM part WHERE id > ? AND id <= ? ORDER BY part.id LIMIT ?`,
  );

  /** The parts of names as they are now, by their ids; each name is read once. */
  function readerOfParts(): (name: PartName) => ReadonlyMap<number | null, PartRow> {
    const read = new Map<string, ReadonlyMap<number | null, PartRow>>();
    return (name) => {
      const known = read.get(nameKey(name)) ?? new Map(tables.parts.named(name).map((part) => [part.id, part]));
      read.set(nameKey(name), known);
      return known;
    };
  }

  /** A part as it is now, with its message loaded. Of very many under one name it may not be among those that are. */
  async function stillWaiting(
    { id, key }: PartRow,
    named: ReadonlyMap<number | null, PartRow>,
  ): Promise<PartRow | undefined> {
    const part = named.get(id);
    if (part !== undefined || named.size <= MAX_SAME_ID) return part;
    await tables.load({ messages: [key], refunds: true });
    return partById.get(id!);
  }

  return commands({
    outstanding: async ({ carrierId, afterRow, limit }) => outstandingParts.all(afterRow, carrierId, limit),

    async sweep({ nowMs, receiptWaitMs, limit, cursor: { afterPart, upToPart } }) {
      const last = afterPart === 0 ? ((await lastPart.get())?.id ?? 0) : upToPart;
      const page = await partsAfter.all(afterPart, last, limit);
      const isLate = ({ expiresAtMs }: { expiresAtMs: number }): boolean => expiresAtMs + receiptWaitMs <= nowMs;
      const expired = await expiredBacklog.all(nowMs, limit);
      // As they are now: another node may have heard of them since.
      const keys = expired.map((waiting) => waiting.key);
      await tables.load({ parts: page.filter(isLate), parked: page, messages: keys, refunds: true });
      // A part and its receipt, written by two nodes at the same moment, do not see each other, and who was to look again may have died.
      // That a part has waited too long does not say that a doubtful receipt was another's.
      const matches = beginMatches();
      const isWanted = ({ why }: ParkedReceipt): boolean => why !== "doubtful";
      const matched = new Set<string>();
      const parts = page.filter((name) => {
        // The rest is for the next page.
        if (matches.areSpent) return false;
        if (!matched.has(nameKey(name))) matches.matchName(name, { isWanted });
        matched.add(nameKey(name));
        return true;
      });
      const partsOf = readerOfParts();
      for (const name of parts.filter(isLate)) {
        const part = await stillWaiting(name, partsOf(name));
        if (part === undefined) continue;
        const word = { event: "no receipt", errorId: 0, atMs: nowMs, mccMnc: null } as const;
        matches.settle(name, part, tables.messages.get(part.key), word);
      }
      const parked = expired.flatMap(({ key }) => tables.messages.get(key) ?? []).flatMap(waitingNames);
      if (parked.length > 0) await tables.load({ parked });
      for (const waiting of expired) {
        const row = tables.messages.get(waiting.key);
        if (row?.state !== STATE_NUMBER.queued || row.owner !== null) continue;
        expire(row, nowMs, matches);
      }
      const isLastPage = page.length < limit && parts.length === page.length;
      const cursor = isLastPage ? SWEEP_START : { afterPart: parts.at(-1)!.id, upToPart: last };
      const more = !isLastPage || expired.length === limit;
      return { cursor, more, waits: page.length > 0 || more || (await anyBacklog.get()) !== undefined };
    },
  });
}
