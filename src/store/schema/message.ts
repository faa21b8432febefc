/** A message, from its acceptance to its end, and the parts of it that a carrier holds. */
import { carriedFields, carriedOf, MESSAGE_FIELDS } from "../../message/fields.ts";
import type { State } from "../../message/life.ts";
import type { PartsTaken } from "../../message/message.ts";
import type { ReportForm } from "../../message/report-form.ts";
import { digits, int, long, type NewRow, oneOf, type Row, type RowChange, Table, text } from "./table.ts";

export const STATE_NUMBER: Readonly<Record<Exclude<State, "submitting">, number>> = {
  scheduled: 0,
  queued: 1,
  submitted: 3,
  done: 4,
};

const FIELD_COLUMN = {
  text: (column: string, seldom: string) => text({ column, null: true, seldom }),
  number: (column: string, seldom: string) => int({ column, null: true, seldom }),
  switch: (column: string, seldom: string) => int({ column, default: 0, seldom }),
};
type Fields = typeof MESSAGE_FIELDS;
type FieldColumns = { readonly [Name in keyof Fields]: ReturnType<(typeof FIELD_COLUMN)[Fields[Name]["is"]]> };
const FIELD_COLUMNS = Object.fromEntries(
  Object.entries(MESSAGE_FIELDS).map(([name, { is, column, seldom }]) => [name, FIELD_COLUMN[is](column, seldom)]),
) as FieldColumns;

export const MESSAGE = new Table("message", ["key"], {
  key: digits(),
  account_id: long(),
  bulk_id: text(),
  state: int({ changes: true }),
  status_id: int({ changes: true }),
  /** Only a rejected message has none, and nobody asks for that of such. */
  carrier_id: text({ changes: "route" }),
  sender: text(),
  recipient: text(),
  body: text(),
  encoding: text(),
  part_count: int(),
  price: digits({ column: "price_micros" }),
  charged_micros: digits({ changes: "told" }),
  currency: text(),
  notify_url: text({ null: true }),
  notify_type: oneOf<ReportForm>()(),
  due_at_ms: long({ changes: "route" }),
  expires_at_ms: long({ changes: "route" }),
  validity_ms: long(),
  received_at_ms: long(),
  sent_at_ms: long({ null: true, later: true, changes: true }),
  worst_event: text({ null: true, later: true, changes: "told" }),
  done_at_ms: long({ null: true, changes: true, seldom: "end" }),
  mcc_mnc: text({ null: true, later: true, changes: "network", seldom: "network" }),
  client_message_id: text({ null: true, seldom: "name" }),
  delivery_window: text({ null: true, seldom: "schedule" }),
  bulk_version: int({ null: true, changes: "route", seldom: "schedule" }),
  /** Of one with a speed limit: until when its slot is good, 0 without one. */
  slot_until_ms: long({ null: true, changes: "route", seldom: "schedule" }),
  pull: int({ null: true, changes: "pull", seldom: "pull" }),
  pull_at_ms: long({ null: true, changes: "pull", seldom: "pull" }),
  intermediate: int({ default: 0, seldom: "other" }),
  error_id: int({ default: 0, changes: true, seldom: "other" }),
  owner: long({ null: true, changes: true, seldom: "owner" }),
  /** Of a long one (store/references.ts). */
  reference: int({ null: true, seldom: "other" }),
  unknown_count: int({ default: 0, later: true, changes: "route", seldom: "later" }),
  parts_pending: int({ default: 0, later: true, changes: true, seldom: "later" }),
  last_report_id: digits({ null: true, later: true, changes: "told", seldom: "later" }),
  /** PartsTaken as JSON. */
  taken: text({ null: true, later: true, changes: "route", seldom: "later" }),
  secret_body: text({ null: true, changes: "secret", seldom: "secret" }), // what the carrier gets in place of `body`
  /** Regional as JSON. */
  regional: text({ null: true, seldom: "carried" }),
  /** AsWritten as JSON. */
  written: text({ null: true, seldom: "carried" }),
  /** KeptConversion as JSON. */
  conversion: text({ null: true, changes: "conversion", seldom: "carried" }),
  ...FIELD_COLUMNS,
});

export type MessageRow = Row<typeof MESSAGE>;
export type NewMessageRow = NewRow<typeof MESSAGE>;
export type MessageChange = RowChange<typeof MESSAGE>;

const STATES = Object.fromEntries(Object.entries(STATE_NUMBER).map(([name, number]) => [number, name]));

/** What is told of a message to whoever asks for all that is known of it. */
export function lifeOfRow(row: MessageRow) {
  const taken = row.taken === null ? null : (JSON.parse(row.taken) as PartsTaken);
  return {
    key: row.key,
    accountId: row.account_id,
    messageId: row.client_message_id ?? row.key,
    bulkId: row.bulk_id,
    state: STATES[row.state] as keyof typeof STATE_NUMBER,
    statusId: row.status_id,
    errorId: row.error_id,
    carrierId: row.carrier_id as string | null,
    from: row.sender,
    to: row.recipient,
    text: row.body,
    /** As it is stored: the name of an encoding, or that of a binary message. */
    encoding: row.encoding,
    partCount: row.part_count,
    flash: row.flash === 1,
    pricePerPartMicros: BigInt(row.price),
    chargedMicros: BigInt(row.charged_micros),
    currency: row.currency,
    notifyUrl: row.notify_url,
    notifyContentType: row.notify_type,
    intermediateReport: row.intermediate === 1,
    receivedAtMs: row.received_at_ms,
    dueAtMs: row.due_at_ms,
    sentAtMs: row.sent_at_ms,
    doneAtMs: row.done_at_ms,
    expiresAtMs: row.expires_at_ms,
    /** How long it may be sent, from when it first could be. */
    validityMs: row.validity_ms,
    unknownCount: row.unknown_count,
    partsPending: row.parts_pending,
    /** Of a message that stopped in the middle: how many parts its carrier has. */
    partsTaken: taken?.ids.filter((id) => id !== null).length ?? null,
    window: row.delivery_window,
    mccMnc: row.mcc_mnc,
    /** Where its report is fetched: 0 it waits since, 1 it was handed out and comes again at. */
    pull: row.pull,
    pullAtMs: row.pull_at_ms,
    carried: carriedFields(carriedOf(row)),
  };
}
export type LifeOfRow = Readonly<ReturnType<typeof lifeOfRow>>;

/** A part that a carrier holds. Its id is given when it is written. */
export const PART = new Table("part", ["id"], {
  id: long({ numbered: true }),
  carrierId: text({ column: "carrier_id" }),
  carrierMessageId: text({ column: "carrier_message_id" }),
  key: digits({ column: "message_key" }),
  /** Whether its message waits for its receipt. */
  counts: int(),
  /** When its carrier had answered, by our clock. */
  submittedAtMs: long({ column: "submitted_at_ms" }),
  expiresAtMs: long({ column: "expires_at_ms" }),
});

export type PartRow = Row<typeof PART>;
export type NewPartRow = Omit<PartRow, "id">;
