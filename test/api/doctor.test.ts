/**
 * What `heliograph doctor` finds with a service that runs: receivers that fail now, a carrier that is bound and throttles, receipts that match
 * nothing. And `/statusz`, by which the service tells it what it alone knows.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { carrierFindings } from "../../src/api/console/carrier-findings.ts";
import type { CarrierFacts } from "../../src/carriers/facts.ts";
import { type Examination, examination } from "../support/doctor.ts";
import { good, OPERATOR } from "../support/operator.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { ADVANCED, MULTI, SINGLE } from "../support/sending.ts";
import { eventually, startTestService, type TestService } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";

/** The doctor as another process on the same machine sees the service. */
function examined({ url, settings }: TestService, ...args: string[]): Promise<Examination> {
  const { store } = settings;
  const where = store.url === "" ? ["--data", store.data] : ["--store", store.url];
  return examination([...where, ...args], {
    settings: {
      HELIOGRAPH_SERVER_PORT: new URL(url).port,
      HELIOGRAPH_NODE_LEASE_MS: String(settings.node.leaseMs),
    },
  });
}

test("a carrier that is sick is told with the moment since when, as the command line writes moments", () => {
  const health = {
    state: "sick",
    sinceMs: Date.UTC(2026, 1, 12, 9, 58, 20, 323),
    why: "it takes nothing",
    share: 0,
  } as const;
  const carrier = { id: "first", isUp: true, sinceMs: 0, health, connections: null, waiting: 0, putOff: 0 };
  const [finding] = carrierFindings([carrier as unknown as CarrierFacts]);
  assert.equal(
    finding?.says,
    "the carrier first is bound and is sick since 2026-02-12T09:58:20.323+0000: it takes nothing",
  );
});

test("a receiver that fails now is told: its host, since when, its last answer, and how many wait", async (t) => {
  const receiver = await ReportReceiver.start();
  receiver.answer(status(500, {}, "out of order"));
  const service = await startTestService(t);
  const messages = [{ from: "Sender", destinations: [{ to: "41793026727" }], text: "Hello", notifyUrl: receiver.url }];
  good(await service.call("POST", ADVANCED, { body: { messages } }));
  const failing = async () => {
    const [host] = await service.store.reportHosts({ accountKey: null, limit: 10 });
    return host !== undefined && host.waiting > 0 && host;
  };
  await eventually(failing);

  const { origin } = new URL(receiver.url);
  const told = (await examined(service)).about(origin);
  assert.equal(told.state, "warning");
  assert.match(
    told.says,
    /^it does not take the reports of DEMO0001 since \d{4}-\S+; 1 report waits for another try.*\. Its last answer, at \d{4}-\S+: .*500.*\(out of order\)/,
  );
  assert.match(told.mend!, /^tell the client DEMO0001; the reports are kept/);

  await receiver.stop();
  const away = (await examined(service)).about(origin);
  assert.equal(away.state, "wrong");
  assert.match(away.says, /It cannot be reached from here: .*ECONNREFUSED/);
  const untried = (await examined(service, "--no-connect")).about(origin);
  assert.equal(untried.state, "warning", "nobody was connected to");
});

test("a carrier that is bound and throttles is told, with how many wait", async (t) => {
  const smsc = await startSmsc(t, { systemId: "heliograph", password: "secret" });
  const service = await startTestService(t, { catalogue: smppCatalogue(smsc.port) });
  await eventually(async () => smsc.connections.length === 1);
  const sound = await examined(service);
  assert.equal(sound.about("service").says, "it runs, and its store answers");
  assert.ok(!sound.findings.some(({ says }) => says.includes("throttles")));

  smsc.faults = { refuseSubmit: { status: "ESME_RTHROTTLED" } };
  const messages = Array.from({ length: 20 }, (_, index) => ({
    from: "Sender",
    to: `417930267${index + 10}`,
    text: "Hello",
  }));
  good(await service.call("POST", MULTI, { body: { messages } }));
  await eventually(async () => (smsc.counters.hits.refuseSubmit ?? 0) > 3);
  const { about } = await examined(service);
  const told = about("smpp");
  assert.deepEqual([told.area, told.state], ["carriers", "warning"]);
  assert.match(
    told.says,
    /^the carrier smpp is bound and throttles: \d+ answers since the start .*; \d+ messages? waits? for it$/,
  );
  assert.match(told.mend!, /^nothing is lost, .*ask the carrier for more, set partsPerSecond/);
  smsc.faults = {};
});

