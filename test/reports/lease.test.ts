/** A node whose lease does not hold begins no report request, and goes on by itself when it holds again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lease } from "../../src/node/lease.ts";
import { until } from "../support/patience.ts";
import { batchesFor, batchFor, startPush, startReceiver } from "./fixtures.ts";

const HOUR = 3_600_000;

test("reports that come during a lapse wait in memory, and go with the store's next word after it", async (t) => {
  const receiver = await startReceiver(t);
  const lease = new Lease();
  const { clock, store, push, send } = startPush(t, { lease });
  send(...batchesFor(receiver.url, 3));
  await clock.advance(HOUR);
  assert.equal(receiver.requests.length, 0);
  lease.renew(Lease.moment(), HOUR);
  push.take([]);
  await until(() => store.delivered.length === 3, "all are delivered");
  assert.equal(receiver.requests.length, 3);
});

test("a lapse while the store is asked about a report sends nothing: it goes back to the store, and out later", async (t) => {
  const receiver = await startReceiver(t);
  const lease = Lease.endless();
  const { clock, store, push, send } = startPush(t, { lease });
  push.start();
  send(batchFor(receiver.url));
  // The signing secrets are on their way.
  lease.end();
  await until(() => store.releases.length === 1, "it is released");
  assert.equal(receiver.requests.length, 0);
  lease.renew(Lease.moment(), HOUR);
  await clock.advance(2_000);
  await until(() => store.delivered.length === 1, "it is delivered");
  assert.equal(store.failures.length, 0, "it does not count as a try");
});
