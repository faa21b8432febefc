/** A node does what its roles say, and no more: without api only health is served, without dispatch no carrier is touched, without reports none goes out. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { prepareSandbox } from "../../src/cli/sandbox.ts";
import { RULES } from "../../src/commands/table.ts";
import { Delivery } from "../../src/delivery.ts";
import { Edge } from "../../src/edge.ts";
import { Lease } from "../../src/node/lease.ts";
import type { Role } from "../../src/node/roles.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { localStore } from "../../src/store/group.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { CATALOGUE, callService, errorObject, eventually, temporaryDirectory } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** A node with these roles. What the roles are for, other nodes, is not there; the embedded store serves to see what one does. */
async function startNode(t: TestContext, roles: readonly Role[], clock: Clock = systemClock) {
  const directory = await temporaryDirectory(t);
  const defaults = readSettings({ environment: {}, flags: { server: { port: 0 } } });
  const settings = { ...defaults, node: { ...defaults.node, roles: roles.join(",") } };
  const engine = new SqliteEngine({
    rules: RULES,
    directory,
    clock,
    lanes: { lane: 100, total: 1_000 },
    mode: "deliver",
  });
  const store = localStore(engine, (feed) => delivery.take(feed));
  await store.putCatalogue({ items: readCatalogueFile(CATALOGUE) });
  await prepareSandbox(store);
  const parts = { store, clock, log: silentLog, settings };
  const delivery = new Delivery({ ...parts, random: seededRandom(1), sandbox: true, lease: Lease.endless() });
  await delivery.start([]);
  const metrics = { delivery: async () => delivery.metrics(), store: async () => [] };
  const reportsInMemory = async () => delivery.reportsInMemory;
  const carriers = {
    facts: async () => delivery.dispatcher?.facts() ?? [],
    heard: async () => false,
  };
  const edge = new Edge({ ...parts, ids: engine.ids, sandbox: null, carriers, reportsInMemory, metrics });
  const url = await edge.start();
  t.after(async () => {
    await edge.stop();
    await delivery.stop();
    engine.close();
  });
  return {
    store,
    call: (method: string, path: string, body?: unknown) =>
      callService(url, method, path, body === undefined ? {} : { body }),
  };
}

const TEXT = { messages: [{ from: "Sender", text: "Hello", destinations: [{ to: "41790000001" }] }] };
const NOT_HERE = errorObject(
  "NOT_FOUND",
  "Not found",
  null,
  "This node takes no requests: its roles do not include api.",
);

test("without api, probes are answered and all else is 404 with the reason", async (t) => {
  const service = await startNode(t, ["dispatch", "reports"]);
  for (const path of ["/healthz", "/readyz", "/metrics"])
    assert.equal((await service.call("GET", path)).status, 200, path);
  for (const [method, path] of [
    ["POST", "/sms/1/text/advanced"],
    ["GET", "/sms/1/reports"],
    ["GET", "/docs"],
    ["GET", "/"],
  ] as const) {
    const { status, json } = await service.call(method, path, method === "POST" ? TEXT : undefined);
    assert.deepEqual([status, json], [404, NOT_HERE], path);
  }
});

test("without dispatch, messages are accepted and no carrier gets them", async (t) => {
  const clock = new VirtualClock();
  const service = await startNode(t, ["api", "reports"], clock);
  const { status } = await service.call("POST", "/sms/1/text/advanced", TEXT);
  assert.equal(status, 200);
  await clock.advance(10_000);
  const page = (await service.call("GET", "/metrics")).text;
  assert.doesNotMatch(page, /dispatch_|carrier_/);
  assert.match(page, /heliograph_reports_/);
  assert.deepEqual(await service.store.outstanding({ carrierId: "simulator", afterRow: 0, limit: 10 }), []);
});

test("without reports, messages get their last word and nothing is pushed", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const service = await startNode(t, ["api", "dispatch"]);
  const body = { messages: [{ ...TEXT.messages[0], notifyUrl: receiver.url }] };
  await service.call("POST", "/sms/1/text/advanced", body);
  await eventually(async () => {
    const { json } = await service.call("GET", "/sms/1/logs");
    return json.results[0]?.status.groupName === "DELIVERED";
  });
  assert.equal(receiver.requests.length, 0);
  const page = (await service.call("GET", "/metrics")).text;
  assert.match(page, /heliograph_carrier_submits_total\{carrier="simulator",outcome="accepted"\} 1\n/);
  assert.doesNotMatch(page, /heliograph_reports_/);
});
