/**
 * One recorded run: the real service with the recorder in it, on a directory of its own, under load. It lives three times: the first time it is
 * killed under load, the second time it is stopped under load, the third time it comes to rest and is stopped. So checkpoints, what is written
 * while nobody waits, and the replay of the journal at a start are all in the trace.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { systemClock } from "../../src/runtime/clock.ts";
import { type Random, seededRandom } from "../../src/runtime/random.ts";
import { type Child, startChild } from "../support/child.ts";
import { OPERATOR } from "../support/operator.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { callService, eventually } from "../support/service.ts";
import { Disk } from "./disk.ts";
import { type FlushKind, readTrace } from "./trace.ts";

/** The flush that fails: the n-th of its kind in the so many-th life of the service. */
export interface Failure {
  readonly life: number;
  readonly flush: FlushKind;
  readonly number: number;
}

/** What a client knows, and since when, in nanoseconds of the clock that the trace has. */
export interface Told {
  readonly messageId: string;
  readonly atNs: bigint;
}

export interface Run {
  /** Messages whose request was answered 200. */
  readonly accepted: readonly Told[];
  /** Messages whose report has arrived at its receiver. */
  readonly reported: readonly Told[];
  /** Requests that were answered with something else. */
  readonly refused: number;
}

/** Up to which share of the messages each life goes. */
const LIVES = [0.2, 0.5, 1];
const SENDERS = 4;
/** More lives than are meant: a service may end by itself when a flush fails, and is started again. */
const MAX_LIVES = 10;
/** Nothing here takes nearly as long. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 20;
/** So long without a report, and no more will come. */
const QUIET_LOOKS = 20;
const LOOK_EVERY_MS = 100;
const PENDING_ENROUTE = 7;
/** As long as they may be for one part and for one message: SQLite's log is to grow until checkpoints are due. */
const TEXT = "Your code is 482913. ".repeat(7);
const CALLBACK_DATA = "order 4711, ".repeat(16);

export interface RunOptions {
  readonly recorder: string;
  /** For the trace. */
  readonly directory: string;
  readonly seed: number;
  readonly messages: number;
  readonly failure: Failure | null;
}

export const TRACE = "trace";

/** Runs the service, and leaves the trace in the directory. */
export async function record(options: RunOptions): Promise<Run> {
  const data = join(options.directory, "data");
  await mkdir(data, { mode: 0o700 });
  const receiver = await ReportReceiver.start();
  const load = new Load(options, receiver);
  const cleanups: (() => unknown)[] = [() => receiver.stop()];
  try {
    for (let life = 0; life < MAX_LIVES && (life < LIVES.length || !load.isDone); life++)
      await live({ ...options, data, load, life, cleanups });
    await compare(join(options.directory, TRACE), data);
  } finally {
    for (const clean of cleanups.reverse()) await clean();
  }
  await rm(data, { recursive: true });
  return load;
}

interface Life extends RunOptions {
  readonly data: string;
  readonly load: Load;
  readonly life: number;
  readonly cleanups: (() => unknown)[];
}

async function live({ recorder, directory, failure, messages, data, load, life, cleanups }: Life): Promise<void> {
  const end = join(directory, "end");
  const fails = failure?.life === life ? failure : null;
  const starting = startChild(
    { after: (clean) => cleanups.push(clean as () => unknown) },
    ["sandbox", "--port", "0", "--data", data],
    {
      LD_PRELOAD: recorder,
      POWERCUT_DIRECTORY: data,
      POWERCUT_TRACE: join(directory, TRACE),
      POWERCUT_END: end,
      ...(fails === null ? {} : { POWERCUT_FAIL: `${fails.flush}:${fails.number}` }),
    },
  );
  // A flush that fails while it starts may well end it. Whatever else does would do so again.
  const child = await soonEnough(starting).catch((error) => {
    if (fails === null || error instanceof Stuck) throw error;
    return null;
  });
  if (child === null) return;
  const watchdog = systemClock.after(PATIENCE_MS, () => void child.end("SIGKILL"));
  const ended = new Promise((resolve) => child.process.once("close", resolve));
  try {
    if (life === 0) await answerSoon(child.url);
    const sending = load.sendUntilGone(child.url);
    const enough = messages * (LIVES[life] ?? 1);
    await Promise.race([sending, eventually(async () => load.sent >= enough)]);
    if (life === 0) {
      await writeFile(end, "");
      await ended;
      await rm(end);
    } else if (life < LIVES.length - 1) {
      child.process.kill("SIGTERM");
      await ended;
    } else {
      await sending;
      await load.comeToRest(child);
      child.process.kill("SIGTERM");
      await ended;
    }
    await sending;
    if (child.process.signalCode === "SIGKILL" && life > 0) throw new Stuck(child.output());
  } finally {
    watchdog.cancel();
  }
}

