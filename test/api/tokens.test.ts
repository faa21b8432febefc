/** POST /auth/1/oauth2/token: tokens for programs, what they are good for, and when they end. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { basic, startTestService, WHY_UNAUTHORIZED } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const clock = new VirtualClock(NOW);
const service = await startTestService({ after }, { clock });
const TOKEN = "/auth/1/oauth2/token";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const GOOD = { client_id: "demo", client_secret: "demo-password", grant_type: "client_credentials" };

const ask = (fields: Record<string, string>) =>
  service.call("POST", TOKEN, { authorization: null, body: `${new URLSearchParams(fields)}`, headers: FORM });

async function tokenFor(fields: Record<string, string> = {}): Promise<string> {
  const { status, json, text } = await ask({ ...GOOD, ...fields });
  assert.equal(status, 200, text);
  return `Bearer ${json.access_token}`;
}

const balance = (authorization: string) => service.call("GET", "/account/1/balance", { authorization });
const SEND = { messages: [{ sender: "Shop", destinations: [{ to: "41793026727" }], content: { text: "Hello" } }] };

test("a form is answered with a token that works on every operation", async () => {
  const answer = await ask(GOOD);
  assert.equal(answer.status, 200, answer.text);
  const { access_token, ...rest } = answer.json;
  assert.deepEqual(rest, { expires_in: 3600, token_type: "Bearer" });
  assert.equal(answer.headers.get("cache-control"), "no-store");
  for (const scheme of ["Bearer", "bearer", "OAuth"])
    assert.equal((await balance(`${scheme} ${access_token}`)).status, 200, scheme);
  const sent = await service.call("POST", "/sms/3/messages", { authorization: `Bearer ${access_token}`, body: SEND });
  assert.equal(sent.status, 200, sent.text);
});

test("Node's library asks in the query, with an empty form and the word undefined for credentials", async () => {
  const answer = await service.call("POST", `${TOKEN}?${new URLSearchParams(GOOD)}`, {
    authorization: "undefined",
    body: "",
    headers: FORM,
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await balance(`Bearer ${answer.json.access_token}`)).status, 200);
});

test("what is wrong is told in the older body with exactly its fields", async () => {
  for (const [fields, field] of [
    [{ ...GOOD, grant_type: "authorization_code", code: "x" }, "grant_type"],
    [{ client_id: "demo", client_secret: "x" }, "grant_type"],
    [{ client_id: "demo", grant_type: "client_credentials" }, "client_secret"],
    [{ client_secret: "x", grant_type: "client_credentials" }, "client_id"],
    [{ ...GOOD, scope: "everything" }, "scope"],
    [{ ...GOOD, scope: "constructor" }, "scope"],
  ] as const) {
    const { status, json } = await ask(fields);
    assert.equal(status, 400);
    assert.deepEqual(Object.keys(json), ["requestError"]);
    const { messageId, text, validationErrors, ...more } = json.requestError.serviceException;
    assert.deepEqual(
      [messageId, text, Object.keys(validationErrors), more],
      ["BAD_REQUEST", "Bad request", [field], {}],
    );
    assert.ok(Array.isArray(validationErrors[field]));
  }
});

test("wrong credentials are 401 with OAuth's word beside, the same for an unknown user", async () => {
  const wrong = await ask({ ...GOOD, client_secret: "wrong" });
  const unknown = await ask({ ...GOOD, client_id: "nobody" });
  assert.equal(wrong.status, 401);
  assert.deepEqual(wrong.json, {
    requestError: { serviceException: { messageId: "UNAUTHORIZED", text: WHY_UNAUTHORIZED.password } },
    error: "invalid_client",
  });
  assert.deepEqual([unknown.status, unknown.json], [wrong.status, wrong.json]);
});

test("it ends after an hour whatever happens, and a login does not", async () => {
  const token = await tokenFor();
  const { json } = await service.call("POST", "/auth/1/session", { authorization: basic("demo", "demo-password") });
  for (let minutes = 0; minutes < 60; minutes += 20) {
    assert.equal((await balance(token)).status, 200);
    assert.equal((await balance(`IBSSO ${json.token}`)).status, 200);
    await clock.leap(20 * 60_000 - 1);
  }
  await clock.leap(3);
  assert.equal((await balance(token)).status, 401);
  assert.equal((await balance(`IBSSO ${json.token}`)).status, 200);
});

test("it ends with a logout", async () => {
  const token = await tokenFor();
  assert.equal((await service.call("DELETE", "/auth/1/session", { authorization: token })).status, 204);
  assert.equal((await balance(token)).status, 401);
});

test("scopes, the family's and our own, narrow a token", async () => {
  const sending = await tokenFor({ scope: "message:send" });
  assert.equal((await balance(sending)).status, 403);
  assert.equal((await service.call("GET", "/sms/3/reports", { authorization: sending })).status, 200);
  const reading = await tokenFor({ scope: "sms:logs:read balance" });
  assert.equal((await balance(reading)).status, 200);
  assert.equal((await service.call("GET", "/sms/3/logs", { authorization: reading })).status, 200);
  const refused = await service.call("POST", "/sms/3/messages", { authorization: reading, body: SEND });
  assert.deepEqual(
    [refused.status, refused.json.errorCode, refused.json.description],
    [403, "E403", "The token is good for track, balance; this needs the scope send."],
  );
});

test("a token with scopes is no user: it changes no password, makes no key and moves no money", async () => {
  const token = await tokenFor({ scope: "send track balance manage" });
  for (const [method, path] of [
    ["PUT", "/account/1/password"],
    ["POST", "/account/1/api-keys"],
    ["POST", "/account/1/second-factor"],
  ] as const) {
    const { status } = await service.call(method, path, { authorization: token, body: {} });
    assert.equal(status, 403, path);
  }
  const reseller = await ask({ ...GOOD, client_id: "reseller", client_secret: "reseller-password", scope: "send" });
  const funds = { accountKey: "DEMO0001", ammount: 1, description: "x" };
  const answer = await service.call("POST", "/1/customerProfile/payments/funds", {
    authorization: `Bearer ${reseller.json.access_token}`,
    body: funds,
  });
  assert.equal(answer.status, 403, answer.text);
});

test("a token with scopes is ended by whoever holds it", async () => {
  for (const [method, path] of [
    ["DELETE", "/auth/1/session"],
    ["POST", "/1/customerProfile/logout"],
  ] as const) {
    const token = await tokenFor({ scope: "balance" });
    assert.equal((await balance(token)).status, 200);
    assert.equal((await service.call(method, path, { authorization: token })).status, 204, path);
    assert.equal((await balance(token)).status, 401);
  }
});

test("the family's scopes of PINs are good for PINs, and send no other message", async () => {
  for (const scope of ["2fa:manage", "2fa:pin:send"]) {
    const authorization = await tokenFor({ scope });
    assert.equal((await service.call("GET", "/2fa/2/applications", { authorization })).status, 200);
    assert.equal((await service.call("POST", "/2fa/2/pin", { authorization, body: {} })).status, 400);
    assert.equal((await service.call("POST", "/sms/3/messages", { authorization, body: SEND })).status, 403);
  }
});
