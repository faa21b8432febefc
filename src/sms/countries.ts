/** The country that a phone number belongs to, by its beginning. Who has taken his number to another network is still found in his country. */
import { COUNTRY_PREFIXES } from "./data/country-prefixes.ts";

const BY_PREFIX = new Map(
  Object.entries(COUNTRY_PREFIXES).flatMap(([country, prefixes]) =>
    prefixes.split(" ").map((prefix) => [prefix, country] as const),
  ),
);
const MAX_PREFIX = Math.max(...[...BY_PREFIX.keys()].map(({ length }) => length));

/** Its ISO 3166-1 code, such as CH; null for a number that begins like none. The number is in its international form, without a plus. */
export function countryOf(number: string): string | null {
  return countryPrefixOf(number)?.country ?? null;
}

/** The same with the beginning that says so. */
export function countryPrefixOf(number: string): { readonly country: string; readonly prefix: string } | null {
  for (let length = Math.min(MAX_PREFIX, number.length); length > 0; length--) {
    const prefix = number.slice(0, length);
    const country = BY_PREFIX.get(prefix);
    if (country !== undefined) return { country, prefix };
  }
  return null;
}
