/**
 * One gateway with a load generator, a carrier and a sink of its own, and a round on it. Several rigs may stand side by side: those whose
 * turn it is not are idle.
 */
import { Child, type RoundStart } from "./child.ts";
import type { LoadFigures, LoadOrder } from "./generator.ts";
import type { CarrierName, Options } from "./options.ts";
import type { Progress } from "./progress.ts";
import type { ProviderConfig } from "./provider.ts";
import { MODES, type ModeName } from "./requests.ts";
import type { SinkConfig, SinkFigures } from "./sink.ts";
import type { CarrierBehaviour, SmscConfig, SmscFigures } from "./smsc.ts";
import { type Percentiles, percentilesOf } from "./statistics.ts";
import type { Subject, Surroundings } from "./subject.ts";

export interface Round {
  readonly messages: number;
  readonly elapsedMs: number;
  readonly messagesPerSecond: number;
  readonly requestsPerSecond: number;
  /** From a request's start to its answer, to the carrier for each of its messages, and to the report of each. */
  readonly answerMs: Percentiles;
  readonly submitMs: Percentiles | null;
  readonly reportMs: Percentiles | null;
  /** Microseconds of CPU a message: of the gateway's parts, and of those that are ours. */
  readonly gatewayMicros: Readonly<Record<string, number>>;
  readonly benchMicros: Readonly<Record<string, number>>;
  /** How often the threads of each of the gateway's parts were woken, a message. */
  readonly wakeUps: Readonly<Record<string, number>>;
  /** The gateway's threads waited so long for a core, a message. */
  readonly waitMicros: number | null;
  readonly writtenBytes: number | null;
  readonly logBytes: number | null;
  readonly flushes: number | null;
  readonly duplicateSubmits: number;
  readonly duplicateReports: number;
  /** Numbers that no round has had so far. */
  readonly strayReports: number;
  readonly reportsPerRequest: number | null;
  /** On the machine's clock, to find the round in a profile. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface RigOptions {
  readonly options: Options;
  readonly carrier: CarrierName;
  readonly directory: string;
  /** How a report looks. */
  readonly sink: SinkConfig;
  readonly start: (surroundings: Surroundings) => Promise<Subject>;
  readonly progress: Progress;
}

/** What a round is to be. */
export interface RoundOrder {
  readonly mode: ModeName;
  readonly connections: number;
  readonly messages: number;
  /** Requests a second, started at set times; null for as many as are answered. */
  readonly perSecond: number | null;
}

const SENDER = "Heliograph";
/** As whom the service comes to a provider over HTTP. */
export const CUSTOMER = { username: "bench", password: "bench-secret" };
/** Without any progress for so long, something is stuck. */
const STUCK_MS = 30_000;
/** What a round leaves behind (the last commits, garbage) is counted with it, and does not reach into the next. */
const SETTLE_MS = 250;
const BIND_MS = 30_000;
/** How often the parts say how far they are: fast where the next requests wait for it, which costs all of them a little. */
const COUNT_MS = { closed: 50, open: 250, followed: 1_000 };
/** So many messages under way last for a millisecond and longer: no service gets through more of them. */
const BACKLOG_PER_COUNT_MS = 80;

