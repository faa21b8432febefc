/** Accounts over the API: made, listed, changed by the version that was seen, suspended and retired. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { addOtherReseller, good, OTHER_RESELLER, operating, RESELLER, refusal } from "../support/operator.ts";
import { eventually } from "../support/patience.ts";
import { basic, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const call = operating(service);
await addOtherReseller(service);
const as = (authorization: string) => ({ authorization });
const balance = (username: string, password: string) =>
  service.call("GET", "/account/1/balance", as(basic(username, password)));

test("a new account has what it was given, and can be used at once with the password that is shown once", async () => {
  const made = good(
    await call("POST", "/accounts", {
      key: "NEW1",
      parent: "RESELLER1",
      ratePlan: "standard",
      username: "new1",
      openingBalance: "12.5",
      creditLimit: 3.25,
      defaultSender: "Acme",
      allowedSenders: ["Acme", "447700900000"],
      limits: { messagesPerSecond: 50 },
      alert: { below: 5, url: "https://example.com/low" },
      retryMinutes: [1, 5],
    }),
  );
  const { password, callbackSecret, createdAt, ...account } = made;
  assert.match(password, /^[A-Za-z0-9_-]{24}$/);
  assert.match(callbackSecret, /^whsec_/);
  assert.match(createdAt, /\+0000$/);
  assert.deepEqual(account, {
    key: "NEW1",
    version: 1,
    kind: "client",
    parent: "RESELLER1",
    usernames: ["new1"],
    currency: "EUR",
    balance: 12.5,
    creditLimit: 3.25,
    ratePlan: "standard",
    defaultSender: "Acme",
    allowedSenders: ["Acme", "447700900000"],
    allowedAddresses: null,
    limits: { messagesPerSecond: 50 },
    alert: { below: 5, url: "https://example.com/low" },
    retryMinutes: [1, 5],
    suspended: false,
    retiredAt: null,
  });
  assert.deepEqual(good(await balance("new1", password)), { balance: 12.5, currency: "EUR" });
  const again = await call("GET", "/accounts/NEW1");
  assert.deepEqual(good(again), { ...account, createdAt }, "secrets are not shown again");
  assert.equal(again.headers.get("etag"), '"1"');
});

test("a reseller makes clients of its own, under a key that is made up", async () => {
  const body = { ratePlan: "standard", username: "reseller1-own", password: "long enough" };
  const made = good(await call("POST", "/accounts", body, as(RESELLER)));
  assert.deepEqual([made.kind, made.parent, made.password], ["client", "RESELLER1", undefined]);
  assert.match(made.key, /^[0-9A-F]{16}$/);
  assert.equal((await balance("reseller1-own", "long enough")).status, 200);
  const other = await call("GET", `/accounts/${made.key}`, undefined, as(OTHER_RESELLER));
  assert.equal(other.status, 404);
  const refused = async (more: object) => refusal(await call("POST", "/accounts", { ...body, ...more }, as(RESELLER)));
  assert.deepEqual(await refused({ kind: "operator" }), [403, null, "A reseller makes clients only."]);
  const elsewhere = await refused({ parent: "OTHERRESELLER" });
  assert.deepEqual(elsewhere, await refused({ parent: "NOBODY" }));
  assert.deepEqual(elsewhere.slice(0, 2), [400, ["parent"]]);
});

test("an account that cannot be is refused with the field, and nothing is made", async () => {
  const base = { key: "WRONG", ratePlan: "standard", username: "wrong" };
  const cases: readonly (readonly [more: object, field: string, status?: number])[] = [
    [{ key: "a_b" }, "key"],
    [{ key: "-a" }, "key"],
    [{ key: "a-" }, "key"],
    [{ key: "a--b" }, "key"],
    [{ key: "x".repeat(65) }, "key"],
    [{ kind: "reseller", key: "x".repeat(33) }, "key"],
    [{ key: "DEMO0001" }, "key", 409],
    [{ username: "a:b" }, "username"],
    [{ username: "demo" }, "username", 409],
    [{ password: "short" }, "password"],
    [{ kind: "king" }, "kind"],
    [{ parent: "DEMO0001" }, "parent"],
    [{ kind: "reseller", parent: "RESELLER1" }, "parent"],
    [{ ratePlan: "none" }, "ratePlan"],
    [{ currency: "USD" }, "ratePlan"],
    [{ currency: "euro" }, "currency"],
    [{ openingBalance: -1 }, "openingBalance"],
    [{ openingBalance: 0.0000001 }, "openingBalance"],
    [{ creditLimit: "1e3" }, "creditLimit"],
    [{ creditLimit: 1_000_000_001 }, "creditLimit"],
    [{ defaultSender: "much too long a sender" }, "defaultSender"],
    [{ allowedSenders: ["Acme", ""] }, "allowedSenders[1]"],
    [{ allowedAddresses: ["10.0.0.0/33"] }, "allowedAddresses[0]"],
    [{ limits: { messagesPerSecond: -1 } }, "limits.messagesPerSecond"],
    [{ limits: { wishes: 3 } }, "limits.wishes"],
    [{ alert: { below: 1, url: "ftp://x" } }, "alert.url"],
    [{ retryMinutes: [0] }, "retryMinutes[0]"],
    [{ creditlimit: 1 }, "creditlimit"],
  ];
  for (const [more, field, expected = 400] of cases) {
    const [status, variables] = refusal(await call("POST", "/accounts", { ...base, ...more }));
    assert.deepEqual([status, variables], [expected, [field]], JSON.stringify(more));
  }
  assert.equal((await call("GET", "/accounts/WRONG")).status, 404);
});

test("accounts are listed in pages and by every filter, and a reseller's list has its own clients", async () => {
  const everybody: string[] = [];
  for (let after = ""; ; ) {
    const page = good(await call("GET", `/accounts?limit=2${after}`));
    assert.ok(page.results.length <= 2);
    everybody.push(...page.results.map(({ key }: { key: string }) => key));
    if (page.next === null) break;
    after = `&after=${page.next}`;
  }
  assert.equal(new Set(everybody).size, everybody.length);
  for (const key of ["DEMO0001", "OPERATOR1", "OTHERCLIENT", "RESELLER1"]) assert.ok(everybody.includes(key), key);
  const keys = async (query: string, authorization?: string): Promise<string[]> =>
    good(
      await call("GET", `/accounts?${query}`, undefined, authorization === undefined ? {} : as(authorization)),
    ).results.map(({ key }: { key: string }) => key);
  assert.deepEqual(await keys("kind=reseller"), ["OTHERRESELLER", "RESELLER1"]);
  assert.deepEqual(await keys("parent=OTHERRESELLER"), ["OTHERCLIENT"]);
  assert.deepEqual(await keys("parent=NOBODY"), []);
  assert.deepEqual(await keys("suspended=true"), []);
  assert.deepEqual(await keys("", OTHER_RESELLER), ["OTHERCLIENT"]);
  assert.deepEqual(await keys("parent=RESELLER1", OTHER_RESELLER), []);
  for (const query of ["kind=king", "suspended=yes", "limit=0", "after="]) {
    assert.equal((await call("GET", `/accounts?${query}`)).status, 400, query);
  }
});

test("a change says which version it is of; what is not named stays, and a null takes away", async () => {
  await addAccount(service.store, { key: "CHANGED" });
  const change = (body: object, headers: Record<string, string> = {}) =>
    call("PATCH", "/accounts/CHANGED", body, { headers });
  assert.deepEqual(refusal(await change({ defaultSender: "Acme" })).slice(0, 2), [400, ["version"]]);
  const first = good(await change({ version: 1, defaultSender: "Acme", limits: { requestsPerSecond: 5 } }));
  assert.deepEqual([first.version, first.defaultSender, first.limits], [2, "Acme", { requestsPerSecond: 5 }]);
  const second = good(await change({ creditLimit: "1.5", allowedAddresses: ["192.0.2.0/24"] }, { "if-match": '"2"' }));
  assert.deepEqual([second.version, second.defaultSender, second.creditLimit], [3, "Acme", 1.5]);
  const third = good(
    await change({ version: 3, defaultSender: null, limits: null, allowedAddresses: null, alert: null }),
  );
  assert.deepEqual([third.defaultSender, third.limits, third.allowedAddresses], [null, {}, null]);
  const late = await change({ version: 2, defaultSender: "Late" });
  assert.deepEqual(refusal(late), [409, null, "It was changed meanwhile: its version is 4 now."]);
  assert.deepEqual(late.json.current, third, "whoever is late sees what is there now");
  assert.equal(good(await change({ defaultSender: "Any" }, { "if-match": "*" })).version, 5);
  assert.equal((await change({ defaultSender: "x" }, { "if-match": "nonsense" })).status, 400);
});

test("of two operators who change the same version, one wins and the other is told", async () => {
  await addAccount(service.store, { key: "CONTESTED" });
  const senders = ["First", "Second", "Third", "Fourth"];
  const answers = await Promise.all(
    senders.map((defaultSender) => call("PATCH", "/accounts/CONTESTED", { version: 1, defaultSender })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  const winner = answers.find(({ status }) => status === 200)!;
  assert.deepEqual(good(await call("GET", "/accounts/CONTESTED")), winner.json);
});

test("a credit limit stays above what is owed", async () => {
  await addAccount(service.store, { key: "DEBTOR", creditLimitMicros: 1_000_000n });
  const body = { from: "Acme", to: "41793026727", text: "x" };
  good(await service.call("POST", "/sms/1/text/single", { ...as(basic("DEBTOR", "password")), body }));
  const [status, variables] = refusal(await call("PATCH", "/accounts/DEBTOR", { version: 1, creditLimit: 0.009 }));
  assert.deepEqual([status, variables], [409, ["creditLimit"]]);
  assert.equal(good(await call("PATCH", "/accounts/DEBTOR", { version: 1, creditLimit: 0.01 })).balance, -0.01);
});

test("a suspended account is refused within a second, and served again when it is let go", async () => {
  await addAccount(service.store, { key: "HELD" });
  assert.equal((await balance("HELD", "password")).status, 200);
  good(await call("PATCH", "/accounts/HELD", { version: 1, suspended: true }, as(RESELLER)));
  await eventually(async () => (await balance("HELD", "password")).status === 403);
  good(await call("PATCH", "/accounts/HELD", { version: 2, suspended: false }));
  await eventually(async () => (await balance("HELD", "password")).status === 200);
});

test("a retired account is gone for good, and its record stays", async () => {
  await addAccount(service.store, { key: "OLD" });
  good(await call("POST", "/accounts/OLD/api-keys", { name: "its key" }));
  assert.equal((await call("DELETE", "/accounts/OLD?version=7")).status, 409);
  assert.equal((await call("DELETE", "/accounts/OLD")).status, 400);
  good(await call("DELETE", "/accounts/OLD?version=1"), 204);
  await eventually(async () => (await balance("OLD", "password")).status === 403);
  const record = good(await call("GET", "/accounts/OLD"));
  assert.match(record.retiredAt, /\+0000$/);
  for (const [method, path, body] of [
    ["PATCH", "/accounts/OLD", { version: 2, suspended: false }],
    ["DELETE", "/accounts/OLD?version=2", undefined],
    ["POST", "/accounts/OLD/api-keys", {}],
    ["PUT", "/accounts/OLD/users/OLD/password", {}],
  ] as const) {
    assert.deepEqual(refusal(await call(method, path, body)), [409, null, "The account is retired."], path);
  }
  assert.deepEqual(good(await call("GET", "/accounts/OLD/api-keys")).results, []);
});

test("nobody shuts himself out", async () => {
  const { version } = good(await call("GET", "/accounts/OPERATOR1"));
  const self = [409, null, "You cannot suspend or retire yourself."];
  assert.deepEqual(refusal(await call("PATCH", "/accounts/OPERATOR1", { version, suspended: true })), self);
  assert.deepEqual(refusal(await call("DELETE", `/accounts/OPERATOR1?version=${version}`)), self);
  const elsewhere = { version, allowedAddresses: ["192.0.2.0/24"] };
  assert.deepEqual(refusal(await call("PATCH", "/accounts/OPERATOR1", elsewhere)), [
    409,
    ["allowedAddresses"],
    "You would shut yourself out: 127.0.0.1 is not among them.",
  ]);
  good(await call("PATCH", "/accounts/OPERATOR1", { version, allowedAddresses: ["127.0.0.0/8"] }));
  good(await call("PATCH", "/accounts/OPERATOR1", { version: version + 1, allowedAddresses: null }));
});

test("what no account can be called names none", async () => {
  for (const key of ["%00", "a%2Fb", "%27%20OR%201=1", "x".repeat(99)]) {
    assert.equal((await call("GET", `/accounts/${key}`)).status, 404, key);
  }
});
