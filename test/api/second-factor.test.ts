/** A second factor: enrolled, asked for at login, taken once, required of some, and taken away. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { addAccount, everythingIn, watchScrypt } from "../support/accounts.ts";
import { OPERATOR } from "../support/operator.ts";
import { Calendar, codeOf, enrol, FACTOR, LOGIN, logIn, tokenOf, wrongCode } from "../support/second-factor.ts";
import {
  type Answer,
  basic,
  CHALLENGES,
  errorObject,
  startTestService,
  type TestService,
  temporaryDirectory,
} from "../support/service.ts";

const BALANCE = "/account/1/balance";
const STEP_MS = 30_000;
const clock = new Calendar();
const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { clock, data });

const NOT_ENOUGH =
  "The user has a second factor, so the password alone is not enough: log in with a code for a session, or use an API key.";
const CODE_NEEDED = "A code of the second factor is needed: give it as code.";
const WRONG_CODE = "The code is wrong, or was used before.";
const loginError = (description = "The username or the password is wrong.") =>
  errorObject("LOGIN_ERROR", "Login error", null, description);
const says = ({ status, json }: Answer) => [status, json.requestError.serviceException.additionalDescription];

let users = 0;
/** A user whom no other test has. */
async function newUser(on: TestService = service, kind: "client" | "operator" | "reseller" = "client") {
  const key = `USER${users++}`;
  await addAccount(on.store, { key, kind });
  return { username: key, password: "password" };
}

const balance = async (authorization: string, on = service) =>
  (await on.call("GET", BALANCE, { authorization })).status;

test("it is in force from the first code on: a password alone is good for nothing, a session with a code and an API key are", async () => {
  const user = await newUser();
  const { username, password } = user;
  const own = basic(username, password);
  const off = await service.call("GET", FACTOR, { authorization: own });
  assert.deepEqual(off.json, { enabled: false, required: false, recoveryCodes: 0 });

  const begun = await service.call("POST", FACTOR, { authorization: own });
  const { secret, uri } = begun.json;
  assert.deepEqual(Object.keys(begun.json), ["secret", "uri"]);
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.ok(uri.startsWith(`otpauth://totp/Heliograph:${username}?secret=${secret}&`));
  assert.equal(await balance(own), 200, "nothing is in force yet");
  const early = tokenOf(await logIn(service, user));
  const other = tokenOf(await logIn(service, user));

  const confirm = (code: unknown) =>
    service.call("POST", `${FACTOR}/confirm`, { authorization: early, body: { code } });
  assert.deepEqual(says(await confirm(wrongCode(secret, clock))), [403, WRONG_CODE]);
  const confirmed = await confirm(codeOf(secret, clock));
  assert.equal(new Set(confirmed.json.recoveryCodes).size, 10);

  const alone = await service.call("GET", BALANCE, { authorization: own });
  assert.deepEqual([alone.status, alone.json], [401, errorObject("UNAUTHORIZED", "Unauthorized", null, NOT_ENOUGH)]);
  assert.equal(alone.headers.get("www-authenticate"), CHALLENGES);
  const query = new URLSearchParams({ ...user, to: "41793026727", text: "x", from: "a1" });
  assert.deepEqual(says(await service.call("GET", `/sms/1/text/query?${query}`, { authorization: null })), [
    401,
    NOT_ENOUGH,
  ]);
  for (const path of [FACTOR, "/sms/1/logs"])
    assert.deepEqual(says(await service.call("GET", path, { authorization: own })), [401, NOT_ENOUGH]);
  assert.deepEqual([await balance(early), await balance(other)], [200, 401], "only who showed a code goes on");

  assert.deepEqual((await logIn(service, { ...user, password: "wrong" })).json, loginError());
  const without = await logIn(service, user);
  assert.deepEqual([without.status, without.json], [401, loginError(CODE_NEEDED)]);
  assert.equal(without.headers.get("www-authenticate"), CHALLENGES);
  const wrong = await logIn(service, { ...user, code: wrongCode(secret, clock) });
  assert.deepEqual([wrong.status, wrong.json], [401, loginError(WRONG_CODE)]);
  const both = { ...user, password: "wrong", code: codeOf(secret, clock, 1) };
  assert.deepEqual((await logIn(service, both)).json, loginError(), "of a code nothing is said to a wrong password");

  const token = tokenOf(await logIn(service, { ...user, code: codeOf(secret, clock, 1) }));
  assert.equal(await balance(token), 200);
  const on = await service.call("GET", FACTOR, { authorization: token });
  assert.deepEqual(on.json, { enabled: true, required: false, recoveryCodes: 10 });
  const key = newApiKey();
  await service.store.createApiKey({ ...storedForm(key), accountKey: username, name: null, atMs: 0 });
  assert.equal(await balance(`App ${key}`), 200);
});

