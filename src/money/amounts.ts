/**
 * Money: whole millionths of a currency's unit, as bigint, so that nothing is ever rounded by accident and no sum is too large.
 */
export type Micros = bigint;

const MICROS_PER_UNIT = 1_000_000n;
const DECIMAL = /^(-?)(\d+)(?:\.(\d{1,6})0*)?$/;
/** More digits than any amount of ours has. */
const MAX_DIGITS = 18;
/** The largest amount that anybody may name, and the largest balance that funds may lead to. */
export const MAX_AMOUNT: Micros = 1_000_000_000n * MICROS_PER_UNIT;
/**
 * What a wallet holds at most, and what one posting moves at most: some 0.43 of what the store's 64 bits can hold, so that a wallet of the
 * service's own that is full by this measure still takes a posting. An account's wallet is far below it: only charges that are given back after
 * more funds were added take it beyond MAX_AMOUNT. Sums over many wallets or postings have no bound, so nothing adds them up in 64 bits.
 */
export const MAX_WALLET: Micros = 4_000_000_000_000n * MICROS_PER_UNIT;

/**
 * Reads a decimal number with at most 6 places, or null when it is anything else. One with more digits than any amount has is read as a number of so
 * many nines: it is beyond every bound all the same, and however long a text is, it costs little.
 */
export function parseMicros(decimal: string): Micros | null {
  const match = DECIMAL.exec(decimal);
  if (match === null) return null;
  const [, sign, digits = "0", places = ""] = match;
  const units = digits.length > MAX_DIGITS ? digits.replace(/^0+/, "") : digits;
  const size = units.length > MAX_DIGITS ? "9".repeat(MAX_DIGITS) : units;
  const micros = BigInt(size) * MICROS_PER_UNIT + BigInt(places.padEnd(6, "0"));
  return sign === "-" ? -micros : micros;
}

/** "47.79134": the shortest decimal that says the same. */
export function formatMicros(micros: Micros): string {
  const sign = micros < 0n ? "-" : "";
  const size = micros < 0n ? -micros : micros;
  // Six digits: to take the zeros off their end takes the square of their number.
  const places = (size % MICROS_PER_UNIT).toString().padStart(6, "0").replace(/0+$/, "");
  return `${sign}${size / MICROS_PER_UNIT}${places === "" ? "" : `.${places}`}`;
}

/** "47.79134 EUR" */
export function money(micros: Micros, currency: string): string {
  return `${formatMicros(micros)} ${currency}`;
}

/** As a JSON number: the nearest double, which prints the same decimals for any balance below some 9 billion units. */
export function microsToNumber(micros: Micros): number {
  return Number(formatMicros(micros));
}

/** `amount` of one currency in another; half a millionth rounds away from zero. The only place where money is rounded. */
export function exchange(amount: Micros, rate: Micros): Micros {
  const product = amount * rate;
  const half = product < 0n ? -MICROS_PER_UNIT / 2n : MICROS_PER_UNIT / 2n;
  return (product + half) / MICROS_PER_UNIT;
}
