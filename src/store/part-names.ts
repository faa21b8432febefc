/** Under which names the part that a receipt is about may be found. The commands look for it so, and an engine loads it so before they run. Pure. */
import { samePhone } from "../message/phones.ts";
import { type Receipt, UNREADABLE_PREFIX, unknownId } from "../message/receipt.ts";
import type { CarrierReceipt, PartName } from "./port/receipts.ts";

/** The same for the same name, and no other. */
export function nameKey({ carrierId, carrierMessageId }: PartName): string {
  return `${carrierId} ${carrierMessageId}`;
}

/** The names that the two addresses of a receipt stand for. */
export interface PhoneNames {
  readonly to: PartName | null;
  readonly other: PartName | null;
}

/**
 * Under which names the part of a receipt may be found: its id, or the phone that stands for an id that was never learnt. For the second it
 * has to be marked: any phone can write a text that looks like a receipt.
 */
export function receiptNames(
  carrierId: string,
  { carrierMessageId, to, other = null, unmarked }: Receipt,
): { readonly byId: PartName | null; readonly byPhone: PhoneNames } {
  const nameOf = (phone: string | null): PartName | null =>
    phone === null || unmarked === true ? null : { carrierId, carrierMessageId: unknownId(phone) };
  const isTwice = to !== null && other !== null && samePhone(to, other);
  return {
    byId: idName(carrierId, carrierMessageId),
    byPhone: { to: nameOf(to), other: isTwice ? null : nameOf(other) },
  };
}

/** The name that the receipt's id stands for; null where it has none. */
export function idName(carrierId: string, carrierMessageId: string): PartName | null {
  if (carrierMessageId === "" || carrierMessageId.startsWith(UNREADABLE_PREFIX)) return null;
  return { carrierId, carrierMessageId };
}

/** All of them, in the order in which they are tried. */
export function allReceiptNames({ carrierId, ...receipt }: CarrierReceipt): PartName[] {
  const { byId, byPhone } = receiptNames(carrierId, receipt);
  return [byId, byPhone.to, byPhone.other].filter((name) => name !== null);
}
