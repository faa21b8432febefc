/**
 * A carrier that throttles, and the pace in front of it, over simulated time: what is offered waits, goes as the pace allows, is answered
 * after a round trip, and goes again when it was throttled. Nothing is timed, so the same seed gives the same figures everywhere.
 */
import { CarrierPace } from "../../src/carriers/pace/carrier-pace.ts";
import { SentLog } from "../../src/carriers/pace/sent-log.ts";
import { type Random, seededRandom } from "../../src/runtime/random.ts";

/** Whether the carrier throttles what comes now. */
export type Throttle = (nowMs: number) => boolean;

/** How many parts a second it takes; over time, where that changes. */
export type LimitAt = (nowMs: number) => number;

export interface Story {
  readonly throttle: (random: Random) => Throttle;
  /** Parts a second, spread evenly; or those of so many seconds at once. */
  readonly offered: number;
  readonly atOnceOfSeconds?: number;
  readonly seconds: number;
  readonly seed: number;
  /** Of the profile. */
  readonly partsPerSecond?: number;
}

/** Parts by the second in which they were answered. */
export interface Told {
  readonly accepted: readonly number[];
  readonly throttled: readonly number[];
}

const SECOND_MS = 1_000;
const ROUND_TRIP_MS = 20;

export function play(story: Story): Told {
  const { throttle, offered, atOnceOfSeconds, seconds, seed, partsPerSecond = Number.POSITIVE_INFINITY } = story;
  let nowMs = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs, after: () => ({ cancel: () => undefined }) };
  const throttles = throttle(seededRandom(seed));
  const pace = new CarrierPace(partsPerSecond, clock);
  const accepted = Array<number>(seconds).fill(0);
  const throttled = Array<number>(seconds).fill(0);
  /** What was sent in each of the last milliseconds, as the stamp and whether it is throttled. */
  const onWay: [stamp: number, isThrottled: boolean][][] = Array.from({ length: ROUND_TRIP_MS }, () => []);
  let waiting = 0;
  for (; nowMs < seconds * SECOND_MS; nowMs++) {
    const sent = onWay[nowMs % ROUND_TRIP_MS]!;
    const second = Math.floor(nowMs / SECOND_MS);
    for (const [stamp, isThrottled] of sent) {
      pace.answered(stamp, isThrottled);
      (isThrottled ? throttled : accepted)[second]!++;
      if (isThrottled) waiting++;
    }
    sent.length = 0;
    waiting +=
      atOnceOfSeconds === undefined
        ? Math.floor(((nowMs + 1) * offered) / SECOND_MS) - Math.floor((nowMs * offered) / SECOND_MS)
        : nowMs % (atOnceOfSeconds * SECOND_MS) === 0
          ? offered * atOnceOfSeconds
          : 0;
    for (; waiting > 0 && pace.room() > 0; waiting--) {
      sent.push([pace.stamp, throttles(nowMs + ROUND_TRIP_MS / 2)]);
      pace.gathered();
      pace.written(1);
    }
  }
  return { accepted, throttled };
}

/** So large a share of the parts, whatever the rate. */
export const atRandom =
  (share: number): Story["throttle"] =>
  (random) =>
  () =>
    random.next() < share;

/** What is above the limit in any second. */
export const slidingSecond =
  (limitAt: LimitAt): Story["throttle"] =>
  () => {
    const taken = new SentLog();
    return (nowMs) => {
      if (taken.countAfter(nowMs - SECOND_MS) >= limitAt(nowMs)) return true;
      taken.written(1, nowMs);
      return false;
    };
  };

/** What is above the limit in a second of the carrier's own clock. */
export const calendarSecond =
  (limitAt: LimitAt): Story["throttle"] =>
  (random) => {
    const aheadMs = random.next() * SECOND_MS;
    let second = -1;
    let taken = 0;
    return (nowMs) => {
      const now = Math.floor((nowMs + aheadMs) / SECOND_MS);
      if (now !== second) taken = 0;
      second = now;
      return taken >= limitAt(nowMs) || ++taken === 0;
    };
  };

/** A bucket that fills evenly, and holds one part, or what comes in 10 ms where that is more. */
export const tokenBucket =
  (limitAt: LimitAt): Story["throttle"] =>
  () => {
    let tokens = 1;
    let lastMs = 0;
    return (nowMs) => {
      const limit = limitAt(nowMs);
      tokens = Math.min(Math.max(1, limit / 100), tokens + ((nowMs - lastMs) * limit) / SECOND_MS);
      lastMs = nowMs;
      // Of sums of fractions.
      if (tokens < 1 - 1e-9) return true;
      tokens--;
      return false;
    };
  };

export const LIMITERS = {
  "sliding second": slidingSecond,
  "calendar second": calendarSecond,
  "token bucket": tokenBucket,
} as const;

export const both =
  (one: Story["throttle"], other: Story["throttle"]): Story["throttle"] =>
  (random) => {
    const [first, second] = [one(random), other(random)];
    return (nowMs) => first(nowMs) || second(nowMs);
  };

/** Of the seconds from `from` to before `to`. */
export function sum(counts: readonly number[], from = 0, to = counts.length): number {
  return counts.slice(from, to).reduce((total, count) => total + count, 0);
}

/** How many seconds after `from` the first five come that together reach 94 % of the limit, but for a part. */
export function settledAfter(accepted: readonly number[], limit: number, from = 0): number {
  const settled = accepted.findIndex(
    (_, second) => second >= from && sum(accepted, second, second + 5) >= 0.94 * 5 * limit - 1,
  );
  return settled === -1 ? Number.POSITIVE_INFINITY : settled - from;
}
