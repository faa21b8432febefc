/**
 * What a start costs: `npm run bench -- start [--messages N] [--runs N]`. Makes a store with a million messages once, and starts the service on it
 * several times. For each start it prints the CPU, user and system of all threads together, until the service listens, and how long the first message
 * then takes; at the end the phases of the cheapest start, by thread. The first start finds nothing compiled and is left out of the least.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import Database from "better-sqlite3";
import { fillWithMessages } from "../test/support/many-messages.ts";

const PROGRAM = join(import.meta.dirname, "../bin/heliograph.js");

interface Phase {
  readonly part: string;
  readonly phase: string;
  readonly ms: number;
  readonly cpuMs: number;
  readonly processCpuMs?: number;
}

interface Start {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly firstMs: number;
  readonly secondMs: number;
  readonly phases: readonly Phase[];
}

function launch(directory: string): ChildProcess {
  return spawn(process.execPath, [PROGRAM, "sandbox", "--port", "0", "--data", join(directory, "data")], {
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

async function start(directory: string): Promise<Start> {
  const sinceMs = performance.now();
  const child = launch(directory);
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
  const firstMs = await send(url);
  const secondMs = await send(url);
  child.kill("SIGTERM");
  await ended;
  const cpuMs = phases.find(({ processCpuMs }) => processCpuMs !== undefined)!.processCpuMs!;
  return { cpuMs, wallMs, firstMs, secondMs, phases };
}

const { values } = parseArgs({
  options: { messages: { type: "string", default: "1000000" }, runs: { type: "string", default: "6" } },
});
const messages = Number(values.messages);
const runs = Number(values.runs);
const directory = mkdtempSync(join(tmpdir(), "heliograph-bench-"));
try {
  const rows = [await start(directory)];
  const db = new Database(join(directory, "data/heliograph.sqlite"));
  const accountId = db.prepare<[], number>("SELECT id FROM account WHERE key = 'DEMO0001'").pluck().get()!;
  if (messages > 0) fillWithMessages(db, { accountId, messages, untilMs: Date.now() - 60_000 });
  db.close();
  for (let run = 0; run < runs; run++) rows.push(await start(directory));
  console.table(
    rows.map(({ cpuMs, wallMs, firstMs, secondMs }, index) => ({
      messages: index === 0 ? 0 : messages,
      compiled: index === 0 ? "nothing" : "before",
      "CPU to listening, ms": Math.round(cpuMs),
      "time to listening, ms": Math.round(wallMs),
      "first message, ms": Math.round(firstMs),
      "second, ms": Math.round(secondMs),
    })),
  );
  const best = rows.slice(1).reduce((least, row) => (row.cpuMs < least.cpuMs ? row : least));
  console.log(`The least with ${messages} messages: ${Math.round(best.cpuMs)} ms of CPU. Its phases:`);
  console.table(best.phases.map(({ part, phase, ms, cpuMs }) => ({ thread: part, phase, "CPU, ms": cpuMs, ms })));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
