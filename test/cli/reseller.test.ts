/**
 * What a reseller sees, through the real program: the rate plans that it may choose from and what they cost, a statement over all its clients, why a client's
 * messages fail, the alert of a low balance, and a reason with every 401 and 403. The program runs as a sandbox of its own.
 */
import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { signatureVerdict } from "../../src/cli/webhook-check.ts";
import { runProgram, startChild } from "../support/child.ts";
import {
  assertUnauthorized,
  basic,
  type CallOptions,
  callService,
  DEMO,
  eventually,
  temporaryDirectory,
} from "../support/service.ts";

const data = join(await temporaryDirectory({ after }), "data");
const whole = { after } as unknown as Pick<TestContext, "after">;
const { url } = await startChild(whole, ["sandbox", "--port", "0", "--data", data]);

const RESELLER = basic("reseller", "reseller-password");
const OPERATOR = basic("operator", "operator-password");
const call = (method: string, path: string, options: CallOptions = {}) =>
  callService(url, method, path, { authorization: RESELLER, ...options });
async function good(method: string, path: string, options: CallOptions = {}) {
  const answer = await call(method, path, options);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.json;
}
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram([...args, "--data", data]);
  assert.deepEqual([code, stderr], [0, ""], args.join(" "));
  return stdout;
}
/** A client of the reseller with ten units, and how it calls. */
async function makeClient(name: string, more: object = {}): Promise<{ key: string; authorization: string }> {
  const key = `RESELLER1-${name}`;
  const username = `reseller1-${name.toLowerCase()}`;
  const order = { key, username, ratePlan: "standard", defaultSender: "Shop", ...more };
  const { password } = await good("POST", "/operator/1/accounts", { body: { ...order, openingBalance: 10 } });
  return { key, authorization: basic(username, password) };
}
const soon = (): string => new Date(Date.now() + 3_600_000).toISOString();
const send = (authorization: string, to: string) =>
  good("POST", "/sms/1/text/single", { authorization, body: { from: "Shop", to, text: "Hello" } });

test("a reseller sees the rate plans it may choose from and what they cost, beside what it pays itself", async () => {
  await done("rate", "set", "retail", "*", "0.08", "--currency", "EUR");
  await done("rate", "set", "retail", "4179", "0.05");
  await done("rate", "set", "standard", "41", "0.02");
  await done("rate", "set", "dollars", "1", "0.5", "--currency", "USD");
  const { results } = await good("GET", "/operator/1/plans");
  assert.deepEqual(results, [
    { id: "dollars", currency: "USD", own: false, prices: 1, defaultPrice: null },
    // The sandbox's own: a reseller has something to choose from the beginning.
    { id: "resale", currency: "EUR", own: false, prices: 3, defaultPrice: 0.025 },
    { id: "retail", currency: "EUR", own: false, prices: 2, defaultPrice: 0.08 },
    { id: "standard", currency: "EUR", own: true, prices: 2, defaultPrice: 0.01 },
  ]);
  const { results: prices, ...plan } = await good("GET", "/operator/1/plans/retail");
  assert.deepEqual(plan, { ...results[2], ownCurrency: "EUR", next: null });
  assert.deepEqual(prices, [
    { prefix: "", country: null, price: 0.08, ownPrice: 0.01 },
    { prefix: "41", country: "CH", price: 0.08, ownPrice: 0.02 },
    { prefix: "4179", country: "CH", price: 0.05, ownPrice: 0.02 },
  ]);
  const first = await good("GET", "/operator/1/plans/retail?limit=1");
  const rest = await good("GET", `/operator/1/plans/retail?limit=5&after=${first.next}`);
  assert.deepEqual([...first.results, ...rest.results], prices);
  assert.equal((await call("GET", "/operator/1/plans/nothing")).status, 404);
  // What it has seen it can give to a client, which then pays that price.
  const client = await makeClient("RETAIL", { ratePlan: "retail" });
  await send(client.authorization, "41790000001");
  const { balance } = await good("GET", "/account/1/balance", { authorization: client.authorization });
  assert.equal(balance, 9.95);
});

