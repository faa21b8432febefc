/**
 * What a sandbox takes of the machine while nobody uses it: `npm run bench -- idle [--against DIRECTORY] [--repeat N] [--seconds N] [--json]`. Each round is
 * a fresh start on a store of its own. When its CPU time has stopped falling, it is watched for some seconds: the share of a core and the wake-ups by thread, the
 * memory, and the most that it had since its start. With `--against` another checkout's has its turn after this one's.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Checkout, checkoutsOf } from "./cycle/checkout.ts";
import { OptionFault } from "./cycle/options.ts";
import { Program, stopPrograms } from "./cycle/program.ts";
import { total } from "./cycle/ratios.ts";
import { PartsUsage } from "./cycle/subject.ts";
import { partsOf } from "./cycle/threads.ts";
import { memoryBytes, peakMemoryBytes, threadsOf } from "./cycle/usage.ts";
import { type IdleRound, idleRatios, isQuiet, printIdle, ratesOf } from "./idle/figures.ts";

/** One that is not quiet by then is measured as it is. Before, it may seem so, and still give back what its start has left in memory. */
const MAX_WAIT_SECONDS = 60;
const MIN_WAIT_SECONDS = 20;

function usageOf(pid: number): PartsUsage {
  const usage = new PartsUsage();
  for (const [part, thread] of partsOf(threadsOf(pid))) usage.add(part, thread);
  return usage;
}

/** Returns how many seconds it took. */
async function untilQuiet(pid: number): Promise<number> {
  const micros: number[] = [];
  let before = total(usageOf(pid).cpuMicros);
  while (micros.length < MAX_WAIT_SECONDS && (micros.length < MIN_WAIT_SECONDS || !isQuiet(micros))) {
    await pause(1_000);
    const now = total(usageOf(pid).cpuMicros);
    micros.push(now - before);
    before = now;
  }
  return micros.length;
}

async function measure({ node, program: file }: Checkout, directory: string, seconds: number): Promise<IdleRound> {
  const args = [file, "sandbox", "--port", "0", "--data", join(directory, "data")];
  const program = new Program(node, args, join(directory, "log"));
  try {
    await program.until((output) => (/listens on http:/.test(output) ? true : null));
    const quietAfterSeconds = await untilQuiet(program.pid);
    const before = usageOf(program.pid);
    const sinceMs = performance.now();
    await pause(seconds * 1_000);
    const rates = ratesOf(before, usageOf(program.pid), (performance.now() - sinceMs) / 1_000);
    const [memory, peak] = [memoryBytes(program.pid), peakMemoryBytes(program.pid)];
    if (memory === null || peak === null) throw new Error(`it has ended:\n${program.lastWords()}`);
    return { quietAfterSeconds, ...rates, memoryBytes: memory, peakMemoryBytes: peak };
  } finally {
    await program.stop();
  }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new OptionFault(`--${name} must be a whole number above 0`);
  return value;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      against: { type: "string" },
      repeat: { type: "string", default: "3" },
      seconds: { type: "string", default: "10" },
      json: { type: "boolean", default: false },
    },
  });
  const repeat = wholeNumber("repeat", values.repeat);
  const seconds = wholeNumber("seconds", values.seconds);
  if (process.platform !== "linux") throw new OptionFault("idle needs Linux, which tells what a process uses");
  const checkouts = checkoutsOf(values.against ?? null);
  const directory = mkdtempSync(join(tmpdir(), "heliograph-bench-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const results = checkouts.map((checkout) => ({
    checkout,
    name: checkout.name === null ? "Sandbox" : `Sandbox of ${checkout.name}`,
    rounds: [] as IdleRound[],
  }));
  for (let round = 1; round <= repeat; round++) {
    for (const { checkout, name, rounds } of results) {
      console.error(`${name}, round ${round} of ${repeat}`);
      const own = mkdtempSync(join(directory, "round-"));
      rounds.push(await measure(checkout, own, seconds));
    }
  }
  if (values.json) {
    const shown = results.map(({ name, rounds }) => ({ name, rounds }));
    console.log(JSON.stringify({ results: shown, ratios: idleRatios(results) }, null, 2));
    return;
  }
  console.log(
    `${repeat} starts of each, ${seconds} s of each when it is quiet: the median, and in brackets the least and the most`,
  );
  for (const line of printIdle(results)) console.log(line);
}

for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => void stopPrograms().then(() => process.exit(1)));
try {
  await main();
} catch (error) {
  if (!(error instanceof OptionFault)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