test("a code may stand wherever login takes a password, in either spelling of login", async () => {
  const user = await newUser();
  const { secret } = await enrol(service, clock, user.username);
  const next = () => {
    clock.pass(STEP_MS);
    return codeOf(secret, clock);
  };
  const form = () => new URLSearchParams({ ...user, code: next() }).toString();
  const authorization = basic(user.username, user.password);
  const ways: readonly (() => Promise<Answer>)[] = [
    () => service.call("POST", LOGIN, { authorization: null, body: { ...user, code: next() } }),
    () =>
      service.call("POST", LOGIN, {
        authorization: null,
        body: form(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    () => service.call("POST", LOGIN, { authorization: null, headers: { ...user, code: next() } }),
    () => service.call("POST", `${LOGIN}?${form()}`, { authorization: null }),
    () => service.call("POST", LOGIN, { authorization, body: { code: next() } }),
    () => service.call("POST", "/auth/1/session", { authorization: null, body: { ...user, code: next() } }),
  ];
  for (const way of ways) assert.equal((await way()).status, 200, `${way}`);
});

test("a code is taken once, of any number that bring it at once; so is a recovery code", async () => {
  const user = await newUser();
  const { secret, recoveryCodes } = await enrol(service, clock, user.username);
  assert.equal((await logIn(service, { ...user, code: codeOf(secret, clock) })).status, 401, "it was used to confirm");
  for (const code of [codeOf(secret, clock, 1), recoveryCodes[3]!]) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => logIn(service, { ...user, code })));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1, code);
    const [again] = answers.filter(({ status }) => status !== 200);
    assert.deepEqual(again!.json, loginError(WRONG_CODE));
  }
  clock.pass(3 * STEP_MS);
  assert.equal((await logIn(service, { ...user, code: codeOf(secret, clock) })).status, 200);
  const written = recoveryCodes[5]!.toUpperCase().replaceAll("-", " ");
  const token = tokenOf(await logIn(service, { ...user, code: written }));
  const { json } = await service.call("GET", FACTOR, { authorization: token });
  assert.equal(json.recoveryCodes, 8);
});

test("with a session, whoever enrols says the password once more; with an API key nobody enrols", async () => {
  const user = await newUser();
  const authorization = tokenOf(await logIn(service, user));
  const begin = (body?: object) => service.call("POST", FACTOR, { authorization, ...(body && { body }) });
  assert.deepEqual(says(await begin()), [400, "password is required: your own, to begin with a second factor."]);
  assert.deepEqual(says(await begin({ password: "wrong" })), [403, "The password is wrong."]);
  assert.equal((await begin({ password: user.password })).status, 200);
  const key = newApiKey();
  await service.store.createApiKey({ ...storedForm(key), accountKey: user.username, name: null, atMs: 0 });
  for (const method of ["GET", "POST", "DELETE"])
    assert.deepEqual(says(await service.call(method, FACTOR, { authorization: `App ${key}` })), [
      403,
      "This is for a user with a password or a session, not for an API key.",
    ]);
});

test("it is taken away with a code or a recovery code, and the password is enough at once", async () => {
  const user = await newUser();
  const own = basic(user.username, user.password);
  for (const kind of ["code", "recovery code"]) {
    const { secret, recoveryCodes } = await enrol(service, clock, user.username);
    clock.pass(STEP_MS);
    const code = codeOf(secret, clock);
    const authorization = tokenOf(await logIn(service, { ...user, code }));
    const remove = (body?: object) => service.call("DELETE", FACTOR, { authorization, ...(body && { body }) });
    assert.equal((await service.call("POST", FACTOR, { authorization, body: user })).status, 409, "not over another");
    assert.equal((await remove()).status, 400);
    assert.deepEqual(says(await remove({ code })), [403, WRONG_CODE], "it opened the session");
    clock.pass(STEP_MS);
    const proof = kind === "code" ? codeOf(secret, clock) : recoveryCodes[0]!;
    assert.equal((await remove({ code: proof })).status, 204);
    assert.equal(await balance(own), 200);
    assert.equal((await remove({ code: proof })).status, 409);
    assert.equal((await logIn(service, user)).status, 200);
  }
});