test("receipts that match no message are told by their carrier, and those that only came again are not among them", async (t) => {
  const smsc = await startSmsc(t, { systemId: "heliograph", password: "secret", faults: { doubleReceipt: {} } });
  const service = await startTestService(t, { catalogue: smppCatalogue(smsc.port) });
  good(await service.call("POST", SINGLE, { body: { from: "Sender", to: "41793026727", text: "Hello" } }));
  const line = 'heliograph_receipts_unapplied_total{reason="repeated"} 1\n';
  await eventually(async () => (await service.call("GET", "/metrics")).text.includes(line));
  const repeated = await examined(service);
  assert.ok(!repeated.findings.some(({ about }) => about === "receipts"), "it says nothing new of any message");

  const stray = { outcome: "delivered", errorId: 0, atMs: Date.now(), to: "41793026728", mccMnc: null } as const;
  await service.store.received({
    carrierId: "smpp",
    receipts: [{ ...stray, carrierMessageId: "never-given" }],
  });
  const told = (await examined(service)).about("receipts");
  assert.equal(told.state, "warning");
  assert.equal(told.says, "1 receipt of a carrier matches no message: of smpp (1)");
  assert.match(told.mend!, /"heliograph receipt list" shows them/);
});

test("a service whose store does not answer says so to the doctor", async (t) => {
  let silence = Promise.resolve();
  const service = await startTestService(t, {
    edgeStore: (store) => ({ ...store, changeCounter: () => silence.then(() => store.changeCounter()) }),
  });
  let speak = (): void => undefined;
  silence = new Promise((resolve) => {
    speak = resolve;
  });
  try {
    const { code, about } = await examined(service, "--no-connect");
    assert.equal(code, 1);
    assert.equal(about("service").state, "wrong");
    assert.match(about("service").says, /its store does not answer: requests are answered with 503$/);
  } finally {
    speak();
  }
});

test("what the service knows of itself is for this machine only, and the doctor says where it is not told", async (t) => {
  const service = await startTestService(t, { settings: { server: { metricsNetworks: "192.0.2.0/24" } } });
  assert.equal((await service.call("GET", "/statusz", { authorization: null })).status, 403);
  const { about } = await examined(service, "--no-connect");
  assert.equal(about("service").state, "warning");
  assert.match(about("service").mend!, /metricsNetworks/);
  const open = await startTestService(t);
  const { json } = await open.call("GET", "/statusz", { authorization: null });
  const { store, ...rest } = json;
  assert.deepEqual(rest, { status: "ready", findings: [] });
  assert.match(store, /^(directory \d+|database)$/);
});

/** A provider that knows one password, and how often it was asked with another one. */
async function startProvider(t: TestContext, password: string): Promise<{ url: string; readonly refused: number }> {
  let refused = 0;
  const right = `Basic ${Buffer.from(`AC1:${password}`).toString("base64")}`;
  const server = createServer((request, response) => {
    const isRight = request.headers.authorization === right;
    if (!isRight) refused++;
    response.writeHead(isRight ? 201 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isRight ? { sid: "SM1" } : { code: 20003 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => void server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get refused() {
      return refused;
    },
  };
}

test("an HTTP carrier that does not take the password is refused and not busy, and is told what to type", async (t) => {
  const provider = await startProvider(t, "right");
  const carrier = {
    kind: "http",
    preset: "twilio",
    url: provider.url,
    username: "AC1",
    callbackNetworks: ["127.0.0.1/32"],
  };
  const catalogue = `
[[carrier]]
id = "upstream"
${Object.entries({ ...carrier, password: "wrong" })
  .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  .join("\n")}
[[route]]
prefix = ""
carrier = "upstream"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;
  const service = await startTestService(t, { catalogue });
  const asOperator = (method: string, path: string, body?: object) =>
    service.call(method, `/operator/1${path}`, { authorization: OPERATOR, ...(body && { body }) });
  const stateIs = (wanted: string) =>
    eventually(async () => {
      const [state] = good(await asOperator("GET", "/carrier-states")).results;
      return state?.state === wanted && state;
    });
  await stateIs("ready");
  const sent = good(
    await service.call("POST", MULTI, {
      body: { messages: [..."0123456789"].map((digit) => ({ from: "Sender", to: `4179302672${digit}`, text: "Hi" })) },
    }),
  );
  const state = await stateIs("refused");
  assert.equal(state.reason, "the login was refused: 20003");
  const told = (await examined(service)).about("upstream");
  assert.deepEqual([told.area, told.state], ["carriers", "wrong"]);
  assert.match(
    told.says,
    /^the carrier upstream is down: the login was refused: 20003; \d+ messages? waits? for it\. From here: \S+ the login was refused: HTTP 401$/,
  );
  assert.match(told.mend!, /"heliograph carrier set upstream username=… --password-stdin"/);
  const before = provider.refused;
  await stateIs("refused");
  assert.ok(provider.refused - before <= 3, "it is tried with one message now and then");

  const { version } = good(await asOperator("GET", "/carriers/upstream"));
  good(await asOperator("PUT", "/carriers/upstream", { ...carrier, password: "right", version }));
  await stateIs("ready");
  await eventually(async () => {
    const { messageId } = sent.messages[0];
    const [log] = good(await service.call("GET", `/sms/1/logs?messageId=${messageId}`)).results;
    return log?.status.name === "PENDING_WAITING_DELIVERY";
  });
});
