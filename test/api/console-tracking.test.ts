/** What the pages Bulks, Reports and Incoming look at, over HTTP: how far a bulk is, why reports fail, what phones wrote. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, CATALOGUE, eventually, startTestService, type TestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const OPERATOR = { authorization: basic("operator", "operator-password") };
const RESELLER = { authorization: basic("reseller", "reseller-password") };
const HASTY = { authorization: basic("HASTY", "password") };
const HOUR_MS = 3_600_000;

const view = async (service: TestService, path: string, options: object = {}) => {
  const { status, json } = await service.call("GET", `/console/1/${path}`, options);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
};

async function send(service: TestService, count: number, more: object = {}, options: object = {}): Promise<string> {
  const { bulkId, ...message } = more as { bulkId?: string };
  const destinations = Array.from({ length: count }, (_, index) => ({
    to: `4179302${String(index).padStart(4, "0")}`,
  }));
  const body = {
    ...(bulkId === undefined ? {} : { bulkId }),
    messages: [{ from: "A", text: "Hi", destinations, ...message }],
  };
  const { status, json } = await service.call("POST", "/sms/1/text/advanced", { body, ...options });
  assert.equal(status, 200);
  return json.bulkId;
}

test("a bulk of thousands is counted to the end over some looks, and its progress is seen", async (t) => {
  const service = await startTestService(t);
  for (const text of ["One", "Two", "Three"]) await send(service, 1_000, { bulkId: "large", text });
  const bulk = await eventually(async () => {
    const found = await view(service, "bulk?id=large");
    return found.delivered === 3_000 && found;
  });
  assert.deepEqual(
    [bulk.status, bulk.total, bulk.isComplete, bulk.atOnce, bulk.failed, bulk.scheduled],
    ["FINISHED", 3_000, true, true, 0, 0],
  );
  const { bulks } = await view(service, "bulks");
  assert.deepEqual(
    bulks.map(({ bulkId, delivered }: { bulkId: string; delivered: number }) => [bulkId, delivered]),
    [["large", 3_000]],
  );
});

test("a look at a bulk reads a bounded number of pages, and none of what is finished", async (t) => {
  const clock = new VirtualClock(Date.UTC(2026, 1, 12));
  const reads: number[] = [];
  const service = await startTestService(t, {
    clock,
    edgeStore: (store) => ({
      ...store,
      countBulk(input) {
        reads.push(input.limit);
        return store.countBulk(input);
      },
    }),
  });
  for (const text of ["One", "Two", "Three", "Four", "Five", "Six", "Seven"])
    await send(service, 1_000, { bulkId: "large", text });
  const look = async () => {
    await clock.advance(500);
    reads.length = 0;
    const bulk = await view(service, "bulk?id=large");
    assert.ok(reads.length <= 5, `${reads.length} reads for one look`);
    assert.ok(reads.every((limit) => limit <= 1_000));
    return bulk;
  };
  await eventually(async () => (await look()).delivered === 7_000);
  await clock.advance(120_000);
  // Once more, now that nothing can come late any more: then it is known to be finished.
  for (let looks = 0; looks < 4; looks++) await look();
  assert.equal((await look()).delivered, 7_000);
  assert.equal(reads.length, 0, "what is finished is not read again");
  await clock.advance(60_000);
  await look();
  assert.ok(reads.length <= 1, "but now and then it is looked whether messages have joined it");
});

test("a scheduled bulk is paused, resumed, moved and called off by the public API, and the view says so at once", async (t) => {
  const service = await startTestService(t);
  const sendAt = new Date(Date.now() + HOUR_MS).toISOString();
  await send(service, 3, { bulkId: "later", sendAt });
  const look = () => view(service, "bulk?id=later");
  const counted = await eventually(async () => {
    const found = await look();
    return found.scheduled === 3 && found;
  });
  assert.deepEqual(
    [counted.status, counted.sendAt, counted.lastDueAt, counted.atOnce],
    ["PENDING", sendAt, sendAt, false],
  );
  const set = (to: string) => service.call("PUT", "/sms/1/bulks/status?bulkId=later", { body: { status: to } });
  assert.equal((await set("PAUSED")).status, 200);
  assert.equal((await look()).status, "PAUSED");
  assert.deepEqual((await view(service, "bulks?status=PAUSED")).bulks.length, 1);
  assert.deepEqual(await view(service, "bulks?status=PENDING"), { bulks: [], next: null });
  assert.equal((await set("PENDING")).status, 200);
  const moved = new Date(Date.now() + 2 * HOUR_MS).toISOString();
  await service.call("PUT", "/sms/1/bulks?bulkId=later", { body: { sendAt: moved } });
  assert.equal((await look()).sendAt, moved);
  assert.equal((await set("CANCELED")).status, 200);
  assert.equal((await look()).status, "CANCELED");
  await eventually(async () => (await look()).failed === 3);
});

test("bulks are listed in pages, and nobody sees another's", async (t) => {
  const service = await startTestService(t);
  const sendAt = new Date(Date.now() + HOUR_MS).toISOString();
  for (let index = 0; index < 51; index++) await send(service, 1, { bulkId: `b${index}`, sendAt });
  const first = await view(service, "bulks");
  assert.equal(first.bulks.length, 50);
  assert.equal(first.bulks[0].bulkId, "b50");
  const second = await view(service, `bulks?before=${encodeURIComponent(first.next)}`);
  assert.deepEqual([second.bulks.map(({ bulkId }: { bulkId: string }) => bulkId), second.next], [["b0"], null]);
  assert.deepEqual((await view(service, "bulks", RESELLER)).bulks, []);
  assert.equal((await service.call("GET", "/console/1/bulk?id=b1", RESELLER)).status, 404);
  assert.equal((await service.call("GET", "/console/1/bulk")).status, 400);
  for (const wrong of ["before=x", "before=1", "status=DONE"])
    assert.equal((await service.call("GET", `/console/1/bulks?${wrong}`)).status, 400, wrong);
});

/** A service whose receiver refuses the reports of an account with one retry. */
async function withFailingHost(t: TestContext) {
  const clock = new VirtualClock(Date.UTC(2026, 1, 12));
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(503, {}, "back soon"));
  const service = await startTestService(t, { clock });
  await addAccount(service.store, { key: "HASTY", retryMinutes: [10] });
  await send(service, 1, { notifyUrl: `${receiver.url}/a` }, HASTY);
  await receiver.waitForRequests(1);
  const host = await eventually(async () => {
    await clock.advance(1_000);
    return (await view(service, "reports", HASTY)).hosts[0];
  });
  return { service, receiver, clock, host, origin: new URL(receiver.url).origin };
}