test("a statement over all its clients has the figures of each one's own, as JSON, as CSV and from the command line", async () => {
  const clients = [await makeClient("ONE"), await makeClient("TWO")];
  for (const { authorization } of clients) await send(authorization, "385991234567");
  await send(clients[0]!.authorization, "385991234567");
  // One that is charged, called off and given back: its parts were charged once.
  const { authorization } = clients[1]!;
  const later = { from: "Shop", to: "385991234567", text: "Later", bulkId: "later", sendAt: soon() };
  await good("POST", "/sms/1/text/single", { authorization, body: later });
  await good("PUT", "/sms/1/bulks/status?bulkId=later", { authorization, body: { status: "CANCELED" } });
  const period = "from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z";
  const all = await good("GET", `/operator/1/statement?${period}&limit=1000`);
  const keys: string[] = all.results.map(({ account }: { account: string }) => account);
  assert.deepEqual(
    keys,
    (await good("GET", "/operator/1/accounts?limit=1000")).results.map(({ key }: { key: string }) => key),
  );
  let csv = "";
  for (const one of all.results) {
    const { account, openingBalance, closingBalance, charged, funds, refunded, postings, smsCount } = one;
    const own = await good("GET", `/operator/1/accounts/${account}/statement?${period}&limit=1000`);
    const sum = (kind: string) =>
      own.results
        .filter((line: { kind: string }) => line.kind === kind)
        .reduce((total: number, { amount }: { amount: number }) => total + Math.round(amount * 1_000_000), 0) /
      1_000_000;
    assert.deepEqual(
      [openingBalance, closingBalance, charged, refunded, funds, postings],
      [own.openingBalance, own.closingBalance, sum("charge"), sum("refund"), sum("funds"), own.results.length],
      account,
    );
    const parts = own.results.filter((line: { kind: string }) => line.kind === "charge");
    assert.equal(
      smsCount,
      parts.reduce((total: number, line: { smsCount: number }) => total + line.smsCount, 0),
    );
    const file = (await call("GET", `/operator/1/accounts/${account}/statement?${period}&format=csv`)).text;
    csv += csv === "" ? file : file.slice(file.indexOf("\r\n") + 2);
  }
  const [total] = all.totals;
  assert.deepEqual([all.totals.length, total.currency, total.accounts], [1, "EUR", keys.length]);
  assert.equal(
    total.closingBalance,
    all.results.reduce(
      (sum: number, one: { closingBalance: number }) => sum + Math.round(one.closingBalance * 1e6),
      0,
    ) / 1e6,
  );
  const file = await call("GET", `/operator/1/statement?${period}&format=csv`);
  assert.equal(file.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal(file.text, csv, "one file after the other, in the one form that there is");
  const time = ["--from", "2020-01-01", "--to", "2100-01-01T00:00:00Z"];
  assert.equal(await done("statement", "--reseller", "RESELLER1", ...time, "--csv"), csv);
  const printed = JSON.parse(await done("statement", "--reseller", "RESELLER1", ...time, "--json"));
  assert.deepEqual(
    printed.accounts.map(({ account, closing }: Record<string, string>) => [account, Number(closing)]),
    all.results.map((one: { account: string; closingBalance: number }) => [one.account, one.closingBalance]),
  );
  const pages: string[] = [];
  for (let next = ""; next !== null; ) {
    const page = await good("GET", `/operator/1/statement?${period}&limit=1${next === "" ? "" : `&after=${next}`}`);
    pages.push(...page.results.map(({ account }: { account: string }) => account));
    next = page.next;
  }
  assert.deepEqual(pages, keys);
  const operators = await good("GET", `/operator/1/statement?${period}&reseller=RESELLER1&limit=1000`, {
    authorization: OPERATOR,
  });
  assert.deepEqual(operators.results, all.results);
});

test("a reseller sees why a client's messages fail: how many for which reason, in words, without texts and numbers", async () => {
  const { key, authorization } = await makeClient("FAILING");
  for (const to of ["41790999003", "41791999003", "41790999004", "41790000001"]) await send(authorization, to);
  await call("PUT", `/operator/1/accounts/${key}/opt-outs/41790000009`);
  await send(authorization, "41790000009");
  const failures = await eventually(async () => {
    const answer = await good("GET", `/operator/1/accounts/${key}/failures`);
    return answer.failed === 4 ? answer : null;
  });
  assert.deepEqual([failures.account, failures.messages, failures.complete], [key, 5, true]);
  const [most] = failures.results;
  assert.deepEqual(
    [most.count, most.status, most.error, most.permanent, most.latest.length],
    [2, "UNDELIVERABLE_NOT_DELIVERED", "EC_UNKNOWN_SUBSCRIBER", true, 2],
  );
  assert.match(most.reason, /unknown subscriber/i);
  assert.deepEqual([most.latest[0].country, most.latest[0].to], ["CH", null]);
  assert.deepEqual(failures.results.map(({ error }: { error: string }) => error).sort(), [
    "EC_BLACKLISTED_DESTINATIONADDRESS",
    "EC_SM_DF_MEMORYCAPACITYEXCEEDED",
    "EC_UNKNOWN_SUBSCRIBER",
  ]);
  assert.ok(!JSON.stringify(failures).includes("Hello"));
  const operators = await good("GET", `/operator/1/accounts/${key}/failures`, { authorization: OPERATOR });
  assert.deepEqual(
    new Set(operators.results[0].latest.map(({ to }: { to: string }) => to)),
    new Set(["41790999003", "41791999003"]),
  );
  assert.match(
    await done("message", "failures", "--account", key),
    /^ *2 {2}.*unknown subscriber.*UNDELIVERABLE_NOT_DELIVERED/im,
  );
  const later = await good(
    "GET",
    `/operator/1/accounts/${key}/failures?from=2100-01-01T00:00:00Z&to=2100-01-02T00:00:00Z`,
  );
  assert.deepEqual([later.messages, later.failed, later.results], [0, 0, []]);
});

interface Pushed {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** A receiver of alerts, and what came to it. */
async function alertReceiver(t: TestContext): Promise<{ readonly url: string; readonly pushed: Pushed[] }> {
  const pushed: Pushed[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    pushed.push({ body, headers: request.headers });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/low`, pushed };
}

const isSignedWith = (secret: string, { body, headers }: Pushed): boolean =>
  signatureVerdict(secret, headers, Buffer.from(body), Date.now()).isValid;

test("an alert is told at once where it is set on a balance that is low already, and once", async (t) => {
  const { url: receiver, pushed } = await alertReceiver(t);
  const told = () => pushed.map(({ body }) => JSON.parse(body).results[0]).map((item) => [item.balance, item.below]);
  const { key, authorization } = await makeClient("LATE");
  const set = (alert: object | null) =>
    good("PATCH", `/operator/1/accounts/${key}`, { headers: { "if-match": "*" }, body: { alert } });
  await set({ below: 20, url: receiver });
  await eventually(async () => pushed.length === 1);
  assert.deepEqual(told(), [[10, 20]]);
  // Nothing of these makes another one: a change of something else, the same again, a mark that is not reached, a charge below the mark.
  await good("PATCH", `/operator/1/accounts/${key}`, {
    headers: { "if-match": "*" },
    body: { defaultSender: "Other" },
  });
  await set({ below: 20, url: receiver });
  await send(authorization, "385991234567");
  await set({ below: 5, url: receiver });
  await set({ below: 9.99, url: receiver });
  await send(authorization, "385991234567");
  await eventually(async () => pushed.length >= 2);
  // One that is made low has its own.
  const order = { username: "reseller1-poor", ratePlan: "standard", alert: { below: 1, url: receiver } };
  await good("POST", "/operator/1/accounts", { body: { key: "RESELLER1-POOR", ...order } });
  await eventually(async () => pushed.length >= 3);
  assert.deepEqual(told(), [
    [10, 20],
    [9.98, 9.99],
    [0, 1],
  ]);
});

test("an alert about a client is signed with the reseller's own secret, and with no secret of the client's", async (t) => {
  const { url: receiver, pushed } = await alertReceiver(t);
  const { callbackSecret: mine } = await good("POST", "/account/1/callback-secret");
  const order = { key: "RESELLER1-SIGNED", username: "reseller1-signed", ratePlan: "standard" };
  const { callbackSecret: clients, password } = await good("POST", "/operator/1/accounts", {
    body: { ...order, openingBalance: 10, alert: { below: 10, url: receiver }, defaultSender: "Shop" },
  });
  await send(basic("reseller1-signed", password), "385991234567");
  await eventually(async () => pushed.length > 0);
  assert.deepEqual([isSignedWith(mine, pushed[0]!), isSignedWith(clients, pushed[0]!)], [true, false]);
  // The client's own reports still have the client's, and an account without a reseller has nobody else's.
  const body = { from: "Shop", to: "385991234567", text: "Hello", notifyUrl: receiver };
  await good("POST", "/sms/1/text/single", { authorization: basic("reseller1-signed", password), body });
  await eventually(async () => pushed.length > 1);
  assert.deepEqual([isSignedWith(mine, pushed[1]!), isSignedWith(clients, pushed[1]!)], [false, true]);
  const alone = await good("POST", "/operator/1/accounts", {
    authorization: OPERATOR,
    body: { key: "ALONE", username: "alone", ratePlan: "standard", alert: { below: 1, url: receiver } },
  });
  await eventually(async () => pushed.length > 2);
  assert.ok(isSignedWith(alone.callbackSecret, pushed[2]!));
});

test("funds in another currency keep what was paid and the rate, in the statement, as CSV and in the audit", async () => {
  const { key, authorization } = await makeClient("FOREIGN");
  const login = { username: "reseller", password: "reseller-password" };
  const session = await good("POST", "/1/customerProfile/login", { authorization: null, body: login });
  const token = `IBSSO ${session.login.ibAuthCookie}`;
  const fund = (ammount: number, more: object) =>
    good("POST", "/1/customerProfile/payments/funds", {
      authorization: token,
      body: { accountKey: key, ammount, description: "invoice 17", ...more },
    });
  await fund(27.5, { currencycode: "USD" });
  await fund(5, { currencycode: "EUR" });
  await fund(-1.5, { currencycode: "GBP" });
  const expected = [
    [25.3, "invoice 17 (27.5 USD at 0.92)"],
    [5, "invoice 17"],
    [-1.74, "invoice 17 (-1.5 GBP at 1.16)"],
  ];
  const statement = await good("GET", "/account/1/statement", { authorization });
  const lines = (statement.results as { amount: number; description: string }[]).slice(1);
  assert.deepEqual(
    lines.map(({ amount, description }) => [amount, description]),
    expected,
  );
  const csv = (await call("GET", `/operator/1/accounts/${key}/statement?format=csv`)).text;
  assert.match(csv, /,funds,25\.3,35\.3,EUR,,,invoice 17 \(27\.5 USD at 0\.92\),/);
  const { results } = await good("GET", `/operator/1/audit?kind=funds&subject=${key}`);
  const paid = (results as { after: Record<string, string> }[]).map(({ after }) => [
    after.amount,
    after.paid,
    after.rate,
  ]);
  assert.deepEqual(paid.slice(0, 3), [
    ["-1.74 EUR", "-1.5 GBP", "1.16"],
    ["5 EUR", undefined, undefined],
    ["25.3 EUR", "27.5 USD", "0.92"],
  ]);
});

test("a statement is of the current month unless told, and its days need no time", async () => {
  const { key, authorization } = await makeClient("MONTHLY");
  await send(authorization, "385991234567");
  const { now } = await good("GET", "/sandbox/1/clock", { authorization: OPERATOR });
  const month = `${now.slice(0, "2026-11".length)}-01`;
  const begins = `${month}T00:00:00.000+0000`;
  for (const path of [`/operator/1/accounts/${key}/statement`, "/operator/1/statement"]) {
    const { from, results } = await good("GET", path);
    assert.equal(from, begins, path);
    assert.ok(results.length > 0, path);
  }
  const own = await good("GET", "/account/1/statement?limit=1", { authorization });
  assert.deepEqual([own.from, own.results.length], [begins, 1]);
  const next = await good("GET", `/account/1/statement?limit=1&after=${own.next}`, { authorization });
  assert.deepEqual([next.from, next.to, next.results[0].kind], [own.from, own.to, "charge"]);
  const before = await good("GET", `/operator/1/accounts/${key}/statement?to=${month}`);
  assert.equal(before.to, begins);
  assert.equal(before.from.slice(8), "01T00:00:00.000+0000", "the end is not in it: that is the month before");
  assert.ok(before.from < before.to);
  const days = await good("GET", `/operator/1/accounts/${key}/statement?from=2026-02-01&to=2026-03-01`);
  assert.deepEqual([days.from, days.to], ["2026-02-01T00:00:00.000+0000", "2026-03-01T00:00:00.000+0000"]);
  const failures = await good("GET", `/operator/1/accounts/${key}/failures?from=2026-02-01&to=2026-02-02`);
  assert.equal(failures.from, "2026-02-01T00:00:00.000+0000");
  for (const day of ["2026-02-30", "2026-2-1", "february"]) {
    const { status, json } = await call("GET", `/operator/1/statement?from=${day}`);
    assert.deepEqual([status, json.requestError.serviceException.variables], [400, ["from"]], day);
  }
});

test("a parameter that is not known below /operator/1 is refused, with the one that was probably meant", async () => {
  const saidOf = async (path: string) => {
    const { status, json } = await call("GET", path);
    const { variables, additionalDescription } = json.requestError.serviceException;
    return [status, variables, additionalDescription];
  };
  for (const [path, name, says] of [
    ["/operator/1/statement?fromat=csv", "fromat", 'fromat is not known here; did you mean "format"?'],
    ["/operator/1/accounts?parnet=X", "parnet", 'parnet is not known here; did you mean "parent"?'],
    ["/operator/1/accounts/RESELLER1-ONE?x=1", "x", "x is not known here."],
    ["/operator/1/plans?limit=1&color=red", "color", "color is not known here."],
  ] as const)
    assert.deepEqual(await saidOf(path), [400, [name], says]);
  assert.equal((await call("GET", "/operator/1/statement?fromat=csv", { authorization: null })).status, 401);
  assert.equal((await call("GET", "/operator/1/plans?limit=1")).status, 200);
});

test("the messages of an account that a reseller may not look into are refused, and not shown as none", async () => {
  const { key } = await makeClient("WATCHED");
  for (const account of [key, "DEMO0001", "SOMEBODY"]) {
    for (const path of [`/console/1/messages?account=${account}`, `/console/1/messages?q=account:${account}`]) {
      const { status, json } = await call("GET", path);
      assert.equal(status, 403, path);
      assert.match(json.requestError.serviceException.additionalDescription, /resellers\.clientMessages/);
    }
  }
  assert.equal((await call("GET", "/console/1/messages")).status, 200);
  const asOperator = (path: string) => call("GET", path, { authorization: OPERATOR });
  assert.equal((await asOperator("/console/1/messages?account=SOMEBODY")).status, 404);
  const found = await asOperator("/console/1/messages?account=RESELLER1-FAILING&q=to:41790999004");
  assert.deepEqual([found.status, found.json.results.length], [200, 1]);
  assert.equal((await asOperator(`/console/1/messages?account=${key}&q=account:DEMO0001`)).status, 400);
});

test("when a balance goes below the alert's amount its URL is told, with the payload that the description has", async (t) => {
  const { url: receiver, pushed } = await alertReceiver(t);
  const { key, authorization } = await makeClient("LOW", { alert: { below: 10, url: receiver } });
  await send(authorization, "385991234567");
  await eventually(async () => pushed.length > 0);
  const [{ body, headers }] = pushed as [Pushed];
  const told = JSON.parse(body);
  assert.deepEqual(told, {
    results: [{ accountKey: key, balance: 9.99, below: 10, currency: "EUR", at: told.results[0].at }],
  });
  assert.notEqual(headers["webhook-signature"], undefined);
  const { webhooks, components } = await good("GET", "/openapi.json");
  const { schema } = webhooks.balanceAlert.post.requestBody.content["application/json"];
  const described = schema.$ref === undefined ? schema : components.schemas[schema.$ref.split("/").at(-1)];
  assert.deepEqual(
    Object.keys(described.properties.results.items.properties).sort(),
    Object.keys(JSON.parse(body).results[0]).sort(),
  );
});

test("every 401 and 403 has a reason, and none tells a stranger whether an account is there", async () => {
  const reasonOf = async (method: string, path: string, options: CallOptions) => {
    const { status, json } = await call(method, path, options);
    const { messageId, additionalDescription } = json.requestError.serviceException;
    return [status, messageId, additionalDescription];
  };
  const balance = (authorization: string | null) => call("GET", "/account/1/balance", { authorization });
  assertUnauthorized(await balance(null), "missing");
  assertUnauthorized(await balance("Digest abc"), "unreadable");
  assertUnauthorized(await balance("Basic abc"), "notBasic");
  assertUnauthorized(await balance(`App ${"x".repeat(60)}`), "key");
  assertUnauthorized(await balance("IBSSO nothing"), "token");
  // Who shows an API key as a token is told where it belongs.
  assert.equal((await balance("App demo-api-key")).status, 200);
  assertUnauthorized(await balance("Bearer demo-api-key"), "token");
  const wrong = await balance(basic("reseller", "wrong"));
  assertUnauthorized(wrong, "password");
  assert.equal((await balance(basic("nobody", "wrong"))).text, wrong.text);
  const login = (username: string) =>
    call("POST", "/1/customerProfile/login", { authorization: null, body: { username, password: "wrong" } });
  const refused = await login("reseller");
  assert.deepEqual(
    [refused.status, refused.json.requestError.serviceException.additionalDescription],
    [401, "The username or the password is wrong."],
  );
  assert.equal((await login("nobody")).text, refused.text);

  const { key } = await makeClient("REASONS");
  const keys = `/operator/1/accounts/${key}/api-keys`;
  const made = async (order: object) => `App ${(await good("POST", keys, { body: order })).key}`;
  const expiresAt = new Date(
    Date.parse((await good("GET", "/sandbox/1/clock", { authorization: OPERATOR })).now.replace("+0000", "Z")) + 60_000,
  );
  const sendOnly = await made({ scopes: ["send"] });
  const elsewhere = await made({ allowedAddresses: ["192.0.2.0/24"] });
  const ended = await made({ expiresAt: expiresAt.toISOString() });
  assert.deepEqual(await reasonOf("GET", "/account/1/balance", { authorization: sendOnly }), [
    403,
    "FORBIDDEN",
    "The API key is good for send; this needs the scope balance.",
  ]);
  assert.deepEqual(await reasonOf("GET", "/account/1/balance", { authorization: elsewhere }), [
    403,
    "FORBIDDEN",
    "The API key may not be used from 127.0.0.1.",
  ]);
  const whose = "This is for operators, and RESELLER1 is the account of a reseller";
  for (const [method, path, hint] of [
    [
      "GET",
      "/operator/1/carriers",
      "a reseller manages its clients at /operator/1/accounts, and sends like any account",
    ],
    ["GET", "/operator/1/rate-plans", "a reseller sees the rate plans and their prices with GET /operator/1/plans"],
    [
      "POST",
      `/operator/1/accounts/${key}/funds`,
      "a reseller gives and takes its clients' funds with POST /1/customerProfile/payments/funds",
    ],
  ] as const)
    assert.deepEqual(await reasonOf(method, path, {}), [403, "FORBIDDEN", `${whose}: ${hint}.`]);
  assert.deepEqual(await reasonOf("GET", "/operator/1/statement", { authorization: DEMO }), [
    403,
    "FORBIDDEN",
    "This is for operators and resellers, and DEMO0001 is the account of a client: a client has GET /account/1/statement.",
  ]);
  assert.deepEqual(await reasonOf("POST", keys, { body: { scopes: ["track"] } }), [
    403,
    "FORBIDDEN",
    "A key that a reseller makes does not read its client's messages: it has no scope track.",
  ]);
  assert.equal((await balance(ended)).status, 200);
  await good("PUT", "/sandbox/1/clock", { authorization: OPERATOR, body: { by: "2m" } });
  assertUnauthorized(await balance(ended), "expired");
  await good("PATCH", `/operator/1/accounts/${key}`, { headers: { "if-match": "*" }, body: { suspended: true } });
  assert.deepEqual(await reasonOf("POST", "/sms/1/text/single", { authorization: sendOnly, body: {} }), [
    403,
    "FORBIDDEN",
    "The account is suspended.",
  ]);
});
