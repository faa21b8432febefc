/**
 * The user data field: the octets that a phone receives, header and text, and back. Encoding and decoding are each
 * other's inverse for every text that an encoding holds; what arrives broken from outside is read as 23.040 has a phone
 * read it, and never throws.
 */
import { septetsOf, textOfSeptets } from "./alphabets.ts";
import { type DataAlphabet, dataCodingOf, readDataCoding } from "./datacoding.ts";
import { alphabetFor, ENCODINGS, type Encoding } from "./encodings.ts";
import { type Concatenation, type Header, headerOctets, readHeader } from "./header.ts";
import { cutText } from "./parts.ts";
import { headerSeptets, pack, unpack } from "./septets.ts";

export interface UserData {
  /** The whole field, header included if there is one. */
  octets: Uint8Array;
  hasHeader: boolean;
  dataCoding: number;
  /** As TP-UDL counts: septets for a 7 bit alphabet, the header's included, and octets for the others. */
  length: number;
  /** The text of this part. */
  text: string;
}

export interface UserDataOptions {
  /** A flash message is of class 0: shown on receipt and not kept. */
  flash: boolean;
  /** Leaves septets one an octet, as SMPP's short_message carries them, instead of packed as on the air. */
  unpacked?: boolean;
  /** Packed septets go where only octets are counted: seven spare bits are a CR, lest they be read as an `@`. */
  padded?: boolean;
}

export interface PartsOptions extends UserDataOptions {
  /** What marks the parts of one message as its own; used when there are several. */
  reference: number;
  /**
   * 16 bits of reference instead of 8. Costs an octet of each part, so a text may need a part more than was counted.
   */
  wideReference?: boolean;
}

/** Cuts a prepared text into the parts that go on the air. */
export function encodeParts(prepared: { text: string; encoding: Encoding }, options: PartsOptions): UserData[] {
  const { encoding } = prepared;
  const texts = cutText(prepared.text, encoding, options.wideReference);
  const total = texts.length;
  if (total === 1) return [encodeUserData(prepared.text, encoding, options)];
  if (total > 255) throw new RangeError(`a message cannot have ${total} parts`);
  const { reference, wideReference = false } = options;
  return texts.map((text, index) =>
    encodeUserData(text, encoding, options, {
      concatenation: { reference, total, sequence: index + 1 },
      wideReference,
    }),
  );
}

/**
 * The user data of one part. Whoever sends a long message without a header (SMPP's sar_ parameters) leaves `header`
 * out.
 */
export function encodeUserData(
  text: string,
  encoding: Encoding,
  options: UserDataOptions,
  header: Header = {},
): UserData {
  const { alphabet, shifts } = ENCODINGS[encoding];
  const head = headerOctets({ ...header, ...shifts });
  const hasHeader = head.length > 0;
  if (alphabet === undefined) {
    const octets = joinOctets(head, ucs2Octets(text));
    return { octets, hasHeader, dataCoding: dataCodingOf("ucs2", options.flash), length: octets.length, text };
  }
  const septets = septetsOf(text, alphabet.codes);
  const octets = options.unpacked ? joinOctets(head, septets) : pack(head, septets, options.padded);
  const length = headerSeptets(head.length) + septets.length;
  return { octets, hasHeader, dataCoding: dataCodingOf("gsm7", options.flash), length, text };
}

export interface DecodedUserData {
  alphabet: DataAlphabet;
  flash: boolean;
  /** Empty for 8 bit data. */
  text: string;
  /** What follows the header, as it came: the data of an 8 bit message. */
  payload: Uint8Array;
  concatenation?: Concatenation;
  /** Its reference has 16 bits. */
  wideReference?: boolean;
}

export interface ReceivedUserData {
  octets: Uint8Array;
  hasHeader: boolean;
  dataCoding: number;
  /** TP-UDL. Left out, all septets that the octets hold are read, but for a CR that is padding. */
  length?: number;
  unpacked?: boolean;
}

export function decodeUserData(received: ReceivedUserData): DecodedUserData {
  const { octets } = received;
  const { alphabet, flash } = readDataCoding(received.dataCoding);
  const { header, octetLength } = received.hasHeader ? readHeader(octets) : { header: {} as Header, octetLength: 0 };
  const payload = octets.subarray(octetLength);
  const text = textOf(received, alphabet, header, octetLength);
  const decoded: DecodedUserData = { alphabet, flash, text, payload };
  if (header.concatenation !== undefined) decoded.concatenation = header.concatenation;
  if (header.wideReference) decoded.wideReference = true;
  return decoded;
}

function textOf(received: ReceivedUserData, alphabet: DataAlphabet, header: Header, headerLength: number): string {
  const { octets, length } = received;
  if (alphabet === "octets") return "";
  if (alphabet === "ucs2") return textOfUcs2(octets.subarray(headerLength));
  const septets = received.unpacked ? octets.subarray(headerLength) : unpack(octets, headerLength, length);
  return textOfSeptets(septets, alphabetFor(header));
}

export function ucs2Octets(text: string): Uint8Array {
  const octets = new Uint8Array(text.length * 2);
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    octets[index * 2] = unit >> 8;
    octets[index * 2 + 1] = unit & 0xff;
  }
  return octets;
}

export function textOfUcs2(octets: Uint8Array): string {
  let text = "";
  for (let index = 0; index + 1 < octets.length; index += 2) {
    text += String.fromCharCode((octets[index]! << 8) | octets[index + 1]!);
  }
  return text;
}

export function joinOctets(head: Uint8Array, body: Uint8Array): Uint8Array {
  if (head.length === 0) return body;
  const octets = new Uint8Array(head.length + body.length);
  octets.set(head);
  octets.set(body, head.length);
  return octets;
}
