/** `heliograph doctor` as a program of its own, and users, disks and limits to run it, or another command, with. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Finding } from "../../src/doctor/finding.ts";
import type { Ended } from "./child.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/heliograph.js");
const MAX_RUN_MS = 120_000;

export interface Around {
  /** Commands that run the program: `unshare`, `sh -c "… exec $@"`. */
  readonly by?: readonly string[];
  /** Who runs it. */
  readonly uid?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** Runs `heliograph`, on any free port, to its end. */
export async function runAround(args: readonly string[], { by = [], uid, settings = {} }: Around = {}): Promise<Ended> {
  const [program, ...rest] = [...by, process.execPath, PROGRAM, ...args];
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("HELIOGRAPH_"));
  const child = spawn(program!, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: "/",
    env: { ...Object.fromEntries(inherited), HELIOGRAPH_SERVER_PORT: "0", ...settings },
    timeout: MAX_RUN_MS,
    killSignal: "SIGKILL",
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => {
    stdout += data;
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr += data;
  });
  const code = await new Promise<number | string>((resolve) =>
    child.once("close", (exit, signal) => resolve(exit ?? signal ?? "")),
  );
  return { code, stdout, stderr };
}

export interface Examination {
  readonly code: number | string;
  readonly findings: readonly Finding[];
  /** The one finding about this; the test fails if there is none. */
  about(what: string): Finding;
}

export async function examination(args: readonly string[], around: Around = {}): Promise<Examination> {
  const { code, stdout, stderr } = await runAround(["doctor", "--json", ...args], around);
  assert.equal(stderr, "");
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  assert.equal(code, ok ? 0 : 1);
  return {
    code,
    findings,
    about: (what) =>
      findings.find((finding) => finding.about === what) ??
      assert.fail(`nothing is said about ${what}:\n${JSON.stringify(findings, null, 1)}`),
  };
}

/** Whom everybody's machine has and nobody is. */
export const NOBODY = 65_534;

/** Why no command can be run as somebody else; null where it can. */
export function noOtherUser(): string | null {
  if (process.getuid?.() !== 0) return "only root can run something as another user";
  const { status } = spawnSync(process.execPath, [PROGRAM, "--help"], { uid: NOBODY, gid: NOBODY, cwd: "/" });
  return status === 0 ? null : "the program's own files are closed to other users";
}

/** Runs what follows with a disk of its own, of so many megabytes, mounted over `directory` and gone with it. `then` is a line of shell; `$1` is the disk. */
export function onDisk(directory: string, megabytes: number, then: string): string[] {
  const script = `set -e; mount -t tmpfs -o size=${megabytes}m none "$1"; ${then}; shift; exec "$@"`;
  return ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", directory];
}

/** Why no disk can be mounted; null where one can. */
export function noDisk(directory: string): string | null {
  const [program, ...args] = [...onDisk(directory, 1, "true"), "true"];
  const { status, stderr, error } = spawnSync(program!, args, { encoding: "utf8" });
  return status === 0 ? null : `no disk can be mounted here: ${error?.message ?? stderr.trim()}`;
}
