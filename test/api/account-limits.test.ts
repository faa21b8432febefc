/** Limits of one account's own, in place of the service's, and how many of its requests may be in progress. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Store } from "../../src/store/port/store.ts";
import { addAccount } from "../support/accounts.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { basic, errorObject, eventually, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const BALANCE = "/account/1/balance";
const as = (key: string) => basic(key, "password");
const tooMany = (says: string) => errorObject("TOO_MANY_REQUESTS", "Too many requests", null, says);
const destinations = (count: number) => Array.from({ length: count }, (_, index) => ({ to: `4179000000${index}` }));

/** The same store, in which asking for a balance waits while it is shut. */
function held() {
  const waiting: (() => void)[] = [];
  const state = { shut: true };
  const wrap = (store: Store): Store => ({
    ...store,
    balance: async (input) => {
      if (state.shut) await new Promise<void>((resolve) => waiting.push(resolve));
      return store.balance(input);
    },
  });
  const release = (): void => {
    for (const go of waiting.splice(0)) go();
  };
  return { waiting, state, wrap, release };
}

test("an account's own rates count in place of the service's, whether more, fewer or none", async (t) => {
  const clock = new VirtualClock();
  const settings = { limits: { requestsPerSecond: 3, messagesPerSecond: 4 } };
  const service = await startTestService(t, { clock, settings });
  const { store } = service;
  const balanceMicros = 1_000_000_000n;
  await addAccount(store, { key: "PLAIN", balanceMicros });
  await addAccount(store, { key: "MORE", balanceMicros, limits: { requestsPerSecond: 8, messagesPerSecond: 10 } });
  await addAccount(store, { key: "FEWER", balanceMicros, limits: { requestsPerSecond: 1 } });
  await addAccount(store, { key: "FREE", balanceMicros, limits: { requestsPerSecond: 0, messagesPerSecond: 0 } });
  const taken = async (key: string) => {
    let count = 0;
    while (count < 20 && (await service.call("GET", BALANCE, { authorization: as(key) })).status === 200) count++;
    return count;
  };
  assert.deepEqual(
    [await taken("PLAIN"), await taken("MORE"), await taken("FEWER"), await taken("FREE")],
    [3, 8, 1, 20],
  );
  await clock.advance(1_000);
  const send = async (key: string, count: number) => {
    const body = { messages: [{ from: "Sender", text: "Hello", destinations: destinations(count) }] };
    return (await service.call("POST", "/sms/1/text/advanced", { authorization: as(key), body })).status;
  };
  assert.deepEqual([await send("PLAIN", 4), await send("PLAIN", 1)], [200, 429]);
  assert.deepEqual([await send("MORE", 9), await send("MORE", 1), await send("MORE", 1)], [200, 200, 429]);
  assert.deepEqual([await send("FREE", 10), await send("FREE", 10)], [200, 200]);
});

test("an account may be allowed fewer destinations a request than the service allows, not more", async (t) => {
  const service = await startTestService(t, { settings: { limits: { destinationsPerRequest: 5 } } });
  await addAccount(service.store, { key: "FEWER", limits: { destinationsPerRequest: 2 } });
  await addAccount(service.store, { key: "MORE", limits: { destinationsPerRequest: 9 } });
  const send = async (key: string, count: number) => {
    const body = { from: "Sender", to: destinations(count).map(({ to }) => to), text: "Hello" };
    const { status, json } = await service.call("POST", "/sms/1/text/single", { authorization: as(key), body });
    return status === 200 ? 200 : json.requestError.serviceException.additionalDescription;
  };
  assert.deepEqual([await send("FEWER", 2), await send("MORE", 5)], [200, 200]);
  assert.equal(await send("FEWER", 3), "to must name at most 2 destinations, not 3.");
  assert.equal(await send("MORE", 6), "to must name at most 5 destinations, not 6.");
});

test("requests in progress are bounded for each account, by the service's setting or its own, shared among nodes", async (t) => {
  const gate = held();
  const service = await startTestService(t, {
    edgeStore: (store) => ({
      ...gate.wrap(store),
      cluster: async () => ({ nodes: { api: 2, dispatch: 2, reports: 2 }, leads: true }),
    }),
    settings: { limits: { connectionsPerAccount: 4 } },
  });
  await addAccount(service.store, { key: "PLAIN" });
  await addAccount(service.store, { key: "MORE", limits: { connections: 6 } });
  const ask = (key: string) => service.call("GET", BALANCE, { authorization: as(key) });
  const open = [ask("PLAIN"), ask("PLAIN"), ask("MORE"), ask("MORE"), ask("MORE")];
  await eventually(async () => gate.waiting.length === 5);
  for (const key of ["PLAIN", "MORE"]) {
    const { status, json, headers } = await ask(key);
    assert.deepEqual([status, json], [429, tooMany("The account has more requests in progress than it may.")]);
    assert.equal(headers.get("retry-after"), "1");
  }
  gate.release();
  for (const { status } of await Promise.all(open)) assert.equal(status, 200);
  const again = [ask("PLAIN"), ask("PLAIN")];
  await eventually(async () => gate.waiting.length === 2);
  gate.release();
  for (const { status } of await Promise.all(again)) assert.equal(status, 200);
});

test("clients that vanish leave no request of theirs in progress", async (t) => {
  const gate = held();
  const settings = { limits: { connectionsPerAccount: 2 } };
  const service = await startTestService(t, { edgeStore: gate.wrap, settings });
  await addAccount(service.store, { key: "GOES" });
  const request = rawRequestText("GET", BALANCE, { authorization: as("GOES") });
  const ask = () => service.call("GET", BALANCE, { authorization: as("GOES") });
  for (let time = 0; time < 4; time++) {
    gate.state.shut = true;
    const clients = [await RawClient.connect(service.url), await RawClient.connect(service.url)];
    for (const client of clients) await client.write(request);
    // Whether the service has seen anything of them yet differs from time to time, and must not matter.
    if (time % 2 === 0) await eventually(async () => gate.waiting.length === 2);
    for (const client of clients) client.vanish();
    gate.state.shut = false;
    gate.release();
    await eventually(async () => (await Promise.all([ask(), ask()])).every(({ status }) => status === 200));
  }
});
