/**
 * Septets packed into octets (3GPP TS 23.038 §6.1.2.1): the first septet lies in the lowest seven bits of the first
 * octet, the next one follows at once. After a header the text starts at the next multiple of seven bits: the gap is
 * the *fill bits*.
 *
 * Where only the octets are counted, as in SMPP's short_message, seven spare bits at the end would be read as one septet more: zero bits
 * are an `@`. There they are filled with a CR (§6.1.2.3.1), which shows nothing, and whoever reads takes it off again. If the text itself
 * ends in CR at that place, the clause wants another behind it, in an octet of its own: two are the same as one to a phone. A full part has no room
 * for that octet; there the text's own CR is lost.
 */

const CR = 0x0d;
/** What the user data of a part holds (23.040 §9.2.3.24). */
const FULL_OCTETS = 140;

/** The septets that a header of so many octets pushes aside, its fill bits included. */
export function headerSeptets(octetLength: number): number {
  return Math.ceil((octetLength * 8) / 7);
}

/** Whether so many septets leave seven spare bits in their last octet. */
function leavesSeptet(septetCount: number): boolean {
  return septetCount % 8 === 7;
}

/** Whether a CR at the end of so many septets would be taken for padding. */
function endsOctet(septetCount: number): boolean {
  return septetCount % 8 === 0;
}

/**
 * The header followed by the packed septets. Bits left over at the end are zero, unless `padded` says that the septet count does not go
 * with them: then seven of them are a CR.
 */
export function pack(header: Uint8Array, text: Uint8Array, padded = false): Uint8Array {
  const start = headerSeptets(header.length);
  const septets = padded ? withSecondCr(text, start) : text;
  const octets = new Uint8Array(Math.ceil(((start + septets.length) * 7) / 8));
  octets.set(header);
  const firstBit = start * 7;
  let octet = firstBit >> 3;
  let bitCount = firstBit & 7;
  let bits = 0;
  for (let index = 0; index < septets.length; index++) {
    bits |= septets[index]! << bitCount;
    bitCount += 7;
    if (bitCount >= 8) {
      octets[octet++] = bits & 0xff;
      bits >>= 8;
      bitCount -= 8;
    }
  }
  if (padded && leavesSeptet(start + septets.length)) bits |= CR << bitCount;
  if (bitCount > 0) octets[octet] = bits;
  return octets;
}

function withSecondCr(septets: Uint8Array, start: number): Uint8Array {
  const count = start + septets.length;
  if (!endsOctet(count) || septets.at(-1) !== CR || (count * 7) / 8 === FULL_OCTETS) return septets;
  const longer = new Uint8Array(septets.length + 1);
  longer.set(septets);
  longer[septets.length] = CR;
  return longer;
}

/**
 * The septets after a header of so many octets. `septetLength` counts the whole field, header included, as TP-UDL does; left out, all that
 * the octets hold are read, but for a CR that is padding.
 */
export function unpack(octets: Uint8Array, headerOctetLength: number, septetLength?: number): Uint8Array {
  const start = headerSeptets(headerOctetLength);
  const held = Math.floor((octets.length * 8) / 7);
  const septets = new Uint8Array(Math.max(0, Math.min(septetLength ?? held, held) - start));
  let bit = start * 7;
  for (let index = 0; index < septets.length; index++) {
    const octet = bit >> 3;
    const shift = bit & 7;
    septets[index] = ((octets[octet]! | ((octets[octet + 1] ?? 0) << 8)) >> shift) & 0x7f;
    bit += 7;
  }
  if (septetLength !== undefined || septets.at(-1) !== CR) return septets;
  const isPadding = leavesSeptet(held - 1) || (endsOctet(held - 1) && septets.at(-2) === CR);
  return isPadding ? septets.subarray(0, -1) : septets;
}
