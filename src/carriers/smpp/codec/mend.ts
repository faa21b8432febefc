/**
 * A request that is wrong by an octet, put right. Other stacks end the short message with a NUL that sm_length does not count, count one that
 * is not there, count characters instead of octets, or leave a piece of an optional parameter at the end; and a receipt that is refused for it
 * is lost. Only what was read strictly and could not be comes here, so that a request that is right costs nothing.
 *
 * Two kinds of readings are possible:
 *
 *   sm_length is right   up to three NULs behind the message, then parameters, then up to three octets that make none; or the last
 *                        parameter claims one octet more than there is, and has what is there
 *   sm_length is wrong   by one too large, or by one to three too small. The parameters then end exactly where the PDU ends
 *
 * If several readings are possible that differ in the message, nobody can tell which is meant, and there is none: what cannot be read is kept
 * with its octets, while a text that lost its end would look as if it were whole. What is put right is a copy, which is then read strictly:
 * nothing outside the PDU is looked at, and each reading is one pass over the parameters.
 */
import { KNOWN_TAGS } from "./tlvs.ts";

/** What was wrong, for the log. */
export type Mending =
  | "octets after the message"
  | "sm_length is wrong"
  | "octets after the parameters"
  | "a parameter's length is wrong";

export interface Mended {
  readonly octets: Buffer;
  readonly how: Mending;
}

const TLV_HEADER_OCTETS = 4;
/** sm_length is an octet. */
const MAX_MESSAGE_OCTETS = 255;
/** Octets too many, at either place: four of them would make a parameter. */
const MAX_STRAY_OCTETS = 3;
/** What may have to be added to sm_length. */
const LENGTH_SHIFTS = [-1, 1, 2, 3];

/** 5.0 §4.8.1: no parameter has a tag above 0x3fff. Octets behind the message that begin with one above are the message's. */
const MIN_UNUSED_TAG_OCTET = 0x40;
const VENDOR_TAGS = { min: 0x1400, max: 0x3fff };

/**
 * The PDU from its first octet on, as its sender must have meant it; null when that cannot be told. `tail` is where its fixed fields end:
 * at sm_length, if it has one, or at its optional parameters. Its command_length is left as it was.
 */
export function mend(pdu: Buffer, tail: number, hasMessage: boolean): Mended | null {
  if (!hasMessage) return withStrayOctets(pdu, tail, false);
  if (tail >= pdu.length) return null;
  const length = pdu[tail]!;
  const behind = tail + 1 + length;
  // It runs past the end: all that is left is the message.
  if (behind === pdu.length + 1) return { octets: withLength(pdu, tail, length - 1), how: "sm_length is wrong" };
  if (behind > pdu.length) return null;
  const asSaid = withStrayOctets(pdu, behind, true);
  const otherwise = LENGTH_SHIFTS.flatMap((lengthBy) => withOtherLength(pdu, tail, lengthBy) ?? []);
  if (otherwise.length === 0) return asSaid;
  const [other] = otherwise;
  return asSaid === null && otherwise.length === 1 && other!.isLikely ? other! : null;
}

/** The message ends where it says, and octets too many stand behind it or at the end. Of several such readings the most exact counts. */
function withStrayOctets(pdu: Buffer, behind: number, hasMessage: boolean): Mended | null {
  const found: { readonly from: number; readonly end: BadEnd; readonly parameters: Parameters }[] = [];
  for (let from = behind; from <= Math.min(behind + MAX_STRAY_OCTETS, pdu.length); from++) {
    if (from > behind && pdu[from - 1] !== 0) break;
    const parameters = parametersFrom(pdu, from);
    if (hasMessage && parameters.tags.length > 0 && pdu[from]! >= MIN_UNUSED_TAG_OCTET) continue;
    const end = badEndOf(pdu, parameters, hasMessage);
    if (end !== null) found.push({ from, end, parameters });
  }
  for (const end of BAD_ENDS) {
    const best = found.find((reading) => reading.end === end);
    if (best === undefined) continue;
    const { from, parameters } = best;
    if (end === "short") return { octets: withLastTaken(pdu, behind, best), how: "a parameter's length is wrong" };
    const octets = Buffer.concat([pdu.subarray(0, behind), pdu.subarray(from, parameters.end)]);
    return { octets, how: end === "none" ? "octets after the message" : "octets after the parameters" };
  }
  return null;
}

