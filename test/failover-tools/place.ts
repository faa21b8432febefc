/**
 * Where the programs of a run live: in a directory of their own, as another user when we are root (PostgreSQL and PgBouncer refuse to be
 * run by root), and only as long as the run.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface Started {
  readonly pid: number;
  /** Ends it and all that is still of its process group, as `kill -9` does. */
  kill(): void;
}

const PATH = `${process.env.PATH}:/usr/sbin`;
/** How long servers may take to shut down at the end of a run. */
const END_TRIES = 200;
const END_PAUSE_MS = 100;

/** The newest PostgreSQL that Debian's packages have put here; null where there is none. */
export const BIN = ["18", "17", "16", "15"].map((v) => `/usr/lib/postgresql/${v}/bin`).find((bin) => existsSync(bin));

/** Those of these programs that are not there. */
export function missing(programs: readonly string[]): string[] {
  const folders = [...PATH.split(":"), BIN ?? ""];
  return programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
}

export function versionOf(program: string, ...args: string[]): string {
  const said = execFileSync(program, args, { env: { PATH }, encoding: "utf8" });
  return /\d+(\.\d+)+/.exec(said)?.[0] ?? "?";
}

export function installed(): string {
  return `PostgreSQL ${versionOf(`${BIN}/postgres`, "--version")}`;
}

export class Place {
  readonly directory = mkdtempSync(join(tmpdir(), "heliograph-failover-"));
  readonly #as = process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  readonly #started: Started[] = [];
  readonly #dataFolders: string[] = [];
  readonly #disks: string[] = [];
  #removed = false;

  constructor() {
    this.#own(this.directory);
    chmodSync(this.directory, 0o711); // a server of npm's runs as nobody
    // Also when the run is broken off.
    process.once("exit", () => this.remove());
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  }

  #own(path: string): void {
    if (this.#as.uid !== undefined) chownSync(path, this.#as.uid, this.#as.gid!);
  }

  path(...names: string[]): string {
    return join(this.directory, ...names);
  }

  write(name: string, text: string): string {
    const path = this.path(name);
    writeFileSync(path, text, { mode: 0o600 });
    this.#own(path);
    return path;
  }

  /** What it prints goes to a file of its name. */
  start(name: string, program: string, ...args: string[]): Started {
    const output = openSync(this.write(`${name}.log`, ""), "a");
    const stdio = ["ignore", output, output] as const;
    const child: ChildProcess = spawn(program, args, { ...this.#options(), stdio: [...stdio], detached: true });
    if (child.pid === undefined) throw new Error(`${program} does not start`);
    const { pid } = child;
    const started = { pid, kill: () => killed(-pid, "SIGKILL") };
    this.#started.push(started);
    return started;
  }

  /** To its end; gives what it printed. */
  async run(program: string, ...args: string[]): Promise<string> {
    return (await promisify(execFile)(program, args, { ...this.#options(), encoding: "utf8" })).stdout;
  }

  #options() {
    return { ...this.#as, cwd: this.directory, env: { PATH: `${BIN}:${PATH}`, HOME: this.directory } };
  }

  /** A folder for a server's data, with the server in it ended when the run is. */
  data(name: string): string {
    const folder = this.path(name);
    this.#dataFolders.push(folder);
    return folder;
  }

  /** A small file system of its own, for root only. */
  disk(name: string, size: string): string {
    const folder = this.path(name);
    mkdirSync(folder);
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=777`, "tmpfs", folder]);
    this.#disks.push(folder);
    return folder;
  }

  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    for (const { kill } of this.#started) kill();
    // An end that the server makes itself: after a kill its shared memory would stay.
    const pids = this.#dataFolders.map(postmaster).filter((pid) => pid !== null && killed(pid, "SIGINT")) as number[];
    for (let tries = 0; tries < END_TRIES && pids.some((pid) => isRunning(pid)); tries++) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, END_PAUSE_MS);
    }
    for (const folder of this.#disks) execFileSync("umount", ["--lazy", folder]);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** The user that Debian's packages bring, or nobody, for servers that npm brings. */
function idOf(option: string): number {
  return Number(execFileSync("sh", ["-c", `id ${option} postgres || id ${option} nobody`], { encoding: "utf8" }));
}

/** The process id of the server on this data; null where none has been started. */
export function postmaster(data: string): number | null {
  const file = join(data, "postmaster.pid");
  return existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : null;
}

/** False where there is no such process any more. */
export function killed(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it has ended by itself
  }
}

/** What has ended and is not yet collected by its parent has no command line. */
function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}
