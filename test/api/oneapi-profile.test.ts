/** Balance, profile and funds of the OneAPI: what its clients ask to find out whether their credentials are good, and more. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { basic, errorObject, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const RESELLER = basic("reseller", "reseller-password");
const FORM = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };

async function get(path: string, authorization?: string | null) {
  const answer = await service.call("GET", path, authorization === undefined ? {} : { authorization });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

test("the balance names its currency in an object, also for a bare question mark", async () => {
  const { key } = await addAccount(service.store, { key: "RICH", balanceMicros: 47_791_340n });
  const expected = { balance: 47.79134, currency: { id: 978, currencyName: "EUR", symbol: "€" } };
  for (const path of ["/1/customerProfile/balance", "/1/customerProfile/balance?"])
    assert.deepEqual(await get(path, basic(key, "password")), expected);
});

const EMPTY = {
  ...{ forename: "", surname: "", street: "", city: "", zipCode: "", telephone: "", gsm: "", fax: "", email: "" },
  ...{ msn: "", skype: "", countryId: 0, timezoneId: 0, primaryLanguageId: 0, secondaryLanguageId: 0 },
  ...{ enabled: true, url: "", canSendTraffic: true, locked: false },
};

test("the profile has every field that some client reads, and none is null", async () => {
  const { key, id } = await addAccount(service.store, { key: "SOMEBODY", username: "somebody" });
  const authorization = basic("somebody", "password");
  const profile = { id, username: "somebody", ...EMPTY, key, accountKey: key, accountId: String(id) };
  assert.deepEqual(await get("/1/customerProfile", authorization), profile);
  assert.deepEqual(await get("/1/customerProfile?", authorization), profile);
  assert.deepEqual(await get(`/1/customerProfile/${id}`, authorization), profile);
  assert.deepEqual(await get("/1/customerProfile/list", authorization), [profile]);
  assert.deepEqual(await get("/1/customerProfile/all", authorization), { users: [profile] });
  const login = await service.call("POST", "/1/customerProfile/login", { authorization });
  assert.deepEqual(await get("/1/customerProfile", `IBSSO ${login.json.login.ibAuthCookie}`), profile);
  const wrong = await service.call("GET", "/1/customerProfile", { authorization: basic("somebody", "wrong") });
  assert.equal(wrong.status, 401);
});

test("a profile is changed by a form or JSON, field by field", async () => {
  const { key } = await addAccount(service.store, { key: "CHANGING", username: "changing" });
  const authorization = basic("changing", "password");
  const put = (body: string | object, headers = {}) =>
    service.call("PUT", "/1/customerProfile", { authorization, body, headers });
  const first = await put("forename=Ada&surname=Lovelace&countryId=826&username=other&enabled=false", FORM);
  assert.equal(first.status, 201, first.text);
  assert.deepEqual(
    [first.json.forename, first.json.surname, first.json.countryId, first.json.username, first.json.enabled],
    ["Ada", "Lovelace", 826, "changing", true],
  );
  const second = await put({ city: "London", surname: null, forename: "" });
  assert.deepEqual([second.json.city, second.json.surname, second.json.forename], ["London", "Lovelace", ""]);
  assert.deepEqual(await get("/1/customerProfile", authorization), second.json);
  for (const [body, field] of [
    [{ city: "x".repeat(256) }, "city"],
    [{ city: 5 }, "city"],
    [{ countryId: -1 }, "countryId"],
    [{ timezoneId: "soon" }, "timezoneId"],
  ] as const) {
    const wrong = await put(body);
    assert.equal(wrong.status, 400);
    assert.deepEqual(wrong.json.requestError.serviceException.variables, [field]);
  }
  assert.ok(key);
});

test("a reseller sees its clients, and nobody else's", async () => {
  const { key, id } = await addAccount(service.store, { key: "RESELLER1-shop", username: "reseller1-shop" });
  const other = await addAccount(service.store, { key: "ELSEWHERE", kind: "reseller", username: "elsewhere" });
  const strange = await addAccount(service.store, { key: "STRANGE", parentKey: "ELSEWHERE" });
  const { clients, next } = await get("/1/customerProfile/account/clients", RESELLER);
  const shop = clients.find(({ accountKey }: { accountKey: string }) => accountKey === key);
  assert.deepEqual(shop, {
    id,
    username: "reseller1-shop",
    ...EMPTY,
    key,
    accountKey: key,
    accountId: String(id),
  });
  assert.equal(next, null);
  assert.ok(!clients.some(({ accountKey }: { accountKey: string }) => accountKey === "STRANGE"));
  const page = await get("/1/customerProfile/account/clients?limit=1", RESELLER);
  assert.equal(page.clients.length, 1);
  assert.equal(page.next, page.clients[0].accountKey);
  assert.equal((await get(`/1/customerProfile/${id}`, RESELLER)).accountKey, key);
  for (const [path, authorization] of [
    [`/1/customerProfile/${strange.id}`, RESELLER],
    [`/1/customerProfile/${other.id}`, RESELLER],
    [`/1/customerProfile/${other.id}`, basic(key.toLowerCase(), "password")],
    ["/1/customerProfile/nobody", RESELLER],
  ] as const)
    assert.equal((await service.call("GET", path, { authorization })).status, 404, path);
  const client = await service.call("GET", "/1/customerProfile/account/clients");
  assert.equal(client.status, 403);
});

test("whether a name is free is told to whoever could make a user of it", async () => {
  const check = async (username: string, authorization?: string) =>
    (await get(`/1/customerProfile/username/check?username=${username}`, authorization)).usernameCheck;
  await addAccount(service.store, { key: "RESELLER1-taken", username: "reseller1-taken" });
  assert.equal(await check("reseller1-free", RESELLER), true);
  assert.equal(await check("reseller1-taken", RESELLER), false);
  // Names outside its namespace are no reseller's business, and no name is a client's.
  assert.equal(await check("demo", RESELLER), false);
  assert.equal(await check("free", RESELLER), false);
  assert.equal(await check("free"), false);
  assert.equal(await check("free", basic("operator", "operator-password")), true);
  assert.equal(await check("demo", basic("operator", "operator-password")), false);
});

test("nobody signs up by himself", async () => {
  for (const [path, body] of [
    ["/1/customerProfile/signup", "username=me&password=x&email=me%40example.com"],
    ["/1/customerProfile/verify", "verificationCode=1234"],
  ] as const) {
    const answer = await service.call("POST", path, { body, headers: FORM, authorization: null });
    assert.equal(answer.status, 403);
    const says = "Nobody can sign up here: ask whoever runs this service for an account.";
    assert.deepEqual(answer.json, errorObject("FORBIDDEN", "Forbidden", null, says));
  }
});

test("funds may be in another currency, spelled with a capital letter, or with null for none", async () => {
  const { key } = await addAccount(service.store, { key: "FUNDED" });
  const login = await service.call("POST", "/1/customerProfile/login", { authorization: RESELLER });
  const authorization = `IBSSO ${login.json.login.ibAuthCookie}`;
  const add = (body: string) =>
    service.call("POST", "/1/customerProfile/payments/funds", { authorization, body, headers: {} });
  const dollars = await add(
    `{"currencyCode": "USD", "accountKey": "${key}", "description": "invoice 3", "ammount": 10.0}`,
  );
  assert.equal(dollars.status, 200, dollars.text);
  assert.ok(Number.isInteger(dollars.json.transactionId) && dollars.json.transactionId < 2 ** 31);
  assert.equal((await get("/1/customerProfile/balance", basic(key, "password"))).balance, 9.2);
  await add(`{"currencyCode": null, "accountKey": "${key}", "description": "invoice 4", "ammount": 10.0}`);
  assert.equal((await get("/1/customerProfile/balance", basic(key, "password"))).balance, 19.2);
});
