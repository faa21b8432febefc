/** A program under measurement: started with its output in a file, and stopped in order. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

const STOP_MS = 15_000;
const START_MS = 30_000;
const LOOK_EVERY_MS = 20;
const LAST_WORDS = 2_000;

const running = new Set<Program>();
let ended = false;

/** Stops every program that runs, and lets no other start: for the end of a run, wherever it was. */
export async function stopPrograms(): Promise<void> {
  ended = true;
  await Promise.all([...running].map((program) => program.stop()));
}

export class Program {
  readonly #process: ChildProcess;
  readonly #log: string;
  readonly #exit: Promise<void>;

  constructor(command: string, args: readonly string[], log: string, directory?: string) {
    if (ended) throw new Error("the run is over");
    this.#log = log;
    const output = openSync(log, "a");
    this.#process = spawn(command, [...args], {
      stdio: ["ignore", output, output],
      env: cleanEnvironment(),
      ...(directory === undefined ? {} : { cwd: directory }),
      // Ctrl-C in a terminal goes to everyone in the foreground group; this one is stopped by us, in its turn.
      detached: true,
    });
    closeSync(output);
    running.add(this);
    this.#exit = new Promise((resolve) => {
      const onEnd = (): void => {
        running.delete(this);
        resolve();
      };
      this.#process.once("exit", onEnd);
      this.#process.once("error", onEnd);
    });
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** Waits until `ready` finds in the output what it looks for. */
  async until<Found>(ready: (output: string) => Found | null): Promise<Found> {
    const endMs = performance.now() + START_MS;
    for (;;) {
      const found = ready(readFileSync(this.#log, "utf8"));
      if (found !== null) return found;
      if (this.#process.exitCode !== null || this.#process.pid === undefined || performance.now() > endMs) {
        throw new Error(`${this.#process.spawnfile} did not start:\n${this.lastWords()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  lastWords(): string {
    return readFileSync(this.#log, "utf8").slice(-LAST_WORDS);
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    const impatient = setTimeout(() => this.#process.kill("SIGKILL"), STOP_MS);
    await this.#exit;
    clearTimeout(impatient);
  }
}

/** The environment of this process without settings of Heliograph. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HELIOGRAPH_")));
}
