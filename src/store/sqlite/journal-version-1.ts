/**
 * The journal's entries of versions 0 and 1, which had a kind of change for each table. A service that was killed leaves its journal to the version
 * that comes after it, so these are read for as long as somebody may come from them.
 */
import type { Value } from "../schema/table.ts";
import type { Journaled, WrittenChange } from "./journal-format.ts";

const words = (text: string): string[] => text.split(/,\s*/);

export const VERSION_1_LAYOUT: Readonly<Record<Journaled, readonly string[]>> = {
  message:
    words(`key, account_id, bulk_id, state, status_id, carrier_id, sender, recipient, body, encoding, part_count, price,
    charged_micros, currency, notify_url, notify_type, due_at_ms, expires_at_ms, validity_ms, received_at_ms, sent_at_ms, done_at_ms,
    worst_event, flash, intermediate, error_id, unknown_count, parts_pending, owner, client_message_id, callbackData, delivery_window,
    bulk_version, mcc_mnc, last_report_id, pull, pull_at_ms, taken`),
  part: words("id, carrierId, carrierMessageId, key, counts, submittedAtMs, expiresAtMs"),
  report: words(
    `id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by, after_id, dead_at_ms, reason, history, tried`,
  ),
  posting: words("id, atMs, kind, from, to, amountMicros, messageKey, partCount, description, actorId"),
};

/** Rows of these were objects. */
const valuesIn = (table: "report" | "posting", row: unknown): Value[] =>
  VERSION_1_LAYOUT[table].map((name) => (row as Record<string, Value>)[name] ?? null);

const CHANGES: Readonly<Record<string, (...rest: never[]) => WrittenChange>> = {
  message: (values: Value[]) => ["insert", "message", values],
  like: (differences: Value[]) => ["insert", "message", null, differences],
  "message changed": (key: Value, change: object) => ["change", "message", key, change],
  part: (...values: Value[]) => ["insert", "part", values],
  "part gone": (id: Value) => ["delete", "part", id],
  report: (row: object) => ["insert", "report", valuesIn("report", row)],
  "report changed": (id: Value, change: object) => ["change", "report", id, change],
  "report gone": (id: Value) => ["delete", "report", id],
  posting: (posting: object) => ["insert", "posting", valuesIn("posting", posting)],
};

export function version2(change: unknown): WrittenChange {
  const [kind, ...rest] = change as [string, ...never[]];
  if (!Object.hasOwn(CHANGES, kind)) throw new RangeError("there is no such kind of change");
  return CHANGES[kind]!(...rest);
}
