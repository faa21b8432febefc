/**
 * The dates of the API. In: ISO 8601 with seconds, as clients of many languages write it. Out: one form to the letter,
 * for generated clients take it apart by position.
 */
const DATE_TIME =
  /^(?<date>\d{4}-\d\d-\d\d)T(?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d+))?(?:Z|(?<sign>[+-])(?<hours>\d\d):?(?<minutes>\d\d))?$/;

const MINUTE_MS = 60_000;

/**
 * Milliseconds since 1970, or null for what is no moment: another form, or a day or an hour that does not exist. Without an
 * offset it is UTC. Digits after the millisecond are cut off.
 */
export function parseDateTime(text: string): number | null {
  const found = DATE_TIME.exec(text)?.groups;
  if (found === undefined) return null;
  const { date, time, fraction = "", sign, hours = "00", minutes = "00" } = found;
  if (Number(hours) > 23 || Number(minutes) > 59) return null;

  const seconds = `${date}T${time}`;
  const localMs = Date.parse(`${seconds}Z`);
  // Date.parse takes 30 February for 2 March and 24:00 for the next day, so what it understood must read the same.
  if (Number.isNaN(localMs) || !new Date(localMs).toISOString().startsWith(seconds)) return null;

  const millis = Number(fraction.slice(0, 3).padEnd(3, "0"));
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return localMs + millis + (sign === "-" ? offsetMs : -offsetMs);
}

/** The same of a day too, `2026-02-12`, which is its beginning in UTC. */
export function parseDayOrMoment(text: string): number | null {
  return parseDateTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
}

/** The beginning, in UTC, of the month that a moment lies in. */
export function monthOf(atMs: number): number {
  const at = new Date(atMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
}

/** Dates that go out together are mostly of one minute: that far they are written once. 0.1 µs instead of 1. */
let lastMinute = Number.NaN;
let lastMinuteText = "";

/** `2026-02-12T09:58:20.323+0000`: always UTC, always milliseconds, no colon in the offset. */
export function formatDateTime(atMs: number): string {
  const minute = Math.floor(atMs / MINUTE_MS);
  if (minute !== lastMinute) {
    lastMinuteText = new Date(atMs).toISOString().slice(0, -"20.323Z".length);
    lastMinute = minute;
  }
  // 120323: the 1 keeps the zeros behind it.
  const digits = String(100_000 + Math.trunc(atMs - minute * MINUTE_MS));
  return `${lastMinuteText}${digits.slice(1, 3)}.${digits.slice(3)}+0000`;
}
