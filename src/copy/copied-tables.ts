/** What is copied, and in which order: a table comes after those that its rows refer to. */

export interface CopiedTable {
  readonly name: string;
  /** The primary key, along which the table is read page by page. */
  readonly key: readonly string[];
  /** Columns that are not copied as they are, with what stands in their place. */
  readonly instead?: Readonly<Record<string, string>>;
  /** The id goes on by itself: the target's sequence has to follow. */
  readonly numbered?: true;
  /**
   * Columns of which a change shows that the source is no longer what it was. A service that starts says so in `counter`; these are what the
   * command line may change without one. Where there are none, the number of rows and the last key say enough.
   */
  readonly watched?: readonly string[];
}

export const COPIED: readonly CopiedTable[] = [
  {
    name: "account",
    key: ["id"],
    numbered: true,
    watched: ["id", "key", "callback_secret", "old_callback_secret", "retry_minutes", "suspended", "version"],
  },
  { name: "login", key: ["username"], watched: ["username", "password_hash", "set_by_reseller"] },
  { name: "session", key: ["token_hash"] },
  { name: "second_factor", key: ["username"], watched: ["username", "begun_at_ms", "confirmed_at_ms", "last_step"] },
  { name: "recovery_code", key: ["username", "code_hash"] },
  { name: "api_key", key: ["key_hash"], watched: ["key_hash", "account_id", "name"] },
  { name: "wallet", key: ["id"], numbered: true, watched: ["id", "balance_micros"] },
  { name: "catalogue_item", key: ["kind", "id"], watched: ["kind", "id", "body"] },
  { name: "opt_out", key: ["account_id", "number"], watched: ["account_id", "number"] },
  {
    name: "pin_application",
    key: ["id"],
    watched: ["id", "name", "enabled", "configuration", "secret"],
  },
  { name: "pin_template", key: ["id"], watched: ["id", "body"] },
  { name: "pin", key: ["id"] },
  { name: "pin_count", key: ["application_id", "kind", "number"] },
  { name: "retired_charge", key: ["account_id"] },
  { name: "replay", key: ["account_id", "kind", "token", "body_hash"] },
  { name: "bulk", key: ["account_id", "bulk_id"] },
  { name: "posting", key: ["id"], numbered: true },
  // Nobody has it in memory any more: the next node claims it.
  { name: "message", key: ["key"], instead: { owner: "NULL" } },
  { name: "part", key: ["id"], numbered: true },
  { name: "parked_receipt", key: ["id"], numbered: true },
  { name: "settled_receipt", key: ["id"], numbered: true },
  { name: "later_receipt", key: ["id"], numbered: true },
  {
    name: "report",
    key: ["id"],
    // What somebody held when the service ended may have been sent without a trace, as in any takeover.
    instead: { held_by: "NULL", tried: "CASE WHEN held_by IS NULL THEN tried ELSE 1 END" },
    watched: ["id", "attempts", "due_at_ms", "dead_at_ms", "tried"],
  },
  { name: "link", key: ["code"], watched: ["code", "clicks"] },
  { name: "incoming_message", key: ["key"] },
  { name: "incoming_set", key: ["id"], numbered: true },
  { name: "incoming_part", key: ["set_id", "sequence"] },
  { name: "incoming_id", key: ["carrier_id", "id"] },
  { name: "id_mark", key: ["node"], watched: ["node", "highest"] },
  { name: "audit", key: ["id"], numbered: true },
  { name: "login_event", key: ["id"], numbered: true },
  { name: "quarantine", key: ["id"], numbered: true },
  { name: "trace", key: ["id"], numbered: true },
];

/** One row, which is written at the very end; what it says shows whether a service has run on the source since. */
export const COUNTER = { name: "counter", watched: ["changes", "starts", "purpose", "is_backup"] } as const;

/** Tables of days, whose partitions have to be there before their rows. */
export const BY_DAY: readonly string[] = ["message", "incoming_message"];

/** Tables of the target that are not copied: names are made from the messages, the others say who runs and what is asked of them. */
export const TARGET_ONLY: readonly string[] = [
  "message_name",
  "node",
  "node_writer",
  "gone_node",
  "lost_commit",
  "carrier_bind",
  "carrier_reconnect",
  "carrier_state",
  "heliograph_schema",
];

/** Those of the source. Its journal is empty when it is copied: all of it is in the other tables by then. */
export const SOURCE_ONLY: readonly string[] = ["carrier_reconnect", "carrier_state", "journal", "journal_layout"];

/** Something stands in the way of the copy; the message says what to do. */
export class CopyRefused extends Error {}
