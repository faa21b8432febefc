/** Numbers as carriers write them, compared with the recipients that we know: digits, with the country's code in front. Pure. */
import { plainPhone } from "../sms/addresses.ts";

const NUMBER = /^\+?\d{1,20}$/;
/** Fewer digits could be the end of too many numbers. */
const MIN_NATIONAL_DIGITS = 7;

/** The number without what may stand in front of it; null for what is no number, such as a name. */
export function phoneOf(address: string): string | null {
  return NUMBER.test(address) ? plainPhone(address) : null;
}

export function samePhone(one: string, other: string): boolean {
  return plainPhone(one) === plainPhone(other);
}

/**
 * What stands in front of a number in its own country, where that is no zero: nothing, 8, or 80 (Belarus). What begins with a zero is always
 * national, for no country's code does; what stands there then differs (0, 06, 01, 044 …).
 */
const TRUNK_PREFIXES = ["", "8", "80"];
/** Mexico, Argentina and Brazil have a digit more in numbers of mobile phones, which not every network writes. */
const MOBILE_DIGIT = /^(?:(52)1(?=\d{10}$)|(54)9(?=\d{10}$)|(55\d\d)9(?=\d{8}$))/;

/**
 * Whether it may be the same number, as its own country writes it. A number with another country's code is another phone's, however it ends. What
 * begins with a zero is compared by its last digits only.
 */
export function isNational(phone: string, recipient: string): boolean {
  const end = phone.slice(-MIN_NATIONAL_DIGITS);
  if (end.length < MIN_NATIONAL_DIGITS || !recipient.endsWith(end)) return false;
  const plain = plainPhone(phone);
  const known = plainPhone(recipient);
  if (withoutMobileDigit(plain) === withoutMobileDigit(known)) return true;
  if (plain !== phone) return false;
  if (phone.startsWith("0")) return true;
  // In Russia and Kazakhstan it takes the place of their code, 7.
  if (phone.length === known.length) return phone.startsWith("8") && `7${phone.slice(1)}` === known;
  return TRUNK_PREFIXES.some((prefix) => {
    const rest = phone.slice(prefix.length);
    return phone.startsWith(prefix) && rest.length < known.length && known.endsWith(rest);
  });
}

function withoutMobileDigit(phone: string): string {
  return phone.replace(MOBILE_DIGIT, "$1$2$3");
}
