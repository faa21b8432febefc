/** Reports that pile up go out together, up to 100 in a request, and stay together; accounts may have a schedule of their own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PUSH_DEFAULTS } from "../../src/reports/pushing/push-settings.ts";
import { retryDelayMs } from "../../src/reports/pushing/retry.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { until } from "../support/patience.ts";
import { status } from "../support/report-receiver.ts";
import { batchesFor, batchFor, MINUTE_MS, startPush, startReceiver } from "./fixtures.ts";

test("a report is not held back to wait for more; what piles up meanwhile goes out together, in order", async (t) => {
  const receiver = await startReceiver(t);
  const { store, push, send } = startPush(t, { settings: { connectionsPerHost: 1, requestItems: 100 } });
  const batches = batchesFor(receiver.url, 251);
  send(...batches);
  await until(() => store.undelivered.size === 0, "all are delivered");
  assert.deepEqual(
    receiver.requests.map(({ items }) => items.length),
    [1, 100, 100, 50],
  );
  assert.deepEqual(
    receiver.items.map((item) => item.messageId),
    batches.map(({ items }) => items[0]!.messageId),
  );
  assert.deepEqual(
    [push.counters.itemsInMemoryNow, push.counters.batchesInMemoryNow, push.counters.merged],
    [0, 0, 247],
  );
});

test("the store knows what goes out together before it goes, and a refused request comes again whole", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t, { settings: { connectionsPerHost: 1, requestItems: 100 } });
  receiver.answer((request, response) => {
    const known = store.undelivered.get(String(request.headers["webhook-id"]));
    assert.ok(known !== undefined);
    status(500)(request, response);
  });
  push.start();
  send(...batchesFor(receiver.url, 4));
  await until(() => store.failures.length === 2, "both requests are refused");
  assert.deepEqual(
    [...store.undelivered.values()].map(({ batch }) => batch.items.length),
    [1, 3],
  );
  receiver.answer(status(200));
  await clock.advance(MINUTE_MS + PUSH_DEFAULTS.pollMs);
  await until(() => store.undelivered.size === 0, "both are delivered");
  const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
  assert.deepEqual(new Set(ids).size, 2);
  assert.deepEqual(
    receiver.requests
      .slice(2)
      .map(({ items }) => items.length)
      .sort(),
    [1, 3],
  );
});

test("only reports of one account for one URL in one form go together", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t, { settings: { connectionsPerHost: 1, requestItems: 100 } });
  send(
    batchFor(receiver.url),
    batchFor(receiver.url, { accountId: 2 }),
    batchFor(`${receiver.url}?other`),
    batchFor(receiver.url, { form: "application/xml" }),
    batchFor(receiver.url, { attempts: 1 }),
    batchFor(receiver.url, { tried: true }),
  );
  await until(() => store.undelivered.size === 0, "all are delivered");
  assert.deepEqual(
    receiver.requests.map(({ items }) => items.length),
    [1, 1, 1, 1, 1, 1],
  );
});

test("while the store is away nothing is merged and nothing is lost", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t, { settings: { connectionsPerHost: 1, requestItems: 100 } });
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the account's policy is known");
  push.start();
  send(...batchesFor(receiver.url, 3));
  store.failing = true;
  await until(() => receiver.requests.length === 2, "the first of them is sent");
  store.failing = false;
  while (store.undelivered.size > 0) await clock.advance(PUSH_DEFAULTS.pollMs);
  assert.equal(new Set(receiver.items.map((item) => item.messageId)).size, 4);
});

test("reports that the store refuses to merge go out one by one", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t, { settings: { connectionsPerHost: 1, requestItems: 100 } });
  push.start();
  const batches = batchesFor(receiver.url, 4);
  store.poisoned.add(batches[1]!.id);
  send(...batches);
  await until(() => store.refusals > 0, "the store refuses to merge");
  store.poisoned.clear();
  await receiver.waitForRequests(2);
  await until(() => store.releases.length === 2, "the others wait in the store");
  while (store.undelivered.size > 0) await clock.advance(PUSH_DEFAULTS.pollMs);
  assert.equal(new Set(receiver.items.map((item) => item.messageId)).size, 4);
  assert.equal(push.counters.itemsInMemoryNow, 0);
});

test("an account's own schedule replaces the service's, and ends with its last wait", () => {
  const delay = (attempts: number) =>
    retryDelayMs({ ...PUSH_DEFAULTS, jitter: 0 }, seededRandom(1), attempts, null, [2, 7]);
  assert.deepEqual([delay(1), delay(2), delay(3)], [2 * MINUTE_MS, 7 * MINUTE_MS, null]);
});

test("a failed try is told to the store with its time, status, duration and the beginning of the answer", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, send } = startPush(t);
  receiver.answer(status(503, {}, `down for maintenance\n${"x".repeat(500)}`));
  store.retryMinutes = [3];
  send(batchFor(receiver.url));
  await until(() => store.failures.length === 1, "it is refused");
  const { attempt, retryAtMs } = store.failures[0]!;
  assert.deepEqual([attempt!.atMs, attempt!.status, attempt!.reason], [clock.now(), 503, "answered 503"]);
  assert.match(attempt!.excerpt, /^down for maintenance x{179}$/);
  assert.equal(retryAtMs, clock.now() + 3 * MINUTE_MS);
});
