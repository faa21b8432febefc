/**
 * What a phone has sent, from octets to text. A part of a long message stays octets until the others are there, because a character may be
 * cut in two between them: an escape and its code, the octets of a Kanji, the halves of a surrogate pair. What is broken is read as far as
 * it goes, and nothing throws.
 */
import { textOfSeptets } from "./alphabets.ts";
import { beginsWithHeader } from "./binary.ts";
import { textOfCodePage949 } from "./code-page-949.ts";
import { alphabetFor } from "./encodings.ts";
import { type Concatenation, type Header, readHeader, type Shifts, withoutConcatenation } from "./header.ts";
import { PART_OCTETS } from "./parts.ts";
import { unpack } from "./septets.ts";
import { textOfUcs2 } from "./userdata.ts";

type Decode = (octets: Uint8Array, shifts: Shifts) => string;

/** How each charset is read. Japanese has three in use for the same characters, and one of them shows itself. */
const DECODE = {
  gsm: (octets, shifts) => textOfSeptets(octets, alphabetFor(shifts)),
  latin1: (octets) => Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString("latin1"),
  ucs2: textOfUcs2,
  "iso-8859-5": decoder("iso-8859-5"),
  "iso-8859-8": decoder("iso-8859-8"),
  shift_jis: japanese("shift_jis"),
  "euc-jp": japanese("euc-jp"),
  "euc-kr": textOfCodePage949,
} as const satisfies Record<string, Decode>;

export type TextCharset = keyof typeof DECODE;
/** Or none: octets that are no text. */
export type Charset = TextCharset | "binary";

export interface ReceivedText extends Shifts {
  readonly charset: TextCharset;
  /** What follows the header. Septets stand one an octet. */
  readonly hex: string;
}

export interface ReceivedBinary {
  readonly charset: "binary";
  readonly hex: string;
  readonly dataCoding: number;
  /** The header without what it says of parts, in hex; empty where nothing is left of it. */
  readonly header: string;
}

export type ReceivedOctets = ReceivedText | ReceivedBinary;

export interface ReceivedField {
  readonly octets: Uint8Array;
  readonly hasHeader: boolean;
  readonly dataCoding: number;
  readonly charset: Charset;
  /** Septets are packed, as on the air. */
  readonly packed: boolean;
}

/** A user data field as it came. */
export interface Received {
  readonly content: ReceivedOctets;
  readonly concatenation: Concatenation | null;
  /** Its reference has 16 bits. */
  readonly wideReference: boolean;
}

const NO_HEADER: { header: Header; octetLength: number } = { header: {}, octetLength: 0 };

export function readReceived(field: ReceivedField): Received {
  const { octets, charset } = field;
  const { header, octetLength } = startsWithHeader(field) ? readHeader(octets) : NO_HEADER;
  const { concatenation = null, wideReference = false } = header;
  const content: ReceivedOctets =
    charset === "binary"
      ? {
          charset,
          hex: hexOf(octets.subarray(octetLength)),
          dataCoding: field.dataCoding,
          header: hexOf(withoutConcatenation(octets.subarray(0, octetLength))),
        }
      : { charset, hex: hexOf(textOctets(field, octetLength)), ...(charset === "gsm" ? shiftsOf(header) : {}) };
  return { content, concatenation, wideReference };
}

/**
 * Some networks set the bit over a text that has no header, and a text is not to be lost for it. Octets that are no text stay behind
 * whatever is meant to be their header: all of it is kept.
 */
function startsWithHeader({ octets, hasHeader, charset }: ReceivedField): boolean {
  if (!hasHeader || charset === "binary") return hasHeader;
  // An empty header is a NUL, and so is the first octet of a text in UCS-2. What is left shows which it is.
  if (charset === "ucs2" && octets[0] === 0 && octets.length % 2 === 0) return false;
  return beginsWithHeader(octets);
}

function shiftsOf({ singleShift, lockingShift }: Header): Shifts {
  return {
    ...(singleShift === undefined ? {} : { singleShift }),
    ...(lockingShift === undefined ? {} : { lockingShift }),
  };
}

