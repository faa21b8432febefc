/** Finding a carrier's rate from what it throttles, over simulated time: what the benchmark shows, held to what is promised. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { atRandom, both, LIMITERS, play, settledAfter, sum, type Told } from "../../../bench/pace/model.ts";

const SEEDS = [1, 2, 3, 4, 5, 6];
const SECONDS = 60;
const FOUND_S = 10;
/** A bucket that holds one part throttles whatever is not even, and so looks slower than it is at first. */
const BUCKET_FOUND_S = 12;
/** `partsPerSecond` counts over a second and a fiftieth. */
const BELOW_SECOND = 0.98;

const shareReached = ({ accepted }: Told, limit: number, from: number): number =>
  sum(accepted, from) / (limit * (accepted.length - from));
const shareThrottled = ({ accepted, throttled }: Told, from: number): number =>
  sum(throttled, from) / (sum(throttled, from) + sum(accepted, from));
const mean = (values: readonly number[]): number => sum(values) / values.length;

describe("a carrier that throttles at random, whatever the rate", () => {
  for (const share of [0.001, 0.01, 0.02, 0.05]) {
    test(`${share * 100} % of the answers cost no more than ${share * 1_000} % of what is offered`, () => {
      for (const offered of [20, 200, 2_000, 5_000]) {
        for (const seed of SEEDS) {
          // As much as comes, or out of more that waits, as much as the profile allows.
          for (const more of [{ offered }, { offered: 3 * offered, partsPerSecond: offered }]) {
            const { accepted } = play({ throttle: atRandom(share), seconds: SECONDS, seed, ...more });
            const through = sum(accepted) / (offered * SECONDS);
            const allowed = "partsPerSecond" in more ? BELOW_SECOND : 1;
            assert.ok(through >= allowed - 10 * share, `${through} of ${offered} a second, seed ${seed}`);
          }
        }
      }
    });
  }
});

test("bursts that are throttled a little at random go on as bursts", () => {
  for (const share of [0.01, 0.02, 0.05]) {
    for (const atOnceOfSeconds of [3, 5, 10]) {
      for (const seed of SEEDS) {
        const story = { throttle: atRandom(share), offered: 100, atOnceOfSeconds, seconds: 120, seed };
        const { accepted } = play(story);
        const through = sum(accepted) / (story.offered * story.seconds);
        assert.ok(through >= 1 - 10 * share, `${through}, each ${atOnceOfSeconds} s, ${share}, seed ${seed}`);
      }
    }
  }
});

describe("a carrier with a limit", () => {
  for (const [name, limiter] of Object.entries(LIMITERS)) {
    for (const limit of [5, 20, 50, 200, 2_000]) {
      for (const [profile, partsPerSecond] of [
        ["without partsPerSecond", Number.POSITIVE_INFINITY],
        ["with one that is far too high", 10 * limit],
      ] as const) {
        test(`${name}, ${limit}/s, ${profile}: it is used, and little is sent above it`, () => {
          for (const seed of SEEDS) {
            const throttle = limiter(() => limit);
            const told = play({ throttle, offered: 3 * limit, seconds: SECONDS, seed, partsPerSecond });
            const reached = shareReached(told, limit, FOUND_S);
            assert.ok(reached >= 0.95, `${reached} is reached, seed ${seed}`);
            const settledS = settledAfter(told.accepted, limit);
            assert.ok(settledS <= (name === "token bucket" ? BUCKET_FOUND_S : FOUND_S), `${settledS} s, seed ${seed}`);
          }
          const throttled = mean(
            SEEDS.map((seed) =>
              shareThrottled(
                play({ throttle: limiter(() => limit), offered: 3 * limit, seconds: SECONDS, seed, partsPerSecond }),
                FOUND_S,
              ),
            ),
          );
          assert.ok(throttled < 0.05, `${throttled} is throttled`);
        });
      }
      test(`${name}, ${limit}/s, and 1 % at random besides: the one is told from the other`, () => {
        const told = SEEDS.map((seed) =>
          play({
            throttle: both(
              limiter(() => limit),
              atRandom(0.01),
            ),
            offered: 3 * limit,
            seconds: SECONDS,
            seed,
          }),
        );
        const reached = mean(told.map((one) => shareReached(one, limit, FOUND_S)));
        const throttled = mean(told.map((one) => shareThrottled(one, FOUND_S)));
        assert.ok(reached >= 0.94, `${reached} is reached`);
        assert.ok(throttled < 0.06, `${throttled} is throttled`);
      });
    }
    for (const [before, after, withinS] of [
      [200, 50, 12],
      [2_000, 50, 10],
      [50, 200, 12],
      [50, 2_000, 15],
      [20, 5, 12],
      [5, 20, 25],
    ] as const) {
      test(`${name}: from ${before} to ${after}/s is noticed within ${withinS} seconds`, () => {
        const throttle = limiter((nowMs) => (nowMs < 20_000 ? before : after));
        for (const seed of SEEDS) {
          const told = play({ throttle, offered: 2 * Math.max(before, after), seconds: SECONDS, seed });
          const settledS = settledAfter(told.accepted, after, 20);
          assert.ok(settledS <= withinS, `after ${settledS} s, seed ${seed}`);
        }
      });
    }
  }
});

test("what was found of a limit is kept between bursts, so that the next one is not thrown at it", () => {
  for (const [name, limiter] of Object.entries(LIMITERS)) {
    for (const atOnceOfSeconds of [5, 20]) {
      const told = SEEDS.map((seed) =>
        play({ throttle: limiter(() => 200), offered: 100, atOnceOfSeconds, seconds: 120, seed }),
      );
      const throttled = mean(told.map((one) => shareThrottled(one, FOUND_S)));
      assert.ok(throttled < 0.08, `${throttled} is throttled, ${name}, each ${atOnceOfSeconds} s`);
      for (const { accepted } of told)
        assert.ok(sum(accepted) >= 0.99 * 100 * (120 - atOnceOfSeconds), `${sum(accepted)}`);
    }
  }
});

test("when a limit is lifted for good, what is offered goes through for as long as it comes", () => {
  for (const [name, limiter] of Object.entries(LIMITERS)) {
    const throttle = limiter((nowMs) => (nowMs < 20_000 ? 50 : 1_000_000));
    const { accepted } = play({ throttle, offered: 100, seconds: 240, seed: 1 });
    assert.ok(sum(accepted, 60) >= 0.999 * 100 * 180, `${sum(accepted, 60)} after a minute, ${name}`);
  }
});

test("a carrier that throttles everything gets about a part a second, and its rate again seconds after that ends", () => {
  for (const offered of [20, 200, 2_000, 5_000]) {
    const throttle = () => (nowMs: number) => nowMs >= 10_000 && nowMs < 30_000;
    const { accepted, throttled } = play({ throttle, offered, seconds: 60, seed: 1 });
    assert.ok(sum(throttled, 20, 30) <= 15, `${sum(throttled, 20, 30)} in ten seconds`);
    assert.ok(sum(accepted, 30, 40) >= offered * 10, `${sum(accepted, 30, 40)} in the ten seconds after, ${offered}/s`);
    assert.equal(sum(accepted, 50, 60), offered * 10);
  }
});
