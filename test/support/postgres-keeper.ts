/**
 * Stays beside a test's PostgreSQL server and clears up after it: started with the server's directory, told line by line what runs in it and
 * how to end that (a process id and a signal; 0 for nothing). When the test's process ends, in whatever way, so does the input. Then the
 * server goes, and its directory.
 */
import { existsSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const directory = process.argv[2]!;
const TRIES = 200;
const PAUSE_MS = 50;

let last = "0";
for await (const line of createInterface({ input: process.stdin })) last = line;

const [pid, signal] = last.split(" ");
try {
  if (pid !== "0") process.kill(Number(pid), signal);
} catch {
  // It has ended by itself.
}
// Again and again, because what it had started may still write there on its way out. Whether it has ended is no good question: where
// nobody collects orphans, they seem to run for ever.
for (let tries = 0; tries < TRIES && existsSync(directory); tries += 1) {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // Not empty after all.
  }
  await pause(PAUSE_MS);
}
