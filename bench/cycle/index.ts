/**
 * The full cycle, measured: HTTP request, durable, SMPP submit, answer, receipt, report pushed to a sink. Every part is a process of its
 * own; what is compared is measured in turn, round by round, because machines drift. It ends by itself.
 */
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Checkout, checkoutsOf } from "./checkout.ts";
import { type Database, REPORTS, startHeliograph } from "./heliograph.ts";
import { KANNEL_REPORTS, requireKannel, startKannel } from "./kannel.ts";
import { type CarrierName, OptionFault, type Options, readOptions, USAGE } from "./options.ts";
import {
  commandLine,
  type Measured,
  machine,
  machineLine,
  printSoak,
  printTable,
  soakLine,
  summary,
  summaryOfHighest,
} from "./print.ts";
import { readProfiles } from "./profile.ts";
import type { Progress } from "./progress.ts";
import { type Role, ratios } from "./ratios.ts";
import { MODES, type ModeName, wholeRequests } from "./requests.ts";
import { Rig, type RigOptions, type Round } from "./rig.ts";
import { soak } from "./soak.ts";
import { onStage, orSayFault, type Stage } from "./stage.ts";
import { spreadOf } from "./statistics.ts";

const TOO_SHORT =
  "a round was over too soon to tell the rate: its submits have to last for two times --receipt-delay, by a larger --count";
const NOTHING_BEFORE = { stored: 0, waiting: 0 };

const args = process.argv.slice(2);
await orSayFault(async () => {
  const options = readOptions(args);
  if (options === "help") console.log(USAGE);
  else await onStage((stage) => main(options, stage));
});

async function main(options: Options, { stack, directory, progress }: Stage): Promise<void> {
  const candidates = await candidatesOf(options, directory, stack, progress);
  const rigs: Rig[] = [];
  for (const candidate of candidates) rigs.push(await Rig.start(candidate, stack));
  const lines = linesOf(rigs, candidates, options);

  // As fast as it goes: at a low rate it would take hours until the code is as it is after a day. Not while others wait for the same carrier.
  const warmUpRate = options.waiting > 0 ? options.rate : null;
  const warming = lines.map((line) => ({ ...line, perSecond: warmUpRate }));
  await inTurn(progress, warming, "warm-up", 1, options.warmUp, () => undefined);
  if (options.share !== null) {
    await inTurn(progress, lines, "highest rate, round", options.repeat, options.count, (line, round) => {
      line.highest.push(round);
    });
    for (const line of lines) {
      const { median } = spreadOf(line.highest.map(({ requestsPerSecond }) => requestsPerSecond));
      line.perSecond = median * options.share;
    }
  }
  if (options.soakMinutes !== null) {
    await runSoak(progress, lines[0]!, options.soakMinutes, options);
    return;
  }
  const watches = await Promise.all(
    candidates.map(({ database }) => (options.profile ? (database?.watch?.() ?? null) : null)),
  );
  await inTurn(progress, lines, "round", options.repeat, options.count, (line, round) => line.rounds.push(round));
  progress.end();
  const results: Measured[] = [];
  for (const [index, rig] of rigs.entries()) {
    const peakMemoryBytes = rig.subject.peakMemoryBytes();
    // Profiles are written when the service ends.
    if (options.profile) await rig.subject.stop();
    const profiles = join(candidates[index]!.directory, "profiles");
    const own = lines.filter((line) => line.rig === rig);
    const rounds = own.flatMap((line) => line.rounds);
    const messages = rounds.reduce((sum, round) => sum + round.messages, 0);
    const server = (await watches[index]?.end(messages)) ?? null;
    const profile = existsSync(profiles) ? readProfiles(profiles, rounds) : [];
    if (options.profileDirectory !== null && existsSync(profiles))
      cpSync(profiles, options.profileDirectory, { recursive: true });
    // One service has one memory and one profile, however many lines it has.
    for (const line of own) {
      const isLast = line === own.at(-1);
      results.push({
        ...line,
        peakMemoryBytes,
        profile: isLast ? profile : [],
        server: isLast ? server : null,
      });
    }
  }
  print(results, options);
}

/** One row of turns: a service under one kind of load. */
interface Line {
  readonly rig: Rig;
  readonly name: string;
  readonly service: string;
  /** Lines with the same load are compared with each other. */
  readonly load: string;
  readonly role: Role;
  readonly mode: ModeName;
  readonly connections: number;
  readonly rounds: Round[];
  readonly highest: Round[];
  perSecond: number | null;
}

function linesOf(
  rigs: readonly Rig[],
  candidates: readonly Candidate[],
  { modes, connections, peerConnections, peer, rate }: Options,
): Line[] {
  const numbers = [...new Set([...connections, ...(peer === null ? [] : peerConnections)])];
  return modes.flatMap((mode) =>
    numbers.flatMap((number) =>
      rigs.flatMap((rig, index) => {
        const { role } = candidates[index]!;
        if (!(role === "peer" ? peerConnections : connections).includes(number)) return [];
        const load = [
          ...(modes.length > 1 ? [mode] : []),
          ...(numbers.length > 1 ? [`${number} ${number === 1 ? "connection" : "connections"}`] : []),
        ].join(", ");
        const name = [rig.subject.name, ...(load === "" ? [] : [load])].join(", ");
        const service = rig.subject.name;
        return { rig, name, service, load, role, mode, connections: number, rounds: [], highest: [], perSecond: rate };
      }),
    ),
  );
}

