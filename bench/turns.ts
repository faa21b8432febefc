/**
 * `npm run bench -- turns OTHER [--mode one|hundred] [--count N] [--pairs N]`: the full cycle of this clone and of another one, at the same time and by
 * turns. A machine that others use too changes its speed within seconds, more than two states of the code differ: so each runs for a moment while the
 * other is stopped, and both see the same machine. What counts is the CPU a message; a rate means nothing so. Only on the embedded store: a PostgreSQL
 * server that stands still is taken for dead.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

const TURN_MS = 350;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { type: "string", default: "one" },
    count: { type: "string", default: "50000" },
    pairs: { type: "string", default: "3" },
  },
});
const [other] = positionals;
if (other === undefined) {
  console.error(
    "npm run bench -- turns OTHER, where OTHER is the directory of another clone that has its own node_modules",
  );
  process.exit(1);
}
const HERE = resolve(import.meta.dirname, "..");
const THERE = resolve(other);

interface Round {
  readonly child: ChildProcess;
  readonly told: Promise<string>;
}

function begin(directory: string): Round {
  const args = ["--mode", values.mode, "--count", values.count, "--repeat", "1", "--warm-up", "20000", "--json"];
  const child = spawn("node_modules/.bin/node", ["bench/index.ts", ...args], {
    cwd: directory,
    // A group of its own, so that all of its processes stop and go on together.
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return { child, told: text(child.stdout!) };
}

/** Its processes may have ended since. */
function signal({ child }: Round, name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
  try {
    process.kill(-child.pid!, name);
  } catch {
    // They have.
  }
}

/** CPU microseconds a message, by thread. */
type Cost = Readonly<Record<string, number>>;

async function costOf({ told }: Round): Promise<Cost> {
  const { cpuMicrosPerMessage: cost } = JSON.parse(await told).results[0];
  const threads = Object.entries(cost.gateway as Record<string, { readonly median: number }>);
  return {
    total: cost.gatewayTotal.median,
    ...Object.fromEntries(threads.map(([name, { median }]) => [name, median])),
  };
}

/** The costs there and here. Who begins changes from pair to pair. */
async function pair(isHereFirst: boolean): Promise<[there: Cost, here: Cost]> {
  const rounds = (isHereFirst ? [HERE, THERE] : [THERE, HERE]).map(begin) as [Round, Round];
  const stop = (): void => {
    for (const round of rounds) signal(round, "SIGKILL");
  };
  process.once("exit", stop);
  const ended = Promise.race(rounds.map(({ child }) => once(child, "exit"))).then(() => true);
  let [running, waiting] = rounds;
  signal(waiting, "SIGSTOP");
  while (!(await Promise.race([ended, pause(TURN_MS, false)]))) {
    signal(running, "SIGSTOP");
    [running, waiting] = [waiting, running];
    signal(running, "SIGCONT");
  }
  for (const round of rounds) signal(round, "SIGCONT");
  const [first, second] = await Promise.all(rounds.map(costOf));
  process.off("exit", stop);
  return isHereFirst ? [second!, first!] : [first!, second!];
}

for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => process.exit(1));
const ratios = new Map<string, number[]>();
for (let index = 0; index < Number(values.pairs); index++) {
  const [there, here] = await pair(index % 2 === 1);
  // What one of the two does not know by name is missing there.
  const threads = Object.keys(here).filter((thread) => there[thread] !== undefined);
  const rows = threads.map((thread) => {
    const ratio = here[thread]! / there[thread]!;
    ratios.set(thread, [...(ratios.get(thread) ?? []), ratio]);
    return {
      thread,
      "there, µs": there[thread]!.toFixed(1),
      "here, µs": here[thread]!.toFixed(1),
      ratio: ratio.toFixed(3),
    };
  });
  console.table(rows);
}
for (const [thread, all] of ratios) {
  const sorted = [...all].sort((one, next) => one - next);
  const mean = all.reduce((sum, ratio) => sum + ratio, 0) / all.length;
  console.log(`${thread}: median ratio ${sorted[Math.floor(sorted.length / 2)]!.toFixed(3)}, mean ${mean.toFixed(3)}`);
}
