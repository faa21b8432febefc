/**
 * The phases of a start, for whoever asks why it takes so long: each thread logs its own at debug, with the milliseconds that passed and the CPU that
 * this thread used in them. What a thread did before its first phase, Node's own start and the loading of modules, is in that one.
 */
import type { Log } from "./log.ts";

/** Of this thread. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

export class Phases {
  readonly #log: Log;
  #atMs: number;
  #cpuMs = 0;

  /** Since when, by the clock that all threads share: the start of the process, unless it is given. */
  constructor(log: Log, startedAtMs = 0) {
    this.#log = log;
    this.#atMs = startedAtMs;
  }

  /** What was done since the phase before it, or since the thread began. */
  done(phase: string, facts: Readonly<Record<string, unknown>> = {}): void {
    const atMs = performance.now();
    const usedMs = cpuMs();
    this.#log.debug(
      { phase, ms: rounded(atMs - this.#atMs), cpuMs: rounded(usedMs - this.#cpuMs), ...facts },
      `start: ${phase}`,
    );
    this.#atMs = atMs;
    this.#cpuMs = usedMs;
  }
}

/** All threads together, from the start of the process to now. */
export function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return rounded((user + system) / 1_000);
}