test("an enrolment that nobody began, or that is confirmed, is not confirmed; and each user begins a few in an hour", async () => {
  const user = await newUser();
  const authorization = basic(user.username, user.password);
  const confirm = () => service.call("POST", `${FACTOR}/confirm`, { authorization, body: { code: "123456" } });
  assert.equal((await confirm()).status, 409);
  const statuses: number[] = [];
  for (let time = 0; time < 7; time++) statuses.push((await service.call("POST", FACTOR, { authorization })).status);
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429]);
});

test("the store has no recovery code in plain, and the audit neither them nor the secret", async () => {
  const user = await newUser();
  const { secret, recoveryCodes } = await enrol(service, clock, user.username);
  const everything = await everythingIn(data);
  for (const code of recoveryCodes) {
    assert.ok(!everything.includes(code));
    assert.ok(!everything.includes(code.replaceAll("-", "").toUpperCase()));
  }
  const query = `/operator/1/audit?kind=secondFactor&subject=${user.username}`;
  const { json } = await service.call("GET", query, { authorization: OPERATOR });
  assert.deepEqual(
    json.results.map(({ action, actor, address }: Record<string, string>) => [action, actor, address]),
    [
      ["change", user.username, "127.0.0.1"],
      ["create", user.username, "127.0.0.1"],
    ],
  );
  assert.ok(!JSON.stringify(json).includes(secret));
});

// --- Guessing ------------------------------------------------------------------------------------------------------------------

async function startCounting(t: TestContext) {
  const counting = await startTestService(t, { clock, settings: { limits: { loginAttempts: 5 } } });
  const user = await newUser(counting);
  const enrolled = await enrol(counting, clock, user.username);
  return { service: counting, user, ...enrolled };
}

test("wrong codes have to wait like wrong passwords, and the password alone, however shown, forgives none", async (t) => {
  const { service: counting, user, secret } = await startCounting(t);
  const guess = async () => (await logIn(counting, { ...user, code: wrongCode(secret, clock) })).status;
  for (let time = 0; time < 5; time++) {
    assert.equal(await guess(), 401);
    assert.ok([401, 429].includes((await logIn(counting, user)).status));
    assert.ok([401, 429].includes(await balance(basic(user.username, user.password), counting)));
  }
  assert.equal(await guess(), 429);
  const right = await logIn(counting, { ...user, code: codeOf(secret, clock, 1) });
  assert.deepEqual(says(right), [429, "There were too many wrong logins."]);
  assert.match(right.headers.get("retry-after") ?? "", /^\d+$/);
});

test("a thousand codes at once are no more than five", async (t) => {
  const { service: counting, user, secret } = await startCounting(t);
  const right = new Set([-1, 0, 1].map((later) => codeOf(secret, clock, later)));
  const codes = Array.from({ length: 1_003 }, (_, index) => String(100_000 + index)).filter((code) => !right.has(code));
  const answers = await Promise.all(codes.map((code) => logIn(counting, { ...user, code })));
  assert.equal(answers.filter(({ status }) => status === 401).length, 5);
  assert.ok(answers.every(({ status }) => status === 401 || status === 429));
});

test("whoever has stolen a session cannot try out codes to take the second factor away", async (t) => {
  const { service: counting, user, secret } = await startCounting(t);
  const authorization = tokenOf(await logIn(counting, { ...user, code: codeOf(secret, clock, 1) }));
  const statuses: number[] = [];
  for (let time = 0; time < 7; time++) {
    const body = { code: wrongCode(secret, clock) };
    statuses.push((await counting.call("DELETE", FACTOR, { authorization, body })).status);
  }
  assert.deepEqual(statuses, [403, 403, 403, 403, 403, 429, 429]);
});

// --- Required ------------------------------------------------------------------------------------------------------------------

