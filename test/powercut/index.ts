/**
 * Power cuts, replayed: `npm run powercut`. The real service runs under load with a recorder in it that writes down all that it does to its
 * files (recorder.c). Any beginning of that trace is a moment at which the power may go; what was not flushed by then is there, or not, or in part
 * (disk.ts). What is left is opened as after a real cut, and every message whose 200 had arrived must be in it (check.ts). A plain run comes first,
 * then runs in which one flush fails, each at another place.
 *
 * It needs Linux and a C compiler, and ends by itself. The exit code is 1 if anything is wrong, and then the traces are kept and can
 * be replayed; it is 2 where it cannot run.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/runtime/clock.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { check, FAULTS, type Findings } from "./check.ts";
import { cutsOf, hasFailed } from "./cuts.ts";
import { Disk } from "./disk.ts";
import { compileRecorder, whyNoRecorder } from "./recorder.ts";
import { type Failure, type Run, record, type Told, TRACE } from "./run.ts";
import { type Entry, type FlushKind, readTrace } from "./trace.ts";

const EXIT = { lost: 1, usage: 2 };
const OPTIONS = {
  messages: { type: "string", default: "3000" },
  cuts: { type: "string", default: "240" },
  failures: { type: "string", default: "10" },
  seed: { type: "string", default: String(systemClock.now() % 1_000_000) },
  keep: { type: "boolean", default: false },
  replay: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

const HELP = `npm run powercut -- [options]
  --messages N   messages that a run sends (3000; the sandbox's client has money for 9000)
  --cuts N       power cuts in the plain run, and in all runs with a failed flush together (240 each)
  --failures N   runs with a failed flush (10; 0 leaves them out)
  --seed N       for the load, the places and what a cut leaves; the timing of a run is its own
  --keep         keeps the traces, as is done when something is lost
  --replay DIR   cuts the power in kept traces, with the same --seed in the same places
`;

/** Which flushes fail, in turn. One of the directory is left out: SQLite takes no notice of it, and on file systems with a journal nothing depends on it. */
const PLACES: readonly FlushKind[] = ["commit", "commits", "log", "database", "commits"];

/** What is kept of a run beside its trace. */
interface Kept {
  readonly failure: Failure | null;
  readonly accepted: readonly (readonly [id: string, atNs: string])[];
  readonly reported: readonly (readonly [id: string, atNs: string])[];
  readonly refused: number;
}
const KEPT = "run.json";

/** A run is recorded so often, at most, for its failure to come. */
const MAX_RECORDINGS = 3;

const { values } = parseArgs({ options: OPTIONS });
const seed = wholeNumber("seed", 1_000_000_000);
const messages = wholeNumber("messages", 9_000);
const cuts = wholeNumber("cuts", 100_000);
const failures = wholeNumber("failures", 1_000);
if (values.help) process.stdout.write(HELP);
else if (values.replay !== undefined) await replayAll(values.replay);
else await recordAll();

function wholeNumber(name: "seed" | "messages" | "cuts" | "failures", most: number): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  console.error(`--${name} must be a whole number from 0 to ${most}`);
  process.exit(EXIT.usage);
}

async function recordAll(): Promise<void> {
  const why = whyNoRecorder();
  if (why !== false) {
    console.error(`Power cuts are replayed on Linux, with a C compiler, and ${why}.`);
    process.exitCode = EXIT.usage;
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), "heliograph-powercut-"));
  let keeps = values.keep;
  try {
    const recorder = compileRecorder(directory);
    const runs = join(directory, "runs");
    mkdirSync(runs);
    const plain = await recordOne(runs, recorder, 0, null);
    for (let number = 1; number <= failures; number++) await recordOne(runs, recorder, number, placeOf(number, plain));
    keeps = (await replayAll(runs)) || keeps;
    if (keeps)
      console.log(`The traces are in ${runs}: npm run powercut -- --replay ${runs} --seed ${seed} --cuts ${cuts}`);
  } finally {
    if (!keeps) rmSync(directory, { recursive: true });
  }
}

/** Among the first flushes of a life that had some in the plain run: another run may have fewer, and messages are to come after it. */
function placeOf(number: number, plain: readonly Entry[]): Failure | null {
  const random = seededRandom(seed + number);
  const flush = PLACES[(number - 1) % PLACES.length]!;
  const lives = flushesByLife(plain, flush).map((count, life) => ({ life, most: Math.ceil(count * 0.6) }));
  const often = lives.filter(({ most }) => most > 1);
  const choice = often.length > 0 ? often : lives.filter(({ most }) => most > 0);
  const chosen = choice[Math.floor(random.next() * choice.length)];
  if (chosen === undefined) return null;
  return { life: chosen.life, flush, number: 1 + Math.floor(random.next() * chosen.most) };
}