/** Rounds of all lines, one after the other, so that what drifts drifts for all. */
async function inTurn(
  progress: Progress,
  lines: readonly Line[],
  title: string,
  repeat: number,
  messages: number,
  measured: (line: Line, round: Round) => void,
): Promise<void> {
  for (let number = 1; number <= repeat; number++) {
    for (const line of lines) {
      const { rig, mode, connections, perSecond } = line;
      const whole = wholeRequests(messages, mode);
      const of = repeat === 1 ? title : `${title} ${number} of ${repeat}`;
      rig.onProgress = (done) => progress.show(`${line.name}, ${of}`, done, whole);
      const round = await rig.run({ mode, connections, messages: whole, perSecond });
      if (title !== "warm-up" && Number.isNaN(round.messagesPerSecond)) throw new OptionFault(TOO_SHORT);
      measured(line, round);
    }
  }
}

async function runSoak(progress: Progress, line: Line, minutes: number, options: Options): Promise<void> {
  const { rig, name, mode, connections } = line;
  const perSecond = line.perSecond!;
  const messages = wholeRequests(perSecond * MODES[mode].destinations * minutes * 60, mode);
  rig.onProgress = (done) => progress.show(`${name}, soak`, done, messages);
  const result = await soak(rig, { mode, connections, messages, perSecond }, (minute) =>
    progress.say(soakLine(minute)),
  );
  progress.end();
  if (options.json) printJson(options, { name, highest: summaryOfHighest(line.highest), soak: result });
  else {
    printHead(options);
    for (const text of printSoak(line, result)) console.log(text);
  }
  if (result.checks.some(({ holds }) => !holds)) process.exitCode = 1;
}

interface Candidate extends RigOptions {
  readonly role: Role;
  readonly database: Database | null;
}

/** What is to be measured, in the order of its turns; what is compared with what, the first of a pair comes first. */
async function candidatesOf(
  options: Options,
  directory: string,
  stack: AsyncDisposableStack,
  progress: Progress,
): Promise<Candidate[]> {
  if (options.peer === "kannel") requireKannel();
  const checkouts = checkoutsOf(options.against);
  const candidates: Candidate[] = [];
  const add = (
    role: Role,
    carrier: CarrierName,
    sink: RigOptions["sink"],
    database: Database | null,
    start: RigOptions["start"],
  ): void => {
    const own = subdirectory(directory, `${role}-${candidates.length}`);
    candidates.push({ role, options, carrier, database, directory: own, sink, start, progress });
  };
  const heliograph = async (nodes: number, database: () => Promise<Database | null>): Promise<void> => {
    const { stored, waiting } = options;
    const before = stored + waiting > 0 ? [{ stored, waiting }, NOTHING_BEFORE] : [NOTHING_BEFORE];
    for (const carrier of options.carriers) {
      for (const there of before) {
        for (const checkout of checkouts) {
          const own = await database();
          add(roleOf(checkout), carrier, REPORTS, own, (surroundings) =>
            startHeliograph({ ...surroundings, ...there, options, checkout, carrier, nodes, database: own }),
          );
        }
      }
    }
  };
  for (const store of options.stores) {
    if (store === "sqlite") {
      await heliograph(1, async () => null);
      continue;
    }
    // Read only where it is wanted: the embedded store is measured without any of it.
    const { createDatabase, postgresServer } = await import("./postgres.ts");
    for (const standby of options.standbys) {
      const server = await postgresServer(options, stack, standby);
      for (const nodes of options.nodes) await heliograph(nodes, () => createDatabase(server, stack));
    }
  }
  for (const store of options.peer === "kannel" ? options.peerStores : [])
    add("peer", "smpp", KANNEL_REPORTS, null, (surroundings) => startKannel({ ...surroundings, options, store }));
  return candidates;
}

function roleOf({ name }: Checkout): Role {
  return name === null ? "own" : "against";
}

function subdirectory(directory: string, name: string): string {
  const path = resolve(directory, name);
  mkdirSync(path);
  return path;
}

function printJson(options: Options, result: object): void {
  const shown = { ...options, url: options.url === null ? null : "…" };
  console.log(JSON.stringify({ command: commandLine(args), machine: machine(), options: shown, ...result }, null, 2));
}

function printHead({ repeat, count, warmUp, receiptDelayMs }: Options): void {
  console.log(commandLine(args));
  console.log(machineLine());
  console.log(
    `${repeat} ${repeat === 1 ? "round" : "rounds"} of ${count.toLocaleString("en")} messages after ${warmUp.toLocaleString("en")} to warm up: ` +
      "the median, and in brackets the least and the most",
  );
  if (receiptDelayMs > 0)
    console.log(
      `Receipts come ${receiptDelayMs.toLocaleString("en")} ms after the submit: rates are those between the first receipt and the last submit`,
    );
  if (process.platform !== "linux")
    console.log("CPU by thread, memory, bytes written and flushes are known on Linux only, and left out here");
}

function print(results: readonly Measured[], options: Options): void {
  if (options.json) {
    printJson(options, { results: results.map(summary), ratios: ratios(results, options) });
    return;
  }
  printHead(options);
  for (const line of printTable(results, options)) console.log(line);
}
