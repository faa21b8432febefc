/** Our own service for a run: set up through the command line as an operator does it, on a store of its own, and served by one node or more. */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Options } from "./options.ts";
import { cleanEnvironment, Program } from "./program.ts";
import { heliographRequest } from "./requests.ts";
import { type DiskUsage, PartsUsage, type Subject, type Surroundings, sumKnown } from "./subject.ts";
import { deviceFlushes, familyOf, peakMemoryBytes, threadsOf, writtenBytes } from "./usage.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/heliograph.js");
const ACCOUNT = "BENCH";
/** For a hundred million messages at the price below. */
const FUNDS = "1000000";
/** The threads that the service starts, in this order, and does not name. */
const THREADS_IN_ORDER = ["store", "delivery"];

const run = promisify(execFile);

export interface HeliographParts extends Surroundings {
  readonly options: Options;
  readonly nodes: number;
  /** Null: the embedded store. */
  readonly database: Database | null;
}

/** A database on a PostgreSQL server. */
export interface Database {
  readonly url: string;
  /** The server's first process, if it runs on this machine and is ours to look at. */
  readonly pid: number | null;
  disk(): Promise<DiskUsage>;
}

export async function startHeliograph(parts: HeliographParts): Promise<Subject> {
  const { options, nodes, directory, database, smscPort, sinkPort, sender } = parts;
  const data = join(directory, "data");
  mkdirSync(data, { recursive: true });
  const config = join(directory, "heliograph.toml");
  writeFileSync(config, settings(data, database));
  const catalogue = join(directory, "catalogue.toml");
  writeFileSync(catalogue, catalogueOf(options, smscPort));
  const command = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(process.execPath, [PROGRAM, ...args, "--config", config], { env: cleanEnvironment() });
    return stdout;
  };
  await command("init");
  await command("apply", catalogue);
  await command("account", "create", "--key", ACCOUNT, "--username", "bench", "--funds", FUNDS);
  const authorization = `App ${lastLine(await command("api-key", "create", "--account", ACCOUNT))}`;

  const profiling = options.profile ? ["--cpu-prof", "--cpu-prof-dir", join(directory, "profiles")] : [];
  const programs: Program[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(programs.map((program) => program.stop()));
  };
  const targets = [];
  try {
    for (let node = 1; node <= nodes; node++) {
      const program = new Program(
        process.execPath,
        [...profiling, PROGRAM, "serve", "--config", config],
        join(directory, `node-${node}.log`),
      );
      programs.push(program);
      const port = await program.until((output) => {
        const match = /^Heliograph listens on http:\/\/[^:]+:(\d+)$/m.exec(output);
        return match === null ? null : Number(match[1]);
      });
      const notifyUrl = options.until === "report" ? `http://127.0.0.1:${sinkPort}/reports` : null;
      targets.push({
        port,
        template: heliographRequest({ mode: options.mode, port, authorization, sender, notifyUrl }),
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }

  const pids = programs.map(({ pid }) => pid);
  const serverPids = (): number[] => (database?.pid == null ? [] : familyOf(database.pid));
  return {
    name:
      database === null
        ? "Heliograph on SQLite"
        : `Heliograph on PostgreSQL, ${nodes} ${nodes === 1 ? "node" : "nodes"}`,
    targets,
    usage() {
      const parts = new PartsUsage();
      for (const pid of pids) {
        const unnamed = [...THREADS_IN_ORDER];
        for (const thread of threadsOf(pid).toSorted((a, b) => a.id - b.id))
          parts.add(partOf(thread.name, unnamed), thread);
      }
      for (const pid of serverPids()) for (const thread of threadsOf(pid)) parts.add("postgres", thread);
      return parts;
    },
    peakMemoryBytes: () => sumKnown(pids.map(peakMemoryBytes)),
    disk: async () =>
      database === null
        ? { writtenBytes: sumKnown(pids.map(writtenBytes)), flushes: deviceFlushes(data) }
        : database.disk(),
    lastWords: () => programs.map((program) => program.lastWords()).join("\n"),
    stop,
  };
}

/** The threads of the service by what they do; those that V8 and libuv keep for themselves as one. */
function partOf(thread: string, unnamed: string[]): string {
  if (thread === "MainThread" || thread === "node") return "edge";
  if (thread === "WorkerThread") return unnamed.shift() ?? "other threads";
  return THREADS_IN_ORDER.includes(thread) ? thread : "other threads";
}

function settings(data: string, database: Database | null): string {
  return `
[server]
port = 0
maxRequests = 10000

[store]
data = ${JSON.stringify(data)}
${database === null ? "" : `url = ${JSON.stringify(database.url)}`}

[reports]
dangerousAllowPrivateCallbacks = true

[log]
level = "warn"
`;
}

function catalogueOf({ window, binds }: Options, smscPort: number): string {
  return `
[[carrier]]
id = "bench"
kind = "smpp"
hosts = ["127.0.0.1:${smscPort}"]
systemId = "heliograph"
password = "secret"
window = ${window}
binds = ${binds}

[[route]]
prefix = ""
carrier = "bench"

[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]
`;
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!;
}
