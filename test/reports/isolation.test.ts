/** One host's trouble is not another's, and everything has a bound. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Post, Transport } from "../../src/http/transport.ts";
import { PUSH_DEFAULTS } from "../../src/reports/pushing/push-settings.ts";
import { until } from "../support/patience.ts";
import { hang, status } from "../support/report-receiver.ts";
import { batchesFor, batchFor, factsOf, MINUTE_MS, startPush, startReceiver } from "./fixtures.ts";

test("a silent host holds up nobody else's reports", async (t) => {
  const [silent, alive, alsoAlive] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  silent.answer(hang);
  const { store, send } = startPush(t);

  for (let round = 0; round < 500; round++) {
    send(batchFor(silent.url), batchFor(alive.url), batchFor(alsoAlive.url));
  }
  await until(() => store.delivered.length === 1000, "the two others have theirs");

  for (const receiver of [alive, alsoAlive]) {
    const ids = receiver.requests.map(({ headers }) => headers["webhook-id"]);
    assert.equal(ids.length, 500);
    assert.equal(new Set(ids).size, 500);
  }
  assert.equal(silent.requests.length, 4);
});

test("reports of one host go out in the order in which they came", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t, { settings: { connectionsPerHost: 1 } });
  const batches = batchesFor(receiver.url, 3000);
  send(...batches);
  await until(() => store.delivered.length === batches.length, "all are delivered");
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers["webhook-id"]),
    batches.map(({ id }) => id),
  );
});

test("a host has as many connections as it may have, and no more", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer((_request, response) => setImmediate(() => response.end()));
  const { store, send } = startPush(t);
  send(...batchesFor(receiver.url, 300));
  await until(() => store.delivered.length === 300, "all are delivered");
  assert.equal(receiver.mostConnections, 4);
});

test("a dead host's reports share the failure of a few, take no room, and come when it is back", async (t) => {
  const dead = await startReceiver(t);
  dead.answer(hang);
  const { clock, store, push, send } = startPush(t);
  push.start();
  send(...batchesFor(dead.url, 1000));

  await dead.waitForRequests(4);
  await clock.advance(10_000); // four time out: one short of the circuit
  await dead.waitForRequests(5);
  await clock.advance(10_000);
  await until(() => store.failures.length === 1000, "all have failed");

  assert.ok(dead.requests.length <= 8, `${dead.requests.length} requests`);
  assert.equal(push.counters.itemsInMemoryNow, 0);
  assert.equal(push.counters.openCircuitsNow, 1);
  assert.ok(push.counters.shared >= 992);
  assert.ok(store.failures.every(({ attempts, retryAtMs }) => attempts === 1 && retryAtMs !== null));

  dead.answer(status(200));
  await clock.advance(MINUTE_MS);
  await until(() => store.delivered.length === 1000, "all are delivered");
  assert.equal(push.counters.openCircuitsNow, 0);
});

test("while the circuit is open, one request at a time goes to the host", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(status(500));
  const { store, push, send } = startPush(t);
  for (let tries = 1; tries <= 5; tries++) {
    send(batchFor(receiver.url));
    await until(() => store.failures.length === tries, "the try has failed");
  }
  assert.equal(push.counters.openCircuitsNow, 1);

  receiver.answer(hang);
  send(...Array.from({ length: 10 }, (_, index) => batchFor(`${receiver.url}/${index}`)));
  await receiver.waitForRequests(6);
  assert.equal(push.counters.requestsInFlightNow, 1);
});

test("one success closes the circuit", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(status(500));
  const { store, push, send } = startPush(t);
  send(...batchesFor(receiver.url, 10));
  await until(() => store.failures.length === 10, "all have failed");
  assert.equal(push.counters.openCircuitsNow, 1);

  receiver.answer(status(200));
  send(...batchesFor(receiver.url, 10));
  await until(() => store.delivered.length === 10, "all are delivered");
  assert.equal(push.counters.openCircuitsNow, 0);
});

test("a failure that accounts share is one of each account's own schedule", async (t) => {
  const refused: Answer = { kind: "unreachable", reason: "connection refused" };
  const transport: Transport = { post: async () => refused, forget() {}, async close() {} };
  const { clock, push, store, send } = startPush(t, { transport });
  store.schedules.set(2, Array(50).fill(60));
  store.schedules.set(3, [1, 1]);
  const url = "http://gone.example/";
  for (let tries = 1; tries <= PUSH_DEFAULTS.failuresToOpen; tries++) {
    send(batchFor(url));
    await until(() => store.failures.length === tries, "the host is known as one that nobody reaches");
  }
  store.failures.length = 0;
  const long = batchFor(url, { accountId: 2, attempts: PUSH_DEFAULTS.retries });
  const short = batchFor(url, { accountId: 3, attempts: 2 });
  const sealed = batchFor(url, { accountId: 4 });
  store.sealed.add(4);
  send(batchFor(url), long, short, sealed);
  await until(() => store.failures.length === 4, "the others shared the failure of the one that was tried");
  assert.equal(push.counters.shared, 3);
  const told = new Map(store.failures.map(({ id, retryAtMs, reason }) => [id, [retryAtMs, reason]]));
  assert.deepEqual(told.get(long.id), [clock.now() + 60 * MINUTE_MS, "connection refused"]);
  assert.deepEqual(told.get(short.id), [null, "connection refused"]);
  assert.deepEqual(told.get(sealed.id), [clock.now() + MINUTE_MS, "the account's signing secret could not be read"]);
  assert.equal(push.counters.itemsInMemoryNow, 0);
});

test("one client's failing URL does not speak for another's on the same host", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer((request, response) => {
    response.writeHead(request.url === "/reports/bad" ? 500 : 200).end();
  });
  const { store, send } = startPush(t);
  const bad = batchesFor(`${receiver.url}/bad`, 100);
  const good = batchesFor(`${receiver.url}/good`, 10);
  send(...bad, ...good);
  await until(() => store.delivered.length === 10 && store.failures.length === 100, "everything is settled");
  assert.deepEqual(new Set(store.delivered), new Set(good.map(({ id }) => id)));
});

test("a host that says 404 is well: its circuit stays closed, and each report is tried", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(status(404));
  const { store, push, send } = startPush(t);
  send(...batchesFor(receiver.url, 50));
  await until(() => store.failures.length === 50, "all have failed");
  assert.equal(receiver.requests.length, 50);
  assert.equal(push.counters.openCircuitsNow, 0);
});

test("what does not fit goes back to the store and comes in its turn: nothing lost, nothing twice", async (t) => {
  const [slow, alive] = [await startReceiver(t), await startReceiver(t)];
  slow.answer(hang);
  const { clock, store, push, send } = startPush(t, { settings: { memoryItems: 100, failuresToOpen: 1000 } });
  push.start();
  send(...batchesFor(slow.url, 1000));
  assert.ok(push.counters.itemsInMemoryNow <= 60, `${push.counters.itemsInMemoryNow} in memory`);

  for (let round = 0; round < 50; round++) send(...batchesFor(alive.url, 10));
  await until(() => push.counters.delivered > 0, "the live host gets reports");
  assert.ok(push.counters.itemsInMemoryNow <= 100);

  await slow.waitForRequests(4);
  slow.answer(status(200));
  while (store.delivered.length < 1500) {
    await clock.advance(1000);
    await new Promise<void>((resolve) => setImmediate(resolve));
    assert.ok(push.counters.itemsInMemoryNow <= 100);
  }
  const ids = [...slow.requests, ...alive.requests].map(({ headers }) => headers["webhook-id"]);
  assert.ok(push.counters.released > 0);
  // The four that hung are tried again; all others came once.
  assert.equal(new Set(ids).size, 1500);
  assert.equal(ids.length, 1504);
});

test("lanes are bounded: an idle one makes room, and without one the report waits in the store", async (t) => {
  const receivers = await Promise.all(Array.from({ length: 6 }, () => startReceiver(t)));
  const { clock, store, push, send } = startPush(t, { settings: { maxLanes: 4 } });
  push.start();
  for (const [index, receiver] of receivers.entries()) {
    send(batchFor(receiver.url));
    await until(() => store.delivered.length === index + 1, "the report is delivered");
    assert.ok(push.counters.hostsNow <= 4);
  }
  await until(
    () => receivers[0]!.connections + receivers[1]!.connections === 0,
    "the connections of those that made room are closed",
  );

  for (const receiver of receivers) receiver.answer(hang);
  send(...receivers.map(({ url }) => batchFor(url)));
  assert.equal(push.counters.released, 4);
  await until(
    () => receivers.reduce((sum, { requests }) => sum + requests.length, 0) === 8,
    "two of the six get theirs: the account's half of the lanes",
  );
  for (const receiver of receivers) receiver.answer(status(200));
  await clock.advance(2 * MINUTE_MS);
  await until(() => store.delivered.length === 12, "all are delivered in the end");
});

test("a host with nothing to do is forgotten after a while", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, push, send } = startPush(t, { settings: { idleLaneMs: 5000 } });
  push.start();
  send(batchFor(receiver.url));
  await until(() => store.delivered.length === 1, "the report is delivered");
  assert.equal(push.counters.hostsNow, 1);
  await clock.advance(7000);
  assert.equal(push.counters.hostsNow, 0);
});

test("100,000 reports to three hosts, one of them dead: the others get theirs once, in bounded memory", async (t) => {
  const origins = ["http://dead.example", "http://one.example", "http://two.example"];
  const timesReceived = new Map<string, number>();
  let dead = true;
  let requestsToDead = 0;
  const transport: Transport = {
    async post({ origin, headers }: Post): Promise<Answer> {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (dead && origin === origins[0]) {
        requestsToDead++;
        return { kind: "unreachable", reason: "connection refused" };
      }
      const id = headers["webhook-id"]!;
      timesReceived.set(id, (timesReceived.get(id) ?? 0) + 1);
      return { kind: "answered", status: 200, retryAfter: null, excerpt: "", isWhole: true };
    },
    forget() {},
    async close() {},
  };
  const { clock, store, push, send } = startPush(t, { transport, settings: { memoryItems: 10_000 } });
  push.start();
  const items = Array.from({ length: 10 }, () => factsOf());
  let mostItems = 0;
  const pass = async (ms: number) => {
    mostItems = Math.max(mostItems, push.counters.itemsInMemoryNow);
    await clock.advance(ms);
  };

  for (let round = 0; round < 100; round++) {
    for (const origin of origins) send(...batchesFor(`${origin}/`, 34, { items }));
    await pass(10);
  }
  while (store.delivered.length < 6800) await pass(100);
  assert.ok(requestsToDead < 500, `${requestsToDead} requests to the dead host`);

  dead = false;
  while (store.delivered.length < 10_200) await pass(1000);
  assert.equal(timesReceived.size, 10_200);
  assert.ok([...timesReceived.values()].every((times) => times === 1));
  assert.ok(mostItems <= 10_000, `${mostItems} items in memory`);
});
