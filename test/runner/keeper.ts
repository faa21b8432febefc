/**
 * Stays beside a run and clears up after it, in whatever way the run ends: a process of its own, because the run may be killed. It is started with the
 * run's directory and told line by line which process groups the run begins (+ID) and has ended (-ID). When its input ends, so do the groups that
 * are left, and what has left its group and has its files in the directory; and the directory goes.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const TRIES = 200;
const PAUSE_MS = 50;

// A terminal's Ctrl-C is for the run.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const groups = new Set<number>();
for await (const line of createInterface({ input: process.stdin })) {
  const group = Number(line.slice(1));
  if (line.startsWith("+")) groups.add(group);
  else groups.delete(group);
}
for (const group of groups) {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left of it.
  }
}
const directory = process.argv[2]!;
endStrays();
// Again and again: what has just been killed may not be gone yet.
for (let tries = 0; tries < TRIES && existsSync(directory); tries += 1) {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    await pause(PAUSE_MS);
  }
}

/** A terminal of its own, for example, makes a process leave its group. Only Linux tells. */
function endStrays(): void {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").map(Number)) {
    if (!(pid > 0) || pid === process.pid) continue;
    try {
      if (readFileSync(`/proc/${pid}/environ`, "utf8").includes(`TMPDIR=${directory}`)) process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended, or is somebody else's.
    }
  }
}