function textOctets({ octets, charset, packed }: ReceivedField, headerLength: number): Uint8Array {
  if (charset !== "gsm" || !packed) return octets.subarray(headerLength);
  const septets = unpack(octets, headerLength, Number.POSITIVE_INFINITY);
  // SMPP does not say how many septets there are. Seven octets hold seven and seven bits of nothing, which would be an "@".
  const hasSpareBits = octets.length % 7 === 0 && octets.length < PART_OCTETS;
  return hasSpareBits && septets.at(-1) === 0 ? septets.subarray(0, -1) : septets;
}

/** What a piece says by itself: of octets that are no text, their hex. */
export function textOfReceived(content: ReceivedOctets): string {
  return content.charset === "binary"
    ? content.header + content.hex
    : DECODE[content.charset](octetsOf(content), content);
}

/** What pieces say that follow each other and are read alike (`readAlike`). */
export function textOfPieces(pieces: readonly ReceivedText[]): string {
  const [first] = pieces;
  if (first === undefined) return "";
  const octets = pieces.map(octetsOf);
  if (first.charset === "ucs2") return textOfUcs2Pieces(octets);
  return DECODE[first.charset](Buffer.concat(first.charset === "gsm" ? octets : octets.map(withoutNulAtEnd)), first);
}

/**
 * An odd octet at the end of a piece is half a character, of which the next odd piece begins with the other half; or it belongs to none. If
 * all of them are NULs, they are most likely such as networks count that end each piece with one. But half an "A" is a NUL too: so it
 * counts in which reading the characters are of fewer kinds, because one that is off by an octet has any.
 */
function textOfUcs2Pieces(pieces: readonly Uint8Array[]): string {
  const odd = pieces.filter(isOdd);
  const joined = withPairsJoined(pieces).map(textOfUcs2).join("");
  if (odd.length < 2 || !odd.every((piece) => piece.at(-1) === 0)) return joined;
  const apart = pieces.map(textOfUcs2).join("");
  return rowCount(joined) < rowCount(apart) ? joined : apart;
}

const isOdd = (octets: Uint8Array): boolean => octets.length % 2 !== 0;

/** Each odd piece and the next odd one made one, with all between them; the last stays alone if no other follows it. */
function withPairsJoined(pieces: readonly Uint8Array[]): Uint8Array[] {
  const paired: Uint8Array[] = [];
  let open: Uint8Array[] = [];
  for (const piece of pieces) {
    if (open.length === 0 && !isOdd(piece)) paired.push(piece);
    else open.push(piece);
    if (open.length < 2 || !isOdd(piece)) continue;
    paired.push(Buffer.concat(open));
    open = [];
  }
  return [...paired, ...open];
}

/** Characters whose codes have the same high octet are a row: most alphabets are in one or two. */
function rowCount(text: string): number {
  const rows = new Set<number>();
  for (let index = 0; index < text.length; index++) rows.add(text.charCodeAt(index) >> 8);
  return rows.size;
}

/** It ends the piece, and might stand within a character that is cut there. In the GSM alphabet it is an at sign. */
function withoutNulAtEnd(octets: Uint8Array): Uint8Array {
  return octets.at(-1) === 0 ? octets.subarray(0, -1) : octets;
}

export function readAlike(one: ReceivedText, other: ReceivedText): boolean {
  return (
    one.charset === other.charset && one.singleShift === other.singleShift && one.lockingShift === other.lockingShift
  );
}

function octetsOf({ hex }: ReceivedOctets): Uint8Array {
  return Buffer.from(hex, "hex");
}

function hexOf(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString("hex");
}

function decoder(label: string): Decode {
  const text = new TextDecoder(label);
  return (octets) => text.decode(octets);
}

/** ESC and "$" or "(": ISO-2022-JP, whatever else the coding could be. */
function japanese(otherwise: string): Decode {
  const shifted = decoder("iso-2022-jp");
  const plain = decoder(otherwise);
  return (octets, shifts) => (hasShift(octets) ? shifted : plain)(octets, shifts);
}

const ESCAPE = 0x1b;
const SHIFTS = new Set([0x24, 0x28]);

function hasShift(octets: Uint8Array): boolean {
  let at = octets.indexOf(ESCAPE);
  while (at >= 0 && !SHIFTS.has(octets[at + 1] ?? 0)) at = octets.indexOf(ESCAPE, at + 1);
  return at >= 0;
}
