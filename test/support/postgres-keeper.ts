/**
 * Stays beside a test's PostgreSQL server and clears up after it: started with the server's directory, told the server's process id line by
 * line (0 for none), and when the test's process ends, in whatever way, so does the input. Then the server goes, and its directory.
 */
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const directory = process.argv[2]!;
const TRIES = 100;
const PAUSE_MS = 50;

let server = 0;
for await (const line of createInterface({ input: process.stdin })) server = Number(line);

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

if (server !== 0 && runs(server)) process.kill(server, "SIGQUIT");
for (let tries = 0; tries < TRIES && server !== 0 && runs(server); tries += 1) await pause(PAUSE_MS);
rmSync(directory, { recursive: true, force: true, maxRetries: TRIES, retryDelay: PAUSE_MS });
