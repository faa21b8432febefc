/**
 * A delivery time window: the days and, if given, the hours of those days in which sending is allowed. All UTC.
 *
 * One day's stretch of it is an *opening*: the first millisecond of `from` is in it, the first of `to` no longer is, so that openings
 * that touch (whole days in a row, or until and from midnight) make one. An opening over midnight belongs to the day on which it begins:
 * SUNDAY from 22:00 to 06:00 ends on Monday morning.
 */
export const DAYS = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"] as const;
export type Day = (typeof DAYS)[number];

export interface DeliveryWindow {
  /** At least one. */
  readonly days: readonly Day[];
  /** Minutes after midnight, never equal. `from` later than `to` goes over midnight. Null is the whole of each day. */
  readonly hours: { readonly fromMinute: number; readonly toMinute: number } | null;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
const WEEK_DAYS = DAYS.length;

/** 1 January 1970, day 0 of the clock, was a Thursday. */
const WEEKDAY_OF_DAY_0 = DAYS.indexOf("THURSDAY");

interface Opening {
  readonly fromMs: number;
  readonly toMs: number;
}

export function isOpen(window: DeliveryWindow, atMs: number): boolean {
  return openingAt(window, atMs) !== null;
}

/** The first moment from `atMs` on at which the window is open: `atMs` itself if it is open then. */
export function nextOpening(window: DeliveryWindow, atMs: number): number {
  if (isOpen(window, atMs)) return atMs;
  const today = dayOf(atMs);
  // Up to the same weekday of next week: today's own opening may be over.
  for (let day = today; day <= today + WEEK_DAYS; day++) {
    const opening = openingOf(window, day);
    if (opening !== null && opening.fromMs > atMs) return opening.fromMs;
  }
  throw new Error("a delivery window without days never opens");
}

/** An opening lasts no longer than a day, so the one that holds `atMs` began today or yesterday. */
function openingAt(window: DeliveryWindow, atMs: number): Opening | null {
  const today = dayOf(atMs);
  return openingWith(openingOf(window, today), atMs) ?? openingWith(openingOf(window, today - 1), atMs);
}

function openingWith(opening: Opening | null, atMs: number): Opening | null {
  return opening !== null && opening.fromMs <= atMs && atMs < opening.toMs ? opening : null;
}

/** The opening that begins on `day`, counted from 1970, or null when that weekday is none of the window's. */
function openingOf(window: DeliveryWindow, day: number): Opening | null {
  const weekday = (((day + WEEKDAY_OF_DAY_0) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS;
  if (!window.days.includes(DAYS[weekday]!)) return null;
  const { fromMinute, toMinute } = window.hours ?? { fromMinute: 0, toMinute: DAY_MINUTES };
  const overMidnight = fromMinute < toMinute ? 0 : DAY_MINUTES;
  const midnightMs = day * DAY_MS;
  return {
    fromMs: midnightMs + fromMinute * MINUTE_MS,
    toMs: midnightMs + (toMinute + overMidnight) * MINUTE_MS,
  };
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}
