/** One item of a report, and of the logs, as the client reads it: the same in a push, in JSON and in XML. */
import { type CarriedFields, carriedFields } from "../../message/carried.ts";
import type { ReportFacts } from "../../message/message.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { errorById } from "../../sms/errors.ts";
import { statusById } from "../../sms/statuses.ts";

export interface ReportItem extends CarriedFields {
  readonly bulkId: string | null;
  readonly messageId: string;
  readonly to: string;
  readonly from: string;
  readonly sentAt: string;
  readonly doneAt: string;
  readonly smsCount: number;
  readonly mccMnc: string | null;
  readonly price: { readonly pricePerMessage: number; readonly currency: string };
  readonly status: StatusOfItem;
  readonly error: ErrorOfItem;
}

export interface StatusOfItem {
  readonly groupId: number;
  readonly groupName: string;
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

export interface ErrorOfItem extends StatusOfItem {
  readonly permanent: boolean;
}

/** The order of the fields is the order on the wire. */
export function reportItem(facts: ReportFacts): ReportItem {
  return {
    bulkId: facts.bulkId,
    messageId: facts.messageId,
    to: facts.to,
    from: facts.from,
    sentAt: formatDateTime(facts.sentAtMs),
    doneAt: formatDateTime(facts.doneAtMs),
    smsCount: facts.smsCount,
    mccMnc: facts.mccMnc,
    ...carriedFields(facts),
    price: { pricePerMessage: unitsOf(facts.pricePerPartMicros), currency: facts.currency },
    status: statusOfItem(facts.statusId),
    error: errorOfItem(facts.errorId),
  };
}

/**
 * A division is rounded to the nearest double, and a double is printed with the fewest digits that find it again: up to 15
 * digits, a thousand million units, the decimal number comes out as it went in. A sum of fractions would not.
 */
export function unitsOf(micros: bigint): number {
  return Number(micros) / 1_000_000;
}

function statusOfItem(statusId: number): StatusOfItem {
  const { groupId, groupName, id, name, description } = statusById(statusId);
  return { groupId, groupName, id, name, description };
}

function errorOfItem(errorId: number): ErrorOfItem {
  const { groupId, groupName, id, name, description, permanent } = errorById(errorId);
  return { groupId, groupName, id, name, description, permanent };
}

export interface LogFacts extends Omit<ReportFacts, "doneAtMs"> {
  readonly doneAtMs: number | null;
  readonly text: string;
}

export interface LogItem extends Omit<ReportItem, "doneAt"> {
  /** Null for a message that is still on its way. */
  readonly doneAt: string | null;
  readonly text: string;
}

/** A report's item as it stands now, with the text. */
export function logItem(facts: LogFacts): LogItem {
  const { doneAtMs, text } = facts;
  const item = reportItem({ ...facts, doneAtMs: doneAtMs ?? facts.sentAtMs });
  return { ...item, doneAt: doneAtMs === null ? null : item.doneAt, text };
}
