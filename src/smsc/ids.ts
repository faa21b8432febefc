/**
 * Message ids, in the spellings that carriers are known for. Behind each is a number; some carriers spell it one way in the answer
 * to a submit and another way in the receipt. Pure.
 */
interface Spelling {
  write(number: number): string;
  /** The number that is spelled so; NaN when none is. */
  read(id: string): number;
}

const TWO_TO_63 = 2n ** 63n;
const ZEROS_DIGITS = 20;
const HEX = /^[0-9a-f]+$/i;
const DECIMAL = /^[0-9]+$/;

const SPELLINGS = {
  decimal: { write: (number) => String(number), read: readDecimal },
  hex: { write: (number) => number.toString(16), read: readHex },
  "capital hex": { write: (number) => number.toString(16).toUpperCase(), read: readHex },
  /** Zeros in front. */
  zeros: { write: (number) => String(number).padStart(ZEROS_DIGITS, "0"), read: readDecimal },
  /** More than a JavaScript number holds: whoever takes it for one gives many ids the same value. */
  "64-bit": {
    write: (number) => (TWO_TO_63 + BigInt(number)).toString(),
    read: (id) => (DECIMAL.test(id) ? Number(BigInt(id) - TWO_TO_63) : Number.NaN),
  },
  uuid: { write: writeUuid, read: (id) => readHex(id.replaceAll("-", "").slice(-UUID_DIGITS)) },
} as const satisfies Record<string, Spelling>;

export type IdSpelling = keyof typeof SPELLINGS;
/** One spelling for both; or that of the answer, then that of the receipt. */
export type IdStyle = IdSpelling | `${IdSpelling} then ${IdSpelling}`;

export const ID_SPELLINGS = Object.keys(SPELLINGS) as readonly IdSpelling[];
export const ID_STYLES: readonly IdStyle[] = [
  ...ID_SPELLINGS,
  ...ID_SPELLINGS.flatMap((answer) =>
    ID_SPELLINGS.filter((receipt) => receipt !== answer).map((receipt) => `${answer} then ${receipt}` as const),
  ),
];

/** The number's id in the answer to a submit and in the receipt. */
export function idsOf(number: number, style: IdStyle): { readonly inAnswer: string; readonly inReceipt: string } {
  const [answer, receipt = answer] = style.split(" then ") as [IdSpelling, IdSpelling?];
  return { inAnswer: SPELLINGS[answer].write(number), inReceipt: SPELLINGS[receipt].write(number) };
}

/** The numbers that may be meant by an id, whose spelling nobody tells. */
export function numbersSpelled(id: string): number[] {
  return ID_SPELLINGS.map((name) => SPELLINGS[name].read(id)).filter(Number.isSafeInteger);
}

function readDecimal(id: string): number {
  return DECIMAL.test(id) ? Number(id) : Number.NaN;
}

function readHex(id: string): number {
  return HEX.test(id) ? Number.parseInt(id, 16) : Number.NaN;
}

const UUID_DIGITS = 14;

/** Of version 8, whose digits are the maker's own (RFC 9562 §5.8). */
function writeUuid(number: number): string {
  const hex = number.toString(16).padStart(UUID_DIGITS, "0");
  return `5e1f0000-0000-8000-80${hex.slice(0, 2)}-${hex.slice(2)}`;
}
