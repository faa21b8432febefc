/** A posting moves an amount from one wallet to another. It never changes. */
import type { StoredKind } from "../../money/postings.ts";
import { digits, int, long, type NewRow, oneOf, type Row, Table, text } from "./table.ts";

export const POSTING = new Table("posting", ["id"], {
  id: long({ numbered: true }),
  atMs: long({ column: "at_ms" }),
  kind: oneOf<StoredKind>()(),
  from: long({ column: "from_wallet" }),
  to: long({ column: "to_wallet" }),
  amountMicros: digits({ column: "amount_micros" }),
  messageKey: digits({ column: "message_key", null: true, seldom: "message" }),
  partCount: int({ column: "part_count", null: true, seldom: "message" }),
  description: text({ null: true, seldom: "words" }),
  actorId: long({ column: "actor_id", null: true, seldom: "words" }),
});

export type PostingRow = Row<typeof POSTING>;
export type NewPostingRow = NewRow<typeof POSTING>;