class Stuck extends Error {
  constructor(output: string) {
    super(`the run is stuck: ${output}`);
  }
}

async function soonEnough<Result>(work: Promise<Result>): Promise<Result> {
  const patience = new AbortController();
  const late = setTimeout(PATIENCE_MS, null, { signal: patience.signal }).then(() =>
    Promise.reject(new Stuck("it does not start")),
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    patience.abort();
    late.catch(() => undefined);
  }
}

/** Phones that take a tenth of a second, so that receipts and reports come within the short lives. */
async function answerSoon(url: string): Promise<void> {
  const body = { id: "simulator", kind: "simulator", answerAfterMs: 100 };
  // In a life with a failure it may not be stored; then the phones answer later.
  await callService(url, "PUT", "/operator/1/carriers/simulator", { authorization: OPERATOR, body }).catch(() => null);
}

/** Sends messages, and keeps what it was told. */
class Load implements Run {
  readonly accepted: Told[] = [];
  readonly reported: Told[] = [];
  refused = 0;
  sent = 0;
  readonly #options: RunOptions;
  readonly #random: Random;
  readonly #url: string;

  constructor(options: RunOptions, receiver: ReportReceiver) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#url = receiver.url;
    receiver.answer((_request, response) => {
      const atNs = process.hrtime.bigint();
      for (const { messageId } of receiver.requests.at(-1)!.items) this.reported.push({ messageId, atNs });
      response.writeHead(200).end();
    });
  }

  get isDone(): boolean {
    return this.sent >= this.#options.messages;
  }

  /** Resolves when all is sent, or when the service is gone. */
  async sendUntilGone(url: string): Promise<void> {
    const send = async (): Promise<void> => {
      while (!this.isDone) if (!(await this.#send(url))) return;
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
  }

  /** One request: mostly one message, sometimes a few, now and then a hundred; half of them under names of the client's. */
  async #send(url: string): Promise<boolean> {
    const chance = this.#random.next();
    const count = chance < 0.7 ? 1 : chance < 0.93 ? 1 + Math.floor(this.#random.next() * 9) : 100;
    const named = this.#random.next() < 0.5;
    const first = this.sent;
    this.sent += count;
    const destinations = Array.from({ length: count }, (_, index) => ({
      to: this.#phone(first + index),
      ...(named ? { messageId: `m${first + index}` } : {}),
    }));
    const callbackData = `${first} ${CALLBACK_DATA}`;
    const body = { messages: [{ from: "Sender", text: TEXT, notifyUrl: this.#url, callbackData, destinations }] };
    const answer = await callService(url, "POST", "/sms/1/text/advanced", { body }).catch(() => null);
    const atNs = process.hrtime.bigint();
    if (answer === null) return false;
    if (answer.status === 200) {
      for (const { messageId, status } of answer.json.messages) {
        if (status.id !== PENDING_ENROUTE) throw new Error(`a message was not accepted: ${answer.text}`);
        this.accepted.push({ messageId, atNs });
      }
    } else {
      this.refused++;
      await setTimeout(PAUSE_MS);
    }
    return true;
  }

  /** One in twenty does not exist, one in twenty is refused and paid back (docs/sandbox.md). */
  #phone(number: number): string {
    const ending = ["999003", "999006"][number % 20];
    return ending === undefined
      ? `4179${String(number).padStart(7, "0")}`
      : `41${String(number).padStart(7, "0")}${ending}`;
  }

  /** Waits until every accepted message is reported, or nothing more happens: what a failed flush has taken is never reported. */
  async comeToRest({ process: child }: Child): Promise<void> {
    const isWhole = (): boolean => {
      const reported = new Set(this.reported.map(({ messageId }) => messageId));
      return this.accepted.every(({ messageId }) => reported.has(messageId));
    };
    for (let looks = 0, before = -1; child.exitCode === null && looks < QUIET_LOOKS && !isWhole(); looks++) {
      if (this.reported.length !== before) looks = 0;
      before = this.reported.length;
      await setTimeout(LOOK_EVERY_MS);
    }
  }
}

/** Whether the trace makes the files that are there: then nothing was done to them that the recorder has not seen. */
async function compare(trace: string, data: string): Promise<void> {
  const disk = new Disk(seededRandom(0));
  for (const entry of readTrace(trace)) disk.apply(entry);
  const files = disk.files();
  const there = (await readdir(data)).filter((name) => !name.endsWith("-shm")).sort();
  if (there.join() !== [...files.keys()].sort().join())
    throw new Error(`the trace has ${[...files.keys()]}, and in the directory are ${there}`);
  for (const [name, octets] of files) {
    if (!octets.equals(await readFile(join(data, name))))
      throw new Error(`${name} is not what the trace makes of it: the recorder has missed something`);
  }
}
