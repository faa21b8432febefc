/**
 * The parts of a run that are ours (load generator, SMSC, sink) are processes of their own. The parent asks, the child answers; and
 * whenever its count has changed, the child says so, but not more often than the parent wants to know.
 */
import { type ChildProcess, fork } from "node:child_process";

/**
 * Milliseconds on the machine's monotonic clock, which all processes share: times taken in different ones can be compared. Not
 * performance.now() with an offset found at the start: on a busy machine such offsets were wrong by up to 17 ms.
 */
export function nowMs(): number {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1000 + nanos / 1e6;
}

/** What a part that counts messages is told before a round. */
export interface RoundStart {
  readonly first: number;
  readonly count: number;
  /** How often the parent wants to know; 0: at once. */
  readonly countEveryMs: number;
  /** How long after a submit its receipt is to come. */
  readonly receiptDelayMs: number;
}

type Handlers = Readonly<Record<string, (input: never) => unknown>>;
type Question = { readonly id: number; readonly name: string; readonly input: unknown };
/** How many messages are through, and of how many the receipt is not due yet. */
type Counted = { readonly count: number; readonly held: number };
type Told = { readonly id: number; readonly value?: unknown; readonly error?: string } | Counted;

/** Nothing that is asked takes nearly as long, apart from a round, which has a watch of its own. */
const PATIENCE_MS = 60_000;

// In the child.

/** The configuration that the parent started us with. */
export function childConfig<Config>(): Config {
  return JSON.parse(process.argv[2]!) as Config;
}

export function serveParent(handlers: Handlers): void {
  // The parent is done with us, or gone.
  process.once("disconnect", () => process.exit(0));
  // The terminal sends Ctrl-C to everyone; the parent ends us when it has put things in order.
  process.on("SIGINT", () => undefined);
  process.on("message", async ({ id, name, input }: Question) => {
    const all: Handlers = { cpu: cpuMicros, ...handlers };
    try {
      tell({ id, value: await all[name]!(input as never) });
    } catch (error) {
      tell({ id, error: (error as Error).message });
    }
  });
}

function tell(told: Told): void {
  if (process.connected) process.send!(told);
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** A count that the parent follows. */
export class Count {
  #value = 0;
  #held = 0;
  #timer: NodeJS.Timeout | null = null;
  everyMs = 1_000;

  set(value: number, held = 0): void {
    this.#value = value;
    this.#held = held;
    if (this.everyMs === 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), this.everyMs);
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    tell({ count: this.#value, held: this.#held });
  }
}

// In the parent.

export class Child {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly #name: string;
  #lastId = 0;
  #ended = false;
  onCount: (count: number, held: number) => void = () => undefined;

  constructor(name: string, config: unknown) {
    this.#name = name;
    this.#process = fork(new URL(`./${name}.ts`, import.meta.url), [JSON.stringify(config)], {
      serialization: "advanced",
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#process.on("message", (told: Told) => {
      if ("count" in told) {
        this.onCount(told.count, told.held);
        return;
      }
      const waiting = this.#waiting.get(told.id);
      this.#waiting.delete(told.id);
      if (told.error === undefined) waiting?.resolve(told.value);
      else waiting?.reject(new Error(`${name}: ${told.error}`));
    });
    this.#process.once("exit", (code) => {
      this.#ended = true;
      for (const { reject } of this.#waiting.values()) reject(new Error(`the ${name} ended with code ${code}`));
      this.#waiting.clear();
    });
  }

  /** `patient` for what takes as long as it takes. */
  ask<Answer>(name: string, input: unknown = null, patience: "patient" | "impatient" = "impatient"): Promise<Answer> {
    if (this.#ended) return Promise.reject(new Error(`the ${this.#name} has ended`));
    const id = ++this.#lastId;
    return new Promise<Answer>((resolve, reject) => {
      const timer =
        patience === "patient"
          ? undefined
          : setTimeout(() => reject(new Error(`the ${this.#name} does not answer "${name}"`)), PATIENCE_MS);
      this.#waiting.set(id, {
        resolve: (value) => {
          clearTimeout(timer);
          resolve(value as Answer);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.#process.send({ id, name, input } satisfies Question);
    });
  }

  /** Says something that needs no answer. */
  tell(name: string, input: unknown): void {
    if (!this.#ended) this.#process.send({ id: 0, name, input } satisfies Question);
  }

  async stop(): Promise<void> {
    if (this.#ended) return;
    const exit = new Promise<void>((resolve) => this.#process.once("exit", () => resolve()));
    this.#process.disconnect();
    await exit;
  }
}
