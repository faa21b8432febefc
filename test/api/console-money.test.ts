/** What the console's pages about money, settings and accounts ask for: each account sees its own, in bounded looks that add up. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { RunningTotals, type Walk } from "../../src/api/console/running-totals.ts";
import { MAX_URL_LENGTH } from "../../src/runtime/urls.ts";
import { addAccount } from "../support/accounts.ts";
import { addOtherReseller, good, OPERATOR, OTHER_RESELLER, RESELLER, refusal } from "../support/operator.ts";
import { eventually } from "../support/patience.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const service = await startTestService({ after });
const { store } = service;
const as = (authorization: string) => (method: string, path: string, body?: unknown) =>
  service.call(method, path, { authorization, ...(body === undefined ? {} : { body }) });
const demo = as(basic("demo", "demo-password"));
const reseller = (await store.findLogin({ username: "reseller" }))!.account;

async function fund(accountKey: string, amountMicros: bigint, description = "funds"): Promise<void> {
  const funding = { resellerId: reseller.id, accountKey, amountMicros, currency: null, ratesMicros: {}, description };
  assert.equal((await store.fund({ ...funding, replay: null, atMs: Date.now() })).kind, "posted");
}

async function client(key: string, balanceMicros = 10_000_000n) {
  await addAccount(store, { key, balanceMicros });
  return as(basic(key, "password"));
}

const send = (to: string[]) => ({ from: "Acme", to, text: "x" });

test("the balance over time ends with the balance of now, and every step adds up", async () => {
  const call = await client("HISTORY");
  good(await call("POST", "/sms/1/text/single", send(["41793026727", "41793026728"])));
  for (const days of [1, 30, 366]) {
    const { points, balance, complete, currency, stepMinutes } = good(
      await call("GET", `/console/1/balance-history?days=${days}`),
    );
    assert.equal(balance, "9.98");
    assert.equal(currency, "EUR");
    assert.equal(complete, true);
    assert.equal(points.length, days === 1 ? 24 : days);
    assert.equal(stepMinutes, days === 1 ? 60 : 1_440);
    assert.equal(points[0].balance, "0");
    const last = points.at(-1);
    assert.deepEqual([last.charged, last.funded, last.refunded], ["0.02", "10", "0"]);
    assert.equal(Number(last.balance) - Number(last.charged) + Number(last.funded), Number(balance));
    assert.match(last.at, /Z$/);
  }
});

test("a top-up is in the balance, the history and the statement at once", async () => {
  const call = await client("TOPUP");
  const history = async () => good(await call("GET", "/console/1/balance-history?days=7"));
  assert.equal((await history()).balance, "10");
  await fund("TOPUP", 5_000_000n, "invoice 7");
  const after = await history();
  assert.equal(after.balance, "15");
  assert.equal(after.points.at(-1).funded, "15");
  const { results, balance } = good(await call("GET", "/console/1/statement"));
  assert.equal(balance, "15");
  assert.deepEqual(
    results.map(({ kind, amount, balance: then, description }: Record<string, string>) => [
      kind,
      amount,
      then,
      description,
    ]),
    [
      ["funds", "5", "15", "invoice 7"],
      ["funds", "10", "10", "opening balance"],
    ],
  );
});

test("what messages cost is told by country, carrier and day", async () => {
  const call = await client("COSTS");
  good(await call("POST", "/sms/1/text/single", send(["41793026727", "41793026728", "4915112345678"])));
  const costs = await eventually(async () => {
    const answer = good(await call("GET", "/console/1/costs?days=7"));
    return answer.messages === 3 && answer;
  });
  assert.equal(costs.amount, "0.03");
  assert.deepEqual(costs.countries, [
    { country: "CH", messages: 2, parts: 2, amount: "0.02" },
    { country: "DE", messages: 1, parts: 1, amount: "0.01" },
  ]);
  assert.deepEqual(costs.carriers, [{ carrier: "simulator", messages: 3, parts: 3, amount: "0.03" }]);
  assert.equal(costs.days.length, 1);
  assert.match(costs.days[0].day, /^\d{4}-\d{2}-\d{2}$/);
  assert.equal(costs.complete, true);
});

test("both figures of a period are of the same time: 24 hours begin with an hour, and a month with a day", async () => {
  const call = await client("PERIOD");
  for (const days of [1, 7, 30]) {
    const { since } = good(await call("GET", `/console/1/costs?days=${days}`));
    const { points } = good(await call("GET", `/console/1/balance-history?days=${days}`));
    assert.equal(since, points[0].at, `${days} days`);
    const hours = (Date.now() - Date.parse(since)) / 3_600_000;
    assert.ok(hours <= days * 24 && hours >= (days - 1) * 24 + (days > 14 ? 0 : 23) - 0.01, `${hours} hours`);
  }
});

test("a period has bounds, and says so", async () => {
  for (const days of ["0", "367", "x", "1.5"]) {
    const [code, fields] = refusal(await demo("GET", `/console/1/costs?days=${days}`));
    assert.deepEqual([code, fields], [400, ["days"]]);
  }
});

test("older postings come page by page, with balances that go on", async () => {
  const call = await client("PAGES", 0n);
  for (let count = 1; count <= 130; count++) await fund("PAGES", 1_000_000n, `number ${count}`);
  const first = good(await call("GET", "/console/1/statement"));
  assert.equal(first.results.length, 100);
  const second = good(await call("GET", `/console/1/statement?after=${first.next}`));
  const all = [...first.results, ...second.results];
  assert.deepEqual(
    all.map(({ balance }: { balance: string }) => Number(balance)),
    Array.from({ length: 130 }, (_, index) => 130 - index),
  );
  assert.equal(second.next, null);
  const [code, fields] = refusal(await call("GET", "/console/1/statement?after=nonsense"));
  assert.deepEqual([code, fields], [400, ["after"]]);
});

test("a statement is of one's own account, or of one that one manages", async () => {
  await addOtherReseller(service);
  const call = await client("PRIVATE");
  const stranger = await client("STRANGER");
  const path = "/console/1/statement?account=PRIVATE";
  assert.equal(good(await call("GET", path)).account, "PRIVATE");
  assert.equal((await stranger("GET", path)).status, 404);
  assert.equal(good(await as(RESELLER)("GET", path)).account, "PRIVATE");
  assert.equal(good(await as(OPERATOR)("GET", path)).account, "PRIVATE");
  assert.equal((await as(OTHER_RESELLER)("GET", path)).status, 404);
  const { key } = good(await as(RESELLER)("POST", "/account/1/api-keys", { scopes: ["balance"] }));
  const byKey = await service.call("GET", path, { authorization: `App ${key}` });
  assert.equal(byKey.status, 403, "a key for balances does not manage");
});

test("an account reads its own statement, as pages and as a file", async () => {
  const call = await client("OWN");
  const period = "from=2026-01-01T00:00:00Z";
  const { account, closingBalance, results } = good(await call("GET", `/account/1/statement?${period}`));
  assert.deepEqual([account, closingBalance, results.length], ["OWN", 10, 1]);
  const csv = await service.call("GET", `/account/1/statement?${period}&format=csv`, {
    authorization: basic("OWN", "password"),
    headers: { accept: "text/csv" },
  });
  assert.equal(csv.status, 200);
  assert.match(csv.headers.get("content-type")!, /^text\/csv/);
  assert.equal(csv.text.trim().split("\r\n").length, 4, "a head, an opening, a posting and a closing");
});

test("an account keeps its own opt-out list, and no other", async () => {
  const call = await client("OPTOUTS");
  assert.equal((await call("PUT", "/account/1/opt-outs/41790000001")).status, 204);
  assert.equal((await call("PUT", "/account/1/opt-outs/4917600000001")).status, 204);
  const numbers = async (query = "") =>
    good(await call("GET", `/account/1/opt-outs${query}`)).results.map(({ number }: { number: string }) => number);
  assert.deepEqual(await numbers(), ["41790000001", "4917600000001"]);
  assert.deepEqual(await numbers("?prefix=49"), ["4917600000001"]);
  assert.equal((await call("PUT", "/account/1/opt-outs/abc")).status, 400);
  const { messages } = good(await call("POST", "/sms/1/text/single", send(["41790000001"])));
  assert.equal(messages[0].status.name, "REJECTED_DESTINATION_BLOCKLISTED");
  assert.deepEqual(good(await demo("GET", "/account/1/opt-outs")).results, [], "another account has its own");
  assert.equal((await call("DELETE", "/account/1/opt-outs/41790000001")).status, 204);
  assert.deepEqual(await numbers(), ["4917600000001"]);
  const { results } = good(await as(OPERATOR)("GET", "/operator/1/audit?kind=optOut&actor=OPTOUTS"));
  assert.equal(results.length, 3, "the audit has the account's name");
});

test("a test callback is posted with a valid signature, and what came back is told", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const call = await client("CALLBACK");
  const { callbackSecret } = good(await call("POST", "/account/1/callback-secret"));
  receiver.answer(status(503, { "x-why": "asleep" }, `<p>${"later ".repeat(500)}</p>`));
  const path = "/account/1/callback-test";
  const { request, answer, reason, durationMs } = good(await call("POST", path, { url: `${receiver.url}?x=1` }));
  const [received] = receiver.requests;
  assert.equal(received!.path, "/reports?x=1");
  const headers = received!.headers as Record<string, string>;
  new Webhook(callbackSecret).verify(received!.body, headers);
  assert.equal(received!.items[0]!.messageId, "test-callback");
  assert.equal(request.body, received!.body);
  assert.equal(request.headers["webhook-id"], headers["webhook-id"]);
  assert.equal(answer.status, 503);
  assert.equal(answer.headers["x-why"], "asleep");
  assert.ok(answer.body.length <= 1_000);
  assert.equal(reason, null);
  assert.ok(durationMs >= 0);

  receiver.answer(status(200));
  const xml = good(await call("POST", path, { url: receiver.url, contentType: "application/xml" }));
  assert.match(xml.request.body, /^<\?xml/);
  assert.equal(xml.answer.status, 200);
});

test("a test callback goes nowhere that a report would not go", async () => {
  const call = await client("GUARDED");
  const path = "/account/1/callback-test";
  const { answer, reason } = good(await call("POST", path, { url: "http://169.254.169.254/latest/meta-data" }));
  assert.equal(answer, null);
  assert.match(reason, /not allowed/);
  for (const url of ["ftp://example.org/", "nonsense", `http://x/${"y".repeat(MAX_URL_LENGTH)}`])
    assert.equal((await call("POST", path, { url })).status, 400, url);
  const { key } = good(await call("POST", "/account/1/api-keys", {}));
  const byKey = await service.call("POST", path, { authorization: `App ${key}`, body: { url: "http://127.0.0.1:9/" } });
  assert.equal(byKey.status, 403, "it is for passwords and sessions");
});

test("test callbacks are bounded: one at a time, and so many a minute", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const call = await client("BOUNDED");
  const path = "/account/1/callback-test";
  let finish = () => {};
  receiver.answer((_request, response) => {
    finish = () => response.writeHead(200).end();
  });
  const held = call("POST", path, { url: receiver.url });
  await receiver.waitForRequests(1);
  const [code, , words] = refusal(await call("POST", path, { url: receiver.url }));
  assert.equal(code, 429);
  assert.match(words!, /under way/);
  finish();
  good(await held);
  receiver.answer(status(200));
  const statuses: number[] = [];
  for (let count = 0; count < 25; count++) statuses.push((await call("POST", path, { url: receiver.url })).status);
  assert.equal(statuses[0], 200);
  assert.equal(statuses.at(-1), 429);
});

test("limits are told, the account's own and the service's", async () => {
  await addAccount(store, { key: "LIMITED", limits: { messagesPerSecond: 7 } });
  const { limits } = good(await as(basic("LIMITED", "password"))("GET", "/console/1/limits"));
  const named = (name: string) => limits.find((limit: { name: string }) => limit.name === name);
  assert.deepEqual(named("messagesPerSecond"), { name: "messagesPerSecond", most: 7, own: true, used: null });
  assert.equal(named("requestsPerSecond").most, null, "none in this service");
  assert.deepEqual(named("apiKeys"), { name: "apiKeys", most: 1_000, own: false, used: 0 });
});

test("a manager sees its accounts, searches them, and nobody else's", async () => {
  await client("SEARCH-ONE");
  await client("SEARCH-TWO");
  const keys = async (authorization: string, query: string) => {
    const { results } = good(await as(authorization)("GET", `/console/1/accounts?${query}`));
    return results.map(({ key }: { key: string }) => key);
  };
  assert.deepEqual(await keys(RESELLER, "search=search-"), ["SEARCH-ONE", "SEARCH-TWO"]);
  assert.deepEqual(await keys(OPERATOR, "search=search-two"), ["SEARCH-TWO"]);
  assert.deepEqual(await keys(OTHER_RESELLER, "search=search-"), []);
  assert.deepEqual(await keys(OPERATOR, "kind=operator"), ["OPERATOR1"]);
  assert.equal((await demo("GET", "/console/1/accounts")).status, 403);
});

test("a manager sees which rate plans there are", async () => {
  const { results } = good(await as(RESELLER)("GET", "/console/1/rate-plans"));
  assert.deepEqual(results, [{ id: "standard", currency: "EUR" }]);
  for (const { id } of results) {
    const order = { key: `RESELLER1-${id}`, username: `RESELLER1-${id}`, ratePlan: id };
    const made = await as(RESELLER)("POST", "/operator/1/accounts", order);
    assert.ok(made.status < 300, `a reseller gives its clients every plan that it sees: ${made.text}`);
  }
});

test("accounts come in pages", async () => {
  await addAccount(store, { key: "PAGED", kind: "reseller" });
  const made = Array.from({ length: 103 }, (_, index) => `PAGED-${String(index).padStart(3, "0")}`);
  const { passwordHash } = (await store.findLogin({ username: "reseller" }))!;
  for (const key of made) {
    await store.createAccount({
      ...{ key, kind: "client", parentKey: "PAGED", currency: "EUR", ratePlanId: "standard", defaultSender: null },
      ...{ creditLimitMicros: 0n, openingBalanceMicros: 0n, callbackSecret: "whsec_AAAA", username: key, passwordHash },
      atMs: Date.now(),
    });
  }
  const first = good(await as(OPERATOR)("GET", "/console/1/accounts?parent=PAGED"));
  assert.equal(first.results.length, 100);
  const second = good(await as(OPERATOR)("GET", `/console/1/accounts?parent=PAGED&after=${first.next}`));
  assert.equal(second.next, null);
  const keys = [...first.results, ...second.results].map(({ key }: { key: string }) => key);
  assert.deepEqual(keys.sort(), made);
});

// --- Running totals ----------------------------------------------------------------------------------------------------------

interface Row {
  readonly atMs: number;
  readonly id: number;
}
const STEP = 1_000;

/** A million rows are not made: a row stands at every time that `isRow` says. */
function totalsOver(
  rows: Row[],
  clock: VirtualClock,
  options: { balance?: () => Promise<bigint>; renewMs?: number } = {},
) {
  const { balance, renewMs } = options;
  const looked: number[] = [];
  const page = async ({ sinceMs, untilMs, after, newestFirst, limit, stepMs }: Walk<Row>) => {
    const sign = newestFirst ? -1 : 1;
    const comes = (one: Row, other: Row) => sign * (one.atMs - other.atMs || one.id - other.id);
    const found = rows
      .filter((row) => row.atMs >= sinceMs && row.atMs < untilMs && (after === null || comes(row, after) > 0))
      .sort(comes)
      .slice(0, limit);
    looked.push(found.length);
    return {
      totals: found.map(({ atMs }) => ({ startMs: atMs - (atMs % stepMs), count: 1 })),
      next: found.length === limit ? found.at(-1)! : null,
    };
  };
  const totals = new RunningTotals<{ startMs: number; count: number }, Row>({
    ...{ clock, stepMs: STEP, settledMs: 500, maxSteps: 1_000, page },
    ...(balance === undefined ? {} : { audit: { balance, amountOf: ({ count }) => BigInt(count) } }),
    ...(renewMs === undefined ? {} : { renewMs }),
    nameOf: () => "",
    add: (one, other) => ({ startMs: one.startMs, count: one.count + other.count }),
  });
  const read = async (sinceMs: number) => {
    looked.length = 0;
    const { totals: steps, ...rest } = await totals.read(1, sinceMs);
    return {
      ...rest,
      count: steps.reduce((sum, { count }) => sum + count, 0),
      looked: looked.reduce((a, b) => a + b, 0),
    };
  };
  return read;
}

