/**
 * What a start costs: `npm run bench -- start [--messages N] [--runs N] [--against DIRECTORY]`. Makes a store with a million messages once, and starts the
 * service on it several times, each after a `node -e 0`. For each start it prints the CPU, user and system of all threads together, until the service
 * listens, that divided by what `node -e 0` took just before, and how long the first message then takes; at the end the median of these ratios, and the phases of
 * the cheapest start, by thread. The first start finds nothing compiled and is left out of both. With `--against` another checkout has its turn after each.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import type * as ManyMessages from "../test/support/many-messages.ts";
import { cell, hundredths } from "./cycle/cells.ts";
import { type Checkout, checkoutsOf } from "./cycle/checkout.ts";
import { OptionFault } from "./cycle/options.ts";
import { spreadOf } from "./cycle/statistics.ts";
import { threadsOf } from "./cycle/usage.ts";
import { bareNodeCpuMs } from "./start/bare.ts";

interface Phase {
  readonly part: string;
  readonly phase: string;
  readonly ms: number;
  readonly cpuMs: number;
  readonly processCpuMs?: number;
}

interface Start {
  readonly cpuMs: number;
  /** `node -e 0` just before; null where nobody tells. */
  readonly bareMs: number | null;
  readonly wallMs: number;
  readonly firstMs: number;
  readonly secondMs: number;
  readonly phases: readonly Phase[];
}

function launch({ node, program }: Checkout, directory: string): ChildProcess {
  return spawn(node, [program, "sandbox", "--port", "0", "--data", join(directory, "data")], {
    stdio: ["ignore", "pipe", "pipe"],
    // What is compiled is kept here, so that the first start of all finds nothing, whoever ran something before.
    env: { ...process.env, HELIOGRAPH_LOG_LEVEL: "debug", XDG_CACHE_HOME: join(directory, "cache") },
  });
}

async function send(url: string): Promise<number> {
  const sinceMs = performance.now();
  const answer = await fetch(`${url}/sms/1/text/single`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa("demo:demo-password")}`, "content-type": "application/json" },
    body: JSON.stringify({ from: "Bench", to: "41793026727", text: "Hello" }),
  });
  await answer.text();
  if (answer.status !== 200) throw new Error(`the message was answered ${answer.status}`);
  return performance.now() - sinceMs;
}

async function start(checkout: Checkout, directory: string): Promise<Start> {
  const bareMs = await bareNodeCpuMs(checkout.node);
  const sinceMs = performance.now();
  const child = launch(checkout, directory);
  const ended = once(child, "close");
  const phases: Phase[] = [];
  createInterface(child.stderr!).on("line", (line) => {
    if (line.includes('"phase"')) phases.push(JSON.parse(line) as Phase);
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout!).on("line", (line) => {
      const found = /listens on (http:\S+)/.exec(line);
      if (found !== null) resolve(found[1]!);
    });
    child.once("close", () => reject(new Error("it ended before it listened")));
  });
  const wallMs = performance.now() - sinceMs;
  const seenMs = threadsOf(child.pid!).reduce((sum, { cpuMicros }) => sum + cpuMicros / 1_000, 0);
  const firstMs = await send(url);
  const secondMs = await send(url);
  child.kill("SIGTERM");
  await ended;
  // An older state does not log it: then what it had used when we heard that it listens, without threads that have ended.
  const cpuMs = phases.find(({ processCpuMs }) => processCpuMs !== undefined)?.processCpuMs ?? seenMs;
  return { cpuMs, bareMs, wallMs, firstMs, secondMs, phases };
}

/** As that checkout knows its own tables. */
async function fillStore({ root }: Checkout, directory: string, messages: number): Promise<void> {
  if (messages === 0) return;
  const file = pathToFileURL(join(root, "test/support/many-messages.ts")).href;
  const { fillWithMessages } = (await import(file)) as typeof ManyMessages;
  const db = new Database(join(directory, "data/heliograph.sqlite"));
  const accountId = db.prepare<[], number>("SELECT id FROM account WHERE key = 'DEMO0001'").pluck().get()!;
  fillWithMessages(db, { accountId, messages, untilMs: Date.now() - 60_000 });
  db.close();
}

function print(name: string, rows: readonly Start[], messages: number): void {
  if (name !== "") console.log(`\n${name}`);
  console.table(
    rows.map(({ cpuMs, bareMs, wallMs, firstMs, secondMs }, index) => ({
      messages: index === 0 ? 0 : messages,
      compiled: index === 0 ? "nothing" : "before",
      "CPU to listening, ms": Math.round(cpuMs),
      ...(bareMs === null ? {} : { "node -e 0, ms": bareMs, ratio: (cpuMs / bareMs).toFixed(2) }),
      "time to listening, ms": Math.round(wallMs),
      "first message, ms": Math.round(firstMs),
      "second, ms": Math.round(secondMs),
    })),
  );
  const compiled = rows.slice(1);
  const ratios = compiled.flatMap(({ cpuMs, bareMs }) => (bareMs === null ? [] : [cpuMs / bareMs]));
  if (ratios.length > 0) console.log(`CPU to listening, divided by node -e 0: ${cell(spreadOf(ratios), hundredths)}`);
  const best = compiled.reduce((least, row) => (row.cpuMs < least.cpuMs ? row : least));
  console.log(`The least with ${messages} messages: ${Math.round(best.cpuMs)} ms of CPU. Its phases:`);
  console.table(best.phases.map(({ part, phase, ms, cpuMs }) => ({ thread: part, phase, "CPU, ms": cpuMs, ms })));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      messages: { type: "string", default: "1000000" },
      runs: { type: "string", default: "6" },
      against: { type: "string" },
    },
  });
  const messages = Number(values.messages);
  const checkouts = checkoutsOf(values.against ?? null);
  const directory = mkdtempSync(join(tmpdir(), "heliograph-bench-"));
  try {
    const all = checkouts.map((checkout, index) => ({
      checkout,
      own: join(directory, String(index)),
      rows: [] as Start[],
    }));
    for (const { checkout, own, rows } of all) {
      mkdirSync(own);
      rows.push(await start(checkout, own));
      await fillStore(checkout, own, messages);
    }
    for (let run = 0; run < Number(values.runs); run++)
      for (const { checkout, own, rows } of all) rows.push(await start(checkout, own));
    for (const { checkout, rows } of all)
      print(all.length === 1 ? "" : (checkout.name ?? "this checkout"), rows, messages);
    const [here, there] = all;
    if (there === undefined) return;
    const ratios = here!.rows.slice(1).map(({ cpuMs }, index) => cpuMs / there.rows[index + 1]!.cpuMs);
    console.log(
      `CPU to listening, this checkout divided by ${there.checkout.name}, by neighbouring starts: ${cell(spreadOf(ratios), hundredths)}`,
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof OptionFault)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
