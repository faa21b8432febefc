/**
 * A carrier that throttles, and the pace in front of it, over simulated time: what is offered waits, goes as the pace allows, is answered
 * after a round trip, and goes again when it was throttled. Nothing is timed, so the same seed gives the same figures everywhere.
 */
import { Pace } from "../../src/carriers/smpp/pace.ts";
import { type Random, seededRandom } from "../../src/runtime/random.ts";

/** Whether the carrier throttles what comes now. */
export type Throttle = (nowMs: number) => boolean;

export interface Story {
  readonly throttle: (random: Random) => Throttle;
  /** Parts a second, spread evenly. */
  readonly offered: number;
  readonly seconds: number;
  readonly seed: number;
  /** Of the profile. */
  readonly partsPerSecond?: number;
  readonly roundTripMs?: number;
  readonly window?: number;
}

export interface Told {
  /** By second. */
  readonly accepted: readonly number[];
  readonly throttled: readonly number[];
}

const ROUND_TRIP_MS = 20;
/** As wide as is needed for what is offered. */
const WINDOW = 5_000;

export function play(story: Story): Told {
  const { offered, seconds, seed, partsPerSecond = Number.POSITIVE_INFINITY } = story;
  const { roundTripMs = ROUND_TRIP_MS, window = WINDOW } = story;
  const clock = {
    nowMs: 0,
    now: () => clock.nowMs,
    monotonic: () => clock.nowMs,
    after: () => ({ cancel: () => undefined }),
  };
  const throttle = story.throttle(seededRandom(seed));
  const pace = new Pace(partsPerSecond, clock);
  const told = { accepted: Array<number>(seconds).fill(0), throttled: Array<number>(seconds).fill(0) };
  /** Answers on their way, in the order in which they come. */
  let onWay: { atMs: number; stamp: number; isThrottled: boolean }[] = [];
  let waiting = 0;
  for (let ms = 0; ms < seconds * 1_000; ms++) {
    clock.nowMs = ms;
    const due = onWay.filter(({ atMs }) => atMs <= ms);
    onWay = due.length === 0 ? onWay : onWay.slice(due.length);
    for (const { stamp, isThrottled } of due) {
      pace.answered(stamp, isThrottled);
      told[isThrottled ? "throttled" : "accepted"][Math.floor(ms / 1_000)]!++;
      if (isThrottled) waiting++;
    }
    waiting += Math.floor(((ms + 1) * offered) / 1_000) - Math.floor((ms * offered) / 1_000);
    let gathered = 0;
    while (waiting > 0 && onWay.length < window && pace.room() > 0) {
      const { stamp } = pace;
      pace.gathered();
      waiting--;
      gathered++;
      onWay.push({ atMs: ms + roundTripMs, stamp, isThrottled: throttle(ms + roundTripMs / 2) });
    }
    pace.written(gathered);
  }
  return told;
}

export const atRandom =
  (share: number) =>
  (random: Random): Throttle =>
  () =>
    random.next() < share;

/** So many in any second. */
export const slidingSecond = (limitAt: (nowMs: number) => number) => (): Throttle => {
  let taken: number[] = [];
  return (nowMs) => {
    if (taken.length > 0 && taken[0]! <= nowMs - 1_000) taken = taken.filter((atMs) => atMs > nowMs - 1_000);
    if (taken.length >= limitAt(nowMs)) return true;
    taken.push(nowMs);
    return false;
  };
};

/** So many in each second of its own clock, which is not ours. */
export const calendarSecond =
  (limitAt: (nowMs: number) => number) =>
  (random: Random): Throttle => {
    const aheadMs = random.next() * 1_000;
    let second = -1;
    let taken = 0;
    return (nowMs) => {
      const now = Math.floor((nowMs + aheadMs) / 1_000);
      if (now !== second) taken = 0;
      second = now;
      if (taken >= limitAt(nowMs)) return true;
      taken++;
      return false;
    };
  };

/** A bucket that fills evenly and holds what comes in 10 ms, or one. */
export const bucket = (limitAt: (nowMs: number) => number) => (): Throttle => {
  let tokens = 1;
  let lastMs = 0;
  return (nowMs) => {
    const limit = limitAt(nowMs);
    tokens = Math.min(Math.max(1, limit / 100), tokens + ((nowMs - lastMs) * limit) / 1_000);
    lastMs = nowMs;
    if (tokens < 1 - 1e-9) return true;
    tokens--;
    return false;
  };
};

export const both =
  (one: Story["throttle"], other: Story["throttle"]) =>
  (random: Random): Throttle => {
    const [first, second] = [one(random), other(random)];
    return (nowMs) => first(nowMs) || second(nowMs);
  };

/** Of the seconds from `from` on. */
export function sum(counts: readonly number[], from = 0, to = counts.length): number {
  return counts.slice(from, to).reduce((total, count) => total + count, 0);
}
