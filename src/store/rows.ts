/** The rows as the commands read and write them, and the shapes made from them. Integers beyond 2^53 are read as text. */
import type { State } from "../message/life.ts";
import type {
  AlertBatch,
  DeliveryBatch,
  IncomingBatch,
  MessageKey,
  NotifyContentType,
  PartsTaken,
  QueuedMessage,
  ReportBatch,
  ReportBatchItem,
  ReportFacts,
} from "../message/message.ts";
import type { Encoding } from "../sms/text.ts";
import type { LogPosition } from "./port.ts";
import type { Wallet } from "./tables.ts";

export const STATE_NUMBER: Readonly<Record<Exclude<State, "submitting">, number>> = {
  scheduled: 0,
  queued: 1,
  submitted: 3,
  done: 4,
};

export interface MessageRow {
  readonly key: string;
  readonly account_id: number;
  readonly bulk_id: string;
  readonly client_message_id: string | null;
  readonly state: number;
  readonly status_id: number;
  readonly error_id: number;
  readonly owner: number | null;
  readonly carrier_id: string;
  readonly unknown_count: number;
  readonly sender: string;
  readonly recipient: string;
  readonly body: string;
  readonly encoding: string;
  readonly part_count: number;
  readonly flash: number;
  readonly price: string;
  readonly charged_micros: string;
  readonly currency: string;
  readonly notify_url: string | null;
  readonly notify_type: string;
  readonly callback_data: string | null;
  readonly intermediate: number;
  readonly due_at_ms: number;
  readonly delivery_window: string | null;
  readonly expires_at_ms: number;
  readonly validity_ms: number;
  readonly received_at_ms: number;
  readonly sent_at_ms: number | null;
  readonly done_at_ms: number | null;
  readonly mcc_mnc: string | null;
  readonly parts_pending: number;
  readonly worst_event: string | null;
  readonly last_report_id: string | null;
  readonly bulk_version: number | null;
  readonly pull: number | null;
  readonly pull_at_ms: number | null;
  /** PartsTaken as JSON. */
  readonly taken: string | null;
}

/** What may change of a message after it was accepted. */
export type MessageChange = Partial<
  Pick<
    MessageRow,
    | "state"
    | "status_id"
    | "error_id"
    | "owner"
    | "carrier_id"
    | "unknown_count"
    | "charged_micros"
    | "due_at_ms"
    | "expires_at_ms"
    | "sent_at_ms"
    | "done_at_ms"
    | "mcc_mnc"
    | "parts_pending"
    | "worst_event"
    | "last_report_id"
    | "bulk_version"
    | "pull"
    | "pull_at_ms"
    | "taken"
  >
>;

/** A message as it is accepted. */
export interface NewMessageRow
  extends Omit<
    MessageRow,
    | "price"
    | "charged_micros"
    | "carrier_id"
    | "unknown_count"
    | "sent_at_ms"
    | "mcc_mnc"
    | "parts_pending"
    | "worst_event"
    | "last_report_id"
    | "taken"
  > {
  readonly carrier_id: string | null;
  readonly price_micros: bigint;
  readonly charged_micros: bigint;
}

/** The row that it then is. */
export function messageRow(fresh: NewMessageRow): MessageRow {
  return {
    key: fresh.key,
    account_id: fresh.account_id,
    bulk_id: fresh.bulk_id,
    client_message_id: fresh.client_message_id,
    state: fresh.state,
    status_id: fresh.status_id,
    error_id: fresh.error_id,
    owner: fresh.owner,
    // Only a rejected message has no carrier, and nobody asks for that of such.
    carrier_id: fresh.carrier_id as string,
    unknown_count: 0,
    sender: fresh.sender,
    recipient: fresh.recipient,
    body: fresh.body,
    encoding: fresh.encoding,
    part_count: fresh.part_count,
    flash: fresh.flash,
    price: fresh.price_micros.toString(),
    charged_micros: fresh.charged_micros.toString(),
    currency: fresh.currency,
    notify_url: fresh.notify_url,
    notify_type: fresh.notify_type,
    callback_data: fresh.callback_data,
    intermediate: fresh.intermediate,
    due_at_ms: fresh.due_at_ms,
    delivery_window: fresh.delivery_window,
    expires_at_ms: fresh.expires_at_ms,
    validity_ms: fresh.validity_ms,
    bulk_version: fresh.bulk_version,
    received_at_ms: fresh.received_at_ms,
    sent_at_ms: null,
    done_at_ms: fresh.done_at_ms,
    mcc_mnc: null,
    parts_pending: 0,
    worst_event: null,
    last_report_id: null,
    pull: fresh.pull,
    pull_at_ms: fresh.pull_at_ms,
    taken: null,
  };
}

