/** A start is quick whatever the store holds: what it does is told, it grows with nothing, and what it leaves for later works when it is asked for. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "better-sqlite3";
import { buildServer } from "../../src/api/server.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { type Child, startChild } from "../support/child.ts";
import { fillWithMessages } from "../support/many-messages.ts";
import { basic, callService, eventually, temporaryDirectory } from "../support/service.ts";

interface Phase {
  readonly part: string;
  readonly phase: string;
  readonly ms: number;
  readonly cpuMs: number;
  readonly processCpuMs?: number;
}

function phasesOf(child: Child): Phase[] {
  return child
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as Phase)
    .filter(({ phase }) => phase !== undefined);
}

const start = (t: TestContext, data: string, level: string): Promise<Child> =>
  startChild(t, ["sandbox", "--port", "0", "--data", data], { HELIOGRAPH_LOG_LEVEL: level });

test("at debug a start tells its phases by thread, each with its time and CPU, and without debug none", async (t) => {
  const data = await temporaryDirectory(t);
  const quiet = await start(t, data, "info");
  assert.deepEqual(phasesOf(quiet), []);
  await quiet.end("SIGTERM");

  const child = await start(t, data, "debug");
  const last = "schemas of sending compiled";
  const phases = await eventually(async () => {
    const told = phasesOf(child);
    return told.some(({ phase }) => phase === last) ? told : null;
  });
  const of = (part: string): string[] => phases.filter((one) => one.part === part).map(({ phase }) => phase);
  assert.deepEqual(of("store"), ["modules loaded", "store opened"]);
  assert.deepEqual(of("delivery"), ["modules loaded", "carriers and reports started"]);
  assert.deepEqual(of("edge"), [
    "modules loaded, settings read",
    "store opened",
    "store looked at",
    "delivery started",
    "catalogue read",
    "API built",
    "listening",
    last,
  ]);
  for (const { phase, ms, cpuMs } of phases) assert.ok(ms >= 0 && cpuMs >= 0, phase);
  const { processCpuMs = 0 } = phases.find(({ phase }) => phase === "listening")!;
  const counted = phases.filter(({ phase }) => phase !== last).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  assert.ok(processCpuMs > 0.5 * counted, `${processCpuMs} ms of the process against ${counted} ms of its threads`);
  await child.end("SIGTERM");
});

/** Where the real program finds nothing of what other tests compiled. */
const compiledIn = (directory: string) => ({ XDG_CACHE_HOME: directory, NODE_COMPILE_CACHE: "" });
const READ_COMPILED = { NODE_DEBUG_NATIVE: "COMPILE_CACHE" };

test("what one start has compiled, the next one finds, in all of its threads", async (t) => {
  const data = await temporaryDirectory(t);
  const args = ["sandbox", "--port", "0", "--data", data];
  const settings = compiledIn(await temporaryDirectory(t));
  const first = await startChild(t, args, settings);
  assert.equal(await first.end("SIGTERM"), 0);
  const second = await startChild(t, args, { ...settings, ...READ_COMPILED });
  for (const file of ["src/edge.ts", "src/store/sqlite/engine.ts", "src/delivery.ts"]) {
    const found = new RegExp(`cache for [^\n]*${file}[^\n]* was accepted|cache for [^\n]*${file}[^\n]*, success`);
    assert.match(second.output(), found);
  }
  assert.equal(await second.end("SIGTERM"), 0);
});

test("where nothing can be kept a service starts all the same", async (t) => {
  const file = join(await temporaryDirectory(t), "file");
  await writeFile(file, "");
  const data = await temporaryDirectory(t);
  const child = await startChild(t, ["sandbox", "--port", "0", "--data", data], compiledIn(join(file, "cache")));
  assert.equal((await callService(child.url, "GET", "/account/1/balance")).status, 200);
  assert.equal(await child.end("SIGTERM"), 0);
});

