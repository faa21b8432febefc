/** What operators watch in the console: whether all is well, their carriers, what matched nothing, and the nodes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { good, OPERATOR, RESELLER } from "../support/operator.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, eventually, startTestService, TEST_STORE, type TestService } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";

const looking = (service: TestService, authorization: string = OPERATOR) => ({
  get: (path: string) => service.call("GET", `/console/1/${path}`, { authorization }),
  post: (path: string, body: unknown = {}) => service.call("POST", `/console/1/${path}`, { authorization, body }),
});

interface Told {
  readonly about: string;
  readonly says: string;
  readonly mend: string | null;
  readonly page: string | null;
}

/** Without what is wrong with every database of the tests: it does not survive a power cut, so that it is fast. */
const besideSpeed = (findings: readonly Told[]): Told[] =>
  findings.filter(({ about }) => !["fsync", "synchronous_commit", "full_page_writes", "connections"].includes(about));

const send = (service: TestService, to: string) =>
  service.call("POST", "/sms/1/text/single", { body: { from: "Sender", to, text: "Hello" } });

test("clients and resellers get nothing of it", async (t) => {
  const service = await startTestService(t);
  for (const authorization of [undefined, RESELLER]) {
    const { get, post } = looking(service, authorization ?? "Basic ZGVtbzpkZW1vLXBhc3N3b3Jk");
    for (const view of [
      "overview",
      "history",
      "carriers",
      "carrier?id=simulator",
      "carrier-kinds",
      "unmatched",
      "nodes",
    ])
      assert.equal((await get(view)).status, 403, view);
    assert.equal((await post("overview/check")).status, 403);
    assert.equal((await post("carriers/simulator/try")).status, 403);
    assert.equal((await post("unmatched/drop", { of: "receipts", ids: ["1"] })).status, 403);
  }
});

test("a service with which all is well says so, and when it looked", async (t) => {
  const service = await startTestService(t);
  const { get, post } = looking(service);
  assert.equal(typeof good(await post("overview/check")).checkedAt, "string");
  const { sentence, findings, state, checks, carriers } = good(await get("overview"));
  assert.deepEqual(besideSpeed(findings), []);
  if (findings.length === 0) {
    assert.equal(state, "well");
    assert.match(sentence, /^All is well: the carrier simulator is up, the balances agree/);
  }
  assert.deepEqual(carriers, { up: 1, all: 1 });
  assert.deepEqual(
    checks.map(({ name, at }: { name: string; at: string | null }) => [name, at !== null]),
    ["settings", "store", "wallets", "quarantine", "secrets", "catalogue", "callbacks"].map((name) => [name, true]),
  );
  // Nothing has changed, so nothing is sent to a page that watches.
  assert.equal((await get("overview")).text, (await get("overview")).text);
});

test("while a client's host does not take reports not all is well", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  receiver.answer(status(503));
  const service = await startTestService(t);
  const { get, post } = looking(service);
  good(await post("overview/check"));
  const message = { from: "Sender", text: "Hello", notifyUrl: `${receiver.url}/a` };
  const messages = [{ ...message, destinations: [{ to: "41793026727" }] }];
  good(await service.call("POST", "/sms/1/text/advanced", { body: { messages } }));
  const { sentence, findings, reports } = await eventually(async () => {
    const seen = good(await get("overview"));
    return seen.reports.failingHosts === 1 && seen;
  });
  assert.doesNotMatch(sentence, /All is well/);
  const [told] = findings.filter(({ about }: Told) => about === "reports");
  assert.match(told.says, /^1 host of clients does not take reports/);
  assert.equal(reports.failingHosts, 1);
});

test("a service never adds up all that it has, and rests between looks, however many ask for them", async (t) => {
  const asked: { command: string; limit: number | undefined }[] = [];
  const service = await startTestService(t, {
    edgeStore: (store) =>
      new Proxy(store, {
        get: (target, command: keyof typeof store) => (input: { limit?: number } | undefined) => {
          asked.push({ command, limit: input?.limit });
          return (target[command] as (input: unknown) => Promise<unknown>)(input);
        },
      }),
  });
  const { get, post } = looking(service);
  await Promise.all(Array.from({ length: 5 }, () => post("overview/check")));
  for (let look = 0; look < 5; look++) good(await post("overview/check"));
  good(await get("overview"));
  const limits = (command: string) => asked.filter((each) => each.command === command).map(({ limit }) => limit);
  assert.deepEqual(limits("verifyLedger"), []);
  assert.deepEqual(limits("countAccounts"), []);
  assert.deepEqual(limits("checkWallets"), [20_000], "once for all of them");
  assert.deepEqual(limits("deadLetters"), [100]);
});

