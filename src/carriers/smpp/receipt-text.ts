/**
 * The text of a receipt, from its octets. data_coding does not say how it is written: some carriers put that of the message there, over a
 * receipt in ASCII, and some write UCS-2 and say nothing. So the octets decide, and where that finds nothing the other readings are tried. Pure.
 */
import { DEFAULT_ALPHABET, textOfSeptets } from "../../sms/alphabets.ts";
import { beginsWithHeader } from "../../sms/binary.ts";
import { unpack } from "../../sms/septets.ts";
import { textOfUcs2 } from "../../sms/userdata.ts";
import { asBuffer } from "./codec/octets.ts";
import { MAX_RECEIPT_OCTETS } from "./receipt.ts";

export interface ReceiptOctets {
  readonly octets: Uint8Array;
  /** esm_class says that a user data header stands in front. */
  readonly hasHeader: boolean;
  /** data_coding says that the octets are of the GSM alphabet. */
  readonly isGsm: boolean;
}

type Reading = (octets: Uint8Array) => string;

/** An octet a character, which ASCII is too: nearly all receipts. */
const latin1: Reading = (octets) => asBuffer(octets).toString("latin1");
const littleEndian: Reading = (octets) => asBuffer(octets).toString("utf16le");
const gsm: Reading = (octets) => textOfSeptets(octets, DEFAULT_ALPHABET);
const packedGsm: Reading = (octets) => gsm(unpack(octets, 0, Number.POSITIVE_INFINITY));

/** In the order in which carriers are known for them. */
const READINGS: readonly Reading[] = [latin1, textOfUcs2, littleEndian, gsm, packedGsm];

/** As it is most likely meant. */
export function receiptText({ octets, hasHeader, isGsm }: ReceiptOctets): string {
  const body = bodyOf(octets, hasHeader);
  if (body[0] === 0 && body[2] === 0) return textOfUcs2(body);
  if (body[1] === 0 && body[3] === 0) return littleEndian(body);
  const text = latin1(body);
  return isGsm && differsInGsm(text) ? gsm(body) : text;
}

/** As it may be meant too, from the likeliest on: with the header for text, in case there is none. */
export function* otherTexts({ octets, hasHeader }: Omit<ReceiptOctets, "isGsm">): Iterable<string> {
  const body = bodyOf(octets, hasHeader);
  for (const read of READINGS) yield read(body);
  const whole = bodyOf(octets, false);
  if (whole.length === body.length) return;
  for (const read of READINGS) yield read(whole);
}

function bodyOf(octets: Uint8Array, hasHeader: boolean): Uint8Array {
  // Some carriers leave the bit on that the message had, over a text that has no header.
  const start = hasHeader && beginsWithHeader(octets) ? 1 + octets[0]! : 0;
  if (start === 0 && octets.length <= MAX_RECEIPT_OCTETS) return octets;
  return octets.subarray(start, start + MAX_RECEIPT_OCTETS);
}

/** The underscore of the GSM alphabet, which no text in ASCII has. */
const GSM_UNDERSCORE = "\x11";
const NUL = "\0";
/** The id, as far as it goes in the GSM alphabet: a NUL is an at sign there. */
const ID = /\bid\s*:\s*([^\s,;]*)/i;
/** A NUL in front of a name only separates, and at the end it only ends. */
const NAME_BEHIND_NUL = /\0[a-z]{2,5}:.*/i;

/**
 * Whether the id has a character that is another one in ASCII: an underscore, or an at sign, which is a NUL there. What stands behind the id
 * says nothing: the message's own words are there, in any coding.
 */
function differsInGsm(text: string): boolean {
  if (!text.includes(GSM_UNDERSCORE) && !text.includes(NUL)) return false;
  const id = (ID.exec(text)?.[1] ?? "").replace(NAME_BEHIND_NUL, "");
  let end = id.length;
  while (end > 0 && id[end - 1] === NUL) end--;
  return id.includes(GSM_UNDERSCORE) || id.slice(0, end).includes(NUL);
}