test("a host that fails is shown with its last answer and its next try; try now tries at once", async (t) => {
  const { service, receiver, clock, host, origin } = await withFailingHost(t);
  assert.deepEqual(
    [host.host, host.accountKey, host.waiting, host.dead, host.last.status, host.last.reason, host.last.excerpt],
    [origin, "HASTY", 1, 0, 503, "answered 503", "back soon"],
  );
  assert.ok(Date.parse(host.nextTryAt) >= Date.UTC(2026, 1, 12, 0, 10));
  const list = `report-list?state=waiting&host=${encodeURIComponent(origin)}`;
  const [waiting] = (await view(service, list, HASTY)).reports;
  const report = await view(service, `report?id=${waiting.id}`, HASTY);
  assert.deepEqual([report.history.length, report.messages.length, report.kind], [1, 1, "delivery"]);
  assert.equal(report.body, receiver.requests[0]!.body.toString());

  assert.deepEqual((await view(service, "reports", OPERATOR)).hosts, [host], "an operator sees everybody's");
  assert.deepEqual((await view(service, "reports")).hosts, [], "and others only their own");
  assert.deepEqual((await view(service, list)).reports, []);
  assert.equal((await service.call("GET", `/console/1/report?id=${waiting.id}`)).status, 404);
  assert.equal((await view(service, `report?id=${waiting.id}`, OPERATOR)).id, waiting.id);
  const foreign = await service.call("POST", "/sms/1/reports/retry", { body: { ids: [waiting.id] } });
  assert.deepEqual(foreign.json, { retried: 0 });

  receiver.answer(status(200));
  const retry = await service.call("POST", "/sms/1/reports/retry", { ...HASTY, body: { host: `${receiver.url}/` } });
  assert.deepEqual([retry.status, retry.json], [200, { retried: 1 }]);
  await receiver.waitForRequests(2);
  await eventually(async () => {
    await clock.advance(1_000);
    return (await view(service, "reports", HASTY)).hosts.length === 0;
  });
});

