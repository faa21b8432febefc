/** How long a lost connection waits: for ten minutes so short that a carrier that is back is bound within five seconds, then longer, up to a bound. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { EARLY_MS, hostPatienceMs, retryWaitMs } from "../../../src/carriers/smpp/retry-wait.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import fc from "../../support/chance.ts";

const MAX_MS = 60_000;
const always = (value: number) => ({ ...seededRandom(1), next: () => value });
const longest = always(1 - Number.EPSILON);
const away = (awayMs: number, maxMs = MAX_MS) => ({ awayMs, isWrongLogin: false, refusals: 0, drops: 0, maxMs });

test("in the first ten minutes a round of all hosts and the wait behind it leave a second of five for the bind", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: EARLY_MS, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 1, max: 16 }),
      fc.integer({ min: 1_000, max: 3_600_000 }),
      (awayMs, hosts, maxMs) => {
        const gapMs = hosts * hostPatienceMs(hosts) + retryWaitMs(away(awayMs, maxMs), longest);
        assert.ok(gapMs <= 4_000, `${gapMs} ms between two tries of a host`);
      },
    ),
  );
});

test("after ten minutes the wait grows with the time away, up to the profile's bound, and never falls", () => {
  const waits = [EARLY_MS, 11 * 60_000, 15 * 60_000, 3_600_000, 7 * 86_400_000].map((awayMs) =>
    Math.round(retryWaitMs(away(awayMs), longest)),
  );
  assert.deepEqual(waits, [2_000, 8_000, 32_000, 60_000, 60_000]);
  assert.equal(Math.round(retryWaitMs(away(7 * 86_400_000, 5_000), longest)), 5_000);
});

test("chance takes up to half of a wait off, and never all of it", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 86_400_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (awayMs, chance) => {
        const wait = retryWaitMs(away(awayMs), always(chance));
        const most = retryWaitMs(away(awayMs), longest);
        assert.ok(wait >= 500 && wait >= most / 2 - 1 && wait <= most + 1);
      },
    ),
  );
});

test("whoever is told that name or password are wrong waits for the bound from the first time on", () => {
  const wait = retryWaitMs({ ...away(0), isWrongLogin: true, refusals: 1 }, always(0));
  assert.equal(wait, MAX_MS / 2);
});

test("whoever is refused waits twice as long each time, up to the bound, and never less than without it", () => {
  const waits = [1, 2, 3, 6, 7, 5_000].map((refusals) => Math.round(retryWaitMs({ ...away(0), refusals }, longest)));
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
  assert.equal(Math.round(retryWaitMs({ ...away(15 * 60_000), refusals: 1 }, longest)), 32_000);
});

test("whoever drops what it has bound is excused twice, and then asked less and less, up to the bound", () => {
  const waits = [0, 1, 2, 3, 4, 7, 8, 9, 5_000].map((drops) => Math.round(retryWaitMs({ ...away(0), drops }, longest)));
  assert.deepEqual(waits, [1_000, 1_000, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
});