/** What the store's thread did until the store was open; it is the one that could look at messages. */
async function cpuOfStore(t: TestContext, data: string): Promise<number> {
  const used: number[] = [];
  for (let time = 0; time < 3; time++) {
    const child = await start(t, data, "debug");
    used.push(phasesOf(child).find(({ part, phase }) => part === "store" && phase === "store opened")!.cpuMs);
    await child.end("SIGTERM");
  }
  return Math.min(...used);
}

test("a start does not grow with the messages in the store", async (t) => {
  const data = await temporaryDirectory(t);
  // So that the store is there, and what it needs is compiled.
  await (await start(t, data, "debug")).end("SIGTERM");
  const empty = await cpuOfStore(t, data);
  const db = new Database(join(data, "heliograph.sqlite"));
  const accountId = db.prepare<[], number>("SELECT id FROM account WHERE key = 'DEMO0001'").pluck().get()!;
  fillWithMessages(db, { accountId, messages: 300_000, untilMs: systemClock.now() - 60_000 });
  // Reading all of them once takes so long, at least; the start may not.
  const before = process.cpuUsage();
  assert.equal(db.prepare("SELECT count(*) FROM message WHERE body <> ''").pluck().get(), 300_000);
  const { user, system } = process.cpuUsage(before);
  const scan = (user + system) / 1_000;
  db.close();
  const full = await cpuOfStore(t, data);
  assert.ok(
    full < 2 * empty + scan / 2,
    `${full} ms with 300,000 messages, ${empty} ms with none; to read them, ${scan} ms`,
  );
});

test("an operation that nobody has asked for yet checks its input and writes its answer like any other", async (t) => {
  const child = await start(t, await temporaryDirectory(t), "warn");
  const operator = { authorization: basic("operator", "operator-password") };
  // At once: the schemas of sending may be compiled already, or not.
  const wrong = await callService(child.url, "POST", "/sms/1/text/single", { body: { to: true, text: "Hello" } });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /to must be a string/);
  const sent = await callService(child.url, "POST", "/sms/1/text/single", {
    body: { from: "Sender", to: "41793026727", text: "Hello" },
  });
  assert.equal(sent.status, 200);
  assert.equal(sent.json.messages.length, 1);
  // And one that is compiled by its first caller.
  const created = { key: 7 };
  for (let time = 0; time < 2; time++) {
    const refused = await callService(child.url, "POST", "/operator/1/accounts", { ...operator, body: created });
    assert.equal(refused.status, 400, refused.text);
  }
  assert.equal((await callService(child.url, "GET", "/account/1/balance")).json.currency, "EUR");
  assert.equal(await child.end("SIGTERM"), 0);
});

test("the schemas of every operation can be compiled", async (t) => {
  const data = await temporaryDirectory(t);
  const settings = readSettings({ environment: {}, flags: { store: { data } }, mode: { kannel: { enabled: true } } });
  // Operations are registered and none is called, so nothing is asked of what they work with.
  const anything: never = new Proxy((() => undefined) as never, { get: () => anything, apply: () => anything });
  const server = await buildServer({
    settings,
    clock: systemClock,
    log: silentLog,
    certificate: null,
    takesRequests: true,
    consoleFolder: data,
    store: anything,
    credentials: anything,
    apiKeys: anything,
    attempts: anything,
    logins: anything,
    sessions: anything,
    catalogue: anything,
    intake: anything,
    health: anything,
    rateLimits: anything,
    carriers: anything,
    testCallbacks: anything,
    sandbox: anything,
    ready: anything,
    metrics: anything,
    liveHub: anything,
    onAnswer: anything,
  });
  t.after(async () => {
    await server.stop();
  });
  const schemas = await server.compileSchemas("all");
  const sending = await server.compileSchemas("sending");
  assert.ok(schemas > 100, `${schemas} schemas`);
  assert.ok(sending > 10 && sending < schemas / 2, `${sending} schemas of sending`);
});
