/**
 * The metrics through the real program, on both stores: messages that are sent, refused, throttled and rejected, receipts, reports that fail and a
 * carrier that is down are each found where docs/metrics.md says; and the page is bounded, however many carriers and accounts there are.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { replicationMetrics } from "../../src/api/scrape.ts";
import { readCatalogueFile } from "../../src/catalogue/file.ts";
import { prepareSandbox } from "../../src/cli/sandbox.ts";
import { openStore } from "../../src/commands/open.ts";
import { MAX_NAMED_CARRIERS } from "../../src/dispatch/dispatch-metrics.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { expose } from "../../src/runtime/metrics.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { localStore } from "../../src/store/group.ts";
import { replicationFacts } from "../../src/store/port/replication.ts";
import type { Store } from "../../src/store/port/store.ts";
import { addAccount } from "../support/accounts.ts";
import { type Child, startChild } from "../support/child.ts";
import { metricOf, parseMetrics } from "../support/exposition.ts";
import { closedPort } from "../support/ports.ts";
import { postgresUrl } from "../support/postgres.ts";
import { ReportReceiver, status } from "../support/report-receiver.ts";
import { basic, callService, DEMO, eventually, temporaryDirectory } from "../support/service.ts";
import { startSmsc } from "../support/smsc.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/metrics.md"), "utf8");
const DASHBOARD = readFileSync(join(ROOT, "docs/metrics/grafana-dashboard.json"), "utf8");
const ALERTS = readFileSync(join(ROOT, "docs/metrics/prometheus-alerts.yml"), "utf8");

const CLIENT = basic("client", "password");

/** What only PostgreSQL with a standby has. */
const LAG = { octets: 1, ms: 1 };
const FOLLOWED = replicationFacts({
  isStandby: false,
  isReadOnly: false,
  names: "",
  commit: "on",
  user: "heliograph",
  standbys: [{ name: "", state: "streaming", confirms: false, lag: { written: LAG, flushed: LAG, replayed: LAG } }],
  hidden: 0,
});

async function prepare(
  place: { data: string } | { url: string },
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const settings = readSettings({ environment: {}, flags: { store: place } });
  const opened = await openStore({ settings, clock: systemClock, log: silentLog, deliver: null, name: "test" });
  try {
    await work(localStore(opened.engine, () => undefined));
  } finally {
    await opened.close();
  }
}

async function read({ url }: Child): Promise<string> {
  const { status, headers, text } = await callService(url, "GET", "/metrics", { authorization: null });
  assert.equal(status, 200, text);
  assert.equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  parseMetrics(text);
  return text;
}

/** Waits until a metric is so, and gives the page on which it was. */
async function until(child: Child, name: string, labels: Record<string, string>, isSo: (value: number) => boolean) {
  let text = "";
  const wanted = `${name} ${JSON.stringify(labels)}`;
  try {
    await eventually(async () => {
      text = await read(child);
      return isSo(metricOf(text, name, labels));
    });
  } catch (error) {
    throw new Error(`${wanted} is ${metricOf(text, name, labels)}\n${text}`, { cause: error });
  }
  return text;
}

