/** Numbers as carriers write them, compared with the recipients that we know: digits, with the country's code in front. Pure. */

/** A plus, or two zeros in its place. */
const INTERNATIONAL = /^(?:\+|00)/;
const NUMBER = /^\+?\d{1,20}$/;
/** Fewer digits could be the end of too many numbers. */
const MIN_NATIONAL_DIGITS = 7;

/** The number without what may stand in front of it; null for what is no number, such as a name. */
export function phoneOf(address: string): string | null {
  return NUMBER.test(address) ? address.replace(INTERNATIONAL, "") : null;
}

export function samePhone(one: string, other: string): boolean {
  return one.replace(INTERNATIONAL, "") === other.replace(INTERNATIONAL, "");
}

/** Whether it may be the same number as seen from its own country: without the code, with or without a zero. */
export function isNational(phone: string, recipient: string): boolean {
  const digits = phone.replace(/^0/, "");
  return digits.length >= MIN_NATIONAL_DIGITS && recipient.endsWith(digits);
}
