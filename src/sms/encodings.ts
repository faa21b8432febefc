/**
 * The ways to write a text on the air. An encoding is named by a short string that is stored with the message: `gsm7`,
 * `ucs2`, or `gsm7+` a language and its tables: `s` single shift, `l` locking shift, `ls` both.
 */
import { type Alphabet, alphabetOf, type LockingTable, type SingleShiftTable } from "./alphabets.ts";
import tables from "./data/gsm-alphabets.json" with { type: "json" };
import type { Shifts } from "./header.ts";

export const LANGUAGE_CODES = ["TR", "ES", "PT"] as const;
export type LanguageCode = (typeof LANGUAGE_CODES)[number];

/** What a client may say of the language: one of them, whichever of them holds its text in the fewest parts, or none. */
export const LANGUAGE_CHOICES = [...LANGUAGE_CODES, "AUTODETECT", "NONE"] as const;
export type LanguageChoice = (typeof LANGUAGE_CHOICES)[number];

/** What an encoding is made of. Without an alphabet it is UCS-2. */
export interface EncodingForm {
  alphabet?: Alphabet;
  /** The shift tables that the header of each part names. */
  shifts: Shifts;
}

const { TR, ES, PT } = tables.nationalLanguageIdentifier;

const SINGLE_SHIFT_TABLES = new Map<number | undefined, SingleShiftTable>([
  [TR, "turkish"],
  [ES, "spanish"],
  [PT, "portuguese"],
]);

/** 23.038 annex A.3 has none for Spanish. */
const LOCKING_TABLES = new Map<number | undefined, LockingTable>([
  [TR, "turkish"],
  [PT, "portuguese"],
]);

/**
 * The alphabet that these shifts select. A language that we do not know is read with the default table, as 23.040
 * §9.2.3.24.15 says.
 */
export function alphabetFor({ singleShift, lockingShift }: Shifts): Alphabet {
  return alphabetOf(LOCKING_TABLES.get(lockingShift) ?? "default", SINGLE_SHIFT_TABLES.get(singleShift) ?? "default");
}

export const ENCODINGS = {
  gsm7: sevenBit({}),
  "gsm7+tr.s": sevenBit({ singleShift: TR }),
  "gsm7+tr.l": sevenBit({ lockingShift: TR }),
  "gsm7+tr.ls": sevenBit({ singleShift: TR, lockingShift: TR }),
  "gsm7+es.s": sevenBit({ singleShift: ES }),
  "gsm7+pt.s": sevenBit({ singleShift: PT }),
  "gsm7+pt.l": sevenBit({ lockingShift: PT }),
  "gsm7+pt.ls": sevenBit({ singleShift: PT, lockingShift: PT }),
  ucs2: { shifts: {} } as EncodingForm,
} as const;
export type Encoding = keyof typeof ENCODINGS;

export const ENCODING_NAMES = Object.keys(ENCODINGS) as readonly Encoding[];

function sevenBit(shifts: Shifts): EncodingForm {
  return { alphabet: alphabetFor(shifts), shifts };
}
