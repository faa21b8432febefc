/**
 * One gateway with a load generator, a carrier and a sink of its own, and a round on it. Several rigs may stand side by side: those whose
 * turn it is not are idle.
 */
import { Child } from "./child.ts";
import type { LoadFigures, LoadOrder } from "./generator.ts";
import type { Options } from "./options.ts";
import { MODES } from "./requests.ts";
import type { SinkConfig, SinkFigures } from "./sink.ts";
import type { SmscConfig, SmscFigures } from "./smsc.ts";
import { type Percentiles, percentilesOf } from "./statistics.ts";
import type { Subject, Surroundings } from "./subject.ts";

export interface Round {
  readonly messages: number;
  readonly elapsedMs: number;
  readonly messagesPerSecond: number;
  readonly requestsPerSecond: number;
  /** From a request's start to its answer, and to the report of each of its messages. */
  readonly answerMs: Percentiles;
  readonly reportMs: Percentiles | null;
  /** Microseconds of CPU a message: of the gateway's parts, and of those that are ours. */
  readonly gatewayMicros: Readonly<Record<string, number>>;
  readonly benchMicros: Readonly<Record<string, number>>;
  /** The gateway's threads waited so long for a core, a message. */
  readonly waitMicros: number | null;
  readonly writtenBytes: number | null;
  readonly flushes: number | null;
  readonly duplicateSubmits: number;
  readonly duplicateReports: number;
  readonly reportsPerRequest: number | null;
  /** On the machine's clock, to find the round in a profile. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface RigOptions {
  readonly options: Options;
  readonly directory: string;
  /** How a report looks. */
  readonly sink: SinkConfig;
  readonly start: (surroundings: Surroundings) => Promise<Subject>;
}

const SENDER = "Heliograph";
/** Without any progress for so long, something is stuck. */
const STUCK_MS = 30_000;
/** What a round leaves behind (the last commits, garbage) is counted with it, and does not reach into the next. */
const SETTLE_MS = 250;
const BIND_MS = 30_000;

export class Rig {
  readonly #options: Options;
  readonly #generator: Child;
  readonly #smsc: Child;
  readonly #sink: Child;
  readonly subject: Subject;
  #next = 0;
  /** Told how many messages of the round are through. */
  onProgress: (done: number) => void = () => undefined;

  private constructor(options: Options, subject: Subject, children: { generator: Child; smsc: Child; sink: Child }) {
    this.#options = options;
    this.subject = subject;
    this.#generator = children.generator;
    this.#smsc = children.smsc;
    this.#sink = children.sink;
  }

  /** Everything that is started is put on the stack, so that it is stopped whatever happens. */
  static async start(
    { options, directory, sink: sinkConfig, start }: RigOptions,
    stack: AsyncDisposableStack,
  ): Promise<Rig> {
    const child = (name: string, config: unknown): Child => stack.adopt(new Child(name, config), (it) => it.stop());
    const smsc = child("smsc", {
      open: options.until !== "accept",
      receipts: options.until === "report",
      receiptDelayMs: options.receiptDelayMs,
      sender: SENDER,
    } satisfies SmscConfig);
    const sink = child("sink", sinkConfig);
    const generator = child("generator", null);
    const [smscPort, sinkPort] = await Promise.all([smsc.ask<number>("port"), sink.ask<number>("port")]);
    const subject = stack.adopt(await start({ directory, smscPort, sinkPort, sender: SENDER }), (it) => it.stop());
    if (options.until !== "accept") await untilBound(smsc, subject, options.binds);
    return new Rig(options, subject, { generator, smsc, sink });
  }

