/** Live views over HTTP: what a page watches, for whom, and how it ends. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { CONSOLE_HEADERS, consoleCall, SESSION, signIn } from "../support/console.ts";
import { Watcher } from "../support/live.ts";
import { OPERATOR } from "../support/operator.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { basic, DEMO, eventually, startTestService, type TestService } from "../support/service.ts";

const service = await startTestService({ after });
const TEXT = { from: "a1", to: "41793026727", text: "x" };
const send = (on: TestService) => on.call("POST", "/sms/1/text/single", { body: TEXT });
const metric = async (on: TestService, name: string) =>
  Number(new RegExp(`^heliograph_${name} (\\d+)$`, "m").exec((await on.call("GET", "/metrics")).text)?.[1]);

test("a page that watches gets the answer at once, and again when it has changed", async (t) => {
  const watcher = await Watcher.open(t, service, { cookie: await signIn(service) }, "me");
  assert.equal(watcher.status, 200);
  assert.equal(watcher.response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(watcher.response.headers.get("cache-control"), "no-store");
  const first = await watcher.answer();
  assert.equal(first.username, "demo");
  assert.equal((await send(service)).status, 200);
  const second = await watcher.answer();
  assert.notEqual(second.balance, first.balance, "nothing is sent that is the same as before");
});

test("the answer is the one that the view gives by itself", async (t) => {
  const cookie = await signIn(service, "reseller");
  const watcher = await Watcher.open(t, service, { cookie }, "me");
  assert.deepEqual(await watcher.answer(), (await consoleCall(service, cookie, "GET", "/console/1/me")).json);
});

test("a view that fails says so in words, and the others go on", async (t) => {
  const watcher = await Watcher.open(t, service, { cookie: await signIn(service) }, "nothing", "me", "__proto__");
  const events = new Map<number, { event: string; data: { problem?: string; status?: number } }>();
  while (events.size < 3) {
    const event = (await watcher.next())!;
    events.set(event.data.view, event);
  }
  assert.deepEqual(
    [0, 1, 2].map((index) => events.get(index)!.event),
    ["problem", "view", "problem"],
  );
  assert.deepEqual(events.get(0)!.data, { view: 0, problem: "There is no such view.", status: 404, fields: [] });
});

test("each view has its own bounds: a key is no user", async (t) => {
  const watcher = await Watcher.open(t, service, { authorization: "App demo-api-key" }, "me");
  const { data } = (await watcher.next("problem"))!;
  assert.equal(data.status, 403);
  assert.match(data.problem, /not for an API key/);
});

test("nobody watches who has not shown who it is, or whose request another site's page sent", async () => {
  const cookie = await signIn(service);
  const status = async (headers: Record<string, string>) => {
    const response = await fetch(`${service.url}/console/1/live?view=me`, { headers });
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await status({ ...CONSOLE_HEADERS }), 401);
  assert.equal(await status({ cookie }), 401);
  assert.equal(await status({ cookie, ...CONSOLE_HEADERS, "sec-fetch-site": "cross-site" }), 401);
  assert.equal(await status({ cookie, ...CONSOLE_HEADERS }), 200);
});

test("what is asked for is bounded", async () => {
  const ask = (query: string) => service.call("GET", `/console/1/live${query}`);
  for (const query of ["", "?view=a".repeat(1).concat("&view=a".repeat(8)), `?view=${"a".repeat(2_049)}`]) {
    const { status, json } = await ask(query);
    assert.equal(status, 400);
    assert.deepEqual(json.requestError.serviceException.variables, ["view"]);
  }
  assert.equal((await service.call("HEAD", "/console/1/live?view=me")).status, 405);
});

test("so many streams an account, so many in all, and a place that is left is free again", async (t) => {
  const bounded = await startTestService(t, { settings: { console: { liveStreams: 3, liveStreamsPerAccount: 2 } } });
  const demo = { cookie: await signIn(bounded) };
  const reseller = { cookie: await signIn(bounded, "reseller") };
  const operator = { cookie: await signIn(bounded, "operator") };
  const first = await Watcher.open(t, bounded, demo, "me");
  await Watcher.open(t, bounded, demo, "me");
  const third = await fetch(`${bounded.url}/console/1/live?view=me`, { headers: { ...CONSOLE_HEADERS, ...demo } });
  assert.equal(third.status, 429);
  assert.equal(third.headers.get("retry-after"), "1");
  await Watcher.open(t, bounded, reseller, "me");
  assert.equal((await Watcher.open(t, bounded, operator, "me")).status, 503);
  first.close();
  await eventually(async () => (await Watcher.open(t, bounded, operator, "me")).status === 200);
});

test("a stream takes no place of a request: neither its account's, nor its address's, nor the service's", async (t) => {
  const tight = await startTestService(t, {
    settings: { server: { maxRequests: 4, requestsPerAddress: 4 }, limits: { connectionsPerAccount: 1 } },
  });
  const cookie = await signIn(tight);
  const watchers = [];
  for (let count = 0; count < 6; count++) {
    watchers.push(await Watcher.open(t, tight, { cookie }, "me"));
    assert.equal(watchers.at(-1)!.status, 200);
    await watchers.at(-1)!.answer();
  }
  assert.equal((await tight.call("GET", "/account/1/balance")).status, 200);
  assert.equal(await metric(tight, "http_streams"), 6);
  assert.equal(await metric(tight, "http_callers"), 0);
  for (const watcher of watchers) watcher.close();
  await eventually(async () => (await metric(tight, "http_streams")) === 0);
});

test("whoever is signed out, or suspended, is told so on every stream, and it ends", async (t) => {
  await addAccount(service.store, { key: "WATCHER" });
  const [one, two] = [await signIn(service, "WATCHER", "password"), await signIn(service, "WATCHER", "password")];
  const [left, suspended] = [
    await Watcher.open(t, service, { cookie: one }, "me"),
    await Watcher.open(t, service, { cookie: two }, "me"),
  ];
  await Promise.all([left.answer(), suspended.answer()]);
  assert.equal((await consoleCall(service, one, "DELETE", SESSION)).status, 204);
  assert.equal((await left.next("signed-out"))?.event, "signed-out");
  assert.equal(await left.next(), null, "it has ended");
  const operator = await signIn(service, "operator");
  const body = { version: 1, suspended: true };
  assert.equal((await consoleCall(service, operator, "PATCH", "/operator/1/accounts/WATCHER", { body })).status, 200);
  assert.equal((await suspended.next("signed-out"))?.event, "signed-out");
  assert.equal(await suspended.next(), null);
});

/** Ways to lose the right to watch, of an account with a key. */
const LOSSES: Readonly<Record<string, (key: string, keyId: string, session: string) => Promise<{ status: number }>>> = {
  "its key is revoked": (key, keyId) =>
    service.call("DELETE", `/operator/1/accounts/${key}/api-keys/${keyId}`, { authorization: OPERATOR }),
  "its password is changed": (key) =>
    service.call("PUT", "/account/1/password", {
      authorization: basic(key, "password"),
      body: { currentPassword: "password", password: "another-password" },
    }),
  "its account is suspended": (key) => change(key, { suspended: true }),
  "its networks are narrowed": (key) => change(key, { allowedAddresses: ["192.0.2.0/24"] }),
  "it is signed out": (_, __, session) => consoleCall(service, session, "DELETE", SESSION),
};
const change = (key: string, body: object) =>
  service.call("PATCH", `/operator/1/accounts/${key}`, { authorization: OPERATOR, body: { version: 1, ...body } });
