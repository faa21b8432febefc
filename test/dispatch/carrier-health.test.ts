/** When a carrier that is bound counts as slow or sick, and how it comes back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { atRandom, LIMITERS, play } from "../../bench/pace/model.ts";
import type { Submission } from "../../src/carriers/port.ts";
import { CarrierHealth } from "../../src/dispatch/carrier-health.ts";

const TAKEN: Submission = { kind: "accepted", carrierMessageId: "1" };
const THROTTLED: Submission = { kind: "later", retryAfterMs: 0, status: "ESME_RTHROTTLED" };
const PUT_OFF: Submission = { kind: "not now", retryAfterMs: 1_000, status: "ESME_RMSGQFUL" };

/** A carrier's health, and seconds in which it says the same to so many phones, each of them new unless one is named. */
function patient() {
  const health = new CarrierHealth(0);
  let phones = 0;
  let atMs = 0;
  const second = (
    answers: readonly (readonly [Submission, number])[],
    { inFlight = 0, isFull = false, phone = "" } = {},
  ) => {
    for (const [answer, count] of answers)
      for (let each = 0; each < count; each++) {
        const to = phone === "" ? `phone ${++phones}` : phone;
        health.handed(to);
        health.answered(to, answer);
      }
    atMs += 1_000;
    health.judge({ inFlight, isFull, usualAnswerMs: 20, atMs });
    return health.state;
  };
  const seconds = (count: number, answers: readonly (readonly [Submission, number])[], options = {}) => {
    for (let each = 0; each < count; each++) second(answers, options);
    return health.state;
  };
  return { health, second, seconds };
}

for (const [name, answer] of [
  ["throttled", THROTTLED],
  ["put off", PUT_OFF],
  ["unanswered", { kind: "unknown" }],
] as const) {
  test(`a carrier is slow after two seconds and sick after five in which all of many phones were ${name}`, () => {
    const { health, seconds } = patient();
    assert.equal(seconds(1, [[answer, 10]]), "well");
    assert.equal(seconds(1, [[answer, 10]]), "slow");
    assert.equal(seconds(2, [[answer, 10]]), "slow");
    assert.equal(seconds(1, [[answer, 10]]), "sick");
    assert.equal(health.sign, name);
    assert.match(health.facts.why ?? "", /^for 5 s hardly any message was taken, of \d+ phones at least: /);
    assert.deepEqual([health.facts.sinceMs, health.facts.share], [5_000, 0]);
  });

  test(`one phone whose messages are ${name} does not make its carrier sick`, () => {
    const { seconds } = patient();
    assert.equal(seconds(60, [[answer, 10]], { phone: "the same" }), "slow");
  });
}

test("what never left this program says nothing of the carrier", () => {
  const { seconds } = patient();
  const unsent: [Submission, number][] = [
    [{ kind: "later", retryAfterMs: 0 }, 10],
    [{ kind: "refused", errorId: 1 }, 10],
  ];
  assert.equal(seconds(60, unsent), "well");
});

test("a carrier that refuses messages for good is not sick: it deals with them", () => {
  const { seconds } = patient();
  assert.equal(seconds(60, [[{ kind: "refused", errorId: 1, status: "ESME_RSUBMITFAIL" }, 10]]), "well");
});

test("a carrier with a full window that says nothing is sick after five seconds, one that is slow by nature later", () => {
  const { health, seconds } = patient();
  health.handed("phone");
  assert.equal(seconds(4, [], { inFlight: 1, isFull: true }), "slow");
  assert.equal(seconds(1, [], { inFlight: 1, isFull: true }), "sick");
  const slow = new CarrierHealth(0);
  for (let second = 0; second < 8; second++) {
    slow.judge({ inFlight: 10, isFull: true, usualAnswerMs: 8_000, atMs: 0 });
    assert.equal(slow.isSick, false);
  }
});

test("a carrier with nothing to answer stays as it is, for hours", () => {
  const { seconds, health } = patient();
  assert.equal(seconds(4, [[THROTTLED, 10]]), "slow");
  assert.equal(seconds(3_600, []), "slow");
  assert.equal(health.isSick, false);
});

test("throttling that is ordinary makes no carrier sick, at any limit and whatever is offered", () => {
  const throttles = [
    ...[1, 2, 5, 20, 200].flatMap((limit) => Object.values(LIMITERS).map((limiter) => limiter(() => limit))),
    ...[0.01, 0.05, 0.3].map(atRandom),
    ...Object.values(LIMITERS).map((limiter) => limiter((nowMs) => (nowMs < 10_000 ? 500 : 5))),
  ];
  for (const [index, throttle] of throttles.entries()) {
    for (const offered of [20, 1_000]) {
      const { accepted, throttled } = play({ throttle, offered, seconds: 30, seed: 1 });
      const { health, second } = patient();
      for (const [at, taken] of accepted.entries()) {
        second([
          [THROTTLED, throttled[at]!],
          [TAKEN, taken],
        ]);
        assert.equal(health.isSick, false, `story ${index} with ${offered} a second, after ${at} s`);
      }
    }
  }
});

test("a sick carrier is probed with single messages, less often while it does not answer", () => {
  const { health, seconds } = patient();
  seconds(5, [[PUT_OFF, 10]]);
  const probes: number[] = [];
  for (let nowMs = 0; nowMs < 60_000; nowMs += 500) {
    if (health.admits(nowMs)) probes.push(nowMs);
    seconds(1, [], { inFlight: 1 });
  }
  assert.deepEqual(probes, [0, 2_000, 6_000, 14_000, 30_000]);
  health.answered("phone", PUT_OFF);
  assert.equal(health.admits(60_000), true, "it speaks again");
});

test("a carrier that takes its probes gets a tenth, a quarter, half and all, and is sick again at once when it takes none", () => {
  const { health, second, seconds } = patient();
  seconds(5, [[PUT_OFF, 10]]);
  const shares: number[] = [];
  for (let each = 0; each < 5; each++) {
    shares.push(health.facts.share);
    second([[TAKEN, 5]]);
  }
  assert.deepEqual(shares, [0, 0.1, 0.25, 0.5, 1]);
  assert.deepEqual(health.facts, { state: "well", sinceMs: 9_000, why: null, share: 1 });

  seconds(5, [[PUT_OFF, 10]]);
  second([[TAKEN, 3]]);
  second([[TAKEN, 5]]);
  assert.equal(health.facts.why, "it takes messages again, and gets 25 % of the new ones");
  const admitted = Array.from({ length: 100 }, () => health.admits(0)).filter(Boolean).length;
  assert.equal(admitted, 25);
  assert.equal(second([[PUT_OFF, 1]]), "slow", "one phone is not enough");
  assert.equal(second([[PUT_OFF, 3]]), "sick");
});