for (const [secondFactor, required] of [
  ["operators", ["operator"]],
  ["managers", ["operator", "reseller"]],
] as const) {
  test(`where it is required of ${secondFactor}, a user of theirs without one can enrol and nothing else`, async (t) => {
    const strict = await startTestService(t, { clock, settings: { access: { secondFactor } } });
    const must = "A second factor is required: enrol one with POST /account/1/second-factor, or use an API key.";
    for (const kind of ["client", "reseller", "operator"] as const) {
      const user = await newUser(strict, kind);
      const own = basic(user.username, user.password);
      const token = tokenOf(await logIn(strict, user));
      const key = newApiKey();
      await strict.store.createApiKey({ ...storedForm(key), accountKey: user.username, name: null, atMs: 0 });
      const ask = (authorization: string) => strict.call("GET", BALANCE, { authorization });
      if (!(required as readonly string[]).includes(kind)) {
        assert.deepEqual([(await ask(own)).status, (await ask(token)).status], [200, 200], kind);
        continue;
      }
      for (const authorization of [own, token]) assert.deepEqual(says(await ask(authorization)), [403, must], kind);
      const funds = "/1/customerProfile/payments/funds";
      assert.deepEqual(says(await strict.call("POST", funds, { authorization: token, body: {} })), [403, must]);
      const managing = (authorization: string) => strict.call("GET", "/operator/1/accounts", { authorization });
      assert.deepEqual(says(await managing(own)), [403, must]);
      const query = new URLSearchParams({ ...user, to: "41793026727", text: "x", from: "a1" });
      const plain = await strict.call("GET", `/sms/1/text/query?${query}`, { authorization: null });
      assert.deepEqual(says(plain), [403, must]);
      assert.equal((await managing(`App ${key}`)).status, 200, "programs go on");
      const seen = await strict.call("GET", FACTOR, { authorization: token });
      assert.deepEqual(seen.json, { enabled: false, required: true, recoveryCodes: 0 });

      const { secret } = await enrol(strict, clock, user.username);
      clock.pass(STEP_MS);
      const both = tokenOf(await logIn(strict, { ...user, code: codeOf(secret, clock) }));
      assert.equal((await managing(both)).status, 200);
      clock.pass(STEP_MS);
      const away = { authorization: both, body: { code: codeOf(secret, clock) } };
      assert.equal((await strict.call("DELETE", FACTOR, away)).status, 204);
      assert.deepEqual(says(await managing(both)), [403, must]);
      assert.equal((await strict.call("POST", "/1/customerProfile/logout", { authorization: both })).status, 204);
    }
  });
}

// --- Too long --------------------------------------------------------------------------------------------------------------------

test("names, passwords and codes that are too long are wrong before anything is done with them", async (t) => {
  const { username } = await newUser();
  const scrypts = watchScrypt(t);
  // Marks on one letter, which take the square of their number to be put in order.
  const marks = `a${"\u0315\u0300".repeat(300)}`;
  const long = { username, password: marks };
  assert.deepEqual((await logIn(service, long)).json, loginError());
  assert.deepEqual((await logIn(service, { username: "x".repeat(257), password: "x" })).json, loginError());
  assert.deepEqual((await logIn(service, { username: "", password: "x" })).json, loginError());
  assert.equal(await balance(basic(username, marks)), 401);
  assert.equal(await balance(basic("x".repeat(257), "x")), 401);
  assert.equal(scrypts.length, 0);
  const code = await logIn(service, { username, password: "password", code: "1".repeat(17) });
  assert.deepEqual(says(code), [400, "code must be at most 16 characters long."]);
  const number = await logIn(service, { username, password: "password", code: 123456 });
  assert.deepEqual(says(number), [400, "code must be a text."]);
  assert.equal(scrypts.length, 0);
  assert.equal((await logIn(service, { username, password: "password", code: "" })).status, 200);
  const set = `/operator/1/accounts/${username}/users/${username}/password`;
  const refused = await service.call("PUT", set, { authorization: OPERATOR, body: { password: marks } });
  assert.deepEqual(says(refused), [400, "password must be at most 256 characters long."]);
  const body = { password: "x".repeat(5_000) };
  assert.equal((await service.call("POST", FACTOR, { authorization: basic(username, "password"), body })).status, 413);
});

test("a password that is too long is a wrong login, and counted as one", async (t) => {
  const counting = await startTestService(t, { settings: { limits: { loginAttempts: 5 } } });
  const user = await newUser(counting);
  const statuses: number[] = [];
  for (let time = 0; time < 7; time++) {
    statuses.push((await logIn(counting, { ...user, password: `${time}${"x".repeat(1_024)}` })).status);
  }
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
});
