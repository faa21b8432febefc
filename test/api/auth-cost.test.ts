/** What a password costs: one scrypt whoever asks, none for a pair that is known, and a bound on those at work. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { Credentials } from "../../src/auth/credentials.ts";
import type { Account } from "../../src/store/port/accounts.ts";
import type { Login } from "../../src/store/port/credentials.ts";
import { HeldScrypt, watchScrypt } from "../support/accounts.ts";
import { basic, DEMO, errorObject, eventually, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const BALANCE = "/account/1/balance";
const service = await startTestService({ after }, { strongPasswords: true });
const ask = (authorization: string) => service.call("GET", BALANCE, { authorization });

test("a hundred requests at once with the same right pair cost one scrypt, and those after them none", async (t) => {
  const scrypts = watchScrypt(t);
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(DEMO)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(scrypts.length, 1);
  assert.equal((await ask(DEMO)).status, 200);
  assert.equal(scrypts.length, 1);
});

test("an unknown user costs as much as a wrong password, in Basic and at login: one scrypt of the same strength", async (t) => {
  const scrypts = watchScrypt(t);
  const login = (authorization: string) => service.call("POST", "/1/customerProfile/login", { authorization });
  for (const call of [ask, login]) {
    const before = scrypts.length;
    const unknown = await call(basic("nobody", "some password"));
    const [ofUnknown, ...more] = scrypts.slice(before);
    assert.deepEqual(more, []);
    const wrong = await call(basic("demo", "some password"));
    const [ofWrong, ...evenMore] = scrypts.slice(before + 1);
    assert.deepEqual(evenMore, []);
    assert.equal(ofUnknown?.password, "some password");
    assert.deepEqual(ofUnknown, ofWrong);
    assert.deepEqual([unknown.status, unknown.text], [wrong.status, wrong.text]);
  }
});

test("a wrong password is not remembered: it costs a scrypt each time", async (t) => {
  const scrypts = watchScrypt(t);
  for (let time = 1; time <= 3; time++) {
    assert.equal((await ask(basic("demo", "always wrong"))).status, 401);
    assert.equal(scrypts.length, time);
  }
});

test("when too many passwords are being checked the answer is 429 at once, and whoever is known does not notice", async (t) => {
  assert.equal((await ask(DEMO)).status, 200);
  const scrypt = new HeldScrypt(t);
  const answers: Awaited<ReturnType<typeof ask>>[] = [];
  const asking = Array.from({ length: 100 }, async (_, index) => {
    answers.push(await ask(basic("demo", `guess ${index}`)));
  });
  // Two at work and 64 waiting: the other 34 are told so while the first are still at it.
  await eventually(async () => answers.length === 34);
  for (const { status, headers, json } of answers) {
    const says = "Too many passwords are being checked right now.";
    assert.deepEqual([status, json], [429, errorObject("TOO_MANY_REQUESTS", "Too many requests", null, says)]);
    assert.equal(headers.get("retry-after"), "1");
  }
  assert.equal((await ask(DEMO)).status, 200);
  const login = await service.call("POST", "/1/customerProfile/login", { authorization: basic("reseller", "x") });
  assert.equal(login.status, 429);
  assert.equal(login.headers.get("retry-after"), "1");

  scrypt.release();
  await Promise.all(asking);
  // On a slow machine some have waited for too long by now.
  for (const { status } of answers.slice(34)) assert.ok(status === 401 || status === 429, String(status));
  assert.equal(answers.length, 100);
  assert.equal(scrypt.mostAtOnce, 2);
});

// --- The same without a socket, where time and the store are the test's ------------------------------------------------------

const ACCOUNT: Account = {
  id: 1,
  key: "A",
  kind: "client",
  parentId: null,
  currency: "EUR",
  ratePlanId: "standard",
  defaultSender: null,
  allowedSenders: null,
  allowedAddresses: null,
  limits: {},
  scopes: null,
  user: null,
  apiKey: null,
  passwordOfReseller: false,
  suspended: false,
};
/** What HeldScrypt makes of any password, so that every one is right. */
const ZEROS = ["scrypt", 2, 8, 1, "", Buffer.alloc(32).toString("base64url")].join("$");
const LOGIN: Login = { account: ACCOUNT, passwordHash: ZEROS };