test("an account lists its dead letters, and replays one, those of a host, or all since a time", async (t) => {
  const { service, receiver, clock } = await withFailingHost(t);
  await clock.advance(12 * 60_000);
  await receiver.waitForRequests(2);
  const dead = async (options: object = HASTY, query = "") =>
    (await view(service, `report-list?state=dead${query}`, options)).reports;
  const [letter] = await eventually(async () => {
    await clock.advance(1_000);
    const found = await dead();
    return found.length === 1 && found;
  });
  assert.deepEqual([letter.reason, letter.attempts, letter.nextTryAt], ["answered 503", 2, null]);
  assert.deepEqual(await dead({}), []);
  assert.equal((await dead(OPERATOR, "&accountKey=HASTY")).length, 1);
  const listed = await service.call("GET", "/sms/1/reports/dead?since=2026-02-12T00:00:00Z", HASTY);
  assert.equal(listed.json.results[0].id, letter.id);

  const replay = async (body: object, options: object = HASTY) =>
    (await service.call("POST", "/sms/1/reports/replay", { ...options, body })).json;
  assert.deepEqual(await replay({ ids: [letter.id] }, {}), { replayed: 0 }, "nobody replays another's");
  assert.deepEqual(await replay({ since: "2026-02-13T00:00:00Z" }), { replayed: 0 });
  assert.deepEqual(await replay({ host: "https://elsewhere.test" }), { replayed: 0 });
  const aimless = await service.call("POST", "/sms/1/reports/replay", { ...HASTY, body: {} });
  assert.deepEqual([aimless.status, aimless.json.requestError.serviceException.variables], [400, ["ids"]]);
  for (const body of [{ host: "elsewhere" }, { since: "yesterday" }])
    assert.equal((await service.call("POST", "/sms/1/reports/replay", { ...HASTY, body })).status, 400);
  receiver.answer(status(200));
  const since = new Date(Date.parse(letter.madeAt)).toISOString();
  assert.deepEqual(await replay({ host: receiver.url, since }), { replayed: 1 });
  await receiver.waitForRequests(3);
  assert.equal(receiver.requests.at(-1)!.headers["webhook-id"], letter.id);
});

test("what phones wrote is listed and stays to be fetched; nobody sees another's", async (t) => {
  const numbers = `
[[number]]
number = "12345"
account = "DEMO0001"
stopKeywords = ["STOP"]
`;
  const service = await startTestService(t, { catalogue: CATALOGUE + numbers });
  const empty = await view(service, "incoming");
  assert.deepEqual(empty, { messages: [], next: null, numbers: ["12345"] });
  for (const text of ["Hello", "Stop"])
    await service.call("POST", "/sandbox/1/incoming", { body: { from: "41793026727", to: "12345", text } });
  const states = async () =>
    (await view(service, "incoming")).messages.map(({ text, state, wish }: Record<string, string>) => [
      text,
      state,
      wish,
    ]);
  assert.deepEqual(await states(), [
    ["Stop", "waiting", "stop"],
    ["Hello", "waiting", null],
  ]);
  assert.deepEqual((await view(service, "incoming", RESELLER)).messages, []);
  assert.equal((await service.call("GET", "/sms/1/inbox/reports?limit=1")).json.results[0].text, "Hello");
  await eventually(async () => (await states())[1]?.[1] === "fetched");
  assert.equal((await service.call("GET", "/console/1/incoming?before=x")).status, 400);
});
