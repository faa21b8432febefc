/**
 * The user data header (3GPP TS 23.040 §9.2.3.24): what stands before the text of a part to say "I am part 2 of 3" or
 * "read me with the Turkish table". A length octet, then *information elements*: an identifier, a length and a value
 * each.
 */
export interface Concatenation {
  /** The same in all parts of one message. */
  reference: number;
  total: number;
  /** Counts from 1. */
  sequence: number;
}

/** The national language identifiers of the shift tables in use. */
export interface Shifts {
  singleShift?: number;
  lockingShift?: number;
}

export interface Header extends Shifts {
  concatenation?: Concatenation;
  /** Carries the reference in 16 bits instead of 8: one octet more. */
  wideReference?: boolean;
}

const CONCATENATION_8 = 0x00;
const CONCATENATION_16 = 0x08;
const SINGLE_SHIFT = 0x24;
const LOCKING_SHIFT = 0x25;

/** The octets of the header with its length octet; none at all when it has nothing to say. */
export function headerOctets(header: Header): Uint8Array {
  const elements: number[] = [];
  if (header.concatenation !== undefined) {
    const { reference, total, sequence } = header.concatenation;
    if (header.wideReference) {
      elements.push(CONCATENATION_16, 4, (reference >> 8) & 0xff, reference & 0xff, total, sequence);
    } else {
      elements.push(CONCATENATION_8, 3, reference & 0xff, total, sequence);
    }
  }
  if (header.singleShift !== undefined) elements.push(SINGLE_SHIFT, 1, header.singleShift);
  if (header.lockingShift !== undefined) elements.push(LOCKING_SHIFT, 1, header.lockingShift);
  return elements.length === 0 ? new Uint8Array() : Uint8Array.of(elements.length, ...elements);
}

/**
 * Reads the header at the start of a user data field: what it says, and the octets it takes. Unknown elements are
 * skipped. A header whose last element does not fit says nothing, as §9.2.3.24 demands.
 */
export function readHeader(userData: Uint8Array): { header: Header; octetLength: number } {
  const end = Math.min(1 + (userData[0] ?? 0), userData.length);
  const header: Header = {};
  let at = 1;
  while (at < end) {
    const identifier = userData[at]!;
    const length = userData[at + 1] ?? Number.POSITIVE_INFINITY;
    if (at + 2 + length > end) return { header: {}, octetLength: end };
    readElement(identifier, userData.subarray(at + 2, at + 2 + length), header);
    at += 2 + length;
  }
  return { header, octetLength: end };
}

function readElement(identifier: number, value: Uint8Array, header: Header): void {
  const [first = 0, second = 0, third = 0, fourth = 0] = value;
  if (identifier === CONCATENATION_8 && value.length === 3) {
    // §9.2.3.24: of elements that exclude each other the last one counts.
    if (readConcatenation({ reference: first, total: second, sequence: third }, header)) delete header.wideReference;
  } else if (identifier === CONCATENATION_16 && value.length === 4) {
    if (readConcatenation({ reference: (first << 8) | second, total: third, sequence: fourth }, header)) {
      header.wideReference = true;
    }
  } else if (identifier === SINGLE_SHIFT && value.length === 1) {
    header.singleShift = first;
  } else if (identifier === LOCKING_SHIFT && value.length === 1) {
    header.lockingShift = first;
  }
}

/** §9.2.3.24.1: an element that counts from nothing, or past its total, is ignored. */
function readConcatenation(concatenation: Concatenation, header: Header): boolean {
  const { total, sequence } = concatenation;
  if (sequence === 0 || sequence > total) return false;
  header.concatenation = concatenation;
  return true;
}

/**
 * The header's octets without what they say of parts: none when nothing else is in it. A header that cannot be read is left as it is, for
 * whoever can.
 */
export function withoutConcatenation(header: Uint8Array): Uint8Array {
  const kept: number[] = [];
  let at = 1;
  while (at < header.length) {
    const next = at + 2 + (header[at + 1] ?? Number.POSITIVE_INFINITY);
    if (next > header.length) return header;
    if (!PARTS.has(header[at]!)) kept.push(...header.subarray(at, next));
    at = next;
  }
  return kept.length === 0 ? new Uint8Array() : Uint8Array.of(kept.length, ...kept);
}

const PARTS = new Set([CONCATENATION_8, CONCATENATION_16]);
