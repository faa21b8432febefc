/**
 * The times of SMPP, 3.4 §7.1.1: sixteen characters, YYMMDDhhmmsstnnp. An absolute time has in t the tenths of a second, in nn
 * the quarters of an hour that its zone differs from UTC, and in p the direction, + or -. A relative one has R for p, and
 * counts from the clock of whoever receives it.
 */
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const QUARTER_MS = 15 * MINUTE_MS;

/** Days are written with two digits and count to 31; months and years have no length of their own, so we do not write them. */
export const MAX_RELATIVE_MS = 31 * DAY_MS;

/** A point in time, in UTC. It cannot say the century: it is the one that puts it nearest to now, for whoever reads it. */
export function formatAbsoluteTime(atMs: number): string {
  // 2026-01-05T12:34:56.700Z
  const iso = new Date(atMs).toISOString();
  const at = iso.length - 24;
  const digits = (from: number) => iso.slice(at + from, at + from + 2);
  return `${digits(2)}${digits(5)}${digits(8)}${digits(11)}${digits(14)}${digits(17)}${iso[at + 20]}00+`;
}

/** A time from now on, in whole seconds, rounded up: at least 0, at most `MAX_RELATIVE_MS`. */
export function formatRelativeTime(durationMs: number): string {
  if (!(durationMs >= 0 && durationMs <= MAX_RELATIVE_MS)) {
    throw new RangeError(`${durationMs} ms cannot be said as a relative time`);
  }
  const seconds = Math.ceil(durationMs / SECOND_MS);
  if (seconds !== lastRelative.seconds) lastRelative = { seconds, text: relativeText(seconds * SECOND_MS) };
  return lastRelative.text;
}

/** Most messages have the same validity, and those of one second then the same text. */
let lastRelative = { seconds: Number.NaN, text: "" };

function relativeText(ms: number): string {
  const days = two(Math.floor(ms / DAY_MS));
  const hours = two(Math.floor(ms / HOUR_MS) % 24);
  const minutes = two(Math.floor(ms / MINUTE_MS) % 60);
  const seconds = two(Math.floor(ms / SECOND_MS) % 60);
  return `0000${days}${hours}${minutes}${seconds}000R`;
}

/** The point in time that either form means, in milliseconds since 1970; null when it is neither, or no date. */
export function parseTime(text: string, nowMs: number): number | null {
  const [, year, month, day, hour, minute, second, tenth, quarters, direction] = (TIME.exec(text) ?? []).map(toNumber);
  if (direction === undefined) return null;
  if (direction === RELATIVE) {
    const now = new Date(nowMs);
    const months = now.getUTCMonth() + month!;
    const from = Date.UTC(now.getUTCFullYear() + year!, months, now.getUTCDate() + day!) + (nowMs % DAY_MS);
    return from + hour! * HOUR_MS + minute! * MINUTE_MS + second! * SECOND_MS;
  }
  if (quarters! > 48) return null;
  const local = nearest(nowMs, year!, month!, day!, hour!, minute!, second!);
  return local === null ? null : local + tenth! * 100 - direction * quarters! * QUARTER_MS;
}

const TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d)(\d\d)([-+R])$/;
const RELATIVE = 0;
const DIRECTIONS: Readonly<Record<string, number>> = { "+": 1, "-": -1, R: RELATIVE };

function toNumber(digits: string): number {
  return DIRECTIONS[digits] ?? Number(digits);
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

/** With the century that brings it nearest to now. Null for a date that is in no calendar. */
function nearest(nowMs: number, yy: number, mm: number, dd: number, h: number, m: number, s: number): number | null {
  if (mm < 1 || mm > 12 || dd < 1 || h > 23 || m > 59 || s > 59) return null;
  const thisYear = new Date(nowMs).getUTCFullYear();
  const century = Math.round((thisYear - yy) / 100) * 100;
  const at = Date.UTC(century + yy, mm - 1, dd, h, m, s);
  return new Date(at).getUTCDate() === dd ? at : null;
}
