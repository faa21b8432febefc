/**
 * The phone numbers of a run. Each message has a number of its own, which says which message it is wherever it turns up: in a
 * request, in a submit, in a report.
 */

/** Two digits of a country and ten that count. */
export const NUMBER_PREFIX = "49";
export const NUMBER_DIGITS = 12;
const COUNTER_DIGITS = 10;
const ZERO = 0x30;

/**
 * Where there are several loads, each with a carrier and a sink of its own, each counts from another first digit: so a route can tell them apart.
 */
const NUMBERS_A_LOAD = 1_000_000_000;
export const MAX_LOADS = 8;

export function firstNumber(load: number): number {
  return load * NUMBERS_A_LOAD;
}

/** What all numbers of a load begin with. */
export function prefixOf(load: number): string {
  return numberOf(firstNumber(load)).slice(0, NUMBER_PREFIX.length + 1);
}

export function numberOf(sequence: number): string {
  return NUMBER_PREFIX + String(sequence).padStart(COUNTER_DIGITS, "0");
}

/** Writes the counting digits of a number that begins at `offset`. */
export function writeCounter(bytes: Uint8Array, offset: number, sequence: number): void {
  writeDigits(bytes, offset + NUMBER_PREFIX.length, COUNTER_DIGITS, sequence);
}

export function writeDigits(bytes: Uint8Array, offset: number, digits: number, value: number): void {
  let rest = value;
  for (let at = offset + digits - 1; at >= offset; at--) {
    const quotient = Math.floor(rest / 10);
    bytes[at] = ZERO + (rest - quotient * 10);
    rest = quotient;
  }
}

/** The counter of a number that begins at `offset`, or -1 if none does. */
export function readCounter(bytes: Uint8Array, offset: number): number {
  let value = 0;
  const start = offset + NUMBER_PREFIX.length;
  for (let at = start; at < start + COUNTER_DIGITS; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Which messages of a round have been seen. A number that has been seen before, in this round or an earlier one, is a duplicate; one that
 * belongs to no round yet is a stray.
 */
export class Seen {
  readonly #base: number;
  #first = 0;
  #end = 0;
  #marks = new Uint8Array(0);
  #atMs = new Float64Array(0);
  distinct = 0;
  duplicates = 0;
  strays = 0;

  constructor(load = 0) {
    this.#base = firstNumber(load);
  }

  /** `first` counts from the load's first number. */
  begin(first: number, count: number): void {
    this.#first = first;
    this.#end = first + count;
    const marks = new Uint8Array(this.#end);
    marks.set(this.#marks.subarray(0, first));
    this.#marks = marks;
    this.#atMs = new Float64Array(count);
    this.distinct = 0;
    this.duplicates = 0;
    this.strays = 0;
  }

  /** When each was seen first, in the order of their numbers. */
  get times(): Float64Array {
    return this.#atMs;
  }

  get whole(): boolean {
    return this.distinct === this.#end - this.#first;
  }

  add(number: number, atMs: number): void {
    const sequence = number - this.#base;
    if (!(sequence >= 0 && sequence < this.#end)) this.strays++;
    else if (this.#marks[sequence] === 1) this.duplicates++;
    else {
      this.#marks[sequence] = 1;
      if (sequence < this.#first) {
        this.strays++;
        return;
      }
      this.#atMs[sequence - this.#first] = atMs;
      this.distinct++;
    }
  }
}