/** A part that a carrier holds. `id` is null until it is written. */
export interface PartRow {
  readonly id: number | null;
  readonly key: MessageKey;
  readonly counts: number;
  /** When its carrier had answered, by our clock. */
  readonly submittedAtMs: number;
}

export interface WalletRow {
  readonly id: number;
  readonly balance: string;
  readonly creditLimit: string;
  readonly currency: string;
  readonly accountKey: string;
  readonly alertBelow: string | null;
  readonly alertUrl: string | null;
}

export function walletOf({ id, currency, balance, creditLimit, accountKey, alertBelow, alertUrl }: WalletRow): Wallet {
  return {
    id,
    currency,
    balanceMicros: BigInt(balance),
    creditLimitMicros: BigInt(creditLimit),
    alert:
      alertBelow === null || alertUrl === null ? null : { accountKey, belowMicros: BigInt(alertBelow), url: alertUrl },
  };
}

export interface BulkRow {
  readonly account_id: number;
  readonly bulk_id: string;
  readonly state: "open" | "paused" | "canceled";
  readonly send_at_ms: number;
  readonly version: number;
  readonly moved_version: number;
  readonly holds: number;
  readonly sent: number;
  /** A time-ordered id, or null when its messages have nothing to follow. */
  readonly turn: string | null;
}

export const BULK_COLUMNS =
  "account_id, bulk_id, state, send_at_ms, version, moved_version, holds, sent, CAST(turn AS TEXT) AS turn";

export interface ReportRow {
  readonly id: string;
  readonly kind: ReportBatch["kind"];
  readonly account_id: number;
  readonly url: string;
  readonly content_type: NotifyContentType;
  readonly items: string;
  readonly attempts: number;
  readonly due_at_ms: number;
  readonly held_by: number | null;
  readonly after_id: string | null;
  readonly dead_at_ms: number | null;
  readonly reason: string | null;
  readonly history: string;
  readonly tried: number;
}

export type NewReportRow = Pick<
  ReportRow,
  "id" | "kind" | "account_id" | "url" | "content_type" | "items" | "due_at_ms" | "held_by" | "after_id"
>;

export const REPORT_COLUMNS = `CAST(id AS TEXT) AS id, kind, account_id, url, content_type, items, attempts, due_at_ms, held_by,
  CAST(after_id AS TEXT) AS after_id, dead_at_ms, reason, history, tried`;

export function batchOf(row: ReportRow): ReportBatch {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    contentType: row.content_type,
    ...parseItems(row.kind, row.items),
    attempts: row.attempts,
    ...(row.tried === 1 ? { tried: true } : {}),
  };
}

export const MESSAGE_COLUMNS = `CAST(key AS TEXT) AS key, account_id, bulk_id, client_message_id, state, status_id, error_id, owner, carrier_id,
  unknown_count, sender, recipient, body, encoding, part_count, flash, CAST(price_micros AS TEXT) AS price,
  CAST(charged_micros AS TEXT) AS charged_micros, currency, notify_url, notify_type, callback_data, intermediate, due_at_ms, delivery_window,
  expires_at_ms, validity_ms, bulk_version, received_at_ms, sent_at_ms, done_at_ms, mcc_mnc, parts_pending, worst_event,
  CAST(last_report_id AS TEXT) AS last_report_id, pull, pull_at_ms, taken`;

/** The encoding of a text by its name; that of a binary message as "octets 4 64": data coding and esm class. */
export function serializeEncoding(encoding: QueuedMessage["encoding"]): string {
  return typeof encoding === "string" ? encoding : `octets ${encoding.dataCoding} ${encoding.esmClass}`;
}

export function parseEncoding(text: string): QueuedMessage["encoding"] {
  const [, dataCoding, esmClass] = /^octets (\d+) (\d+)$/.exec(text) ?? [];
  if (dataCoding === undefined) return text as Encoding;
  return { dataCoding: Number(dataCoding), esmClass: Number(esmClass) };
}

export function queuedMessage(row: MessageRow): QueuedMessage {
  return {
    key: row.key,
    accountId: row.account_id,
    carrierId: row.carrier_id,
    from: row.sender,
    to: row.recipient,
    text: row.body,
    encoding: parseEncoding(row.encoding),
    partCount: row.part_count,
    flash: row.flash === 1,
    intermediateReport: row.intermediate === 1,
    window: row.delivery_window === null ? null : JSON.parse(row.delivery_window),
    expiresAtMs: row.expires_at_ms,
    unknownCount: row.unknown_count,
    taken: takenOf(row),
  };
}

