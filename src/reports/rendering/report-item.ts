/** One item of a report, and of the logs, as the client reads it: the same in a push, in JSON and in XML. */
import { TOLD_CARRIED, type ToldCarried } from "../../message/fields.ts";
import type { ReportFacts } from "../../message/message.ts";
import { compiled } from "../../runtime/compiled.ts";
import { perKey } from "../../runtime/lazy.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { errorById } from "../../sms/errors.ts";
import { statusById } from "../../sms/statuses.ts";

/** A field that has no value is left out, in JSON and in XML: strict clients die of a null. */
export interface ReportItem extends ToldCarried {
  readonly bulkId?: string | undefined;
  readonly messageId: string;
  readonly to: string;
  readonly from: string;
  readonly sentAt: string;
  readonly doneAt: string;
  readonly smsCount: number;
  readonly mccMnc?: string | undefined;
  readonly price: { readonly pricePerMessage: number; readonly currency: string };
  readonly status: ReturnType<typeof statusOfItem>;
  readonly error: ReturnType<typeof errorOfItem>;
}

/**
 * A division is rounded to the nearest double, and a double is printed with the fewest digits that find it again: up to 15
 * digits, a thousand million units, the decimal number comes out as it went in. A sum of fractions would not.
 */
export function unitsOf(micros: bigint): number {
  return Number(micros) / 1_000_000;
}

/** There are a few dozen of each. */
const statusOfItem = perKey((statusId: number) => {
  const { groupId, groupName, id, name, description } = statusById(statusId);
  return { groupId, groupName, id, name, description };
});
const errorOfItem = perKey((errorId: number) => {
  const { groupId, groupName, id, name, description, permanent } = errorById(errorId);
  return { groupId, groupName, id, name, description, permanent };
});

/** The messages of a request were sent in one moment, and many receipts come in one: a date that was just written is not written again. */
function lastKept(write: (atMs: number) => string): (atMs: number) => string {
  let lastMs = Number.NaN;
  let last = "";
  return (atMs) => {
    if (atMs !== lastMs) {
      last = write(atMs);
      lastMs = atMs;
    }
    return last;
  };
}

const sentAtOf = lastKept(formatDateTime);
const doneAtOf = lastKept(formatDateTime);

/** The order of the fields is the order on the wire. */
export const reportItem = compiled<(facts: ReportFacts) => ReportItem>(
  "facts",
  `({
    bulkId: facts.bulkId ?? undefined,
    messageId: facts.messageId,
    to: facts.to,
    from: facts.from,
    sentAt: sentAtOf(facts.sentAtMs),
    doneAt: doneAtOf(facts.doneAtMs),
    smsCount: facts.smsCount,
    mccMnc: facts.mccMnc ?? undefined,
    ${TOLD_CARRIED},
    price: { pricePerMessage: unitsOf(facts.pricePerPartMicros), currency: facts.currency },
    status: statusOfItem(facts.statusId),
    error: errorOfItem(facts.errorId),
  })`,
  { sentAtOf, doneAtOf, unitsOf, statusOfItem, errorOfItem },
);

export interface LogFacts extends Omit<ReportFacts, "doneAtMs"> {
  readonly doneAtMs: number | null;
  readonly text: string;
}

/** A report's item as it stands now, with the text. A message that is on its way has the time that its intermediate report has: when a carrier took it. */
export function logItem(facts: LogFacts) {
  return { ...reportItem({ ...facts, doneAtMs: facts.doneAtMs ?? facts.sentAtMs }), text: facts.text };
}