  async run(messages: number): Promise<Round> {
    const { mode, until, backlog, rate, connections } = this.#options;
    const requests = messages / MODES[mode].destinations;
    const first = this.#next;
    this.#next += messages;
    await this.#smsc.ask("begin", { first, count: messages });
    await this.#sink.ask("begin", { first, count: messages });
    // Anew for each round: while others have their turn, these would be closed.
    await this.#generator.ask("connect", { targets: this.subject.targets, connections });
    await settle();
    const before = await this.#usage();

    const order: LoadOrder = { first, requests, perSecond: rate, backlog: until === "accept" ? messages : backlog };
    const watch = new Watch(messages);
    const last = { accept: this.#generator, submit: this.#smsc, report: this.#sink }[until];
    for (const child of [this.#generator, this.#smsc, this.#sink]) {
      child.onCount = (count) => {
        watch.progress();
        if (child !== last) return;
        this.onProgress(count);
        this.#generator.tell("done", count);
        if (count === messages) watch.finish();
      };
    }
    let load: LoadFigures;
    try {
      [load] = await Promise.all([this.#generator.ask<LoadFigures>("run", order, "patient"), watch.finished]);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.#state()}`);
    } finally {
      watch.end();
      await this.#generator.ask("disconnect");
    }
    await settle();
    const after = await this.#usage();

    const submits = await this.#smsc.ask<SmscFigures>("figures");
    const reports = await this.#sink.ask<SinkFigures>("figures");
    if (reports.undelivered > 0)
      throw new Error(`${reports.undelivered} reports do not say that the message was delivered`);
    const toMs = { accept: load.lastAtMs, submit: submits.lastAtMs, report: reports.lastAtMs }[until];
    const elapsedMs = toMs - load.firstAtMs;
    return {
      messages,
      elapsedMs,
      messagesPerSecond: (messages * 1000) / elapsedMs,
      requestsPerSecond: (requests * 1000) / elapsedMs,
      answerMs: percentilesOf(load.answeredAtMs.map((atMs, index) => atMs - load.startedAtMs[index]!)),
      reportMs: until === "report" ? await this.#reportTimes(load, messages / requests) : null,
      gatewayMicros: perMessage(before.gateway.cpuMicros, after.gateway.cpuMicros, messages),
      waitMicros: divided(difference(before.gateway.waitMicros, after.gateway.waitMicros), messages),
      benchMicros: perMessage(before.bench, after.bench, messages),
      writtenBytes: difference(before.disk.writtenBytes, after.disk.writtenBytes),
      flushes: difference(before.disk.flushes, after.disk.flushes),
      duplicateSubmits: submits.duplicates,
      duplicateReports: reports.duplicates,
      reportsPerRequest: until === "report" ? messages / reports.requests : null,
      fromMs: load.firstAtMs,
      toMs,
    };
  }

  async #reportTimes({ startedAtMs }: LoadFigures, perRequest: number): Promise<Percentiles> {
    const times = await this.#sink.ask<Float64Array>("times");
    const elapsed = times.map((atMs, index) => atMs - startedAtMs[Math.floor(index / perRequest)]!);
    if (elapsed.some((ms) => ms < 0)) throw new Error("a report came before its request: the clocks cannot be trusted");
    return percentilesOf(elapsed);
  }

  async #usage() {
    const [generator, smsc, sink] = await Promise.all(
      [this.#generator, this.#smsc, this.#sink].map((child) => child.ask<number>("cpu")),
    );
    const { user, system } = process.cpuUsage();
    return {
      gateway: this.subject.usage(),
      bench: { generator: generator!, smsc: smsc!, sink: sink!, parent: user + system },
      disk: await this.subject.disk(),
    };
  }

  async #state(): Promise<string> {
    const figures = await Promise.allSettled([this.#smsc.ask("figures"), this.#sink.ask("figures")]);
    const [smsc, sink] = figures.map((figure) => JSON.stringify(figure.status === "fulfilled" ? figure.value : null));
    return `smsc ${smsc}\nsink ${sink}\n${this.subject.lastWords()}`;
  }
}

async function untilBound(smsc: Child, subject: Subject, binds: number): Promise<void> {
  const endMs = performance.now() + BIND_MS;
  for (;;) {
    const { connections } = await smsc.ask<SmscFigures>("figures");
    if (connections >= binds) return;
    if (performance.now() > endMs) {
      throw new Error(
        `${subject.name} has ${connections} of ${binds} connections to the carrier after ${BIND_MS / 1000} s\n${subject.lastWords()}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}

function divided(value: number | null, by: number): number | null {
  return value === null ? null : value / by;
}

function perMessage(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  messages: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, micros]) => [name, (micros - (before[name] ?? 0)) / messages]),
  );
}

/** Ends a round when all is through, or when nothing has moved for long. */
class Watch {
  readonly #finished = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;

  constructor(messages: number) {
    this.#timer = setTimeout(
      () =>
        this.#finished.reject(new Error(`nothing has moved for ${STUCK_MS / 1000} s, with ${messages} messages to do`)),
      STUCK_MS,
    );
  }

  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  progress(): void {
    this.#timer.refresh();
  }

  finish(): void {
    this.#finished.resolve();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
