/** What happens to reports when the store fails, and when this process stops or starts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lease } from "../../src/node/lease.ts";
import { Push } from "../../src/reports/pushing/push.ts";
import { PUSH_DEFAULTS } from "../../src/reports/pushing/push-settings.ts";
import { type Log, silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { MAX_SET_ASIDE } from "../../src/store/outcome-recorder.ts";
import { until } from "../support/patience.ts";
import { hang, status } from "../support/report-receiver.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { batchesFor, batchFor, MINUTE_MS, startPush, startReceiver } from "./fixtures.ts";
import { MemoryReportStore } from "./memory-store.ts";

test("what an earlier run left is sent at the start", async (t) => {
  const receiver = await startReceiver(t);
  const { store, push } = startPush(t);
  store.leave(batchesFor(receiver.url, 1200));
  push.start();
  await until(() => store.delivered.length === 1200, "all are delivered");
  assert.equal(receiver.requests.length, 1200);
});

test("outcomes go to the store in few calls, one at a time", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  send(...batchesFor(receiver.url, 2000));
  await until(() => store.delivered.length === 2000, "all are delivered");
  assert.equal(store.mostCallsNow, 1);
  assert.ok(store.calls < 1500, `${store.calls} calls`);
});

test("while the store fails, outcomes wait and arrive later", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  push.start();
  send(batchFor(receiver.url)); // the account's secrets are known from now on
  await until(() => store.delivered.length === 1, "the first is delivered");

  store.failing = true;
  send(...batchesFor(receiver.url, 20));
  await receiver.waitForRequests(21);
  receiver.answer(status(500));
  send(batchFor(receiver.url));
  await receiver.waitForRequests(22);
  await clock.advance(3000);
  assert.equal(store.delivered.length, 1);
  assert.equal(push.counters.itemsInMemoryNow, 21);

  store.failing = false;
  await clock.advance(2000);
  await until(() => store.delivered.length === 21 && store.failures.length === 1, "the store knows of all");
  assert.equal(push.counters.itemsInMemoryNow, 0);
  assert.equal(receiver.requests.length, 22);
});

test("reports of an account whose secret cannot be opened become dead letters that say so, and the log tells it", async (t) => {
  const receiver = await startReceiver(t);
  const lines: unknown[] = [];
  const log = { ...silentLog, error: (fields: { account: string }) => void lines.push(fields.account) } as Log;
  const { clock, store, push, send } = startPush(t, { log, settings: { retries: 2 } });
  push.start();
  store.sealed.add(7);
  send(batchFor(receiver.url, { accountId: 7 }), batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "another account's is delivered");
  for (let minutes = 0; minutes < 10; minutes++) await clock.advance(MINUTE_MS);
  assert.deepEqual(
    store.deadLetters.map(({ attempts, reason }) => [attempts, reason]),
    [[3, "the account's signing secret could not be read"]],
  );
  assert.deepEqual(lines, ["ACCOUNT7", "ACCOUNT7", "ACCOUNT7"]);
  assert.deepEqual([receiver.requests.length, store.releases.length, store.undelivered.size], [1, 0, 0]);
  assert.equal(push.counters.itemsInMemoryNow, 0);
});

test("without the account's secret nothing goes out unsigned: it waits for the store", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  push.start();
  store.failing = true;
  send(...batchesFor(receiver.url, 10));
  await clock.advance(5000);
  assert.equal(receiver.requests.length, 0);

  store.failing = false;
  await clock.advance(3000);
  await until(() => store.delivered.length === 10, "all are delivered");
  assert.equal(push.counters.failed, 0);
});

test("a changed secret is used within half a minute", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, send } = startPush(t);
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the first is delivered");
  store.secrets = ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", ...store.secrets];
  await clock.advance(PUSH_DEFAULTS.secretsMs);
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 2, "the second is delivered");
  const signatures = receiver.requests.map(({ headers }) => String(headers["webhook-signature"]).split(" ").length);
  assert.deepEqual(signatures, [1, 2]);
});

test("a stop lets requests under way end, and records them", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  push.start();
  const pending: (() => void)[] = [];
  receiver.answer((_request, response) => pending.push(() => response.end()));
  send(...batchesFor(receiver.url, 10));
  await receiver.waitForRequests(4);

  const stopped = push.stop();
  for (const answer of pending) answer();
  await stopped;

  assert.equal(store.delivered.length, 4);
  assert.equal(store.undelivered.size, 6);
  assert.equal(receiver.requests.length, 4);
  assert.equal(clock.timersPending, 0);
  await until(() => receiver.connections === 0, "the connections are closed");
});

test("a stop does not wait for a silent receiver longer than its bound, and its report is not counted as tried", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  push.start();
  receiver.answer(hang);
  send(batchFor(receiver.url));
  await receiver.waitForRequests(1);

  const stopped = push.stop();
  await clock.advance(PUSH_DEFAULTS.stopMs);
  await stopped;
  assert.equal(store.failures.length, 0);
  assert.equal(store.undelivered.size, 1);
  assert.equal(clock.timersPending, 0);
});

test("a stop does not wait for a store that is gone", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  push.start();
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the first is delivered");
  store.failing = true;
  send(batchFor(receiver.url));
  await receiver.waitForRequests(2);

  let stopped = false;
  void push.stop().then(() => {
    stopped = true;
  });
  while (!stopped) await clock.advance(1000);
  assert.equal(clock.timersPending, 0);
});

test("after a stop nothing more is taken", async (t) => {
  const receiver = await startReceiver(t);
  const { push, send } = startPush(t);
  await push.stop();
  send(batchFor(receiver.url));
  assert.equal(push.counters.batchesInMemoryNow, 0);
});

test("killed between the receiver's 200 and the commit, the next run sends the report again under the same id", async (t) => {
  const receiver = await startReceiver(t);
  const clock = new VirtualClock();
  const store = new MemoryReportStore(clock);
  const run = () => {
    const push = new Push({
      store,
      clock,
      random: seededRandom(1),
      log: silentLog,
      lease: Lease.endless(),
      policy: { allowLoopback: true, allowPrivate: false },
      settings: PUSH_DEFAULTS,
    });
    t.after(() => push.stop());
    return push;
  };
  // The first run's outcome never reaches the store: it fails from the moment the receiver has answered.
  receiver.answer((_request, response) => {
    store.failing = true;
    response.end();
  });
  run().take(store.commit([batchFor(receiver.url)]));
  await receiver.waitForRequests(1);

  receiver.answer(status(200));
  store.failing = false;
  store.restart();
  run().start();
  await receiver.waitForRequests(2);
  await until(() => store.delivered.length === 1, "the report is delivered");
  const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
  assert.equal(ids[0], ids[1]);
});

test("an outcome that the store will not take stops no other, and the store is not asked about it for ever", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  const [bad, ...good] = batchesFor(receiver.url, 100);
  store.poisoned.add(bad!.id);
  send(bad!, ...good);
  await until(() => store.delivered.length === good.length, "all others are recorded");
  assert.deepEqual(new Set(store.delivered), new Set(good.map(({ id }) => id)));

  await clock.advance(MINUTE_MS);
  assert.equal(push.counters.itemsInMemoryNow, 0);
  const { calls } = store;
  await clock.advance(MINUTE_MS);
  assert.equal(store.calls, calls);

  // Nobody has said what became of it: the next run sends it again.
  assert.deepEqual([...store.undelivered.keys()], [bad!.id]);
});

test("while one outcome is tried alone, those that come after it are recorded", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  const bad = batchFor(receiver.url);
  store.poisoned.add(bad.id);
  send(bad);
  await until(() => store.refusals > 0, "the store has refused it");
  const later = batchesFor(receiver.url, 10);
  send(...later);
  await until(() => store.delivered.length === later.length, "the later ones are recorded, and no time has passed");
});

test("a store that takes no outcome at all has most of them kept, and gets them when it does", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t);
  const more = 50;
  const batches = batchesFor(receiver.url, MAX_SET_ASIDE + more);
  for (const { id } of batches) store.poisoned.add(id);
  send(...batches);
  await receiver.waitForRequests(batches.length);
  await clock.advance(MINUTE_MS);
  const givenUp = batches.length - push.counters.itemsInMemoryNow;
  assert.ok(givenUp >= MAX_SET_ASIDE && givenUp < MAX_SET_ASIDE + 5, `${givenUp} given up`);
  store.poisoned.clear();
  await clock.advance(MINUTE_MS);
  assert.equal(push.counters.itemsInMemoryNow, 0);
  assert.equal(store.delivered.length, batches.length - givenUp);
});
