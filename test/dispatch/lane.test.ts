/** Whose turn it is on a carrier: by parts, in order within an account, and first for whoever had nothing to send. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneRing } from "../../src/dispatch/lane.ts";
import type { QueuedMessage } from "../../src/message/message.ts";

let lastKey = 0;
const message = (accountId: number, partCount = 1): QueuedMessage =>
  ({ key: String(++lastKey), accountId, partCount, slotUntilMs: null }) as QueuedMessage;

function ringOf(...counts: readonly [accountId: number, messages: number, parts?: number][]): LaneRing {
  const ring = new LaneRing("carrier");
  for (const [accountId, messages, parts] of counts)
    for (let count = 0; count < messages; count++) ring.push(message(accountId, parts));
  return ring;
}

const accounts = (ring: LaneRing, count: number): number[] =>
  Array.from({ length: count }, () => ring.next()!.message.accountId);

test("lanes have ten parts in turn, and each is first in first out", () => {
  const ring = ringOf([1, 25], [2, 25]);
  assert.deepEqual(
    accounts(ring, 40),
    [1, 2, 1, 2].flatMap((account) => Array(10).fill(account)),
  );
  const keys: number[] = [];
  for (let waiting = ring.next(); waiting !== undefined; waiting = ring.next())
    if (waiting.message.accountId === 1) keys.push(Number(waiting.message.key));
  assert.deepEqual(
    keys,
    keys.toSorted((first, second) => first - second),
  );
});

test("long messages count by their parts, also those longer than a turn", () => {
  const ring = ringOf([1, 10, 25], [2, 200]);
  const taken = accounts(ring, 100);
  const parts = taken.filter((account) => account === 1).length * 25;
  assert.ok(Math.abs(parts - taken.filter((account) => account === 2).length) <= 35);
});

test("whoever had nothing to send is next, whatever waits", () => {
  const ring = ringOf([1, 1_000], [2, 1_000]);
  accounts(ring, 23);
  ring.push(message(3));
  assert.deepEqual(accounts(ring, 1), [3]);
  accounts(ring, 50);
  ring.push(message(3));
  ring.push(message(4));
  assert.deepEqual(accounts(ring, 2), [3, 4]);
});

test("whoever always has one message, and never more, gets no more than a turn of each round", () => {
  const ring = ringOf([1, 1_000]);
  let early = 0;
  for (let count = 0; count < 440; count++) {
    if (ring.lane(2).length === 0) ring.push(message(2));
    if (ring.next()!.message.accountId === 2) early++;
  }
  assert.ok(early >= 40 && early <= 110, `${early} of 440`);
});

test("what goes back keeps its place, and its lane goes on", () => {
  const ring = ringOf([1, 3]);
  const [first, second] = [ring.next()!, ring.next()!];
  ring.putBack(second);
  ring.putBack(first);
  assert.deepEqual([ring.next(), ring.next()], [first, second]);
  ring.next();
  assert.equal(ring.next(), undefined);
  ring.putBack(first);
  assert.equal(ring.next(), first);
});

test("lanes that are emptied from outside are passed over and forgotten", () => {
  const ring = ringOf([1, 3], [2, 3]);
  ring.next();
  assert.equal(ring.remove(({ accountId }) => accountId === 1).length, 2);
  assert.deepEqual(accounts(ring, 3), [2, 2, 2]);
  assert.equal(ring.next(), undefined);
  assert.deepEqual([...ring.lanes()], []);
});
