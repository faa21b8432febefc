/** API keys: Authorization: App and a key, wherever Basic is taken. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { addAccount, changeAccounts, everythingIn, watchScrypt } from "../support/accounts.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import {
  assertUnauthorized,
  basic,
  CHALLENGES,
  errorObject,
  eventually,
  startTestService,
  temporaryDirectory,
} from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const BALANCE = "/account/1/balance";
const TO = "41793026727";
const DEMO_KEY = "App demo-api-key";
const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const { store } = service;

async function addKey(accountKey: string): Promise<string> {
  const key = newApiKey();
  const stored = { ...storedForm(key), accountKey, name: null, atMs: 0 };
  assert.equal(await store.createApiKey(stored), "created");
  return key;
}

const ask = (authorization: string) => service.call("GET", BALANCE, { authorization });

/** Waits until the service has seen it: a bound of seconds, where a second is promised and other tests run beside it. */
const soon = <Result>(check: () => Promise<Result | false>) => eventually(check);

const OPERATIONS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", BALANCE],
  ["POST", "/sms/1/text/advanced", { messages: [{ from: "a1", destinations: [{ to: TO }], text: "x" }] }],
  ["POST", "/sms/2/text/advanced", { messages: [{ from: "a1", destinations: [{ to: TO }], text: "x" }] }],
  ["POST", "/sms/1/text/multi", { messages: [{ from: "a1", to: TO, text: "x" }] }],
  ["POST", "/sms/1/text/single", { from: "a1", to: TO, text: "x" }],
  ["POST", "/sms/1/preview", { text: "x" }],
  ["GET", "/sms/1/inbox/reports"],
];

for (const [method, path, body] of OPERATIONS) {
  test(`${method} ${path} answers whoever has a key`, async () => {
    const key = await addKey("DEMO0001");
    assert.equal((await service.call(method, path, { body, authorization: `App ${key}` })).status, 200);
    const refused = await service.call(method, path, { body, authorization: `App ${key}x` });
    assertUnauthorized(refused, "key");
    assert.equal(refused.headers.get("www-authenticate"), CHALLENGES);
  });
}

/** What of a key nobody may know. */
const secretOf = (key: string): string => key.slice("hgk_".length + 12 + 1);

test("a key is hgk, its id and 32 bytes that nobody can guess, and no two are the same", async () => {
  const keys = Array.from({ length: 100 }, newApiKey);
  for (const key of keys) assert.match(key, /^hgk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/);
  for (const key of keys) assert.equal(key, `hgk_${storedForm(key).id}_${secretOf(key)}`);
  assert.equal(new Set(keys.map((key) => storedForm(key).id)).size, 100);
  assert.equal(new Set(keys.map(secretOf)).size, 100);
});

test("a key of the form of earlier versions goes on working under its id, and can be revoked by it", async () => {
  const key = `0f1e2d3c4b5a-${"A".repeat(43)}`;
  const { id } = storedForm(key);
  assert.equal(id, "0f1e2d3c4b5a");
  assert.equal(
    await store.createApiKey({ ...storedForm(key), accountKey: "DEMO0001", name: null, atMs: 0 }),
    "created",
  );
  assert.equal((await ask(`App ${key}`)).status, 200);
  assert.equal(await store.revokeApiKey({ id }), "revoked");
  await soon(async () => (await ask(`App ${key}`)).status === 401);
});

test("the sandbox has a key that its documentation tells", async () => {
  const { status, json } = await ask(DEMO_KEY);
  const { json: byPassword } = await service.call("GET", BALANCE);
  assert.deepEqual([status, json], [200, byPassword]);
});

test("not authorized is a key that is wrong, cut, longer, in other letters or under another scheme", async () => {
  const key = await addKey("DEMO0001");
  const { id, keyHash } = storedForm(key);
  for (const authorization of [
    "App",
    "App ",
    `App ${key.slice(0, -1)}`,
    `App ${key} ${key}`,
    `App ${key.toUpperCase()}`,
    `App ${id}`,
    `App ${keyHash}`,
    `Bearer ${key}`,
    `IBSSO ${key}`,
    basic(id, key),
    "App ' OR 1=1 --",
  ]) {
    const { status, json } = await ask(authorization);
    assertUnauthorized({ status, json }, undefined, authorization);
  }
  assert.equal((await ask(`app  ${key}`)).status, 200, "the scheme may be written in any letters");
});

test("a key speaks for its own account", async () => {
  await addAccount(store, { key: "OWN1", balanceMicros: 1_000_000n });
  await addAccount(store, { key: "OWN2", balanceMicros: 2_000_000n });
  const keys = [await addKey("OWN1"), await addKey("OWN2"), await addKey("OWN1")];
  const answers = await Promise.all(keys.map((key) => ask(`App ${key}`)));
  assert.deepEqual(
    answers.map(({ json }) => json.balance),
    [1, 2, 1],
  );
});

test("a key is no session: it neither moves money nor ends anything", async () => {
  const authorization = `App ${await addKey("RESELLER1")}`;
  const funds = { accountKey: "DEMO0001", ammount: 1, description: "x" };
  for (const [method, path, body] of [
    ["POST", "/1/customerProfile/payments/funds", funds],
    ["POST", "/1/customerProfile/logout"],
    ["DELETE", "/auth/1/session"],
  ] as const) {
    const { status, json } = await service.call(method, path, { authorization, body });
    assertUnauthorized({ status, json }, "tokenOnly", path);
  }
  assert.equal((await ask(authorization)).status, 200);
});

