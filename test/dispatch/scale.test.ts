/** Dispatch with a hundred thousand messages waiting: counted, not timed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bench } from "../store/harness.ts";
import { HOUR } from "../store/harness.ts";
import { anotherAccount, settle, startDispatch } from "./setup.ts";

const BULK = 100_000;
const LANES = { lane: 2_000, total: 50_000 };

/** Accepts a bulk in requests of ten thousand. */
async function acceptBulk(bench: Bench): Promise<void> {
  for (let sent = 0; sent < BULK; sent += 10_000) {
    await bench.accept(
      Array.from({ length: 10_000 }, (_, index) => bench.message({ to: String(41_790_000_000 + sent + index) })),
    );
  }
  bench.takeMessages();
}

test("with a bulk of 100,000 waiting, another account's message goes out after a few dozen others", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 0;
  await acceptBulk(bench);
  const other = await anotherAccount(bench.store, "OTHER");
  carrier.window = 10;
  carrier.up = true;
  await settle(bench);
  await bench.accept([bench.message({ to: "49170000000" })], {}, { accountId: other });
  const already = carrier.submitted.length;
  const place = () => carrier.submitted.findIndex(({ message }) => message.to === "49170000000");
  while (place() < 0) await settle(bench);
  assert.ok(place() - already <= 40, `${place() - already} others went first`);
  assert.ok(BULK - carrier.submitted.length > 50_000, "most of the bulk still waits");
  assert.ok(dispatcher.inMemory <= LANES.lane + carrier.window);
});

test("a carrier that is down with 100,000 waiting costs a bounded memory and no work, and then gets all of it in order", async (t) => {
  const { bench, carrier, dispatcher } = await startDispatch(t, LANES);
  carrier.window = 1_000;
  carrier.up = false;
  await acceptBulk(bench);
  await settle(bench);
  assert.ok(dispatcher.inMemory <= LANES.lane, `${dispatcher.inMemory} in memory`);
  const timersBefore = bench.clock.timersSet;
  await bench.clock.advance(HOUR / 6);
  assert.equal(carrier.submitted.length, 0);
  // Two rounds every ten seconds, for what is in memory and for what is not, and a look every minute; nothing for a message.
  assert.ok(
    bench.clock.timersSet - timersBefore <= 130,
    `${bench.clock.timersSet - timersBefore} timers in ten minutes`,
  );
  carrier.up = true;
  while (carrier.submitted.length < BULK) {
    await settle(bench);
    assert.ok(dispatcher.inMemory <= LANES.lane + carrier.window);
  }
  assert.equal(carrier.submitted.length, BULK);
  const disorder = carrier.submitted.findIndex(({ message }, index) => message.to !== String(41_790_000_000 + index));
  assert.equal(disorder, -1);
});
