/** What data_coding means in what a carrier sends: SMPP 3.4 §5.2.19 where it has a word of its own, else 23.038. Pure. */
import { type DataAlphabet, readDataCoding } from "../../sms/datacoding.ts";
import type { Charset } from "../../sms/received.ts";
import type { SmppProfile } from "./profile.ts";

const DEFAULT = 0;
const IA5 = 1;

const CHARSETS: Readonly<Record<number, Charset>> = {
  2: "binary", // octets, unspecified
  3: "latin1",
  4: "binary",
  5: "shift_jis", // JIS X 0208
  6: "iso-8859-5",
  7: "iso-8859-8",
  8: "ucs2",
  9: "shift_jis", // pictograms stand among its characters
  10: "shift_jis", // music codes, in ISO-2022-JP, which shows itself by its escapes
  13: "euc-jp", // JIS X 0212
  14: "euc-kr", // KS C 5601, and what code page 949 has beyond it
};

const BY_ALPHABET: Readonly<Record<DataAlphabet, Charset>> = { gsm7: "gsm", octets: "binary", ucs2: "ucs2" };

export function charsetOf(dataCoding: number, { alphabet, ia5 }: SmppProfile): Charset {
  if (dataCoding === DEFAULT) return alphabet === "latin1" || alphabet === "ascii" ? "latin1" : "gsm";
  // Latin-1 has ASCII in it, and an accent where a carrier writes one all the same.
  if (dataCoding === IA5) return ia5 === "gsm" ? "gsm" : "latin1";
  return CHARSETS[dataCoding] ?? BY_ALPHABET[readDataCoding(dataCoding).alphabet];
}

/** Whether its septets are packed as on the air. IA5 has an octet for each character whatever it is taken for. */
export function isPacked(dataCoding: number, { alphabet }: SmppProfile): boolean {
  return alphabet === "gsm packed" && dataCoding !== IA5;
}
