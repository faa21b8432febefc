/** The shapes that are made from rows, and what is asked of them. Integers beyond 2^53 are read as text. */
import { CARRIED_NAMES } from "../message/fields.ts";
import type { PartsTaken, QueuedMessage, ReportFacts } from "../message/message.ts";
import { compiled } from "../runtime/compiled.ts";
import type { Encoding } from "../sms/text.ts";
import { literalOf, REPORTED_OF_ROW } from "./fields-of-rows.ts";
import type { LogPosition } from "./port/tracking.ts";
import { MESSAGE, type MessageRow, type NewMessageRow } from "./schema/message.ts";

/** The encoding of a text by its name; that of a binary message as "octets 4 64": data coding and esm class. */
export function serializeEncoding(encoding: QueuedMessage["encoding"]): string {
  return typeof encoding === "string" ? encoding : `octets ${encoding.dataCoding} ${encoding.esmClass}`;
}

export function parseEncoding(text: string): QueuedMessage["encoding"] {
  const [, dataCoding, esmClass] = /^octets (\d+) (\d+)$/.exec(text) ?? [];
  if (dataCoding === undefined) return text as Encoding;
  return { dataCoding: Number(dataCoding), esmClass: Number(esmClass) };
}

export function takenOf({ taken }: Pick<MessageRow, "taken">): PartsTaken | null {
  return taken === null ? null : (JSON.parse(taken) as PartsTaken);
}

export interface ReportedState {
  readonly statusId: number;
  readonly errorId: number;
  readonly atMs: number;
  readonly mccMnc: string | null;
}

/** What a report says of the message once it has this status. */
export const reportFacts = compiled<(row: MessageRow | NewMessageRow, now: ReportedState) => ReportFacts>(
  "row, now",
  literalOf(REPORTED_OF_ROW),
);

/** The statuses whose messages do not use up their name, as the indexes by name have them. */
const REJECTED_IDS = [11, 12, 14, 19, 23, 24, 25, 52];
export const IS_REJECTED = `status_id IN (${REJECTED_IDS.join(", ")})`;
export const IS_NOT_REJECTED = `status_id NOT IN (${REJECTED_IDS.join(", ")})`;

/** Whether a message with this status leaves its name to another. */
export function isRejected(statusId: number): boolean {
  return REJECTED_IDS.includes(statusId);
}

/** What is told of a message as it is now. */
const FACTS = MESSAGE.pick([
  ...["key", "bulk_id", "client_message_id", "recipient", "sender", "done_at_ms", "part_count", "mcc_mnc"],
  ...["currency", "status_id", "error_id", ...CARRIED_NAMES],
]);
export type FactsRow = Omit<MessageRow, "price"> & { readonly price: string; readonly log_at_ms: number };
/** What costs nothing, or was given back, had no price. */
export const FACTS_COLUMNS = `${MESSAGE.listOf(FACTS)}, log_at_ms,
  CAST(CASE charged_micros WHEN 0 THEN 0 ELSE price_micros END AS TEXT) AS price`;

export function factsOf(row: FactsRow): Omit<ReportFacts, "doneAtMs"> & { doneAtMs: number | null } {
  const facts = reportFacts(row, { statusId: row.status_id, errorId: row.error_id, atMs: 0, mccMnc: row.mcc_mnc });
  return { ...facts, sentAtMs: row.log_at_ms, doneAtMs: row.done_at_ms };
}

/** No key, and no other id, is higher: what a list of the newest begins with. */
export const LAST_KEY = 2n ** 63n - 1n;

/** The key that is written so, or null: whatever else a client takes for a messageId. */
export function keyOf(messageId: string): bigint | null {
  if (!/^[1-9]\d{0,18}$/.test(messageId)) return null;
  const key = BigInt(messageId);
  return key <= LAST_KEY ? key : null;
}

/** Keys are numbers without leading zeros. */
export function compareKeys(first: string, second: string): number {
  if (first.length !== second.length) return first.length - second.length;
  return first < second ? -1 : Number(first > second);
}

/** The order of the logs. */
export function newestFirst(first: LogPosition, second: LogPosition): number {
  return second.atMs - first.atMs || compareKeys(second.key, first.key);
}
