/** A node whose lease does not hold hands nothing to a carrier, and goes on by itself when it holds again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lease } from "../../src/node/lease.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import { HOUR } from "../store/harness.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";
import { numbered, settle, startDispatch } from "./setup.ts";

/** What the store's watch says when there is nothing to say. */
const NOTHING: Feed = { messages: [], reports: [], overflowed: [], earliestDueAtMs: null };

test("a lapse stops every carrier after what it has, and a renewal lets all go on in order", async (t) => {
  const { bench, carrier, dispatcher, lease } = await startDispatch(t);
  const other = new ScriptedCarrier("other");
  await dispatcher.addCarrier(other);
  carrier.window = 3;
  await bench.accept(numbered(bench, 9));
  assert.equal(carrier.submitted.length, 3);
  lease.end();
  await bench.accept([bench.message({ carrierId: "other" })]);
  await bench.clock.advance(HOUR / 2);
  assert.equal(carrier.submitted.length, 3, "not even the answers to the first three let more go");
  assert.equal(other.submitted.length, 0);
  dispatcher.take(NOTHING);
  await settle(bench);
  assert.equal(carrier.submitted.length, 3);

  lease.renew(Lease.moment(), HOUR);
  dispatcher.take(NOTHING);
  await settle(bench);
  assert.deepEqual(
    carrier.submitted.map(({ message }) => message.to),
    numbered(bench, 9).map(({ to }) => to),
  );
  assert.equal(other.submitted.length, 1);
});

test("a lease that runs out between two messages of one turn lets only the first go", async (t) => {
  const { bench, carrier, lease } = await startDispatch(t);
  const partsOf = carrier.partsOf.bind(carrier);
  carrier.partsOf = (message) => {
    lease.end();
    return partsOf(message);
  };
  await bench.accept(numbered(bench, 5));
  await settle(bench);
  assert.equal(carrier.submitted.length, 1);
});