class CountingStore {
  asked = 0;
  login: Login = LOGIN;

  async findLogin(): Promise<Login> {
    this.asked++;
    return this.login;
  }
}

test("a right pair is remembered for a minute", async (t) => {
  new HeldScrypt(t).release();
  const clock = new VirtualClock();
  const store = new CountingStore();
  const credentials = new Credentials(store, clock);
  assert.equal(await credentials.verify("a", "b"), ACCOUNT);
  await clock.advance(59_999);
  assert.equal(await credentials.verify("a", "b"), ACCOUNT);
  assert.equal(store.asked, 1);
  await clock.advance(1);
  assert.equal(await credentials.verify("a", "b"), ACCOUNT);
  assert.equal(store.asked, 2);
});

test("pairs that are the same letters, cut elsewhere, are different pairs", async (t) => {
  new HeldScrypt(t).release();
  const store = new CountingStore();
  const credentials = new Credentials(store, new VirtualClock());
  await credentials.verify("ab", "c");
  await credentials.verify("a", "bc");
  await credentials.verify("abc", "");
  assert.equal(store.asked, 3);
});

test("no more than ten thousand pairs are remembered, and the oldest makes room", async (t) => {
  new HeldScrypt(t).release();
  const store = new CountingStore();
  const credentials = new Credentials(store, new VirtualClock());
  for (let index = 0; index <= 10_000; index++) await credentials.verify("a", String(index));
  assert.equal(store.asked, 10_001);
  await credentials.verify("a", "10000");
  await credentials.verify("a", "1");
  assert.equal(store.asked, 10_001);
  await credentials.verify("a", "0");
  assert.equal(store.asked, 10_002);
});

/** A check that has read the account and is still at its password when the account is suspended. */
async function suspendedWithin(t: TestContext) {
  const scrypt = new HeldScrypt(t);
  const store = new CountingStore();
  const credentials = new Credentials(store, new VirtualClock());
  const check = credentials.verify("a", "b");
  await eventually(async () => scrypt.mostAtOnce === 1);
  const suspended = { ...ACCOUNT, suspended: true };
  store.login = { ...LOGIN, account: suspended };
  credentials.forgetAll();
  return { scrypt, credentials, check, suspended };
}

test("what a check has read before accounts changed is not remembered after it", async (t) => {
  const { scrypt, credentials, check, suspended } = await suspendedWithin(t);
  scrypt.release();
  assert.equal(await check, ACCOUNT);
  assert.equal(await credentials.verify("a", "b"), suspended);
});

test("nobody who comes after accounts changed shares a check from before", async (t) => {
  const { scrypt, credentials, check, suspended } = await suspendedWithin(t);
  const later = credentials.verify("a", "b");
  scrypt.release();
  assert.equal(await check, ACCOUNT);
  assert.equal(await later, suspended);
});

test("when the store fails the check fails, and the next one is a new try", async (t) => {
  new HeldScrypt(t).release();
  const store = new CountingStore();
  const { findLogin } = store;
  const credentials = new Credentials(store, new VirtualClock());
  store.findLogin = () => Promise.reject(new Error("no store"));
  await assert.rejects(credentials.verify("a", "b"), /no store/);
  store.findLogin = findLogin;
  assert.equal(await credentials.verify("a", "b"), ACCOUNT);
});

test("changes of other accounts cost nobody a scrypt, and a changed password costs its user one", async (t) => {
  const scrypts = watchScrypt(t);
  const manager = basic("operator", "operator-password");
  const change = (body: object) =>
    service.call("PATCH", "/operator/1/accounts/RESELLER1", {
      authorization: manager,
      headers: { "if-match": "*" },
      body,
    });
  assert.equal((await ask(DEMO)).status, 200);
  assert.equal((await change({ retryMinutes: [1] })).status, 200);
  const before = scrypts.length;
  for (let minutes = 2; minutes <= 20; minutes++) {
    assert.equal((await change({ retryMinutes: [minutes] })).status, 200);
    assert.equal((await ask(DEMO)).status, 200);
  }
  assert.equal(scrypts.length, before);
  assert.equal((await ask(basic("demo", "wrong after all"))).status, 401);
  assert.equal(scrypts.length, before + 1);
});
