/**
 * Spans and rates as an application's configuration writes them ("15m", "3/1d"), and the count that a rate is held against. Pure.
 *
 * A count is a list of moments with how many events there were, oldest first. Events of the same sixtieth of the rate's span share a place, and all
 * of them count until the last of them is a span ago. So in no span are there more events than the rate says, a count has a bounded size however
 * many events there are, and an event that is alone in its sixtieth leaves to the millisecond.
 */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SPAN = /^([0-9]{0,11})(ms|s|m|h|d)$/;
const RATE = /^([0-9]{1,7})\/([0-9]{0,11}(?:ms|s|m|h|d))$/;
const PLACES = 60;

export const DAY_MS = UNIT_MS.d;
export const YEAR_MS = 365 * DAY_MS;

export interface Rate {
  readonly tries: number;
  readonly spanMs: number;
}

/** "15m" in milliseconds; "m" is one minute. Null for what is no span, and for none at all. */
export function parseSpan(text: string): number | null {
  const [, digits, unit] = SPAN.exec(text) ?? [];
  if (digits === undefined) return null;
  const spanMs = (digits === "" ? 1 : Number(digits)) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return spanMs > 0 ? spanMs : null;
}

/** "3/1d": three a day. Null for what is no rate, and for a rate of nothing. */
export function parseRate(text: string): Rate | null {
  const [, tries, span] = RATE.exec(text) ?? [];
  const spanMs = span === undefined ? null : parseSpan(span);
  return spanMs === null || Number(tries) === 0 ? null : { tries: Number(tries), spanMs };
}

/** When events were last counted, and how many; oldest first. */
export type Count = readonly (readonly [atMs: number, events: number])[];

export function parseCount(text: string): Count {
  return JSON.parse(text) as Count;
}

/** Those that still count. A clock that stepped back makes none of them last longer than a span from now. */
function counting(count: Count, spanMs: number, nowMs: number): Count {
  return count
    .map(([atMs, events]) => [Math.min(atMs, nowMs), events] as const)
    .filter(([atMs, events]) => events > 0 && atMs + spanMs > nowMs);
}

/** Counts one more event, or says after how many milliseconds it may be tried again. */
export function countOne(
  before: Count,
  { tries, spanMs }: Rate,
  nowMs: number,
): { readonly count: Count } | { readonly waitMs: number } {
  const live = counting(before, spanMs, nowMs);
  let excess = live.reduce((sum, [, events]) => sum + events, 1) - tries;
  if (excess > 0) {
    // When enough of the oldest have left.
    const last = live.find(([, events]) => {
      excess -= events;
      return excess <= 0;
    });
    return { waitMs: (last?.[0] ?? nowMs) + spanMs - nowMs };
  }
  const placeMs = Math.max(1, Math.ceil(spanMs / PLACES));
  const placeOf = (atMs: number): number => Math.floor(atMs / placeMs);
  const count = new Map<number, readonly [number, number]>();
  for (const [atMs, events] of [...live, [nowMs, 1] as const])
    count.set(placeOf(atMs), [atMs, events + (count.get(placeOf(atMs))?.[1] ?? 0)]);
  return { count: [...count.values()] };
}

/** Takes the newest event of before or at a time out again. */
export function uncountOne(count: Count, atMs: number): Count {
  // It may share its place with later ones: then it is one of those.
  const index = Math.max(
    0,
    count.findLastIndex(([lastMs]) => lastMs <= atMs),
  );
  return count.flatMap((entry, at) => {
    if (at !== index) return [entry];
    return entry[1] > 1 ? [[entry[0], entry[1] - 1] as const] : [];
  });
}
