/** Where callers are: networks that an account may be used from, proxies that are believed, and who may read the metrics. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newApiKey, storedForm } from "../../src/auth/api-keys.ts";
import { addAccount } from "../support/accounts.ts";
import { RawClient, rawCall, rawRequestText } from "../support/raw-http.ts";
import { basic, type CallOptions, errorObject, startTestService } from "../support/service.ts";

const BALANCE = "/account/1/balance";
const LOGIN = "/1/customerProfile/login";
const direct = await startTestService({ after }, { settings: { server: { metricsNetworks: "10.0.0.0/8" } } });
const behind = await startTestService(
  { after },
  { settings: { server: { trustedProxies: "127.0.0.0/8, 10.9.0.0/16", metricsNetworks: "192.0.2.0/24" } } },
);
const forbidden = (address: string) =>
  errorObject("FORBIDDEN", "Forbidden", null, `The account may not be used from ${address}.`);
const from = (address: string, options: CallOptions = {}): CallOptions => ({
  ...options,
  headers: { "x-forwarded-for": address, ...options.headers },
});

const OFFICE = { allowedAddresses: ["192.0.2.0/24", "2001:db8::/32"] };
for (const { store } of [direct, behind]) {
  await addAccount(store, { key: "OFFICE", ...OFFICE });
  await addAccount(store, { key: "LOCAL", allowedAddresses: ["127.0.0.1"] });
  await addAccount(store, { key: "NOWHERE", allowedAddresses: [] });
}

test("an account with a list of networks is for use from there; who comes from elsewhere is told so after his password", async () => {
  const ask = (key: string, password = "password") =>
    direct.call("GET", BALANCE, { authorization: basic(key, password) });
  assert.equal((await ask("LOCAL")).status, 200);
  for (const key of ["OFFICE", "NOWHERE"]) {
    const { status, json } = await ask(key);
    assert.deepEqual([status, json], [403, forbidden("127.0.0.1")]);
    assert.equal((await ask(key, "wrong")).status, 401, "whoever does not know the password is not told");
  }
});

test("the list holds for passwords, logins, keys, tokens and plain URLs", async () => {
  const key = newApiKey();
  await behind.store.createApiKey({ ...storedForm(key), accountKey: "OFFICE", name: null, atMs: 0 });
  const password = basic("OFFICE", "password");
  const login = await behind.call("POST", LOGIN, from("192.0.2.7", { authorization: password }));
  const requests: readonly (readonly [method: string, path: string, options: CallOptions])[] = [
    ["GET", BALANCE, { authorization: password }],
    ["GET", BALANCE, { authorization: `App ${key}` }],
    ["GET", BALANCE, { authorization: `IBSSO ${login.json.login.ibAuthCookie}` }],
    ["POST", LOGIN, { authorization: password }],
    ["POST", "/auth/1/session", { authorization: null, body: { username: "OFFICE", password: "password" } }],
    [
      "GET",
      "/sms/1/text/query?username=OFFICE&password=password&to=41793026727&from=a1&text=x",
      { authorization: null },
    ],
  ];
  for (const [method, path, options] of requests) {
    for (const address of ["192.0.2.1", "2001:db8:ffff::1", "::ffff:192.0.2.255"])
      assert.equal((await behind.call(method, path, from(address, options))).status, 200, `${path} from ${address}`);
    for (const address of ["192.0.3.1", "2001:db9::1"]) {
      const { status, json } = await behind.call(method, path, from(address, options));
      assert.deepEqual([status, json], [403, forbidden(address)], path);
    }
  }
});

test("without trusted proxies X-Forwarded-For is what anybody may write: it is ignored", async () => {
  const authorization = basic("OFFICE", "password");
  const { status, json } = await direct.call("GET", BALANCE, from("192.0.2.1", { authorization }));
  assert.deepEqual([status, json], [403, forbidden("127.0.0.1")]);
  const local = await direct.call("GET", BALANCE, from("192.0.2.1", { authorization: basic("LOCAL", "password") }));
  assert.equal(local.status, 200);
});

test("behind proxies the caller is the last one that is no proxy, whatever he wrote before it", async () => {
  const authorization = basic("OFFICE", "password");
  const status = async (header: string) => (await behind.call("GET", BALANCE, from(header, { authorization }))).status;
  assert.equal(await status("192.0.2.1"), 200);
  assert.equal(await status("192.0.2.1, 10.9.1.1"), 200, "through two proxies");
  assert.equal(await status("192.0.2.1, 198.51.100.1"), 403, "the caller made up the first");
  assert.equal(await status("192.0.2.1, 198.51.100.1, 10.9.1.1"), 403);
  assert.equal(await status("nonsense, 192.0.2.1"), 200);
  assert.equal(await status("192.0.2.1, nonsense"), 403);
  const none = await behind.call("GET", BALANCE, { authorization: basic("LOCAL", "password") });
  assert.equal(none.status, 200, "without the header the caller is the proxy itself");
});

test("the metrics are for the networks that the setting names, health is for everybody", async () => {
  const object = errorObject("FORBIDDEN", "Forbidden", null, "The metrics are not for this address.");
  for (const path of ["/healthz", "/readyz"]) assert.equal((await direct.call("GET", path)).status, 200);
  const local = await direct.call("GET", "/metrics");
  assert.deepEqual([local.status, local.json], [403, object]);
  assert.equal((await direct.call("GET", "/metrics", from("10.0.0.1"))).status, 403, "it cannot be made up");
  assert.equal((await behind.call("GET", "/metrics", from("192.0.2.1"))).status, 200);
  const remote = await behind.call("GET", "/metrics", from("192.0.3.1"));
  assert.deepEqual([remote.status, remote.json], [403, object]);
  assert.equal((await behind.call("GET", "/metrics")).status, 403);
});

test("unless it is set, the metrics are for this machine alone", async (t) => {
  const service = await startTestService(t, { settings: { server: { trustedProxies: "127.0.0.1" } } });
  assert.equal((await service.call("GET", "/metrics")).status, 200);
  assert.equal((await service.call("GET", "/metrics", from("::1"))).status, 200);
  assert.equal((await service.call("GET", "/metrics", from("192.0.2.1"))).status, 403);
});

test("a service that listens on IPv6 and IPv4 at once knows an IPv4 caller by that", async (t) => {
  const service = await startTestService(t, { settings: { server: { host: "::" } } });
  await addAccount(service.store, { key: "LOCAL", allowedAddresses: ["127.0.0.1"] });
  const request = rawRequestText("GET", BALANCE, { authorization: basic("LOCAL", "password") });
  const { port } = new URL(service.url);
  assert.equal((await rawCall(`http://127.0.0.1:${port}`, request)).status, 200);
  const client = await RawClient.connect(`http://127.0.0.1:${port}`);
  await client.write(rawRequestText("GET", "/metrics", {}));
  assert.equal((await client.answer()).status, 200);
  client.destroy();
});
