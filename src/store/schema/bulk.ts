/** A bulk of scheduled messages, and the answers that let a request that comes again be answered as the first time. */
import { digits, int, long, oneOf, type Row, type RowChange, Table, text } from "./table.ts";

export const BULK = new Table("bulk", ["account_id", "bulk_id"], {
  account_id: long(),
  bulk_id: text(),
  state: oneOf<"open" | "paused" | "canceled">()({ changes: true }),
  send_at_ms: long({ changes: true }),
  version: int({ changes: true }),
  moved_version: int({ changes: true }),
  holds: int({ changes: true }),
  sent: int({ changes: true }),
  /** A time-ordered id, or null when its messages have nothing to follow. */
  turn: digits({ null: true, changes: true }),
  made_at_ms: long(),
  /** 1 for one whose messages were all sent at once: its row is there to be listed, and nothing can be changed of it. */
  at_once: int({ changes: true }),
  /** Its speed limit, if it has one, and from when on slots are given (commands/pacing.ts). */
  speed_amount: int({ null: true, changes: true }),
  speed_unit_ms: long({ null: true, changes: true }),
  next_slot_us: long({ null: true, changes: true }),
  free_slot_us: long({ null: true, changes: true }),
});

export type BulkRow = Row<typeof BULK>;
export type BulkChange = RowChange<typeof BULK>;

export const REPLAY = new Table("replay", ["accountId", "kind", "token", "bodyHash"], {
  accountId: long({ column: "account_id" }),
  kind: oneOf<"key" | "bulk">()(),
  token: text(),
  bodyHash: text({ column: "body_hash" }),
  answer: text(),
  atMs: long({ column: "at_ms" }),
});

export type ReplayRow = Row<typeof REPLAY>;
export type ReplayName = Pick<ReplayRow, "accountId" | "kind" | "token" | "bodyHash">;
