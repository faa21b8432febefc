/** What happens to a report when its receiver takes it, or does not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { status } from "../support/report-receiver.ts";
import { batchFor, MINUTE_MS, startPush, startReceiver, until } from "./fixtures.ts";

test("a report that is taken is forgotten", async (t) => {
  const receiver = await startReceiver(t);
  const { store, push, send } = startPush(t);
  const batch = batchFor(receiver.url);

  send(batch);
  await until(() => store.delivered.length === 1, "the report is delivered");

  assert.equal(receiver.requests.length, 1);
  const [request] = receiver.requests;
  assert.equal(request?.headers["webhook-id"], batch.id);
  assert.equal(request?.headers["content-type"], "application/json");
  assert.equal(request?.items[0]?.messageId, batch.items[0]?.messageId);
  assert.equal(push.counters.delivered, 1);
  assert.equal(push.counters.itemsInMemoryNow, 0);
});

test("a report that is refused comes again after a minute under the same id", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  push.start();
  receiver.answer(status(500));

  send(batchFor(receiver.url));
  await until(() => store.failures.length === 1, "the first try has failed");
  receiver.answer(status(200));
  await clock.advance(MINUTE_MS - 1);
  assert.equal(receiver.requests.length, 1);
  await clock.advance(1000);
  await until(() => store.delivered.length === 1, "the second try is taken");

  const [first, second] = receiver.requests;
  assert.equal(receiver.requests.length, 2);
  assert.equal(first?.headers["webhook-id"], second?.headers["webhook-id"]);
  assert.equal(first?.body, second?.body);
});
