/** POST and DELETE /auth/1/session: the newer spelling of login and logout. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount, changeAccounts } from "../support/accounts.ts";
import {
  type Answer,
  assertUnauthorized,
  basic,
  type CallOptions,
  CHALLENGES,
  errorObject,
  startTestService,
  temporaryDirectory,
} from "../support/service.ts";

const SESSION = "/auth/1/session";
const BALANCE = "/account/1/balance";
const FUNDS = "/1/customerProfile/payments/funds";
const LOGIN = { username: "demo", password: "demo-password" };
const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });

const open = (options: CallOptions, query = "") =>
  service.call("POST", `${SESSION}${query}`, { authorization: null, ...options });

function tokenIn({ status, json, text }: Answer): string {
  assert.equal(status, 200, text);
  assert.deepEqual(Object.keys(json), ["token"]);
  assert.match(json.token, /^[A-Za-z0-9_-]{43}$/, "32 bytes that nobody can guess");
  return json.token;
}

async function statusWith(token: string): Promise<number> {
  return (await service.call("GET", BALANCE, { authorization: `IBSSO ${token}` })).status;
}

test("a username and a password give a token, which is good until the session is ended", async () => {
  const token = tokenIn(await open({ body: LOGIN }));
  const other = tokenIn(await open({ body: LOGIN }));
  assert.notEqual(token, other);
  assert.equal(await statusWith(token), 200);

  const ended = await service.call("DELETE", SESSION, { authorization: `IBSSO ${token}` });
  assert.deepEqual([ended.status, ended.text], [204, ""]);
  assert.deepEqual([await statusWith(token), await statusWith(other)], [401, 200]);
});

test("username and password may stand wherever login takes them", async () => {
  const form = new URLSearchParams(LOGIN).toString();
  tokenIn(await open({ body: form, headers: { "content-type": "application/x-www-form-urlencoded" } }));
  tokenIn(await open({ headers: LOGIN }));
  tokenIn(await open({}, `?${form}`));
  tokenIn(await open({ authorization: basic("demo", "demo-password") }));
});

test("both spellings open and end the same sessions", async () => {
  const login = await service.call("POST", "/1/customerProfile/login", { body: LOGIN, authorization: null });
  const older = `IBSSO ${login.json.login.ibAuthCookie}`;
  const newer = `IBSSO ${tokenIn(await open({ body: LOGIN }))}`;

  assert.equal((await service.call("DELETE", SESSION, { authorization: older })).status, 204);
  assert.equal((await service.call("POST", "/1/customerProfile/logout", { authorization: newer })).status, 204);
  for (const authorization of [older, newer]) {
    assert.equal((await service.call("GET", BALANCE, { authorization })).status, 401);
  }
});

test("a reseller's token of this spelling may move money", async () => {
  const token = tokenIn(await open({ body: { username: "reseller", password: "reseller-password" } }));
  const { status, json } = await service.call("POST", FUNDS, {
    authorization: `IBSSO ${token}`,
    body: { accountKey: "DEMO0001", ammount: 1, description: "through a session" },
  });
  assert.deepEqual([status, typeof json.transactionId], [200, "number"]);
});

test("whoever cannot log in is told why, and never whether it is the user or the password that is wrong", async () => {
  const wrong = "The username or the password is wrong.";
  const missing = "Username and password are missing: give both in the body, in headers, in the query, or as Basic.";
  const refused = [
    [await open({ body: { ...LOGIN, password: "wrong" } }), wrong],
    [await open({ body: { ...LOGIN, username: "nobody" } }), wrong],
    [await open({ body: { username: "demo" } }), missing],
    [await open({}), missing],
  ] as const;
  for (const [{ status, json, headers }, why] of refused) {
    assert.deepEqual([status, json], [401, errorObject("LOGIN_ERROR", "Login error", null, why)]);
    assert.equal(headers.get("www-authenticate"), CHALLENGES);
  }
});

test("only a token ends a session", async () => {
  const token = tokenIn(await open({ body: LOGIN }));
  for (const authorization of [null, basic("demo", "demo-password"), `IBSSO ${token}x`]) {
    const { status, json, headers } = await service.call("DELETE", SESSION, { authorization });
    assertUnauthorized({ status, json });
    assert.equal(headers.get("www-authenticate"), CHALLENGES);
  }
  assert.equal(await statusWith(token), 200);
});

test("a body that cannot be read is a bad request", async () => {
  const broken = await open({ body: "{" });
  const where = "line 1, column 2 should have a name in double quotes, and the body ends there";
  const says = errorObject("BAD_REQUEST", "Bad request", null, `The body is not valid JSON: ${where}.`);
  assert.deepEqual([broken.status, broken.json], [400, says]);
});

test("a suspended account gets no session", async () => {
  await addAccount(service.store, { key: "SUSPENDED" });
  await changeAccounts(data, "UPDATE account SET suspended = 1 WHERE key = 'SUSPENDED'");
  const { status, json } = await open({ body: { username: "SUSPENDED", password: "password" } });
  const says = errorObject("FORBIDDEN", "Forbidden", null, "The account is suspended.");
  assert.deepEqual([status, json], [403, says]);
});