/** Two carriers: one that is there, for all numbers, and one that is down, for those that begin with 49. */
const catalogueOf = (port: number, closed: number): string => `
[[carrier]]
id = "acme"
kind = "smpp"
hosts = ["127.0.0.1:${port}"]
systemId = "customer"
password = "secret"
binds = 2
window = 5
reconnectSeconds = 1
[[carrier]]
id = "down"
kind = "smpp"
hosts = ["127.0.0.1:${closed}"]
systemId = "customer"
password = "secret"
[[route]]
prefix = ""
carrier = "acme"
[[route]]
prefix = "49"
carrier = "down"
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;

async function startServing(t: TestContext, engine: "sqlite" | "postgres"): Promise<Child> {
  const faults = { refuseSubmit: { to: "^41790000009$", count: 2, status: "ESME_RTHROTTLED" } } as const;
  const smsc = await startSmsc(t, { faults });
  const data = await temporaryDirectory(t);
  const place = engine === "sqlite" ? { data } : { url: await postgresUrl(t) };
  const closed = await closedPort();
  await prepare(place, async (store) => {
    await store.claimPurpose({ purpose: "production" });
    await store.putCatalogue({ items: readCatalogueFile(catalogueOf(smsc.port, closed)) });
    await addAccount(store, { key: "OPERATOR1", kind: "operator", username: "operator" });
    await addAccount(store, { key: "CLIENT01", parentKey: null, username: "client", balanceMicros: 1_000_000_000n });
  });
  const child = await startChild(t, ["serve", "--port", "0", "--data", data], {
    HELIOGRAPH_REPORTS_DANGEROUS_ALLOW_PRIVATE_CALLBACKS: "true",
    HELIOGRAPH_LOG_LEVEL: "error",
    ...("url" in place ? { HELIOGRAPH_STORE_URL: place.url } : {}),
  });
  await until(child, "heliograph_carrier_binds", { carrier: "acme", state: "bound" }, (bound) => bound === 2);
  return child;
}

for (const engine of ["sqlite", "postgres"] as const) {
  test(`on ${engine}, each thing that happens is counted where the page says`, { timeout: 240_000 }, async (t) => {
    const child = await startServing(t, engine);
    const [taking, failing] = [await ReportReceiver.start(), await ReportReceiver.start()];
    for (const receiver of [taking, failing]) t.after(() => receiver.stop());
    failing.answer(status(500, {}, "out of order"));
    const send = async (to: string[], notifyUrl?: string): Promise<void> => {
      const message = { from: "Sender", text: "Hello", destinations: to.map((each) => ({ to: each })) };
      const body = { messages: [notifyUrl === undefined ? message : { ...message, notifyUrl }] };
      const answer = await callService(child.url, "POST", "/sms/1/text/advanced", { body, authorization: CLIENT });
      assert.equal(answer.status, 200, answer.text);
    };
    const before = await read(child);

    // Three that arrive, one whose phone does not exist, one that the carrier refuses, one that it throttles twice.
    await send(["41790000001", "41790000002", "41790000003"], `${taking.url}/`);
    await send(["41790999003"], `${failing.url}/`);
    await send(["41790999006", "41790000009"]);
    // Two that are rejected at the door, and two that wait for a carrier that is down.
    await send(["not a number", "1"]);
    await send(["4915100000001", "4915100000002"]);
    await callService(child.url, "POST", "/sms/1/text/advanced", { body: {}, authorization: CLIENT });

    await until(
      child,
      "heliograph_messages_finished_total",
      { status: "DELIVERED_TO_HANDSET" },
      (count) => count === 4,
    );
    await until(child, "heliograph_reports_attempts_total", { outcome: "5xx" }, (count) => count >= 1);
    await until(child, "heliograph_reports_batches_total", { outcome: "delivered" }, (count) => count >= 1);
    // The backlog is kept for some seconds.
    await until(child, "heliograph_backlog_oldest_seconds", {}, (age) => age > 0);
    const page = await until(child, "heliograph_backlog_messages", { state: "in_memory" }, (count) => count === 2);
    const value = (name: string, labels: Record<string, string> = {}) => metricOf(page, `heliograph_${name}`, labels);
    const acme = { carrier: "acme" };

    assert.equal(value("carrier_up", acme), 1);
    assert.equal(value("carrier_up", { carrier: "down" }), 0);
    assert.equal(value("carrier_binds", { carrier: "down", state: "unbound" }), 1);
    assert.equal(value("carrier_window_size", acme), 10);
    assert.equal(value("carrier_window_used", acme), 0);
    assert.equal(value("carrier_submits_total", { ...acme, outcome: "accepted" }), 5);
    assert.equal(value("carrier_submits_total", { ...acme, outcome: "refused" }), 1);
    assert.equal(value("carrier_submits_total", { ...acme, outcome: "later" }), 2);
    assert.equal(value("carrier_throttled_total", acme), 2);
    assert.equal(value("carrier_parts_total", acme), 5);
    assert.equal(value("carrier_answer_seconds_count", acme), 8, "each message that was handed over was answered");
    assert.ok(value("carrier_answer_seconds_sum", acme) > 0);
    assert.equal(value("carrier_receipts_total", { ...acme, state: "delivered" }), 4);
    assert.equal(value("carrier_receipts_total", { ...acme, state: "undeliverable" }), 1);
    assert.equal(value("carrier_messages_waiting", { carrier: "down" }), 2);
    assert.ok(value("carrier_oldest_waiting_seconds", { carrier: "down" }) > 0);
    assert.equal(value("carrier_oldest_waiting_seconds", acme), 0);

    const rejected = (reason: string) => value("messages_rejected_total", { reason });
    assert.equal(value("messages_accepted_total"), 8);
    assert.equal(value("messages_rejected_total"), 2);
    assert.equal(rejected("REJECTED_DESTINATION"), 2);
    const finished = (name: string) => value("messages_finished_total", { status: name });
    assert.equal(finished("UNDELIVERABLE_NOT_DELIVERED"), 1);
    assert.equal(finished("UNDELIVERABLE_REJECTED_OPERATOR"), 1);
    assert.equal(value("messages_finished_total"), 4 + 1 + 1 + 2, "those that were rejected have ended too");

    assert.equal(value("backlog_messages", { state: "queued" }), 0);
    assert.ok(value("backlog_oldest_seconds") >= value("carrier_oldest_waiting_seconds", { carrier: "down" }));
    assert.equal(
      value("reports_attempts_total", { outcome: "2xx" }),
      value("reports_batches_total", { outcome: "delivered" }),
    );
    assert.ok(value("reports_attempt_seconds_count") >= 2);
    assert.ok(value("reports_hosts") >= 1);

    for (const name of ["store_group_commands_count", "store_commit_seconds_count"]) {
      const grown = value(name) - metricOf(before, `heliograph_${name}`);
      assert.ok(grown > 0 && grown === value("store_groups_total") - metricOf(before, "heliograph_store_groups_total"));
    }
    assert.equal(value("store_groups_total", { outcome: "failed" }), 0);
    assert.ok(value("store_size_bytes") > 0);
    const families = parseMetrics(page);
    // What only a disk of our own has.
    for (const name of ["disk_free_bytes", "disk_size_bytes", "log_bytes", "journal_entries"])
      assert.equal(families.has(`heliograph_store_${name}`), engine === "sqlite", name);
    if (engine === "sqlite") assert.ok(value("store_disk_free_bytes") > 0 && value("store_log_bytes") > 0);

    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    assert.equal(value("build_info", { version, store: engine }), 1);
    for (const thread of ["edge", "store", "delivery"]) {
      assert.equal(value("thread_answered", { thread }), 1);
      assert.ok(value("thread_busy_seconds_total", { thread }) > 0);
      assert.ok(metricOf(page, "nodejs_heap_size_used_bytes", { thread }) > 1_000_000);
    }
    const routes = { route: "/sms/1/text/advanced" };
    assert.equal(value("http_request_seconds_count", { ...routes, status: "200" }), 5);
    assert.equal(value("http_request_seconds_count", { ...routes, status: "400" }), 1);
    assertHonestProcess(page, child);
    const words = [...families.values()].flatMap(({ samples }) =>
      samples.flatMap(({ labels }) => Object.values(labels)),
    );
    assert.doesNotMatch(words.join("\n"), /\d{6}|Sender|Hello|client|CLIENT|127\.0/, "nobody's message is there");
    assert.equal(await child.end("SIGTERM"), 0, child.output());
  });
}

/** The numbers of the system are those of that very process. */
function assertHonestProcess(page: string, { process: { pid } }: Child): void {
  const resident = metricOf(page, "process_resident_memory_bytes");
  assert.ok(resident > 10_000_000);
  assert.ok(metricOf(page, "process_cpu_seconds_total") > 0);
  const startedAt = metricOf(page, "process_start_time_seconds") * 1_000;
  assert.ok(startedAt <= Date.now() && startedAt > Date.now() - 3_600_000);
  if (process.platform !== "linux") return;
  const [, soft] = /^Max open files +(\d+) /m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))!;
  assert.equal(metricOf(page, "process_max_fds"), Number(soft));
  assert.ok(metricOf(page, "process_open_fds") > 5);
  assert.ok(metricOf(page, "process_virtual_memory_bytes") > resident);
}

/** The table of docs/metrics.md: each name with its type and its labels. */
const DESCRIBED = new Map(
  [...PAGE.matchAll(/^\| `([a-z_0-9]+)` \| (counter|gauge|histogram) \|([^|]*)\| .+ \|$/gm)].map(
    ([, name, type, labels]) => [
      name!,
      { type: type!, labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!) },
    ],
  ),
);

/** A metric in an expression, and what it asks of its labels. */
const SELECTOR = /\b((?:heliograph|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g;

/** The expressions of the dashboard and of the alerts. */
function expressions(): string[] {
  const found: string[] = [];
  JSON.parse(DASHBOARD, (name, value) => {
    if ((name === "expr" || name === "query") && typeof value === "string") found.push(value);
    return value;
  });
  const alerts = [...ALERTS.matchAll(/^ +expr: (.+)$/gm)].map(([, expression]) => expression!);
  assert.equal(alerts.length, ALERTS.match(/^ +- alert: \w+$/gm)?.length, "each alert has an expression, on one line");
  return [...found, ...alerts];
}

test("the page, its description, the dashboard and the alerts speak of the same metrics", {
  timeout: 240_000,
}, async (t) => {
  const child = await startServing(t, "sqlite");
  const page = await until(child, "heliograph_store_size_bytes", {}, (octets) => octets > 0);
  const families = parseMetrics(page + expose(replicationMetrics(FOLLOWED)));
  assert.deepEqual(
    [...families.keys()].filter((name) => !DESCRIBED.has(name)),
    [],
    "each has a row in docs/metrics.md",
  );
  if (process.platform === "linux")
    assert.deepEqual(
      [...DESCRIBED.keys()].filter((name) => !families.has(name)),
      [],
      "each that is described is there",
    );
  for (const [name, { type, samples }] of families) {
    const described = DESCRIBED.get(name)!;
    assert.equal(described.type, type, name);
    assert.equal(type === "counter", name.endsWith("_total"), `${name} is a ${type}`);
    assert.doesNotMatch(name, /_(ms|millis|octets|kb|mb|minutes|percent)(_|$)/, "base units");
    for (const {
      labels: { le: _, ...labels },
    } of samples)
      assert.deepEqual(Object.keys(labels).sort(), [...described.labels].sort(), `labels of ${name}`);
  }
  const told = expressions();
  assert.ok(told.length > 20, `${told.length} expressions`);
  for (const expression of told) {
    for (const [, name, matchers = ""] of expression.matchAll(SELECTOR)) {
      const family = families.has(name!) ? name! : name!.replace(/_(bucket|sum|count)$/, "");
      const { samples } = families.get(family) ?? assert.fail(`${name} is no metric: ${expression}`);
      for (const [, label, operator, wanted] of matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
        // Prometheus itself adds this one.
        if (label === "instance") continue;
        assert.ok(DESCRIBED.get(family)!.labels.includes(label!), `${family} has no ${label}: ${expression}`);
        const isThere = samples.some(({ labels }) => labels[label!] === wanted);
        if (operator === "=") assert.ok(isThere, `no ${family} has ${label}="${wanted}": ${expression}`);
      }
    }
  }
  assert.equal(await child.end("SIGTERM"), 0, child.output());
});

test("however many carriers and accounts there are, the page has a bounded number of series", {
  timeout: 240_000,
}, async (t) => {
  const data = await temporaryDirectory(t);
  const carriers = Array.from({ length: MAX_NAMED_CARRIERS + 50 }, (_, index) => `carrier-${index}`);
  const accounts = Array.from({ length: 10 }, (_, index) => `ACCOUNT${index}`);
  const catalogue = [
    ...carriers.map((id) => `[[carrier]]\nid = "${id}"\nkind = "simulator"\nanswerAfterMs = 0\n`),
    // A route of its own for each, by the end of its number.
    ...carriers.map((id, index) => `[[route]]\nprefix = "41${String(index).padStart(4, "0")}"\ncarrier = "${id}"\n`),
    `[[ratePlan]]\nid = "standard"\ncurrency = "EUR"\nrate = [{ prefix = "", price = "0.01" }]\n`,
  ].join("");
  await prepare({ data }, async (store) => {
    await store.claimPurpose({ purpose: "sandbox" });
    await store.putCatalogue({ items: readCatalogueFile(catalogue) });
    await prepareSandbox(store);
    for (const key of accounts) await addAccount(store, { key, balanceMicros: 1_000_000_000n });
  });
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data], { HELIOGRAPH_LOG_LEVEL: "error" });
  const seriesOf = (page: string): number =>
    [...parseMetrics(page).values()].reduce((sum, { samples }) => sum + samples.length, 0);
  const send = async (authorization: string, to: string[]): Promise<void> => {
    const body = { from: "Sender", to, text: "Hello" };
    const { status, text } = await callService(child.url, "POST", "/sms/1/text/single", { body, authorization });
    assert.equal(status, 200, text);
  };
  const phones = carriers.map((_, index) => `41${String(index).padStart(4, "0")}00001`);
  await send(DEMO, phones);
  const accepted = { outcome: "accepted" };
  await until(child, "heliograph_carrier_submits_total", accepted, (count) => count === carriers.length);
  const first = await until(
    child,
    "heliograph_messages_finished_total",
    { status: "DELIVERED_TO_HANDSET" },
    (count) => count === carriers.length,
  );
  const named = parseMetrics(first)
    .get("heliograph_carrier_up")!
    .samples.map(({ labels }) => labels.carrier!);
  assert.equal(named.length, MAX_NAMED_CARRIERS + 1);
  assert.ok(named.includes("other"));
  assert.equal(metricOf(first, "heliograph_carrier_submits_total", { carrier: "other", ...accepted }), 50);
  assert.equal(metricOf(first, "heliograph_carrier_submits_total", { carrier: "carrier-0", ...accepted }), 1);

  for (const account of accounts) await send(basic(account, "password"), phones.slice(-3));
  for (let path = 0; path < 25; path++) await callService(child.url, "GET", `/no/such/${path}`);
  const all = carriers.length + 3 * accounts.length;
  const second = await until(child, "heliograph_carrier_submits_total", accepted, (count) => count === all);
  // One route that was not asked for before: "unknown". It has 11 buckets, a sum and a count; and so has /metrics, if this was the first.
  assert.ok(seriesOf(second) <= seriesOf(first) + 2 * 13, `${seriesOf(first)}, then ${seriesOf(second)}`);
  assert.doesNotMatch(second, /ACCOUNT|no\/such/);
  assert.equal(await child.end("SIGTERM"), 0, child.output());
});

test("a thread that is held up is left out and said to be missing, and the page comes all the same", {
  timeout: 240_000,
}, async (t) => {
  const child = await startServing(t, "sqlite");
  const { default: Database } = await import("better-sqlite3");
  const data = child.process.spawnargs[child.process.spawnargs.indexOf("--data") + 1]!;
  const db = new Database(join(data, "heliograph.sqlite"), { timeout: 10_000 });
  t.after(() => db.close());
  db.exec("BEGIN IMMEDIATE");
  // It waits for the one writer's place, and its thread with it.
  const body = { from: "Sender", to: ["41790000001"], text: "Hello" };
  const sent = callService(child.url, "POST", "/sms/1/text/single", { body, authorization: CLIENT });
  const page = await until(child, "heliograph_thread_answered", { thread: "store" }, (answered) => answered === 0);
  assert.equal(metricOf(page, "heliograph_thread_answered", { thread: "delivery" }), 1);
  assert.equal(metricOf(page, "heliograph_carrier_up", { carrier: "acme" }), 1);
  assert.ok(!parseMetrics(page).has("heliograph_store_commit_seconds"));
  db.exec("ROLLBACK");
  await sent;
  await until(child, "heliograph_thread_answered", { thread: "store" }, (answered) => answered === 1);
  assert.equal(await child.end("SIGTERM"), 0, child.output());
});
