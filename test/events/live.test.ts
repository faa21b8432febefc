/** Live events: what is too much is dropped, counted for whose it was, and keeps nobody else from being heard. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type LiveBatch, LiveHub, LiveTap, missedIn } from "../../src/events/live.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const event = (accountId: number) => ({ kind: "delivered", accountId, to: "41793026727", messageId: "1" }) as const;

test("an account that floods is told how many it missed, and another one is heard all the same", async () => {
  const clock = new VirtualClock();
  const hub = new LiveHub(clock);
  const heard: LiveBatch[] = [];
  hub.subscribe((batch) => heard.push(batch));
  const tap = new LiveTap(hub.memory, (batch) => hub.take(batch), clock);
  tap.tell(new Array(500).fill(event(1)), 20);
  tap.tell(new Array(500).fill(event(1)));
  tap.tell([event(2)]);
  await clock.advance(200);
  const [batch] = heard;
  const told = (accountId: number) => batch!.events.filter((each) => each.accountId === accountId).length;
  assert.equal(heard.length, 1);
  assert.equal(told(2), 1);
  assert.ok(told(1) > 0 && told(1) < 500);
  assert.deepEqual([...batch!.missed], [[1, 1_020 - told(1)]]);
  assert.equal(missedIn(batch!), 1_020 - told(1));

  await clock.advance(1_000);
  tap.tell([event(1)]);
  await clock.advance(200);
  assert.deepEqual([heard[1]!.events.length, heard[1]!.missed.size], [1, 0], "the next second is another one");
});

test("nothing is made while nobody watches", () => {
  const hub = new LiveHub(new VirtualClock());
  const tap = new LiveTap(hub.memory, (batch) => hub.take(batch));
  assert.equal(tap.isOn, false);
  const stop = hub.subscribe(() => undefined);
  assert.equal(tap.isOn, true);
  stop();
  assert.equal(tap.isOn, false);
});
