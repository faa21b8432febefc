/**
 * What its carrier calls the parts of a message, for people. No index leads from a message to its parts: receipts need none, and each would have to be kept up for
 * every part. But rows are numbered as they are written, which is soon after what they tell of. So the place of a moment in them is found by halving, and a bounded number of rows from there on
 * is looked through: for parts that wait those of `part`, and afterwards those of `settled_receipt`, where the receipts of a day are (receipts/repeats.ts).
 */
import type { MessageKey } from "../message/message.ts";
import { UNKNOWN_PREFIX } from "../message/receipt.ts";
import type { PartName } from "../store/port/receipts.ts";
import { type MessageRow, STATE_NUMBER } from "../store/schema/message.ts";
import type { Sql } from "../store/sql.ts";
import { takenNames } from "./submitting.ts";

/** What a carrier said is written within this time, unless the store was away. */
const WRITTEN_WITHIN_MS = 2_000;
/** Rows that are looked through. One of receipts has all that were in a commit. */
const PART_ROWS = 20_000;
const RECEIPT_ROWS = 500;
/** More parts than a message can have. */
const MAX_PARTS = 300;

export function partReader({ sql }: { readonly sql: Sql }): (row: MessageRow) => Promise<PartName[]> {
  const partAt = halving(sql, "part", "submitted_at_ms");
  const receiptAt = halving(sql, "settled_receipt", "at_ms");
  const partsFrom = sql.prepare<[number, bigint], PartName>(
    `SELECT "carrierId", "carrierMessageId" FROM (
       SELECT id, carrier_id AS "carrierId", carrier_message_id AS "carrierMessageId", message_key
       FROM part WHERE id >= ? ORDER BY id LIMIT ${PART_ROWS}) AS looked
     WHERE message_key = ? ORDER BY id LIMIT ${MAX_PARTS}`,
  );
  const receiptsFrom = sql.prepare<[number, string], { names: string }>(
    `SELECT names FROM (SELECT id, names FROM settled_receipt WHERE id >= ? ORDER BY id LIMIT ${RECEIPT_ROWS}) AS looked
     WHERE names LIKE ? ORDER BY id LIMIT ${MAX_PARTS}`,
  );

  async function told({ key, carrier_id: carrierId, sent_at_ms, done_at_ms }: MessageRow): Promise<PartName[]> {
    const ids = new Set<string>();
    for (const atMs of [sent_at_ms, done_at_ms]) {
      if (atMs === null) continue;
      const rows = await receiptsFrom.all(await receiptAt(atMs - WRITTEN_WITHIN_MS), `%,${key},%`);
      for (const { names } of rows)
        for (const entry of names.split(" ")) {
          const id = idIn(entry, key);
          if (id !== null) ids.add(id);
        }
    }
    return [...ids].map((carrierMessageId) => ({ carrierId, carrierMessageId }));
  }

  return async (row) => {
    if (row.sent_at_ms === null) return takenNames(row);
    if (row.state !== STATE_NUMBER.submitted) return told(row);
    const waiting = await partsFrom.all(await partAt(row.sent_at_ms - WRITTEN_WITHIN_MS), BigInt(row.key));
    // One that was taken without an id has a name of ours.
    const named = waiting.filter(({ carrierMessageId }) => !carrierMessageId.startsWith(UNKNOWN_PREFIX));
    return waiting.length < row.part_count ? [...(await told(row)), ...named] : named;
  };
}

/** The carrier's id in an entry of a row of receipts, if that is about this message (store/settled.ts). */
function idIn(entry: string, key: MessageKey): string | null {
  const [, of, id = null] = /^\d{1,16},(\d{1,19}),\d{1,2},([!-~]{1,65})$/.exec(entry) ?? [];
  return of === key ? id : null;
}

/** Gives the number of the first row that is not older than a moment, as nearly as the rows are in the order of time. */
function halving(sql: Sql, table: "part" | "settled_receipt", column: string): (atMs: number) => Promise<number> {
  const ends = sql.prepare<[], { first: number | null; last: number | null }>(
    `SELECT min(id) AS first, max(id) AS last FROM ${table}`,
  );
  const from = sql.prepare<[number], { id: number; atMs: number }>(
    `SELECT id, ${column} AS "atMs" FROM ${table} WHERE id >= ? ORDER BY id LIMIT 1`,
  );
  return async (atMs) => {
    const { first, last } = (await ends.get()) ?? { first: null, last: null };
    if (first === null || last === null) return 0;
    let [low, high] = [first, last];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const found = await from.get(middle);
      if (found === undefined || found.atMs >= atMs) high = middle;
      else low = found.id + 1;
    }
    return Math.min(low, last);
  };
}