/** How parameters end badly, from the likeliest on: not at all, with NULs, with other octets, or with an octet that is missing. */
const BAD_ENDS = ["none", "nuls", "octets", "short"] as const;
type BadEnd = (typeof BAD_ENDS)[number];

/** Null when they are no parameters. */
function badEndOf(pdu: Buffer, { end, tags, missing }: Parameters, hasMessage: boolean): BadEnd | null {
  if (end === pdu.length) return "none";
  const isKnown = tags.some((tag) => KNOWN_TAGS.has(tag));
  if (missing > 0) return missing === 1 && isKnown ? "short" : null;
  if (pdu.subarray(end).every((octet) => octet === 0)) return "nuls";
  // Without a parameter that is known they may be the end of the message, unless they begin one: its tag, and a length below 256.
  const beginsOne = pdu.length - end === 3 && KNOWN_TAGS.has(pdu.readUInt16BE(end)) && pdu[end + 2] === 0;
  return isKnown || beginsOne || !hasMessage ? "octets" : null;
}

/** The last parameter has what is there. */
function withLastTaken(pdu: Buffer, behind: number, reading: { from: number; parameters: Parameters }): Buffer {
  const { from, parameters } = reading;
  const octets = Buffer.concat([pdu.subarray(0, behind), pdu.subarray(from)]);
  const lengthAt = parameters.end - from + behind + 2;
  octets.writeUInt16BE(octets.readUInt16BE(lengthAt) - 1, lengthAt);
  return octets;
}

interface OtherLength extends Mended {
  /**
   * More than chance speaks for it: the standard knows the first parameter, or no parameter can begin where the message was to end. One that is
   * wrong by one and not likely is not taken, but it makes others doubtful.
   */
  readonly isLikely: boolean;
}

/** The message is longer or shorter than it says, and nothing else is wrong. */
function withOtherLength(pdu: Buffer, lengthAt: number, lengthBy: number): OtherLength | null {
  const length = pdu[lengthAt]! + lengthBy;
  const behind = lengthAt + 1 + pdu[lengthAt]!;
  const from = behind + lengthBy;
  if (length < 0 || length > MAX_MESSAGE_OCTETS || from > pdu.length) return null;
  // A NUL that the length does not count ends the message and is none of it.
  if (lengthBy > 0 && pdu[from - 1] === 0) return null;
  const { end, tags } = parametersFrom(pdu, from);
  if (end !== pdu.length || !tags.every(isInUse)) return null;
  const [first] = tags;
  const isTooShort = lengthBy > 0 && pdu[behind]! >= MIN_UNUSED_TAG_OCTET;
  const isLikely = first === undefined || isTooShort || KNOWN_TAGS.has(first);
  if (!isLikely && lengthBy > 1) return null;
  return { octets: withLength(pdu, lengthAt, length), how: "sm_length is wrong", isLikely };
}

function isInUse(tag: number): boolean {
  return KNOWN_TAGS.has(tag) || (tag >= VENDOR_TAGS.min && tag <= VENDOR_TAGS.max);
}

interface Parameters {
  /** Behind the last that is whole. */
  readonly end: number;
  /** Of those that are whole, and of the last if only its value breaks off. */
  readonly tags: readonly number[];
  /** So many octets are missing of one that breaks off behind them. */
  readonly missing: number;
}

function parametersFrom(pdu: Buffer, from: number): Parameters {
  const tags: number[] = [];
  let at = from;
  while (pdu.length - at >= TLV_HEADER_OCTETS) {
    tags.push(pdu.readUInt16BE(at));
    const next = at + TLV_HEADER_OCTETS + pdu.readUInt16BE(at + 2);
    if (next > pdu.length) return { end: at, tags, missing: next - pdu.length };
    at = next;
  }
  return { end: at, tags, missing: 0 };
}

function withLength(octets: Buffer, at: number, length: number): Buffer {
  const copy = Buffer.from(octets);
  copy[at] = length;
  return copy;
}
