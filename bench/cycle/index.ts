/**
 * The full cycle, measured: HTTP request, durable, SMPP submit, answer, receipt, report pushed to a sink. Every part is a process of its
 * own; what is compared is measured in turn, round by round, because machines drift. It ends by itself.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Database, startHeliograph } from "./heliograph.ts";
import { KANNEL_REPORTS, startKannel } from "./kannel.ts";
import { OptionFault, type Options, readOptions, USAGE } from "./options.ts";
import { type Measured, machine, printTable, ratios, summary } from "./print.ts";
import { readProfiles } from "./profile.ts";
import { stopPrograms } from "./program.ts";
import { Progress } from "./progress.ts";
import { Rig, type RigOptions, type Round } from "./rig.ts";

/** How Heliograph's reports look. */
const REPORTS = { before: '"to":"', delivered: '"groupName":"DELIVERED"' };

const args = process.argv.slice(2);
try {
  const options = readOptions(args);
  if (options === "help") console.log(USAGE);
  else await main(options);
} catch (error) {
  if (!(error instanceof OptionFault)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 1;
}

async function main(options: Options): Promise<void> {
  const stack = new AsyncDisposableStack();
  let ending: Promise<void> | null = null;
  const end = (): Promise<void> => {
    ending ??= stack.disposeAsync();
    return ending;
  };
  let interrupted = false;
  const onSignal = (): void => {
    // What was under way fails when its processes end: that is no news to whoever stopped it.
    if (!interrupted) process.on("uncaughtException", () => undefined);
    interrupted = true;
    void end().finally(() => process.exit(1));
  };
  // Also the second time: a signal to the whole group may come twice, and stopping in order takes a few seconds at most.
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  const directory = stack.adopt(mkdtempSync(join(tmpdir(), "heliograph-bench-")), (it) =>
    rmSync(it, { recursive: true, force: true }),
  );
  stack.defer(stopPrograms);
  const progress = stack.adopt(new Progress(), (it) => it.end());
  try {
    const candidates = await candidatesOf(options, directory, stack);
    const rigs = [];
    for (const candidate of candidates) rigs.push({ rig: await Rig.start(candidate, stack), candidate });

    const rounds: Round[][] = rigs.map(() => []);
    for (let round = 0; round <= options.repeat; round++) {
      for (const [index, { rig }] of rigs.entries()) {
        const messages = round === 0 ? options.warmUp : options.count;
        progress.begin(
          `${rig.subject.name}, ${round === 0 ? "warm-up" : `round ${round} of ${options.repeat}`}`,
          messages,
        );
        rig.onProgress = (done) => progress.at(done);
        const measured = await rig.run(messages);
        if (round > 0) rounds[index]!.push(measured);
      }
    }
    progress.end();
    const results: Measured[] = [];
    for (const [index, { rig, candidate }] of rigs.entries()) {
      const peakMemoryBytes = rig.subject.peakMemoryBytes();
      // Profiles are written when the service ends.
      if (options.profile) await rig.subject.stop();
      const profiles = join(candidate.directory, "profiles");
      const profile = existsSync(profiles) ? readProfiles(profiles, rounds[index]!) : [];
      if (options.profileDirectory !== null && existsSync(profiles))
        cpSync(profiles, options.profileDirectory, { recursive: true });
      results.push({ name: rig.subject.name, rounds: rounds[index]!, peakMemoryBytes, profile });
    }
    print(results, options);
  } catch (error) {
    if (!interrupted) throw error;
  } finally {
    await end();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

/** What is to be measured, in the order of its turns. */
async function candidatesOf(options: Options, directory: string, stack: AsyncDisposableStack): Promise<RigOptions[]> {
  const candidates: RigOptions[] = [];
  const heliograph = (nodes: number, database: Database | null): void => {
    candidates.push({
      options,
      directory: subdirectory(directory, `heliograph-${candidates.length}`),
      sink: REPORTS,
      start: (surroundings) => startHeliograph({ ...surroundings, options, nodes, database }),
    });
  };
  for (const store of options.stores) {
    if (store === "sqlite") {
      heliograph(1, null);
      continue;
    }
    // Read only where it is wanted: the embedded store is measured without any of it.
    const { createDatabase, postgresServer } = await import("./postgres.ts");
    const server = await postgresServer(options.url, stack);
    for (const nodes of options.nodes) heliograph(nodes, await createDatabase(server, stack));
  }
  if (options.peer === "kannel") {
    candidates.push({
      options,
      directory: subdirectory(directory, "kannel"),
      sink: KANNEL_REPORTS,
      start: (surroundings) => startKannel({ ...surroundings, options }),
    });
  }
  return candidates;
}

function subdirectory(directory: string, name: string): string {
  const path = resolve(directory, name);
  mkdirSync(path);
  return path;
}

function print(results: readonly Measured[], options: Options): void {
  // A URL may have a password in it.
  const command = ["npm run bench --", ...args].join(" ").replace(/(:\/\/[^:@/\s]*):[^@\s]*@/g, "$1:…@");
  const about = machine();
  if (options.json) {
    console.log(
      JSON.stringify(
        {
          command,
          machine: about,
          options: { ...options, url: options.url === null ? null : "…" },
          results: results.map(summary),
          ratios: ratios(results),
        },
        null,
        2,
      ),
    );
    return;
  }
  const memory = `${Math.round(about.memoryBytes / 2 ** 30)} GB`;
  console.log(command);
  console.log(`${about.cores} cores, ${about.cpu}, ${memory}, ${about.system}, Node ${about.node.slice(1)}`);
  console.log(
    `${options.repeat} ${options.repeat === 1 ? "round" : "rounds"} of ${options.count.toLocaleString("en")} messages after ${options.warmUp.toLocaleString("en")} to warm up: ` +
      "the median, and in brackets the least and the most",
  );
  for (const line of printTable(results, options)) console.log(line);
}
