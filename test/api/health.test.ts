/** For whoever watches the service: up, ready, and the metrics. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Store } from "../../src/store/port/store.ts";
import { metricOf, parseMetrics } from "../support/exposition.ts";
import { errorObject, eventually, startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const service = await startTestService({ after });
const open = (path: string) => service.call("GET", path, { authorization: null });

test("/healthz and /readyz answer anybody", async () => {
  for (const [path, status] of [
    ["/healthz", "ok"],
    ["/readyz", "ready"],
  ] as const) {
    const answer = await open(path);
    assert.deepEqual([answer.status, answer.json], [200, { status }]);
    assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  }
});

test("/readyz says no when the store is silent for a second, and yes when it speaks again", async (t) => {
  const clock = new VirtualClock();
  let silence = Promise.resolve();
  const edgeStore = (store: Store): Store => ({
    ...store,
    changeCounter: () => silence.then(() => store.changeCounter()),
  });
  const watched = await startTestService(t, { clock, edgeStore });
  const ready = () => watched.call("GET", "/readyz", { authorization: null });
  assert.equal((await ready()).status, 200);
  let speak = () => {};
  silence = new Promise((resolve) => {
    speak = resolve;
  });
  const timers = clock.timersSet;
  const asked = ready();
  await eventually(async () => clock.timersSet > timers);
  await clock.advance(1_000);
  const { status, headers, json } = await asked;
  const object = errorObject("SERVICE_UNAVAILABLE", "Service unavailable", null, "The store does not answer.");
  assert.deepEqual([status, json], [503, object]);
  assert.equal(headers.get("retry-after"), "1");
  assert.equal((await watched.call("GET", "/healthz", { authorization: null })).status, 200, "the process is up");
  speak();
  assert.equal((await ready()).status, 200);
});

test("/metrics is what Prometheus reads, each figure with its type and a word of help", async () => {
  const { status, headers, text } = await open("/metrics");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const families = parseMetrics(text);
  assert.ok(families.size > 20, `${families.size} metrics`);
  for (const [name, { help, type }] of families) {
    assert.match(name, /^(heliograph|process|nodejs)_/);
    assert.notEqual(help, "", name);
    if (type === "counter") assert.match(name, /_total$/, `${name} is a counter`);
  }
});

test("/metrics counts requests by route and status, and messages on their way", async () => {
  const figure = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
    metricOf((await open("/metrics")).text, name, labels);
  const requests = (route: string, status: string) =>
    figure("heliograph_http_request_seconds_count", { route, status });
  const submitted = () => figure("heliograph_carrier_submits_total", { outcome: "accepted" });
  const single = "/sms/1/text/single";
  const before = await submitted();
  const message = { from: "InfoSMS", to: "41793026727", text: "Hello" };
  for (let time = 0; time < 3; time++) await service.call("POST", single, { body: message });
  await service.call("POST", single, { body: {} });
  await service.call("GET", "/no/such/path");
  await service.call("GET", "/another?secret=1");
  // A request is counted when its answer is out, which the client may know a moment earlier.
  await eventually(async () => (await requests(single, "200")) === 3);
  await eventually(async () => (await requests(single, "400")) === 1);
  await eventually(async () => (await requests("unknown", "404")) === 2); // paths that do not exist share one name
  await eventually(async () => (await submitted()) === before + 3);
  assert.ok((await figure("process_resident_memory_bytes")) > 1_000_000);
});

test("/metrics says no word of who sent what to whom", async () => {
  const { text } = await open("/metrics");
  assert.doesNotMatch(text, /41793026727|InfoSMS|Hello|demo|secret|no\/such/);
});
