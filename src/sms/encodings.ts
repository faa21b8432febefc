/**
 * The ways to write a text on the air, and the choice of one. An encoding is named by a short string that is stored with the message:
 * `gsm7`, `ucs2`, or `gsm7+` a language and its tables: `s` single shift, `l` locking shift, `ls` both.
 */
import { type Alphabet, alphabetOf, type LockingTable, type SingleShiftTable } from "./alphabets.ts";
import tables from "./data/gsm-alphabets.json" with { type: "json" };
import type { Header } from "./header.ts";

export const LANGUAGE_CODES = ["TR", "ES", "PT"] as const;
export type LanguageCode = (typeof LANGUAGE_CODES)[number];

export type Encoding =
  | "gsm7"
  | "gsm7+tr.s"
  | "gsm7+tr.l"
  | "gsm7+tr.ls"
  | "gsm7+es.s"
  | "gsm7+pt.s"
  | "gsm7+pt.l"
  | "gsm7+pt.ls"
  | "ucs2";

/** What an encoding is made of. Without an alphabet it is UCS-2. */
export interface EncodingForm {
  alphabet?: Alphabet;
  /** The shift tables that each part must name. */
  shifts: Header;
}

function sevenBit(
  language?: LanguageCode,
  locking: LockingTable = "default",
  single: SingleShiftTable = "default",
): EncodingForm {
  const shifts: Header = {};
  if (language !== undefined) {
    const identifier = tables.nationalLanguageIdentifier[language];
    if (single !== "default") shifts.singleShift = identifier;
    if (locking !== "default") shifts.lockingShift = identifier;
  }
  return { alphabet: alphabetOf(locking, single), shifts };
}

export const ENCODINGS: Readonly<Record<Encoding, EncodingForm>> = {
  gsm7: sevenBit(),
  "gsm7+tr.s": sevenBit("TR", "default", "turkish"),
  "gsm7+tr.l": sevenBit("TR", "turkish", "default"),
  "gsm7+tr.ls": sevenBit("TR", "turkish", "turkish"),
  "gsm7+es.s": sevenBit("ES", "default", "spanish"),
  "gsm7+pt.s": sevenBit("PT", "default", "portuguese"),
  "gsm7+pt.l": sevenBit("PT", "portuguese", "default"),
  "gsm7+pt.ls": sevenBit("PT", "portuguese", "portuguese"),
  ucs2: { shifts: {} },
};