/** How many flushes of this kind each life had. Within a life their numbers grow. */
function flushesByLife(entries: readonly Entry[], flush: FlushKind): number[] {
  const lives: number[] = [];
  let before = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    if (entry.kind !== "flush begun") continue;
    if (entry.number <= before) lives.push(0);
    before = entry.number;
    if (entry.flush === flush) lives[lives.length - 1]!++;
  }
  return lives;
}

async function recordOne(
  runs: string,
  recorder: string,
  number: number,
  failure: Failure | null,
): Promise<readonly Entry[]> {
  if (number > 0 && failure === null) return [];
  const directory = join(runs, String(number).padStart(3, "0"));
  let run: Run;
  let entries: readonly Entry[];
  for (let recordings = 1; ; recordings++) {
    mkdirSync(directory);
    run = await record({ recorder, directory, seed: seed + number, messages, failure });
    entries = readTrace(join(directory, TRACE));
    if (hasFailed(entries, failure) || recordings === MAX_RECORDINGS) break;
    rmSync(directory, { recursive: true });
  }
  const plain = (told: readonly Told[]) => told.map(({ messageId, atNs }) => [messageId, String(atNs)] as const);
  const kept: Kept = { failure, accepted: plain(run.accepted), reported: plain(run.reported), refused: run.refused };
  writeFileSync(join(directory, KEPT), JSON.stringify(kept));
  console.error(
    `recorded: ${nameOf(kept)}${hasFailed(entries, failure) ? "" : ", which never came"}; ${run.accepted.length} accepted, ${run.refused} requests refused`,
  );
  return entries;
}

function nameOf({ failure }: Kept): string {
  if (failure === null) return "no flush fails";
  return `${failure.flush} ${failure.number} of start ${failure.life + 1} fails`;
}

/** Cuts the power in each run, prints the table, and says whether anything was wrong. */
async function replayAll(runs: string): Promise<boolean> {
  const rows: Record<string, string | number | boolean>[] = [];
  const sum = { cuts: 0, wrong: 0, leftOut: 0 };
  const names = readdirSync(runs).filter((name) => existsSync(join(runs, name, KEPT)));
  for (const name of names.sort()) {
    const kept = JSON.parse(readFileSync(join(runs, name, KEPT), "utf8")) as Kept;
    const points = kept.failure === null ? cuts : Math.ceil(cuts / (names.length - 1));
    const { found, ...row } = await replay(join(runs, name), kept, points);
    rows.push({ run: nameOf(kept), ...row });
    sum.cuts += row.cuts;
    sum.wrong += found;
    if (kept.failure !== null && !row.failed) sum.leftOut++;
  }
  console.table(rows);
  console.log(`${sum.cuts} power cuts, ${sum.wrong} with something wrong (seed ${seed})`);
  if (sum.leftOut > 0) console.log(`${sum.leftOut} runs are left out: the flush that was to fail in them never came`);
  if (sum.wrong > 0) process.exitCode = EXIT.lost;
  return sum.wrong > 0;
}

async function replay(directory: string, kept: Kept, points: number) {
  const entries = readTrace(join(directory, TRACE));
  const told = (list: Kept["accepted"]): Told[] => list.map(([messageId, at]) => ({ messageId, atNs: BigInt(at) }));
  const run: Run = { accepted: told(kept.accepted), reported: told(kept.reported), refused: kept.refused };
  const runSeed = seed + Number(basename(directory));
  const disk = new Disk(seededRandom(runSeed));
  const counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<(typeof FAULTS)[number], number>;
  let done = 0;
  let found = 0;
  const chosen = cutsOf(entries, kept.failure, points, runSeed);
  for (const cut of chosen) {
    for (; done < cut.entries; done++) disk.apply(entries[done]!);
    // The power goes before the next entry had its effect: whatever was told until then was true.
    const untilNs = entries[done]?.atNs ?? null;
    const before = (list: readonly Told[]): string[] =>
      list.filter(({ atNs }) => untilNs === null || atNs < untilNs).map(({ messageId }) => messageId);
    const files = disk.afterCut(cut.manner, seededRandom(cut.seed));
    const findings = await check(files, before(run.accepted), new Set(before(run.reported)));
    const wrong = FAULTS.filter((fault) => findings[fault].length > 0);
    for (const fault of wrong) counts[fault]++;
    if (wrong.length > 0) {
      found++;
      console.error(
        `${nameOf(kept)}; cut after ${cut.entries} of ${entries.length}, ${cut.manner}: ${inWords(findings)}`,
      );
    }
  }
  const failed = entries.some(({ kind }) => kind === "flush failed");
  return { accepted: run.accepted.length, entries: entries.length, failed, cuts: chosen.length, ...counts, found };
}

function inWords(findings: Findings): string {
  return FAULTS.filter((fault) => findings[fault].length > 0)
    .map((fault) => `${findings[fault].length} ${fault} (${findings[fault].slice(0, 3).join(", ")})`)
    .join("; ");
}