test("what does not fit together is told, the worst first, with the page that mends it", async (t) => {
  const service = await startTestService(t);
  await service.store.putItem({
    kind: "carrier",
    id: "idle",
    body: JSON.stringify({ id: "idle", kind: "simulator" }),
    version: 0,
    by: { name: "test", address: null },
    atMs: 0,
  });
  await service.store.received({
    carrierId: "simulator",
    receipts: [{ carrierMessageId: "1", outcome: "delivered", errorId: 0, atMs: Date.now(), mccMnc: null, to: null }],
  });
  const { get, post } = looking(service);
  good(await post("overview/check"));
  const { state, findings, sentence } = good(await get("overview"));
  const pages = besideSpeed(findings).map(({ says, page }) => [says, page]);
  if (pages.length === findings.length) {
    assert.equal(state, "warning");
    assert.equal(sentence, "2 things need a look.");
  }
  assert.deepEqual(pages, [
    ["no route leads to the carrier idle", "/routes"],
    ["1 receipt of a carrier matches no message: of simulator (1)", "/unmatched?of=receipts"],
  ]);
  assert.ok(findings.every(({ mend }: { mend: string | null }) => mend !== null));
});

test("a carrier that goes down is the first finding, in words, and connects at once when it is told to", async (t) => {
  const smsc = await startSmsc(t);
  const profile = "binds = 2\nwindow = 7\npartsPerSecond = 50\nreconnectSeconds = 3600";
  const service = await startTestService(t, { catalogue: smppCatalogue(smsc.port, profile) });
  const { get } = looking(service);
  const reconnect = (id: string) =>
    service.call("POST", `/operator/1/carriers/${id}/reconnect`, {
      authorization: basic("operator", "operator-password"),
    });
  const row = async () => good(await get("carriers")).results[0];
  const up = await eventually(async () => {
    const carrier = await row();
    return carrier.bound === 2 && carrier;
  });
  assert.deepEqual(
    [up.id, up.kind, up.state, up.why, up.connections, up.binds, up.window, up.paceLimit, up.paceFound],
    ["smpp", "smpp", "up", null, 2, 2, 14, 50, null],
  );
  good(await send(service, "41790000001"));
  const sent = await eventually(async () => {
    const carrier = await row();
    return carrier.delivered === 1 && carrier;
  });
  assert.equal(sent.parts, 1);
  assert.equal(typeof sent.lastReceiptAt, "string");
  assert.ok(sent.answerTimes.medianMs >= 0 && sent.answerTimes.slowMs >= sent.answerTimes.medianMs);

  const { port } = smsc;
  smsc.disconnect();
  await smsc.stop();
  const finding = await eventually(async () => {
    const { state, findings } = good(await get("overview"));
    return state === "wrong" && findings[0].page !== null && findings[0];
  });
  assert.equal(finding.page, "/carriers/smpp");
  assert.match(finding.says, new RegExp(`^the carrier smpp is down: 127.0.0.1:${port}: `));
  const down = await row();
  assert.deepEqual([down.state, down.bound], ["down", 0]);
  const { links } = good(await get("carrier?id=smpp"));
  assert.equal(links.length, 2);
  assert.ok(links.every(({ isBound, problem }: { isBound: boolean; problem: string | null }) => !isBound && problem));

  await startSmsc(t, { port });
  // It waits up to an hour by itself.
  await eventually(async () => {
    assert.equal((await reconnect("smpp")).status, 204);
    return (await row()).state === "up";
  });
  assert.equal((await reconnect("nobody")).status, 404);
  assert.equal((await get("carrier?id=nobody")).status, 404);
});

test("refusals are counted by their reason, and the fields of a carrier are those of its kind", async (t) => {
  const service = await startTestService(t);
  const { get } = looking(service);
  // Phones of the simulated network that say no.
  for (const to of ["41790000002", "41790000003", "41790000004"]) good(await send(service, to));
  await eventually(async () => {
    const { delivered, failed, refused } = good(await get("carrier?id=simulator"));
    return delivered + failed + refused >= 3;
  });
  const { reasons, failed, refused } = good(await get("carrier?id=simulator"));
  const told = reasons.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  assert.equal(told, failed + refused);
  const { kinds } = good(await get("carrier-kinds"));
  const smpp = kinds.find(({ kind }: { kind: string }) => kind === "smpp").fields;
  const named = (name: string) => smpp.find((field: { name: string }) => field.name === name);
  assert.deepEqual([named("password").input, named("hosts").input, named("tls").input], ["secret", "lines", "switch"]);
  assert.deepEqual(named("partRule").choices, ["every", "first", "last"]);
  assert.deepEqual([named("window").min, named("window").max, named("systemId").isRequired], [1, 10_000, true]);
  assert.equal(named("tlsCa"), undefined, "a file is named on the command line alone");
});

