/**
 * A request that is wrong by an octet, put right. Other stacks end the short message with a NUL that sm_length does not count, count one that
 * is not there, or leave a piece of an optional parameter at the end; and a receipt that is refused for it is lost. Only what was read
 * strictly and could not be comes here, so that a request that is right costs nothing.
 *
 * Where several readings are possible, the one counts whose optional parameters end exactly where the PDU ends:
 *
 *   … sm_length, message, parameters, end         what was tried before
 *   … sm_length, message, NUL, parameters, end    an octet too many behind the message
 *   … sm_length too large by one, or too small   it counted a NUL that is not there, or characters instead of octets
 *
 * If there is none, the same again with a bad end: one to three octets that make no parameter are passed over, and a last parameter
 * that claims one octet more than there is has what is there. What is put right is a copy, which is then read strictly: nothing outside
 * the PDU is looked at, and each reading is one pass over the parameters.
 */

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

/** 5.0 §4.8.1: no parameter has a tag above 0x3fff. Octets behind the message that begin with one above are the message's. */
const MIN_UNUSED_TAG_OCTET = 0x40;

interface Shift {
  /** What has to be added to sm_length. */
  readonly lengthBy: number;
  /** The octet behind the message is at least this; nothing is said of it if not given. */
  readonly minNext?: number;
  /** A NUL stands between the message and the parameters. */
  readonly hasNul: boolean;
  readonly how: Mending;
}

const NO_SHIFT: Shift = { lengthBy: 0, hasNul: false, how: "octets after the parameters" };
const NUL_BEHIND: Shift = { lengthBy: 0, hasNul: true, how: "octets after the message" };
const WITHOUT_MESSAGE: readonly Shift[] = [NO_SHIFT, NUL_BEHIND];
const WITH_MESSAGE: readonly Shift[] = [
  ...WITHOUT_MESSAGE,
  { lengthBy: -1, hasNul: false, how: "sm_length is wrong" },
  { lengthBy: 1, hasNul: false, how: "sm_length is wrong" },
  { lengthBy: 2, hasNul: false, how: "sm_length is wrong", minNext: MIN_UNUSED_TAG_OCTET },
  { lengthBy: 3, hasNul: false, how: "sm_length is wrong", minNext: MIN_UNUSED_TAG_OCTET },
];

/**
 * The PDU from its first octet on, as its sender must have meant it; null when that cannot be told. `tail` is where its fixed fields end:
 * at sm_length, if it has one, or at its optional parameters. Its command_length is left as it was.
 */
export function mend(pdu: Buffer, tail: number, hasMessage: boolean): Mended | null {
  if (!hasMessage) return mendBehind(pdu, tail, null);
  if (tail >= pdu.length) return null;
  const length = pdu[tail]!;
  const behind = tail + 1 + length;
  // It runs past the end: all that is left is the message.
  if (behind === pdu.length + 1) return { octets: withLength(pdu, tail, length - 1), how: "sm_length is wrong" };
  return behind > pdu.length ? null : mendBehind(pdu, behind, tail);
}

function mendBehind(pdu: Buffer, behind: number, lengthAt: number | null): Mended | null {
  for (const mayBreakOff of [false, true]) {
    for (const shift of lengthAt === null ? WITHOUT_MESSAGE : WITH_MESSAGE) {
      const { lengthBy, hasNul, minNext = 0 } = shift;
      const end = behind + lengthBy;
      const from = hasNul ? end + 1 : end;
      if (from > pdu.length || (hasNul && pdu[end] !== 0) || pdu[behind]! < minNext) continue;
      const length = lengthAt === null ? 0 : pdu[lengthAt]! + lengthBy;
      if (length < 0 || length > MAX_MESSAGE_OCTETS) continue;
      const parameters = parametersFrom(pdu, from, mayBreakOff);
      // With a bad end, too, only a shift behind which a parameter can be read is a better reading than none.
      if (parameters === null || (mayBreakOff && shift !== NO_SHIFT && parameters.octets.length === 0)) continue;
      const front = lengthAt === null ? pdu.subarray(0, end) : withLength(pdu.subarray(0, end), lengthAt, length);
      return { octets: Buffer.concat([front, parameters.octets]), how: parameters.how ?? shift.how };
    }
  }
  return null;
}

/** The parameters from here to the end; null when they do not end there, and not nearly there if that will do. */
function parametersFrom(
  pdu: Buffer,
  from: number,
  mayBreakOff: boolean,
): { readonly octets: Buffer; readonly how: Mending | null } | null {
  let at = from;
  let over = 0;
  while (pdu.length - at >= TLV_HEADER_OCTETS) {
    const next = at + TLV_HEADER_OCTETS + pdu.readUInt16BE(at + 2);
    if (next > pdu.length) {
      over = next - pdu.length;
      break;
    }
    at = next;
  }
  if (at === pdu.length) return { octets: pdu.subarray(from), how: null };
  if (!mayBreakOff || over > 1) return null;
  if (over === 0) return { octets: pdu.subarray(from, at), how: "octets after the parameters" };
  const octets = Buffer.from(pdu.subarray(from));
  octets.writeUInt16BE(octets.readUInt16BE(at - from + 2) - 1, at - from + 2);
  return { octets, how: "a parameter's length is wrong" };
}

function withLength(octets: Buffer, at: number, length: number): Buffer {
  const copy = Buffer.from(octets);
  copy[at] = length;
  return copy;
}
