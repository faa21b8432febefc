/** What a message carries, text or octets alike: one shape from intake to the carrier, and the one way from it to the parts. */
import { beginsWithHeader, binaryPartCount, encodeBinary, HEADER_BIT, readHex } from "./binary.ts";
import type { Encoding } from "./encodings.ts";
import { encodeParts, type PartsOptions, type UserData } from "./userdata.ts";

/** Octets of the client's own: their `text` is hex, and these are the values of SMPP that go with them. */
export interface OctetEncoding {
  readonly dataCoding: number;
  readonly esmClass: number;
}

export interface Body {
  readonly text: string;
  readonly encoding: Encoding | OctetEncoding;
}

export function isOctets(encoding: Body["encoding"]): encoding is OctetEncoding {
  return typeof encoding !== "string";
}

/** A body of octets whose hex was looked at when it was taken in. */
function binaryOf(hex: string, { dataCoding, esmClass }: OctetEncoding) {
  const octets = readHex(hex);
  if (octets === undefined) throw new RangeError("the hex of a binary message cannot be read");
  return { octets, dataCoding, hasHeader: (esmClass & HEADER_BIT) !== 0 };
}

export function encodeBody({ text, encoding }: Body, options: PartsOptions): UserData[] {
  return isOctets(encoding)
    ? encodeBinary(binaryOf(text, encoding), options)
    : encodeParts({ text, encoding }, options);
}

export type OctetCount = number | "bad header" | "not to be cut";

/** The number of parts, or why there are none: a header that is none, or one beside which ours has no place. */
export function countOctets(hex: string, encoding: OctetEncoding): OctetCount {
  const message = binaryOf(hex, encoding);
  if (message.hasHeader && !beginsWithHeader(message.octets)) return "bad header";
  return binaryPartCount(message) ?? "not to be cut";
}
