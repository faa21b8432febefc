/** A moment: relative for an hour, then a clock time in the reader's zone; the exact one with its zone on hover. */
import { signal } from "@preact/signals";

const TICK_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The time now, by the second. In the sandbox the service's clock may be ahead of the browser's. */
export const now = signal(Date.now());
export const clockOffsetMs = signal(0);

setInterval(() => {
  now.value = Date.now() + clockOffsetMs.value;
}, TICK_MS);

export function setClockOffset(offsetMs: number): void {
  clockOffsetMs.value = offsetMs;
  now.value = Date.now() + offsetMs;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const minutes = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const year = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const exact = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hour12: false,
  timeZoneName: "short",
});

export type Moment = string | number | Date;

const msOf = (at: Moment): number => (typeof at === "number" ? at : new Date(at).getTime());

export function exactTime(at: Moment): string {
  return `${exact.format(msOf(at))} (${new Date(msOf(at)).toISOString()})`;
}

export function clockTime(at: Moment, nowMs = now.peek()): string {
  return withDay(msOf(at), clock, nowMs);
}

/** Without seconds, where there is little room. */
export function minuteTime(at: Moment, nowMs = now.peek()): string {
  return withDay(msOf(at), minutes, nowMs);
}

function withDay(ms: number, time: Intl.DateTimeFormat, nowMs: number): string {
  const date = new Date(ms);
  const today = new Date(nowMs);
  if (date.toDateString() === today.toDateString()) return time.format(ms);
  const words = date.getFullYear() === today.getFullYear() ? day.format(ms) : year.format(ms);
  return `${words}, ${time.format(ms)}`;
}

export function relativeTime(at: Moment, nowMs = now.peek()): string {
  const ms = msOf(at);
  const ago = nowMs - ms;
  const away = Math.abs(ago);
  if (away >= HOUR_MS) return clockTime(ms, nowMs);
  // A clock that is a little behind makes nothing come from the future.
  if (ago < 0 && away < 2_000) return "just now";
  const words =
    away < 5_000
      ? "moments"
      : away < MINUTE_MS
        ? `${Math.floor(away / 1_000)} s`
        : `${Math.floor(away / MINUTE_MS)} min`;
  if (ago >= 0) return words === "moments" ? "just now" : `${words} ago`;
  return `in ${words}`;
}

export function Time({ at, as = "relative" }: { at: Moment | null | undefined; as?: "relative" | "clock" }) {
  if (at === null || at === undefined) return <span class="soft">–</span>;
  const text = as === "clock" ? clockTime(at, now.value) : relativeTime(at, now.value);
  return (
    <time dateTime={new Date(msOf(at)).toISOString()} title={exactTime(at)}>
      {text}
    </time>
  );
}

/** How long something took, in the unit that reads best. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.round(ms / 1_000)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${Math.round((ms % MINUTE_MS) / 1_000)} s`;
  const hours = Math.floor(ms / HOUR_MS);
  if (hours < 48) return `${hours} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(hours / 24)} days`;
}
