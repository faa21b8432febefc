/** Who gets in: passwords, sessions and API keys, as whoever manages an account gives and takes them. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount, everythingIn } from "../support/accounts.ts";
import { addOtherReseller, good, OTHER_RESELLER, operating, RESELLER, refusal } from "../support/operator.ts";
import { eventually } from "../support/patience.ts";
import { basic, startTestService, temporaryDirectory } from "../support/service.ts";

const data = await temporaryDirectory({ after });
const service = await startTestService({ after }, { data });
const call = operating(service);
await addOtherReseller(service);
const balance = (authorization: string) => service.call("GET", "/account/1/balance", { authorization });

async function logIn(username: string, password: string): Promise<string> {
  const { token } = good(await service.call("POST", "/auth/1/session", { authorization: basic(username, password) }));
  return `IBSSO ${token}`;
}

test("another password is good at once, and the old one and its sessions are not", async () => {
  await addAccount(service.store, { key: "PASS" });
  const session = await logIn("PASS", "password");
  assert.equal((await balance(session)).status, 200);
  const path = "/accounts/PASS/users/PASS/password";
  assert.deepEqual(good(await call("PUT", path, { password: "another password" })), { username: "PASS" });
  await eventually(async () => (await balance(basic("PASS", "password"))).status === 401);
  assert.equal((await balance(basic("PASS", "another password"))).status, 200);
  assert.equal((await balance(session)).status, 401);
  const { password } = good(await call("PUT", path, {}, { authorization: RESELLER }));
  assert.match(password, /^[A-Za-z0-9_-]{24}$/);
  assert.equal((await balance(basic("PASS", password))).status, 200);
  assert.ok(!(await everythingIn(data)).includes(password));
});

test("a password is of a user of that account, and long enough", async () => {
  const put = async (path: string, body: object, authorization = RESELLER) =>
    refusal(await call("PUT", path, body, { authorization }));
  const path = "/accounts/DEMO0001/users/demo/password";
  assert.deepEqual((await put(path, { password: "1234567" })).slice(0, 2), [400, ["password"]]);
  assert.deepEqual((await put(path, { password: "x".repeat(257) })).slice(0, 2), [400, ["password"]]);
  assert.equal((await put("/accounts/DEMO0001/users/reseller/password", {}))[0], 404, "another account's user");
  assert.equal((await put("/accounts/RESELLER1/users/reseller/password", {}))[0], 404, "the reseller's own");
  assert.equal((await put(path, {}, OTHER_RESELLER))[0], 404);
});

test("ended sessions are ended, however many there were", async () => {
  await addAccount(service.store, { key: "SESS" });
  const tokens = [await logIn("SESS", "password"), await logIn("SESS", "password")];
  assert.deepEqual(good(await call("DELETE", "/accounts/SESS/sessions")), { ended: 2 });
  for (const token of tokens) await eventually(async () => (await balance(token)).status === 401);
  assert.equal((await balance(basic("SESS", "password"))).status, 200);
});

test("a key is shown once, is good for its scopes, says when it was used, and is refused when it is revoked", async () => {
  await addAccount(service.store, { key: "KEYS" });
  const path = "/accounts/KEYS/api-keys";
  const made = good(await call("POST", path, { name: "reporting", scopes: ["balance", "track", "track"] }));
  const { key, ...shown } = made;
  assert.deepEqual([shown.name, shown.scopes, shown.usedAt], ["reporting", ["balance", "track"], null]);
  assert.ok(key.startsWith(`hgk_${shown.id}_`));
  assert.deepEqual(good(await call("GET", path)).results, [shown]);
  assert.equal((await balance(`App ${key}`)).status, 200);
  const body = { from: "Acme", to: "41793026727", text: "x" };
  const send = await service.call("POST", "/sms/1/text/single", { authorization: `App ${key}`, body });
  assert.deepEqual(refusal(send), [403, null, "The API key is good for balance, track; this needs the scope send."]);
  const [listed] = good(await call("GET", path)).results;
  assert.match(listed.usedAt, /\+0000$/);
  assert.equal((await call("DELETE", `/accounts/DEMO0001/api-keys/${shown.id}`)).status, 404, "another account's key");
  good(await call("DELETE", `${path}/${shown.id}`, undefined, { authorization: RESELLER }), 204);
  await eventually(async () => (await balance(`App ${key}`)).status === 401);
  assert.equal((await call("DELETE", `${path}/${shown.id}`)).status, 404);
  assert.ok(!(await everythingIn(data)).includes(key.slice(`hgk_${shown.id}_`.length)));
});

test("a key without scopes is good for all that its account may do; one with a scope that does not exist is not made", async () => {
  const path = "/accounts/DEMO0001/api-keys";
  const { key, scopes } = good(await call("POST", path, {}));
  assert.equal(scopes, null);
  assert.equal((await balance(`App ${key}`)).status, 200);
  for (const [body, field] of [
    [{ scopes: ["everything"] }, "scopes[0]"],
    [{ scopes: [] }, "scopes"],
    [{ name: "" }, "name"],
  ] as const) {
    assert.deepEqual(refusal(await call("POST", path, body)).slice(0, 2), [400, [field]]);
  }
});

test("a key that may manage operates the service; another of the same operator does not", async () => {
  const path = "/accounts/OPERATOR1/api-keys";
  const { key: managing } = good(await call("POST", path, { scopes: ["manage"] }));
  const { key: sending } = good(await call("POST", path, { scopes: ["send"] }));
  const ask = (key: string) => call("GET", "/carriers", undefined, { authorization: `App ${key}` });
  assert.equal((await ask(managing)).status, 200);
  assert.deepEqual(refusal(await ask(sending)), [
    403,
    null,
    "The API key is good for send; this needs the scope manage.",
  ]);
});
