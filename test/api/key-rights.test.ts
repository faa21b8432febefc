/** API keys: what they are good for, until when and from where; and that none makes anything mightier than itself. */

import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { addAccount } from "../support/accounts.ts";
import { good, operating, RESELLER, refusal } from "../support/operator.ts";
import { eventually } from "../support/patience.ts";
import { RawClient, rawRequestText } from "../support/raw-http.ts";
import { assertUnauthorized, basic, DEMO, startTestService, type TestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const BALANCE = "/account/1/balance";
const HOUR = 3_600_000;
const MINUTE = 60_000;

/** A service that believes its callers when they say where they are, on a clock that stands. */
async function start(t: TestContext) {
  const clock = new VirtualClock();
  const service = await startTestService(t, { clock, settings: { server: { trustedProxies: "127.0.0.1" } } });
  const balance = async (key: string, from = "192.0.2.1") => {
    const options = { authorization: `App ${key}`, headers: { "x-forwarded-for": from } };
    return service.call("GET", BALANCE, options);
  };
  return { clock, service, call: operating(service), balance };
}

test("a key is refused from its end on, also where it was remembered, and whoever has it is told why", async (t) => {
  const { clock, service, call, balance } = await start(t);
  const expiresAt = formatDateTime(clock.now() + MINUTE / 2);
  const { key, ...shown } = good(await call("POST", "/accounts/DEMO0001/api-keys", { expiresAt }));
  assert.equal(shown.expiresAt, expiresAt);
  const client = await RawClient.connect(service.url);
  t.after(() => client.destroy());
  const askHere = async () => {
    await client.write(rawRequestText("GET", BALANCE, { authorization: `App ${key}` }));
    return (await client.answer()).status;
  };
  assert.deepEqual([await askHere(), await askHere(), (await balance(key)).status], [200, 200, 200]);
  await clock.advance(MINUTE / 2 - 1);
  assert.deepEqual([await askHere(), (await balance(key)).status], [200, 200]);
  await clock.advance(1);
  assert.equal(await askHere(), 401);
  assertUnauthorized(await balance(`${key}x`), "key");
  assertUnauthorized(await balance(key), "expired");
  const listed = good(await call("GET", "/accounts/DEMO0001/api-keys")).results;
  assert.equal(listed.find(({ id }: { id: string }) => id === shown.id).expiresAt, expiresAt, "it is still listed");
});

test("a key is good from its own networks only, at every request", async (t) => {
  const { call, balance } = await start(t);
  const body = { allowedAddresses: ["192.0.2.0/24", "2001:db8::/32"] };
  const { key, ...shown } = good(await call("POST", "/accounts/DEMO0001/api-keys", body));
  assert.deepEqual(shown.allowedAddresses, body.allowedAddresses);
  for (const from of ["192.0.2.1", "2001:db8::7"]) assert.equal((await balance(key, from)).status, 200, from);
  const refused = [403, null, "The API key may not be used from 198.51.100.1."];
  assert.deepEqual(refusal(await balance(key, "198.51.100.1")), refused);
  assert.equal((await balance(key)).status, 200);
});

test("the account's networks hold beside the key's", async (t) => {
  const { service, call, balance } = await start(t);
  await addAccount(service.store, { key: "NARROW", allowedAddresses: ["192.0.2.0/24"] });
  const body = { allowedAddresses: ["192.0.2.1", "198.51.100.0/24"] };
  const { key } = good(await call("POST", "/accounts/NARROW/api-keys", body));
  assert.equal((await balance(key, "192.0.2.1")).status, 200);
  const says = (what: string, from: string) => [403, null, `The ${what} may not be used from ${from}.`];
  assert.deepEqual(refusal(await balance(key, "192.0.2.2")), says("API key", "192.0.2.2"));
  assert.deepEqual(refusal(await balance(key, "198.51.100.1")), says("account", "198.51.100.1"));
});

const service = await startTestService({ after });
const call = operating(service);
const later = (ms: number) => formatDateTime(Date.now() + ms);

test("what cannot be of a key is refused with the field", async () => {
  for (const [body, field] of [
    [{ expiresAt: "tomorrow" }, "expiresAt"],
    [{ expiresAt: later(-HOUR) }, "expiresAt"],
    [{ expiresAt: "2026-02-30T00:00:00Z" }, "expiresAt"],
    [{ expiresAt: "x".repeat(41) }, "expiresAt"],
    [{ allowedAddresses: [] }, "allowedAddresses"],
    [{ allowedAddresses: ["192.0.2.0/24", "192.0.2.0/33"] }, "allowedAddresses[1]"],
    [{ allowedAddresses: ["x".repeat(65)] }, "allowedAddresses[0]"],
    [{ allowedAddresses: Array.from({ length: 101 }, () => "192.0.2.1") }, "allowedAddresses"],
    [{ name: "x".repeat(101) }, "name"],
    [{ scopes: { toString: 1 } }, "scopes"],
  ] as const) {
    for (const [path, authorization] of [
      ["/operator/1/accounts/DEMO0001/api-keys", RESELLER],
      ["/account/1/api-keys", DEMO],
    ] as const) {
      const answer = await service.call("POST", path, { authorization, body });
      assert.deepEqual(refusal(answer).slice(0, 2), [400, [field]], JSON.stringify(body));
    }
  }
});

const END = later(HOUR);

/** An operator's key that may manage and send, for an hour, from here. */
async function boundKey(scopes = ["manage", "send"]): Promise<string> {
  const bounds = { scopes, expiresAt: END, allowedAddresses: ["127.0.0.0/8", "192.0.2.0/24"] };
  return `App ${good(await call("POST", "/accounts/OPERATOR1/api-keys", bounds)).key}`;
}

test("a key makes no mightier key, for its own account or for another", async () => {
  const authorization = await boundKey();
  for (const path of ["/operator/1/accounts/DEMO0001/api-keys", "/account/1/api-keys"]) {
    const make = (body: object) => service.call("POST", path, { authorization, body });
    for (const [body, field] of [
      [{ scopes: ["track"] }, "scopes"],
      [{ scopes: ["send", "balance"] }, "scopes"],
      [{ expiresAt: later(2 * HOUR) }, "expiresAt"],
      [{ allowedAddresses: ["0.0.0.0/0"] }, "allowedAddresses"],
      [{ allowedAddresses: ["127.0.0.0/7"] }, "allowedAddresses"],
      [{ allowedAddresses: ["127.0.0.1", "198.51.100.1"] }, "allowedAddresses"],
      [{ allowedAddresses: ["::/0"] }, "allowedAddresses"],
    ] as const) {
      assert.deepEqual(refusal(await make(body)).slice(0, 2), [403, [field]], `${path} ${JSON.stringify(body)}`);
    }
    const same = good(await make({}));
    assert.deepEqual(
      [same.scopes, same.expiresAt, same.allowedAddresses],
      [["manage", "send"], END, ["127.0.0.0/8", "192.0.2.0/24"]],
      "what is not named is what it has itself",
    );
    const less = { scopes: ["send"], expiresAt: later(HOUR / 2), allowedAddresses: ["127.0.0.1", "192.0.2.128/25"] };
    const { scopes, expiresAt, allowedAddresses } = good(await make(less));
    assert.deepEqual({ scopes, expiresAt, allowedAddresses }, less);
  }
});

test("a key without bounds, a password and a session make any key", async () => {
  const { key } = good(await call("POST", "/accounts/OPERATOR1/api-keys", {}));
  const login = await service.call("POST", "/auth/1/session", {
    authorization: basic("operator", "operator-password"),
  });
  for (const authorization of [`App ${key}`, `IBSSO ${good(login).token}`]) {
    const made = good(await call("POST", "/accounts/DEMO0001/api-keys", { scopes: ["track"] }, { authorization }));
    assert.deepEqual([made.scopes, made.expiresAt], [["track"], null]);
  }
});

test("a key gives no password to its own account or to an operator, makes no operator, and does not change its own account", async () => {
  await addAccount(service.store, { key: "OPERATOR2", kind: "operator" });
  await addAccount(service.store, { key: "SOMEBODY" });
  const { key } = good(await call("POST", "/accounts/OPERATOR1/api-keys", { scopes: ["manage", "credentials"] }));
  for (const authorization of [await boundKey(["manage", "credentials"]), `App ${key}`]) {
    const ask = (method: string, path: string, body?: unknown) => call(method, path, body, { authorization });
    const noPassword = [403, null, "An API key sets no password of its own account, and none of an operator."];
    assert.deepEqual(refusal(await ask("PUT", "/accounts/OPERATOR1/users/operator/password", {})), noPassword);
    assert.deepEqual(refusal(await ask("PUT", "/accounts/OPERATOR2/users/OPERATOR2/password", {})), noPassword);
    const operator = { username: "third", kind: "operator", ratePlan: "standard" };
    assert.deepEqual(refusal(await ask("POST", "/accounts", operator)), [403, null, "An API key makes no operators."]);
    const noChange = [403, null, "An API key does not change the account that it is of."];
    const headers = { "if-match": "*" };
    const own = await call("PATCH", "/accounts/OPERATOR1", { allowedAddresses: null }, { authorization, headers });
    assert.deepEqual(refusal(own), noChange);
    assert.deepEqual(refusal(await ask("DELETE", "/accounts/OPERATOR1?version=1")), noChange);
    good(await ask("PUT", "/accounts/SOMEBODY/users/SOMEBODY/password", {}));
  }
  const { password } = good(await call("PUT", "/accounts/OPERATOR2/users/OPERATOR2/password", {}));
  assert.equal((await service.call("GET", BALANCE, { authorization: basic("OPERATOR2", password) })).status, 200);
});

test("a key without the scope credentials becomes nobody: it gives no password, learns none, and opens no networks", async () => {
  await addAccount(service.store, { key: "HELD", allowedAddresses: ["192.0.2.0/24", "127.0.0.0/8"] });
  const { key: whole } = good(await call("POST", "/accounts/OPERATOR1/api-keys", {}));
  const login = await service.call("POST", "/auth/1/oauth2/token", {
    authorization: null,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials&client_id=operator&client_secret=operator-password&scope=manage",
  });
  const token = `Bearer ${good(login).access_token}`;
  for (const [index, authorization] of [await boundKey(), `App ${whole}`, token].entries()) {
    const headers = { "if-match": "*" };
    const ask = (method: string, path: string, body?: unknown) => call(method, path, body, { authorization, headers });
    const who = index === 2 ? "A token with scopes" : "An API key";
    const refused = refusal(
      await ask("PUT", "/accounts/HELD/users/HELD/password", { password: "of-the-key's-choice" }),
    );
    assert.equal(refused[0], 403);
    assert.match(refused[2] as string, /the scope credentials\.$/);

    const order = { key: `MADE${index}`, username: `made${index}`, ratePlan: "standard" };
    const given = refusal(await ask("POST", "/accounts", { ...order, password: "of-the-key's-choice" }));
    assert.deepEqual(given, [403, ["password"], `${who} gives nobody a password without the scope credentials.`]);
    const made = good(await ask("POST", "/accounts", order));
    assert.deepEqual(
      [made.key, made.password],
      [order.key, undefined],
      "made as before, and nobody is told its password",
    );

    for (const allowedAddresses of [null, ["0.0.0.0/0"], ["192.0.2.0/24", "198.51.100.1"]]) {
      const wider = refusal(await ask("PATCH", "/accounts/HELD", { allowedAddresses }));
      const says = `${who} lets an account be used from no other networks without the scope credentials.`;
      assert.deepEqual(wider, [403, ["allowedAddresses"], says]);
    }
    good(
      await ask("PATCH", "/accounts/HELD", { allowedAddresses: ["192.0.2.0/24", "127.0.0.1"], defaultSender: "Held" }),
    );
    if (index < 2) {
      const beyond = refusal(await ask("POST", "/accounts/HELD/api-keys", { scopes: ["manage", "credentials"] }));
      assert.deepEqual(beyond.slice(0, 2), [403, ["scopes"]], "nor does it make a key that does");
    }
  }
  assert.equal((await service.call("GET", BALANCE, { authorization: basic("HELD", "password") })).status, 200);
});

test("a token with scopes sets no password of its own account, and makes no operator and no key", async () => {
  const login = await service.call("POST", "/auth/1/oauth2/token", {
    authorization: null,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials&client_id=operator&client_secret=operator-password&scope=manage+credentials",
  });
  const authorization = `Bearer ${good(login).access_token}`;
  const ask = (method: string, path: string, body?: unknown) => call(method, path, body, { authorization });
  const refused = async (method: string, path: string, body: object) => refusal(await ask(method, path, body))[2];
  assert.deepEqual(
    [
      await refused("PUT", "/accounts/OPERATOR1/users/operator/password", {}),
      await refused("POST", "/accounts", { username: "fourth", kind: "operator", ratePlan: "standard" }),
      await refused("POST", "/accounts/DEMO0001/api-keys", {}),
    ],
    [
      "A token with scopes sets no password of its own account, and none of an operator.",
      "A token with scopes makes no operators.",
      "A token with scopes makes no API keys.",
    ],
  );
});

test("with the scope credentials, which is named, a key gives passwords, and the audit names the key", async () => {
  await addAccount(service.store, { key: "FORGETFUL" });
  const maker = good(await call("POST", "/accounts/OPERATOR1/api-keys", { scopes: ["manage", "credentials"] }));
  const authorization = `App ${maker.key}`;
  const path = "/accounts/FORGETFUL/users/FORGETFUL/password";
  const { password } = good(await call("PUT", path, {}, { authorization }));
  assert.equal((await service.call("GET", BALANCE, { authorization: basic("FORGETFUL", password) })).status, 200);
  const order = { key: "FRESH", username: "fresh", ratePlan: "standard" };
  assert.match(good(await call("POST", "/accounts", order, { authorization })).password, /\S{20}/);
  for (const [kind, subject] of [
    ["password", "FORGETFUL"],
    ["account", "FRESH"],
  ] as const) {
    const [entry] = good(await call("GET", `/audit?kind=${kind}&subject=${subject}`)).results;
    assert.deepEqual([entry.actor, entry.after.madeWith], ["OPERATOR1", maker.id], kind);
  }
  const desk = good(await call("POST", "/accounts/OPERATOR1/api-keys", { scopes: ["credentials"] }));
  good(await call("PUT", path, {}, { authorization: `App ${desk.key}` }));
  assert.equal((await call("GET", "/accounts/FORGETFUL", undefined, { authorization: `App ${desk.key}` })).status, 403);
});

test("the audit says with which key a key was made", async () => {
  const maker = good(await call("POST", "/accounts/DEMO0001/api-keys", { scopes: ["send"] }));
  const make = await service.call("POST", "/account/1/api-keys", { authorization: `App ${maker.key}`, body: {} });
  const { id } = good(make);
  const [entry] = good(await call("GET", `/audit?kind=apiKey&subject=${id}`)).results;
  assert.deepEqual([entry.actor, entry.address, entry.after.madeWith], ["DEMO0001", "127.0.0.1", maker.id]);
  assert.deepEqual(entry.after.scopes, ["send"]);
});

async function statusOf(on: TestService, key: string): Promise<number> {
  return (await on.call("GET", "/account/1/api-keys", { authorization: `App ${key}` })).status;
}

test("a key replaces itself: it makes another, sees and revokes itself, and no other", async () => {
  const old = good(await call("POST", "/accounts/DEMO0001/api-keys", { scopes: ["balance"] }));
  const other = good(await call("POST", "/accounts/DEMO0001/api-keys", {}));
  const ask = (method: string, path: string, body?: unknown) =>
    service.call(method, `/account/1${path}`, { authorization: `App ${old.key}`, body });
  const { key: _, ...shown } = old;
  const [{ usedAt, ...listed }, ...rest] = good(await ask("GET", "/api-keys")).results;
  assert.deepEqual([{ ...listed, usedAt: null }, rest], [shown, []]);
  assert.match(usedAt, /\+0000$/);
  const made = good(await ask("POST", "/api-keys", { name: "the next" }));
  assert.deepEqual([made.name, made.scopes], ["the next", ["balance"]]);
  for (const id of [other.id, made.id, "000000000000"])
    assert.equal((await ask("DELETE", `/api-keys/${id}`)).status, 404, id);
  good(await ask("DELETE", `/api-keys/${old.id}`), 204);
  await eventually(async () => (await statusOf(service, old.key)) === 401);
  assert.deepEqual([await statusOf(service, made.key), await statusOf(service, other.key)], [200, 200]);
});
