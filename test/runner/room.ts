/** What a run has to itself: a directory, and a keeper that ends its processes and removes the directory, however the run ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, statfsSync } from "node:fs";
import type { Socket } from "node:net";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

export interface Room {
  readonly directory: string;
  /** A process group has begun, and is ended with the run. */
  begun(group: number): void;
  ended(group: number): void;
  /** Whether nothing more may begin here. */
  readonly isClosed: boolean;
  /** Ends what still runs and removes the directory. */
  close(): Promise<void>;
}

/** For whoever runs as another user: PostgreSQL does, where the tests run as root. */
export const PASSABLE = 0o711;

/** Files in memory. */
const MEMORY = "/dev/shm";
const ENOUGH_MEMORY = 4 * 2 ** 30;

/**
 * Thousands of databases are made in a run. On some disks that takes ten times as long as in memory, so it is done there, where there is plenty, and
 * nobody has said where else.
 */
function quickFolder(): string {
  if (process.env.TMPDIR !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) >= ENOUGH_MEMORY ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

export function openRoom(): Room {
  const directory = mkdtempSync(join(quickFolder(), "heliograph-tests-"));
  chmodSync(directory, PASSABLE);
  const keeper = spawn(process.execPath, [join(import.meta.dirname, "keeper.ts"), directory], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  const gone = once(keeper, "exit");
  keeper.unref();
  keeper.stdin.on("error", () => {});
  (keeper.stdin as unknown as Socket).unref();
  let isClosed = false;
  return {
    directory,
    get isClosed() {
      return isClosed;
    },
    begun: (group) => keeper.stdin.write(`+${group}\n`),
    ended: (group) => keeper.stdin.write(`-${group}\n`),
    async close() {
      isClosed = true;
      keeper.ref();
      keeper.stdin.end();
      await gone;
    },
  };
}
