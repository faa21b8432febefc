/** Very many messages in an embedded store, written by SQL in seconds. */
import type Database from "better-sqlite3";
import { firstIdAt } from "../../src/runtime/ids.ts";

export interface ManyMessages {
  readonly accountId: number;
  readonly messages: number;
  /** When the last of them came. */
  readonly untilMs: number;
}

/** A message each 10 ms, of four bulks, all of them delivered. */
export function fillWithMessages(db: Database.Database, { accountId, messages, untilMs }: ManyMessages): void {
  db.pragma("synchronous = OFF");
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'message' AND sql IS NOT NULL",
    )
    .all();
  // Made at the end they are sorted once.
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`);
  db.prepare(
    `WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < @last)
     INSERT INTO message (key, account_id, bulk_id, state, status_id, carrier_id, sender, recipient, body, encoding, part_count, flash,
       price_micros, charged_micros, currency, notify_type, intermediate, due_at_ms, expires_at_ms, validity_ms, received_at_ms, sent_at_ms, done_at_ms)
     SELECT @first + n * @step, @accountId, 'bulk-' || n % 4, 4, 5, 'one', 'Shop', '4179' || n, 'Your code is ' || n, 'gsm7', 1, 0,
       10000, 10000, 'EUR', 'application/json', 0, @atMs + n * 10, @atMs + n * 10, 1, @atMs + n * 10, @atMs + n * 10, @atMs + n * 10
     FROM number`,
  ).run({
    accountId,
    last: messages - 1,
    first: firstIdAt(untilMs - messages * 10),
    step: firstIdAt(10) - firstIdAt(0),
    atMs: untilMs - messages * 10,
  });
  for (const { sql } of indexes) db.exec(sql);
}
