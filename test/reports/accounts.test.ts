/** One account's trouble with its receivers is not another's: what push has is shared out by account. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resolve } from "../../src/http/connector.ts";
import type { DeliveryBatch } from "../../src/message/message.ts";
import { until } from "../support/patience.ts";
import { hang, type ReportReceiver, status } from "../support/report-receiver.ts";
import { batchesFor, batchFor, factsOf, startPush, startReceiver } from "./fixtures.ts";

/** Every name is this machine: as many hosts as a test wants, all at one receiver. */
const resolve: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];

function hostsAt({ port }: ReportReceiver, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `http://h${index}.example.net:${port}/`);
}

const ofAccount = (accountId: number, url: string, changes: Partial<DeliveryBatch> = {}) =>
  batchFor(url, { ...changes, accountId });

test("an account with more dead hosts than there are lanes leaves lanes for the others", async (t) => {
  const [dead, alive] = [await startReceiver(t), await startReceiver(t)];
  dead.answer(hang);
  const { store, push, send } = startPush(t, { resolve, settings: { maxLanes: 100 } });
  send(...hostsAt(dead, 300).map((url) => ofAccount(1, url)));
  await dead.waitForRequests(50);

  // No time passes: who had to come again would have to wait for the clock.
  const wanted = [2, 3, 4, 5].map((accountId) =>
    ofAccount(accountId, `http://alive${accountId}.example.net:${alive.port}/`),
  );
  send(...wanted);
  await until(() => store.delivered.length === wanted.length, "all others have theirs");
  assert.equal(dead.requests.length, 50);
  assert.equal(push.counters.requestsInFlightNow, 50);
});

test("many accounts whose reports wait for one dead host leave lanes for the others", async (t) => {
  const [dead, alive] = [await startReceiver(t), await startReceiver(t)];
  dead.answer(hang);
  const { store, send } = startPush(t, { settings: { maxLanes: 100 } });
  send(...Array.from({ length: 300 }, (_, index) => ofAccount(1000 + index, dead.url)));
  await dead.waitForRequests(8);
  send(...batchesFor(alive.url, 20, { accountId: 1 }));
  await until(() => store.delivered.length === 20, "those to another host go out");
});

test("the memory that one account's slow hosts fill leaves room for others and for its own live host", async (t) => {
  const [slow, alive] = [await startReceiver(t), await startReceiver(t)];
  slow.answer(hang);
  const { store, push, send } = startPush(t, { resolve, settings: { memoryItems: 1000 } });
  const items = Array.from({ length: 10 }, () => factsOf());
  // Half of it at one host, and more at others.
  const [first, ...others] = hostsAt(slow, 40);
  send(...batchesFor(first!, 200, { accountId: 1, items }));
  assert.ok(push.counters.itemsInMemoryNow <= 550, `${push.counters.itemsInMemoryNow} items of one host`);
  send(ofAccount(1, alive.url, { items }));
  await until(() => store.delivered.length === 1, "its own live host gets its reports");

  send(...others.flatMap((url) => batchesFor(url, 20, { accountId: 1, items })));
  assert.ok(push.counters.itemsInMemoryNow <= 700, `${push.counters.itemsInMemoryNow} items of one account`);
  send(...batchesFor(alive.url, 10, { accountId: 2, items }));
  await until(() => store.delivered.length === 11, "another account's are delivered");
});

test("URLs of one account that hang do not hold up another account's at the same host", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer((request, response) => {
    if (!request.url!.startsWith("/reports/hangs")) response.end();
  });
  const { store, push, send } = startPush(t);
  send(...Array.from({ length: 100 }, (_, index) => ofAccount(1, `${receiver.url}/hangs/${index}`)));
  await receiver.waitForRequests(4);
  send(...batchesFor(`${receiver.url}/well`, 50, { accountId: 2 }));
  await until(() => store.delivered.length === 50, "the other account's go out beside them");
  assert.equal(push.counters.requestsInFlightNow, 4);
});

test("one account's failures at a host open no circuit for another's", async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer((request, response) => {
    if (request.url === "/reports/bad") response.writeHead(500).end();
    else if (request.url === "/reports/good") hang(request, response);
  });
  const { store, push, send } = startPush(t);
  send(...batchesFor(`${receiver.url}/bad`, 20, { accountId: 1 }));
  await until(() => store.failures.length === 20, "the one account's have failed");
  assert.equal(push.counters.openCircuitsNow, 1);

  send(...batchesFor(`${receiver.url}/good`, 20, { accountId: 2 }));
  await until(() => push.counters.requestsInFlightNow === 4, "the other has as many requests as it may");
});

test("when a host cannot be reached, a few tries speak for all accounts", async (t) => {
  const gone = await startReceiver(t);
  const { url } = gone;
  await gone.stop();
  const { store, push, send } = startPush(t);
  send(...Array.from({ length: 200 }, (_, index) => ofAccount(1 + index, url)));
  await until(() => store.failures.length === 200, "all have failed");
  assert.ok(push.counters.unreachable <= 16, `${push.counters.unreachable} tries`);
  assert.equal(push.counters.itemsInMemoryNow, 0);
});

test("the backlog of an account without room comes back at its own pace, and others' due reports are found at once", async (t) => {
  const BACKLOG = 6_000;
  const POLLS = 60;
  const [dead, alive] = [await startReceiver(t), await startReceiver(t)];
  dead.answer(hang);
  const { clock, store, push } = startPush(t, { resolve, settings: { maxLanes: 20 } });
  store.leave(hostsAt(dead, BACKLOG).map((url) => ofAccount(1, url)));
  await clock.advance(1);
  store.leave([ofAccount(2, alive.url)]);
  push.start();
  await until(() => store.delivered.length === 1, "the other's is found behind all of the backlog");

  for (let poll = 0; poll < POLLS; poll++) {
    await clock.advance(1000);
    store.leave([ofAccount(2, alive.url)]);
  }
  await clock.advance(1000);
  await until(() => store.delivered.length === POLLS + 1, "and so it is at every poll");
  // Once at the start; then a thousand a second until the first time-outs tell the pace; and then hardly ever.
  assert.ok(store.releases.length < 4 * BACKLOG, `${store.releases.length} releases of ${BACKLOG} batches`);
});

test("a backlog that reaches beyond the longest wait does not come back all at one moment", async (t) => {
  const BACKLOG = 3_000;
  const dead = await startReceiver(t);
  dead.answer(hang);
  const { clock, store, send } = startPush(t, { resolve, settings: { maxLanes: 4 } });
  // Two at a time, ten seconds each: the mean is ten seconds soon, and so all of it would last for hours.
  for (let round = 0; round < 40; round++) {
    send(...hostsAt(dead, 2).map((url) => ofAccount(1, url)));
    await clock.advance(10_000);
    await until(() => store.failures.length >= round, "the time-outs are recorded");
  }
  store.releases.length = 0;
  send(...hostsAt(dead, BACKLOG).map((url) => ofAccount(1, url.replace("//h", "//k"))));
  await until(() => store.releases.length >= BACKLOG - 2, "what has no room is released");
  const perSecond = new Map<number, number>();
  for (const { dueAtMs } of store.releases) {
    const second = Math.floor(dueAtMs / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  const most = Math.max(...perSecond.values());
  assert.ok(most <= BACKLOG / 50, `${most} of ${BACKLOG} in one second`);
  dead.answer(status(200));
});