test("what matched nothing is found by any of its words, and dropped; the audit says who did it", async (t) => {
  const service = await startTestService(t);
  const receipt = { outcome: "delivered", errorId: 0, atMs: Date.now(), mccMnc: null } as const;
  await service.store.received({
    carrierId: "simulator",
    receipts: [
      { ...receipt, carrierMessageId: "lost-1", to: "41790000001" },
      { ...receipt, carrierMessageId: "lost-2", to: "41790000002" },
    ],
  });
  await service.store.quarantine({
    items: [{ atMs: 5, command: "received", subject: "acme 17", reason: "too long", detail: "{}" }],
  });
  const { get, post } = looking(service);
  const all = good(await get("unmatched"));
  assert.deepEqual(all.counts, { receipts: 2, incoming: 0, quarantine: 1 });
  assert.deepEqual(
    all.results.map(({ subject, why, to }: Record<string, string>) => [subject, why, to]),
    [
      ["lost-2", "unmatched", "41790000002"],
      ["lost-1", "unmatched", "41790000001"],
    ],
  );
  const found = good(await get("unmatched?search=LOST-1"));
  assert.deepEqual([found.found, found.lookedThrough, found.results[0].subject], [1, 2, "lost-1"]);
  const [refused] = good(await get("unmatched?of=quarantine")).results;
  assert.deepEqual([refused.subject, refused.why], ["acme 17", "received: too long"]);

  const drop = (of: string, ...ids: string[]) => post("unmatched/drop", { of, ids });
  assert.deepEqual(good(await drop("receipts", found.results[0].id, "999")), { dropped: 1 });
  assert.deepEqual(good(await drop("quarantine", refused.id)), { dropped: 1 });
  assert.deepEqual(good(await get("unmatched")).counts, { receipts: 1, incoming: 0, quarantine: 0 });
  const { results } = good(await service.call("GET", "/operator/1/audit?kind=receipt", { authorization: OPERATOR }));
  assert.deepEqual(
    [results.length, results[0].action, results[0].subject, results[0].actor],
    [1, "delete", found.results[0].id, "OPERATOR1"],
  );
  assert.equal((await drop("receipts", "x")).status, 400);
  assert.equal((await drop("messages", "1")).status, 400);
  assert.equal((await get("unmatched?of=messages")).status, 400);
});

test("the nodes are told, with the one that answers and leads, and what the data takes", async (t) => {
  const service = await startTestService(t);
  const { engine, nodes, gone, storage, leaseMs } = good(await looking(service).get("nodes"));
  assert.equal(engine, TEST_STORE);
  assert.deepEqual(gone, []);
  assert.equal(nodes.length, 1);
  const [{ isSelf, leads, isAlive, roles }] = nodes;
  assert.deepEqual([isSelf, leads, isAlive, roles], [true, true, true, ["api", "dispatch", "reports"]]);
  assert.ok(storage.octets > 0);
  if (engine === "sqlite") assert.ok(storage.files.some(({ name }: { name: string }) => name === "heliograph.sqlite"));
  else {
    assert.equal(leaseMs, 300_000);
    assert.ok(storage.partitions.length > 0);
    assert.deepEqual(nodes[0].binds, [{ carrier: "simulator", count: 1 }]);
  }
});

test("what went through is kept as numbers, sample by sample", async (t) => {
  const { VirtualClock } = await import("../support/virtual-clock.ts");
  const clock = new VirtualClock(Date.UTC(2026, 1, 12));
  const service = await startTestService(t, { clock });
  const { get } = looking(service);
  const asked = clock.advance(6_000).then(() => send(service, "41790000001"));
  good(await asked);
  await clock.advance(10_000);
  const { at, series } = good(await get("history"));
  assert.ok(at.length >= 1, "there are samples");
  const total = (name: string) => series[name].reduce((sum: number, value: number | null) => sum + (value ?? 0), 0) * 5;
  assert.ok(Math.abs(total("accepted") - 1) < 0.01, `${total("accepted")}`);
  assert.ok(Math.abs(total("submitted") - 1) < 0.01);
  assert.ok(Math.abs(total("delivered") - 1) < 0.01);
  assert.equal((await get("history?range=1d")).status, 400);
  const [row] = good(await get("carriers")).results;
  assert.equal(row.partsPerSecond.length, at.length);
});