export function takenOf({ taken }: Pick<MessageRow, "taken">): PartsTaken | null {
  return taken === null ? null : (JSON.parse(taken) as PartsTaken);
}

/** What a report says of the message once it has this status. */
export function reportFacts(
  row: MessageRow,
  now: { statusId: number; errorId: number; atMs: number; mccMnc: string | null },
): ReportFacts {
  return {
    bulkId: row.bulk_id,
    messageId: row.client_message_id ?? row.key,
    to: row.recipient,
    from: row.sender,
    sentAtMs: row.sent_at_ms ?? row.received_at_ms,
    doneAtMs: now.atMs,
    smsCount: row.part_count,
    mccMnc: now.mccMnc,
    callbackData: row.callback_data,
    pricePerPartMicros: BigInt(row.price),
    currency: row.currency,
    statusId: now.statusId,
    errorId: now.errorId,
  };
}

/** The statuses whose messages do not use up their name, as the indexes by name have them. */
const REJECTED_IDS = [11, 12, 14, 19, 23, 24, 25, 52];
export const IS_REJECTED = `status_id IN (${REJECTED_IDS.join(", ")})`;
export const IS_NOT_REJECTED = `status_id NOT IN (${REJECTED_IDS.join(", ")})`;

/** Whether a message with this status leaves its name to another. */
export function isRejected(statusId: number): boolean {
  return REJECTED_IDS.includes(statusId);
}

/** What is told of a message as it is now. */
export interface FactsRow {
  readonly key: string;
  readonly bulk_id: string;
  readonly client_message_id: string | null;
  readonly recipient: string;
  readonly sender: string;
  readonly log_at_ms: number;
  readonly done_at_ms: number | null;
  readonly part_count: number;
  readonly mcc_mnc: string | null;
  readonly callback_data: string | null;
  readonly price: string;
  readonly currency: string;
  readonly status_id: number;
  readonly error_id: number;
}

/** What costs nothing, or was given back, had no price. */
export const FACTS_COLUMNS = `CAST(key AS TEXT) AS key, bulk_id, client_message_id, recipient, sender, log_at_ms, done_at_ms, part_count, mcc_mnc,
  callback_data, CAST(CASE charged_micros WHEN 0 THEN 0 ELSE price_micros END AS TEXT) AS price, currency, status_id, error_id`;

export function factsOf(row: FactsRow): Omit<ReportFacts, "doneAtMs"> & { doneAtMs: number | null } {
  return {
    bulkId: row.bulk_id,
    messageId: row.client_message_id ?? row.key,
    to: row.recipient,
    from: row.sender,
    sentAtMs: row.log_at_ms,
    doneAtMs: row.done_at_ms,
    smsCount: row.part_count,
    mccMnc: row.mcc_mnc,
    callbackData: row.callback_data,
    pricePerPartMicros: BigInt(row.price),
    currency: row.currency,
    statusId: row.status_id,
    errorId: row.error_id,
  };
}

const MAX_KEY = 2n ** 63n - 1n;

/** The key that is written so, or null: whatever else a client takes for a messageId. */
export function keyOf(messageId: string): bigint | null {
  if (!/^[1-9]\d{0,18}$/.test(messageId)) return null;
  const key = BigInt(messageId);
  return key <= MAX_KEY ? key : null;
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

/** Report items are stored as JSON, which has no bigint. */
export function serializeItems(items: readonly ReportBatchItem[]): string {
  // Amounts replaced here and not by a function for JSON.stringify, which it would call for every field.
  return JSON.stringify(
    items.map((item) => {
      if ("pricePerPartMicros" in item) return { ...item, pricePerPartMicros: item.pricePerPartMicros.toString() };
      if (!("belowMicros" in item)) return item;
      return { ...item, balanceMicros: item.balanceMicros.toString(), belowMicros: item.belowMicros.toString() };
    }),
  );
}

type Items =
  | Pick<DeliveryBatch, "kind" | "items">
  | Pick<IncomingBatch, "kind" | "items">
  | Pick<AlertBatch, "kind" | "items">;

export function parseItems(kind: ReportBatch["kind"], text: string): Items {
  // Amounts are the only texts of digits whose names end so.
  const items = JSON.parse(text, (name, value) => (name.endsWith("Micros") ? BigInt(value) : value));
  return { kind, items } as Items;
}
