/** Wrong logins over HTTP, wherever a password stands: what they cost, what they are told, and who does not notice. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { watchScrypt } from "../support/accounts.ts";
import { basic, type CallOptions, DEMO, errorObject, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const BALANCE = "/account/1/balance";
const LOGIN = "/1/customerProfile/login";
const TOO_MANY = errorObject("TOO_MANY_REQUESTS", "Too many requests", null, "There were too many wrong logins.");
const [HOME, ELSEWHERE] = ["192.0.2.1", "198.51.100.1"];

/** A service that believes its callers when they say where they are. */
async function start(t: TestContext) {
  const clock = new VirtualClock();
  const settings = { limits: { loginAttempts: 5 }, server: { trustedProxies: "127.0.0.1" } };
  const service = await startTestService(t, { clock, settings });
  const scrypts = watchScrypt(t);
  const call = (from: string, method: string, path: string, options: CallOptions = {}) =>
    service.call(method, path, { ...options, headers: { "x-forwarded-for": from, ...options.headers } });
  const ask = async (from: string, authorization: string) =>
    (await call(from, "GET", BALANCE, { authorization })).status;
  return { clock, service, scrypts, call, ask };
}

/** The places where a password can stand. */
const PLACES: readonly ((password: string) => readonly [method: string, path: string, options: CallOptions])[] = [
  (password) => ["GET", BALANCE, { authorization: basic("demo", password) }],
  (password) => ["POST", LOGIN, { authorization: null, body: { username: "demo", password } }],
  (password) => ["POST", "/auth/1/session", { authorization: null, headers: { username: "demo", password } }],
  (password) => ["POST", LOGIN, { authorization: basic("demo", password) }],
  (password) => [
    "GET",
    `/sms/1/text/query?username=demo&password=${password}&to=41793026727&from=a1&text=x`,
    { authorization: null },
  ],
];

test("a thousand wrong logins in a minute, in every place where a password can stand, cost ten scrypts and get in nowhere", async (t) => {
  const { clock, scrypts, call, ask } = await start(t);
  const statuses = new Map<number, number>();
  for (let time = 0; time < 1_000; time++) {
    const place = PLACES[time % PLACES.length]!;
    const { status, json, headers } = await call(ELSEWHERE, ...place(`guess-${time}`));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 429) {
      assert.deepEqual(json, TOO_MANY);
      assert.match(headers.get("retry-after")!, /^[1-9]\d?$/);
    }
    await clock.advance(60);
  }
  // Five, and then one after each wait of 1, 2, 4, 8 and 16 seconds; the sixth is not over.
  assert.deepEqual(Object.fromEntries(statuses), { 401: 10, 429: 990 });
  assert.equal(scrypts.length, 10);
  for (const place of PLACES)
    assert.equal((await call(ELSEWHERE, ...place("demo-password"))).status, 429, "not even with the right one");
  assert.equal(scrypts.length, 10);
  assert.equal(await ask(HOME, DEMO), 200, "a right one from elsewhere works");
});

test("a thousand at once cost five", async (t) => {
  const { scrypts, ask } = await start(t);
  const statuses = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => ask(ELSEWHERE, basic("demo", `guess ${index}`))),
  );
  assert.equal(statuses.filter((status) => status === 401).length, 5);
  assert.equal(statuses.filter((status) => status === 429).length, 995);
  assert.equal(scrypts.length, 5);
  assert.equal(await ask(HOME, DEMO), 200);
});

test("a name that is attacked from everywhere works where its owner was before, and its keys and sessions everywhere", async (t) => {
  const { service, scrypts, call, ask } = await start(t);
  assert.equal(await ask(HOME, DEMO), 200);
  const { json } = await call(HOME, "POST", "/auth/1/session", { authorization: DEMO });
  const before = scrypts.length;
  for (let index = 0; index < 300; index++) await ask(`203.0.113.${index % 256}`, basic("demo", `guess ${index}`));
  assert.equal(scrypts.length - before, 20);
  assert.equal(await ask(ELSEWHERE, DEMO), 429);
  assert.equal(await ask(HOME, DEMO), 200);
  assert.equal(await ask(ELSEWHERE, `IBSSO ${json.token}`), 200);
  const key = newApiKey();
  await service.store.createApiKey({ ...storedForm(key), accountKey: "DEMO0001", name: null, atMs: 0 });
  assert.equal(await ask(ELSEWHERE, `App ${key}`), 200);
});

test("while an attacker guesses, what is remembered of the owner's password tells him nothing", async (t) => {
  const { ask } = await start(t);
  assert.equal(await ask(HOME, DEMO), 200);
  for (let time = 0; time < 5; time++) assert.equal(await ask(ELSEWHERE, basic("demo", `guess ${time}`)), 401);
  assert.equal(await ask(HOME, DEMO), 200);
  assert.equal(await ask(ELSEWHERE, DEMO), 429);
});

test("wrong keys and tokens are bounded too, and cost the store no more than a hundred looks", async (t) => {
  const { ask } = await start(t);
  assert.equal(await ask(HOME, "App demo-api-key"), 200);
  const statuses: number[] = [];
  for (let time = 0; time < 150; time++)
    statuses.push(await ask(HOME, time % 2 === 0 ? `App wrong-${time}` : `IBSSO wrong${time}`));
  assert.deepEqual(new Set(statuses.slice(0, 100)), new Set([401]));
  assert.deepEqual(new Set(statuses.slice(100)), new Set([429]));
  assert.equal(await ask(HOME, "App demo-api-key"), 200, "one that was right there before is");
  assert.equal(await ask(HOME, DEMO), 200);
  assert.equal(await ask(ELSEWHERE, "App demo-api-key"), 200);
});