test("a look reads a bounded number of rows, goes on where it ended, and counts each row once", async () => {
  const clock = new VirtualClock(1_000_000);
  const rows = Array.from({ length: 50_000 }, (_, id) => ({ atMs: 900_000 + 2 * id, id }));
  const read = totalsOver(rows, clock);
  const looks = [];
  do looks.push(await read(900_000));
  while (!looks.at(-1)!.complete && looks.length < 20);
  assert.ok(looks.length > 1, "one look is not enough for all of it");
  assert.ok(looks.every(({ looked }) => looked <= 21_000));
  assert.equal(looks.at(-1)!.count, 50_000);
  const again = await read(900_000);
  assert.equal(again.count, 50_000);
  assert.ok(again.looked <= 500, "what is settled is not looked at again");

  rows.push({ atMs: 1_000_000, id: 50_000 });
  assert.equal((await read(900_000)).count, 50_001, "what is new is there at once");
  await clock.advance(5_000);
  rows.push({ atMs: 1_005_000, id: 50_001 });
  const later = await read(900_000);
  assert.deepEqual([later.count, later.complete], [50_002, true]);
});

test("a shorter period, then a longer one, then a shorter one again: each row is still counted once", async () => {
  const clock = new VirtualClock(1_000_000);
  const rows = Array.from({ length: 60_000 }, (_, id) => ({ atMs: 940_000 + id, id }));
  const read = totalsOver(rows, clock);
  assert.equal((await read(995_000)).count, 5_000);
  const partly = await read(940_000);
  assert.equal(partly.complete, false);
  assert.ok(partly.sinceMs > 940_000);
  assert.equal((await read(990_000)).count, 10_000);
  assert.equal((await read(999_000)).count, 1_000);
  let whole = await read(940_000);
  for (let looks = 0; !whole.complete && looks < 10; looks++) whole = await read(940_000);
  assert.equal(whole.count, 60_000);
});

