/**
 * Messages that a client hands over as octets: the 8 bit data of a device, or a text that it has encoded itself. The
 * octets are those of SMPP's short_message, so septets stand one an octet, and `hasHeader` says that they begin with a
 * header of the client's own.
 */
import { ESCAPE } from "./alphabets.ts";
import { readDataCoding } from "./datacoding.ts";
import { headerOctets } from "./header.ts";
import { cutText, PART_OCTETS } from "./parts.ts";
import { headerSeptets } from "./septets.ts";
import { joinOctets, textOfUcs2, type UserData, ucs2Octets } from "./userdata.ts";

export interface BinaryMessage {
  octets: Uint8Array;
  dataCoding: number;
  /** The bit 0x40 of SMPP's esm_class. */
  hasHeader: boolean;
}

/** esm_class: the octets begin with a user data header (SMPP 3.4 §5.2.12). */
export const HEADER_BIT = 0x40;

export interface BinaryOptions {
  reference: number;
  wideReference?: boolean;
}

/** The octets of a hex string, in which spaces may separate them, or undefined if it is not one. */
export function readHex(hex: string): Uint8Array | undefined {
  const digits = hex.replaceAll(" ", "");
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) return undefined;
  const octets = new Uint8Array(digits.length / 2);
  for (let index = 0; index < octets.length; index++)
    octets[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  return octets;
}

/** Whether they begin with a whole header, which its elements fill. */
export function beginsWithHeader(octets: Uint8Array): boolean {
  const end = 1 + (octets[0] ?? 0);
  if (octets.length < end) return false;
  let at = 1;
  while (at < end) at += 2 + (octets[at + 1] ?? 0);
  return at === end;
}

/**
 * The number of parts, or undefined if it cannot be sent: too long for one part, with a header of the client's own to
 * which ours cannot be added.
 */
export function binaryPartCount(message: BinaryMessage): number | undefined {
  return cutOctets(message, false)?.length;
}

export function encodeBinary(message: BinaryMessage, options: BinaryOptions): UserData[] {
  const { reference, wideReference = false } = options;
  const pieces = cutOctets(message, wideReference);
  const total = pieces?.length ?? 0;
  if (pieces === undefined || total > 255) throw new RangeError("the binary message cannot be cut into parts");
  if (total === 1) return [userData(message.octets, message)];
  return pieces.map((piece, index) => {
    const header = headerOctets({ concatenation: { reference, total, sequence: index + 1 }, wideReference });
    return userData(joinOctets(header, piece), { ...message, hasHeader: true });
  });
}

function userData(octets: Uint8Array, { dataCoding, hasHeader }: BinaryMessage): UserData {
  return { octets, hasHeader, dataCoding, length: octets.length, text: "" };
}

function cutOctets(message: BinaryMessage, wideReference: boolean): Uint8Array[] | undefined {
  const { octets, dataCoding, hasHeader } = message;
  const { alphabet } = readDataCoding(dataCoding);
  const alone = alphabet === "gsm7" ? unpackedCapacity(hasHeader ? 1 + (octets[0] ?? 0) : 0) : PART_OCTETS;
  if (octets.length <= alone) return [octets];
  if (hasHeader) return undefined;
  if (alphabet === "ucs2" && octets.length % 2 === 0) {
    return cutText(textOfUcs2(octets), "ucs2", wideReference).map(ucs2Octets);
  }
  const headerLength = headerOctets({ concatenation: { reference: 0, total: 1, sequence: 1 }, wideReference }).length;
  if (alphabet === "gsm7") return cutUnpacked(octets, unpackedCapacity(headerLength) - headerLength);
  return cutEvery(octets, PART_OCTETS - headerLength);
}

/** The octets, one a septet after the header's own, that fill a part once they are packed. */
function unpackedCapacity(headerLength: number): number {
  return headerLength + Math.floor((PART_OCTETS * 8) / 7) - headerSeptets(headerLength);
}

function cutUnpacked(septets: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < septets.length; ) {
    const end = Math.min(start + size, septets.length);
    const splitsEscape = end < septets.length && septets[end - 1] === ESCAPE;
    pieces.push(septets.subarray(start, splitsEscape ? end - 1 : end));
    start = splitsEscape ? end - 1 : end;
  }
  return pieces;
}

function cutEvery(octets: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(octets.length / size);
  return Array.from({ length: count }, (_, index) => octets.subarray(index * size, (index + 1) * size));
}