export class Rig {
  readonly #options: Options;
  readonly #generator: Child;
  /** The carrier: an SMSC, or a provider over HTTP. */
  readonly #smsc: Child;
  readonly #sink: Child;
  readonly subject: Subject;
  #next = 0;
  /** Told when the first request goes, and then how many messages of the round are through. */
  onBegin: () => void = () => undefined;
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
    { options, carrier, directory, sink: sinkConfig, start, progress }: RigOptions,
    stack: AsyncDisposableStack,
  ): Promise<Rig> {
    const child = (name: string, config: unknown): Child => stack.adopt(new Child(name, config), (it) => it.stop());
    const { receiptDelayMs } = options;
    const smsc =
      carrier === "smpp"
        ? child("smsc", {
            receiptDelayMs,
            sender: SENDER,
            answersPerSecond: options.carrierRate,
          } satisfies SmscConfig)
        : child("provider", { preset: carrier, receiptDelayMs, ...CUSTOMER } satisfies ProviderConfig);
    const sink = child("sink", sinkConfig);
    const generator = child("generator", null);
    const [carrierPort, sinkPort] = await Promise.all([smsc.ask<number>("port"), sink.ask<number>("port")]);
    const setCarrier = (behaviour: CarrierBehaviour): Promise<void> => smsc.ask("behave", behaviour);
    const subject = stack.adopt(
      await start({ directory, carrierPort, sinkPort, sender: SENDER, setCarrier, progress }),
      (it) => it.stop(),
    );
    // A carrier over HTTP has no connection that stands.
    if (options.until !== "accept" && carrier === "smpp") await untilBound(smsc, subject, options.binds);
    await smsc.ask("rest");
    return new Rig(options, subject, { generator, smsc, sink });
  }

  async run({ mode, connections, messages, perSecond }: RoundOrder): Promise<Round> {
    const { until, backlog } = this.#options;
    const requests = messages / MODES[mode].destinations;
    const first = this.#next;
    this.#next += messages;
    const last = { accept: this.#generator, submit: this.#smsc, report: this.#sink }[until];
    const followedMs = perSecond === null ? closedCountMs(Math.max(backlog, messages / requests)) : COUNT_MS.open;
    const delayMs = until === "report" ? this.#options.receiptDelayMs : 0;
    const countEveryMs = (child: Child): number =>
      child === last || (child === this.#smsc && delayMs > 0) ? followedMs : COUNT_MS.followed;
    for (const child of [this.#smsc, this.#sink]) {
      await child.ask("begin", { first, count: messages, countEveryMs: countEveryMs(child) } satisfies RoundStart);
    }
    // Anew for each round: while others have their turn, these would be closed.
    await this.#generator.ask("connect", { targets: this.subject.targets(mode), connections });
    await settle();
    const before = await this.#usage();

    const order: LoadOrder = {
      first,
      requests,
      perSecond,
      backlog: until === "accept" ? messages : backlog,
      countEveryMs: countEveryMs(this.#generator),
    };
    const watch = new Watch(messages, STUCK_MS + delayMs);
    let through = 0;
    // What only waits for its receipt is nothing that the service has to do, and leaves room for the next.
    let waiting = 0;
    for (const child of [this.#generator, this.#smsc, this.#sink]) {
      child.onCount = (count, held) => {
        watch.progress();
        if (child === this.#smsc && delayMs > 0) waiting = held;
        else if (child !== last) return;
        else through = count;
        if (perSecond === null) this.#generator.tell("done", through + waiting);
        if (child !== last) return;
        this.onProgress(count);
        if (count === messages) watch.finish();
      };
    }
    let load: LoadFigures;
    this.onBegin();
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
    await this.#smsc.ask("rest");

    const submits = await this.#smsc.ask<SmscFigures>("figures");
    const reports = await this.#sink.ask<SinkFigures>("figures");
    if (reports.undelivered > 0)
      throw new Error(`${reports.undelivered} reports do not say that the message was delivered`);
    const toMs = { accept: load.lastAtMs, submit: submits.lastAtMs, report: reports.lastAtMs }[until];
    const elapsedMs = toMs - load.firstAtMs;
    const submitAtMs = until === "accept" ? null : await timesOf(this.#smsc);
    const reportAtMs = until === "report" ? await timesOf(this.#sink) : null;
    const messagesPerSecond =
      delayMs > 0 ? rateBetween(submitAtMs!, reportAtMs!, delayMs) : (messages * 1000) / elapsedMs;
    return {
      messages,
      elapsedMs,
      messagesPerSecond,
      requestsPerSecond: (messagesPerSecond * requests) / messages,
      answerMs: percentilesOf(load.answeredAtMs.map((atMs, index) => atMs - load.startedAtMs[index]!)),
      submitMs: submitAtMs === null ? null : timesSince(load, messages / requests, submitAtMs),
      reportMs: reportAtMs === null ? null : timesSince(load, messages / requests, reportAtMs),
      gatewayMicros: perMessage(before.gateway.cpuMicros, after.gateway.cpuMicros, messages),
      waitMicros: divided(difference(before.gateway.waitMicros, after.gateway.waitMicros), messages),
      wakeUps: perMessage(before.gateway.wakeUps, after.gateway.wakeUps, messages),
      benchMicros: perMessage(before.bench, after.bench, messages),
      writtenBytes: difference(before.disk.writtenBytes, after.disk.writtenBytes),
      logBytes: difference(before.disk.logBytes, after.disk.logBytes),
      flushes: difference(before.disk.flushes, after.disk.flushes),
      duplicateSubmits: submits.duplicates,
      duplicateReports: reports.duplicates,
      strayReports: reports.strays,
      reportsPerRequest: until === "report" ? messages / reports.requests : null,
      fromMs: load.firstAtMs,
      toMs,
    };
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

/**
 * How often the generator has to hear what is through, so that requests wait for the service and not for this: with a backlog of 1, each of them
 * would wait for the next count. Few messages under way are few counts a second, so then each is told at once.
 */
export function closedCountMs(backlog: number): number {
  return Math.min(COUNT_MS.closed, Math.floor(backlog / BACKLOG_PER_COUNT_MS));
}

/**
 * Messages a second where receipts come later: of the time from the first receipt to the last submit, when all kinds of work are under way. Before it
 * there are no receipts to work on, and after it nothing else. A message is half of it submitted there and half reported. Not a number, if that time is
 * shorter than the delay: what went faster while there were no receipts would still be seen.
 */
export function rateBetween(submitAtMs: Float64Array, reportAtMs: Float64Array, delayMs: number): number {
  const fromMs = submitAtMs.reduce((least, atMs) => Math.min(least, atMs)) + delayMs;
  const toMs = submitAtMs.reduce((most, atMs) => Math.max(most, atMs));
  if (toMs - fromMs < delayMs) return Number.NaN;
  const within = (times: Float64Array): number =>
    times.reduce((sum, at) => (at > fromMs && at <= toMs ? sum + 1 : sum), 0);
  return ((within(submitAtMs) + within(reportAtMs)) / 2) * (1000 / (toMs - fromMs));
}

function timesOf(child: Child): Promise<Float64Array> {
  return child.ask<Float64Array>("times", null, "patient");
}

/** How long after its request's start each message came by. */
function timesSince({ startedAtMs }: LoadFigures, perRequest: number, times: Float64Array): Percentiles {
  const elapsed = times.map((atMs, index) => atMs - startedAtMs[Math.floor(index / perRequest)]!);
  if (elapsed.some((ms) => ms < 0)) throw new Error("a message came before its request: the clocks cannot be trusted");
  return percentilesOf(elapsed);
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

  constructor(messages: number, stuckMs: number) {
    this.#timer = setTimeout(
      () =>
        this.#finished.reject(new Error(`nothing has moved for ${stuckMs / 1000} s, with ${messages} messages to do`)),
      stuckMs,
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
