/** Numbers as carriers write them, compared with the recipients that we know: digits, with the country's code in front. Pure. */

/** A plus, or two zeros in its place. */
const INTERNATIONAL = /^(?:\+|00)/;
const NUMBER = /^\+?\d{1,20}$/;
/** Fewer digits could be the end of too many numbers. */
const MIN_NATIONAL_DIGITS = 7;

/** The number without what may stand in front of it; null for what is no number, such as a name. */
export function phoneOf(address: string): string | null {
  return NUMBER.test(address) ? plainPhone(address) : null;
}

/** The same number in the one form in which numbers are compared. */
export function plainPhone(phone: string): string {
  return phone.replace(INTERNATIONAL, "");
}

export function samePhone(one: string, other: string): boolean {
  return plainPhone(one) === plainPhone(other);
}

/**
 * Whether it may be the same number, as its own country writes it. What stands there for the country's code differs from country to country (nothing,
 * 0, 8, 06, 01 …), so only the digits at the end are compared.
 */
export function isNational(phone: string, recipient: string): boolean {
  const end = phone.slice(-MIN_NATIONAL_DIGITS);
  return end.length === MIN_NATIONAL_DIGITS && recipient.endsWith(end);
}