/** "Within a second", and some more for a machine that does other things too; what is looked for from time to time is found after ten. */
const SOON_MS = 5_000;

test("a stream ends when its credential does:", async (t) => {
  for (const [index, [says, lose]] of Object.entries(LOSSES).entries())
    await t.test(says, async (t) => {
      const key = `LOSER${index}`;
      await addAccount(service.store, { key });
      const path = `/operator/1/accounts/${key}/api-keys`;
      const made = (await service.call("POST", path, { authorization: OPERATOR, body: {} })).json;
      const session = await signIn(service, key, "password");
      const credentials = {
        "its key is revoked": { authorization: `App ${made.key}` },
        "its password is changed": { authorization: basic(key, "password") },
      }[says] ?? { cookie: session };
      const page = await Watcher.open(t, service, credentials, "messages");
      const headers = { ...CONSOLE_HEADERS, ...credentials } as Record<string, string>;
      const listener = await fetch(`${service.url}/events/1/live`, { headers });
      assert.deepEqual([page.status, listener.status], [200, 200]);
      const startedMs = performance.now();
      const { status } = await lose(key, made.id, session);
      assert.ok(status < 300, `${status}`);
      assert.equal((await page.next("signed-out"))?.event, "signed-out");
      assert.match(await listener.text(), /event: signed-out\n/);
      const tookMs = performance.now() - startedMs;
      assert.ok(tookMs < SOON_MS, `it took ${tookMs} ms`);
    });
});

test("a stop waits for no stream", async (t) => {
  const stopped = await startTestService(t, { settings: { server: { stopTimeoutMs: 60_000 } } });
  const watcher = await Watcher.open(t, stopped, { authorization: DEMO }, "me");
  await watcher.answer();
  const startedMs = performance.now();
  await stopped.stop();
  assert.ok(performance.now() - startedMs < 10_000);
  assert.equal(await watcher.next("view"), null, "its reader sees the end, and comes again");
});

test("a reader that takes nothing holds up neither the stop nor anybody else", async (t) => {
  const blocked = await startTestService(t, { settings: { server: { stopTimeoutMs: 60_000 } } });
  const client = await RawClient.connect(blocked.url);
  client.pause();
  await client.write(rawRequestText("GET", "/console/1/live?view=me", { authorization: DEMO }));
  await eventually(async () => (await metric(blocked, "http_streams")) === 1);
  const watcher = await Watcher.open(t, blocked, { authorization: DEMO }, "me");
  const before = await watcher.answer();
  await send(blocked);
  assert.notEqual((await watcher.answer()).balance, before.balance);
  await blocked.stop();
  client.destroy();
});