test("a revoked key is refused within a second, and the account's other keys are not", async () => {
  const [first, second] = [await addKey("DEMO0001"), await addKey("DEMO0001")];
  assert.deepEqual([(await ask(`App ${first}`)).status, (await ask(`App ${second}`)).status], [200, 200]);
  assert.equal(await store.revokeApiKey({ id: storedForm(first).id }), "revoked");
  await soon(async () => (await ask(`App ${first}`)).status === 401);
  assert.equal((await ask(`App ${second}`)).status, 200);
});

test("on one connection every request is its own caller's, whoever came on it before", async (t) => {
  await addAccount(store, { key: "SHARED1", balanceMicros: 1_000_000n });
  await addAccount(store, { key: "SHARED2", balanceMicros: 2_000_000n, allowedAddresses: ["192.0.2.1"] });
  await addAccount(store, { key: "SHARED3", balanceMicros: 3_000_000n });
  const [first, second, third] = [await addKey("SHARED1"), await addKey("SHARED2"), await addKey("SHARED3")];
  const client = await RawClient.connect(service.url);
  t.after(() => client.destroy());
  const askHere = async (headers: Record<string, string>) => {
    await client.write(rawRequestText("GET", BALANCE, headers));
    const { status, body } = await client.answer();
    return status === 200 ? JSON.parse(body).balance : status;
  };
  const answers = [];
  for (const key of [first, first, third, first, `${first}x`, first, second, third, third])
    answers.push(await askHere({ authorization: `App ${key}` }));
  answers.push(await askHere({}), await askHere({ authorization: `Basic ${third}` }));
  assert.deepEqual(answers, [1, 1, 3, 1, 401, 1, 403, 3, 3, 401, 401]);
});

test("a key that is known on a connection is refused there too when it is revoked", async (t) => {
  const key = await addKey("DEMO0001");
  const client = await RawClient.connect(service.url);
  t.after(() => client.destroy());
  const askHere = async () => {
    await client.write(rawRequestText("GET", BALANCE, { authorization: `App ${key}` }));
    return (await client.answer()).status;
  };
  assert.deepEqual([await askHere(), await askHere()], [200, 200]);
  assert.equal(await store.revokeApiKey({ id: storedForm(key).id }), "revoked");
  await soon(async () => (await askHere()) === 401);
});

test("a suspended account is told so, and its key works again when it is let go", async () => {
  await addAccount(store, { key: "SUSPENDED" });
  const authorization = `App ${await addKey("SUSPENDED")}`;
  assert.equal((await ask(authorization)).status, 200);
  await changeAccounts(data, "UPDATE account SET suspended = 1 WHERE key = 'SUSPENDED'");
  const refused = await soon(async () => {
    const answer = await ask(authorization);
    return answer.status === 403 && answer;
  });
  assert.deepEqual(refused.json, errorObject("FORBIDDEN", "Forbidden", null, "The account is suspended."));
  await changeAccounts(data, "UPDATE account SET suspended = 0 WHERE key = 'SUSPENDED'");
  await soon(async () => (await ask(authorization)).status === 200);
});

test("the store has the hash of a key and not the key", async () => {
  const key = await addKey("DEMO0001");
  assert.equal((await ask(`App ${key}`)).status, 200);
  const everything = await everythingIn(data);
  assert.ok(everything.includes(storedForm(key).keyHash));
  assert.ok(!everything.includes(secretOf(key)));
});

/** A service that counts how often its HTTP side looks for a key. */
async function startCounting(t: TestContext) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
  let looks = 0;
  const counting = await startTestService(t, {
    clock,
    edgeStore: (store) => ({
      ...store,
      findApiKey(input) {
        looks++;
        return store.findApiKey(input);
      },
    }),
  });
  // The sandbox's own key was there before the service, which so has no change to notice.
  const use = async (authorization = DEMO_KEY) => (await counting.call("GET", BALANCE, { authorization })).status;
  const usedAt = async () => {
    const keys = await counting.store.apiKeys({ accountKey: "DEMO0001" });
    return keys[0]!.usedAtMs;
  };
  return { clock, use, usedAt, looks: () => looks };
}

test("a key costs no scrypt, and is looked up once a minute however often it is used", async (t) => {
  const scrypts = watchScrypt(t);
  const { clock, use, looks } = await startCounting(t);
  // Whatever the sandbox's accounts cost was before.
  const before = scrypts.length;
  const burst = await Promise.all(Array.from({ length: 20 }, () => use()));
  assert.deepEqual(new Set(burst), new Set([200]));
  assert.equal(looks(), 1);
  await clock.advance(59_999);
  assert.equal(await use(), 200);
  assert.equal(looks(), 1);
  await clock.advance(1);
  assert.equal(await use(), 200);
  assert.equal(looks(), 2);
  assert.deepEqual(
    [await use("App wrong"), await use("App wrong"), looks()],
    [401, 401, 4],
    "nobody is not remembered",
  );
  assert.equal(scrypts.length, before);
});

test("when a key was last used is noted, at most once a minute", async (t) => {
  const { clock, use, usedAt } = await startCounting(t);
  assert.equal(await usedAt(), null);
  const first = clock.now();
  await use();
  assert.equal(await usedAt(), first);
  await clock.advance(30_000);
  await use();
  assert.equal(await usedAt(), first);
  await clock.advance(30_000);
  await use();
  assert.equal(await usedAt(), first + 60_000);
});
