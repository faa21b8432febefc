/**
 * What is made of a message's row by the thousand: of each field the expression that reads it. Functions are compiled of it (commands/queued-message.ts,
 * rows.ts), and what crosses between threads has the same fields (threads/codec.ts).
 */
import type { CarriedName } from "../message/fields.ts";
import { CARRIED_NAMES, USED_OF_ROW } from "../message/fields.ts";
import type { QueuedMessage, ReportFacts } from "../message/message.ts";

type Expressions<Thing> = Readonly<Record<keyof Thing, string>>;

/** A message as delivery gets it. */
export const QUEUED_OF_ROW: Expressions<QueuedMessage> = {
  key: "row.key",
  accountId: "row.account_id",
  carrierId: "row.carrier_id",
  from: "row.sender",
  to: "row.recipient",
  text: "row.secret_body ?? row.body",
  encoding: "encodingOf(row.encoding)",
  partCount: "row.part_count",
  intermediateReport: "row.intermediate === 1",
  window: "windowOf(row.delivery_window)",
  dueAtMs: "row.due_at_ms",
  expiresAtMs: "row.expires_at_ms",
  slotUntilMs: "row.slot_until_ms",
  unknownCount: "row.unknown_count ?? 0",
  taken: "row.taken ? JSON.parse(row.taken) : null",
  regional: "regionalOf(row.regional)",
  reference: "row.reference",
  ...USED_OF_ROW,
};

/** What a report says of the message once it has a status, which is `now`. */
export const REPORTED_OF_ROW: Expressions<ReportFacts> = {
  bulkId: "row.bulk_id",
  messageId: "row.client_message_id ?? row.key",
  to: "row.recipient",
  from: "row.sender",
  sentAtMs: "row.sent_at_ms ?? row.received_at_ms",
  doneAtMs: "now.atMs",
  smsCount: "row.part_count",
  mccMnc: "now.mccMnc",
  pricePerPartMicros: "BigInt(row.price)",
  currency: "row.currency",
  statusId: "now.statusId",
  errorId: "now.errorId",
  ...(Object.fromEntries(CARRIED_NAMES.map((name) => [name, `row.${name}`])) as Record<CarriedName, string>),
};

export function namesOf<Thing>(expressions: Expressions<Thing>): readonly (keyof Thing & string)[] {
  return Object.keys(expressions) as (keyof Thing & string)[];
}

/** The literal of an object with these fields, for `compiled`. */
export function literalOf(expressions: Readonly<Record<string, string>>): string {
  return `({ ${Object.entries(expressions).map(([name, expression]) => `${name}: ${expression}`)} })`;
}