test("a row that is committed late is counted: the balance says that something is missing", async () => {
  const clock = new VirtualClock(1_000_000);
  const rows = Array.from({ length: 30_000 }, (_, id) => ({ atMs: 960_000 + id, id }));
  // Rows of before, which nobody asks for.
  const before = 77;
  const read = totalsOver(rows, clock, { balance: async () => BigInt(before + rows.length) });
  const whole = async () => {
    let look = await read(950_000);
    for (let looks = 0; !look.complete && looks < 10; looks++) look = await read(950_000);
    return look;
  };
  assert.equal((await read(950_000)).complete, false);
  rows.push({ atMs: 985_000, id: 90_000 });
  assert.equal((await whole()).count, 30_001, "while the past is being added up");
  rows.push({ atMs: 970_000, id: 90_001 }, { atMs: 999_800, id: 90_002 });
  assert.equal((await whole()).count, 30_003, "when all of it is there");
  await clock.advance(1_500_000);
  rows.push({ atMs: 2_000_000, id: 90_003 });
  const later = await read(1_600_000);
  assert.deepEqual([later.count, later.complete], [1, true], "when steps were dropped");
  const again = await read(1_600_000);
  assert.ok(again.looked <= 1, "what agrees is not read again");
});

test("it is not complete while the balance and the rows do not agree", async () => {
  const clock = new VirtualClock(1_000_000);
  const rows = Array.from({ length: 10 }, (_, id) => ({ atMs: 960_000 + id, id }));
  let moves = 0n;
  let isMoving = true;
  const balance = async () => {
    if (isMoving) moves++;
    return isMoving ? moves : 10n;
  };
  const read = totalsOver(rows, clock, { balance });
  assert.equal((await read(950_000)).complete, false, "it moves all the time");
  isMoving = false;
  const steady = await read(950_000);
  assert.deepEqual([steady.complete, steady.count], [true, 10]);
});

test("without a balance everything is read anew from time to time", async () => {
  const clock = new VirtualClock(1_000_000);
  const rows = [{ atMs: 960_000, id: 1 }];
  const read = totalsOver(rows, clock, { renewMs: 60_000 });
  assert.equal((await read(950_000)).count, 1);
  rows.push({ atMs: 970_000, id: 2 });
  assert.equal((await read(950_000)).count, 1);
  await clock.advance(60_000);
  assert.equal((await read(950_000)).count, 2);
});

test("the balance over time has a charge that was committed long after its time", async () => {
  const call = await client("LATE");
  const history = async () => good(await call("GET", "/console/1/balance-history?days=7"));
  assert.equal((await history()).points[0].balance, "0");
  const funding = { resellerId: reseller.id, accountKey: "LATE", currency: null, ratesMicros: {}, description: "late" };
  const atMs = Date.now() - 3 * 3_600_000;
  assert.equal((await store.fund({ ...funding, amountMicros: 1_000_000n, replay: null, atMs })).kind, "posted");
  const { points, balance, complete } = await history();
  assert.deepEqual([balance, complete, points[0].balance, points.at(-4).funded], ["11", true, "0", "1"]);
});
