/**
 * What names a receipt: under which name it is parked, and what tells it from another. Under which names its part may be found is in
 * store/part-names.ts. Pure.
 */
import { type Receipt, UNREADABLE_PREFIX } from "../../message/receipt.ts";
import { nameKey } from "../../store/part-names.ts";
import type { ParkedReceipt, PartName } from "../../store/port/receipts.ts";
import { hashOf } from "./repeats.ts";

/** So much is kept of the octets of a receipt that could not be read, in hex. */
export const MAX_OCTETS_LENGTH = 2_048;

/** Each name once. */
export function distinct(names: readonly PartName[]): PartName[] {
  return [...new Map(names.map((name) => [nameKey(name), name])).values()];
}

/** What it says of its part: of two with one name that say the same, the second is the first again. */
export function saidBy(receipt: Receipt): string {
  const { to, other = null, outcome, submittedAtMs = null, octets } = boundedReceipt(receipt);
  return JSON.stringify([to, other, outcome, submittedAtMs, withoutSequence(octets)]);
}

/** What is kept of a receipt. */
export function boundedReceipt<Some extends Receipt>(receipt: Some): Some {
  const { submittedAtMs, octets } = receipt;
  return {
    ...receipt,
    submittedAtMs: Number.isSafeInteger(submittedAtMs) ? submittedAtMs : null,
    octets: octets == null ? null : octets.slice(0, MAX_OCTETS_LENGTH),
  };
}

/** A PDU that comes again has another sequence number: the last four octets of its header of sixteen. */
function withoutSequence(octets: string | null | undefined): string {
  return octets == null ? "" : octets.slice(0, 24) + octets.slice(32);
}

/** The name under which a receipt is parked and found again: its id, or for want of one a hash of its octets. */
export function parkedName(carrierId: string, receipt: Receipt): PartName | null {
  if (receipt.carrierMessageId !== "") return { carrierId, carrierMessageId: receipt.carrierMessageId };
  const { octets } = boundedReceipt(receipt);
  if (octets == null) return null;
  return { carrierId, carrierMessageId: `${UNREADABLE_PREFIX}${hashOf(withoutSequence(octets))}` };
}

/** As it came: one that could not be read has no id. */
export function withoutReservedId(receipt: ParkedReceipt): ParkedReceipt {
  return receipt.carrierMessageId.startsWith(UNREADABLE_PREFIX) ? { ...receipt, carrierMessageId: "" } : receipt;
}
