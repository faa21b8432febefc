/**
 * A carrier's message ids, in one spelling. The same id comes with zeros in front or without, in capitals or not, and from some
 * carriers hexadecimal in the answer to a submit and decimal in the receipt. It may have 64 bits or be a UUID, so it is never a
 * JavaScript number. Pure.
 */
import { isUsableId } from "../usable-id.ts";
import type { SmppProfile } from "./profile.ts";

export type ReceiptIds = NonNullable<SmppProfile["receiptIds"]>;

function tidy(id: string): string {
  const trimmed = id.trim().toLowerCase();
  return /^0+$/.test(trimmed) ? "0" : trimmed.replace(/^0+/, "");
}

/** What `tidy` leaves of the "0x" that some carriers put in front of hexadecimal digits. */
const HEX_PREFIX = /^x(?=[0-9a-f]{1,32}$)/;

function hexToDecimal(id: string): string {
  const digits = id.replace(HEX_PREFIX, "");
  return /^[0-9a-f]{1,32}$/.test(digits) ? BigInt(`0x${digits}`).toString() : id;
}

/** The spelling under which a part is kept and looked for: that of the answer… */
export function idInAnswer(id: string, ids: ReceiptIds): string {
  return spelt(id, ids, "hex then decimal");
}

/** …and that of the receipt. */
export function idInReceipt(id: string, ids: ReceiptIds): string {
  return spelt(id, ids, "decimal then hex");
}

/** In decimal where it is hexadecimal: on the side that `hexWhen` names, and on either if it says so itself. */
function spelt(id: string, ids: ReceiptIds, hexWhen: ReceiptIds): string {
  const tidied = tidy(id);
  const isHex = ids === hexWhen || (ids !== "same" && HEX_PREFIX.test(tidied));
  return isHex ? hexToDecimal(tidied) : tidied;
}

function decimalToHex(id: string): string {
  return /^[0-9]{1,39}$/.test(id) ? BigInt(id).toString(16) : id;
}

/**
 * Under which other ids a part may wait that an id is of, where it was read, or its part's was, by the wrong one of the rules above: the same number in the
 * other base, or read twice in the wrong one, with the prefix of hexadecimal digits or without.
 */
export function otherSpellings(id: string): string[] {
  const bare = id.replace(HEX_PREFIX, "");
  const [decimal, hex] = [hexToDecimal(bare), decimalToHex(bare)];
  const prefixed = [bare, hex].map((digits) => `x${digits}`).filter((spelling) => HEX_PREFIX.test(spelling));
  const spellings = new Set([bare, decimal, hex, hexToDecimal(decimal), decimalToHex(hex), ...prefixed]);
  spellings.delete(id);
  return [...spellings].filter(isUsableId);
}
