/**
 * One gateway with load generators, carriers and sinks of its own, mostly one of each, and a round on it. Several rigs may stand side by side: those whose
 * turn it is not are idle.
 */
import { Child, type RoundStart } from "./child.ts";
import type { GeneratorSetup, LoadFigures, LoadOrder } from "./generator.ts";
import { firstNumber } from "./numbers.ts";
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
  readonly sink: Omit<SinkConfig, "load">;
  readonly start: (surroundings: Surroundings) => Promise<Subject>;
  readonly progress: Progress;
}

/** What a round is to be; what is not said is as in the options. */
export interface RoundOrder extends Partial<Pick<Options, "backlog" | "receiptDelayMs" | "accounts">> {
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

const PARTS = ["generator", "smsc", "sink"] as const;
type Part = (typeof PARTS)[number];

/** A load generator, the carrier that its messages go to (an SMSC, or a provider over HTTP), and the sink of their reports. */
interface Load extends Readonly<Record<Part, Child>> {
  /** Of its messages, so many have been in rounds. */
  sent: number;
}

export class Rig {
  readonly #options: Options;
  readonly #loads: readonly Load[];
  readonly subject: Subject;
  /** Told when the first request goes, and then how many messages of the round are through. */
  onBegin: () => void = () => undefined;
  onProgress: (done: number) => void = () => undefined;

  private constructor(options: Options, subject: Subject, loads: readonly Load[]) {
    this.#options = options;
    this.subject = subject;
    this.#loads = loads;
  }

  /** Everything that is started is put on the stack, so that it is stopped whatever happens. */
  static async start(
    { options, carrier, directory, sink: sinkConfig, start, progress }: RigOptions,
    stack: AsyncDisposableStack,
  ): Promise<Rig> {
    const child = (name: string, config: unknown): Child => stack.adopt(new Child(name, config), (it) => it.stop());
    const answersPerSecond = options.carrierRate === null ? null : options.carrierRate / options.loads;
    const loads = Array.from({ length: options.loads }, (_, load) => ({
      smsc:
        carrier === "smpp"
          ? child("smsc", { sender: SENDER, answersPerSecond, load } satisfies SmscConfig)
          : child("provider", { preset: carrier, ...CUSTOMER, load } satisfies ProviderConfig),
      sink: child("sink", { ...sinkConfig, load } satisfies SinkConfig),
      generator: child("generator", null),
      sent: 0,
    }));
    const [carrierPorts, sinkPorts] = await Promise.all([
      Promise.all(loads.map(({ smsc }) => smsc.ask<number>("port"))),
      Promise.all(loads.map(({ sink }) => sink.ask<number>("port"))),
    ]);
    const setCarrier = async (behaviour: CarrierBehaviour): Promise<void> => {
      await Promise.all(loads.map(({ smsc }) => smsc.ask("behave", behaviour)));
    };
    const subject = stack.adopt(
      await start({ directory, carrierPorts, sinkPorts, sender: SENDER, setCarrier, progress }),
      (it) => it.stop(),
    );
    for (const { smsc } of loads) {
      // A carrier over HTTP has no connection that stands.
      if (options.until !== "accept" && carrier === "smpp") await untilBound(smsc, subject, options.binds);
      await smsc.ask("rest");
    }
    return new Rig(options, subject, loads);
  }

  async run(order: RoundOrder): Promise<Round> {
    const { mode, connections, messages, perSecond } = order;
    const { until, accounts, receiptDelayMs, backlog: whole } = { ...this.#options, ...order };
    const perRequest = MODES[mode].destinations;
    const requests = messages / perRequest;
    const delayMs = until === "report" ? receiptDelayMs : 0;
    const backlog = Math.max(1, Math.floor(whole / this.#loads.length));
    const followedMs = perSecond === null ? closedCountMs(Math.max(backlog, perRequest)) : COUNT_MS.open;
    const last = ({ accept: "generator", submit: "smsc", report: "sink" } as const)[until];
    const countEveryMs = (part: Part): number =>
      part === last || (part === "smsc" && delayMs > 0) ? followedMs : COUNT_MS.followed;
    const orders = this.#loads.map((load, index): LoadOrder => {
      const own = shareOf(requests, index, this.#loads.length);
      const first = load.sent;
      load.sent += own * perRequest;
      return {
        first: firstNumber(index) + first,
        requests: own,
        perSecond: perSecond === null ? null : perSecond / this.#loads.length,
        backlog: until === "accept" ? messages : backlog,
        countEveryMs: countEveryMs("generator"),
      };
    });
    for (const [index, load] of this.#loads.entries()) {
      const { requests: own, first } = orders[index]!;
      const start = { first: first - firstNumber(index), count: own * perRequest, receiptDelayMs };
      for (const part of ["smsc", "sink"] as const)
        await load[part].ask("begin", { ...start, countEveryMs: countEveryMs(part) } satisfies RoundStart);
      // Anew for each round: while others have their turn, these would be closed.
      await load.generator.ask("connect", {
        targets: this.subject.targets(mode, index, accounts),
        connections: shareOf(connections, index, this.#loads.length),
      } satisfies GeneratorSetup);
    }
    await settle();
    const before = await this.#usage();

    const watch = new Watch(messages, STUCK_MS + delayMs);
    const through = this.#loads.map(() => 0);
    for (const [index, load] of this.#loads.entries()) {
      // What only waits for its receipt is nothing that the service has to do, and leaves room for the next.
      let waiting = 0;
      for (const part of PARTS) {
        load[part].onCount = (count, held) => {
          watch.progress();
          if (part === "smsc" && delayMs > 0) waiting = held;
          else if (part !== last) return;
          else through[index] = count;
          if (perSecond === null) load.generator.tell("done", through[index]! + waiting);
          if (part !== last) return;
          const done = sumOf(through);
          this.onProgress(done);
          if (done === messages) watch.finish();
        };
      }
    }
    let figures: LoadFigures[];
    this.onBegin();
    try {
      const runs = this.#loads.map(({ generator }, index) =>
        generator.ask<LoadFigures>("run", orders[index]!, "patient"),
      );
      [figures] = await Promise.all([Promise.all(runs), watch.finished]);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.#state()}`);
    } finally {
      watch.end();
      await this.#all("generator", "disconnect");
    }
    await settle();
    const after = await this.#usage();
    await this.#all("smsc", "rest");

    const submits = await this.#all<SmscFigures>("smsc", "figures");
    const reports = await this.#all<SinkFigures>("sink", "figures");
    const undelivered = sumOf(reports.map((each) => each.undelivered));
    if (undelivered > 0) throw new Error(`${undelivered} reports do not say that the message was delivered`);
    const fromMs = Math.min(...figures.map(({ firstAtMs }) => firstAtMs));
    const toMs = Math.max(
      ...{ accept: figures, submit: submits, report: reports }[until].map(({ lastAtMs }) => lastAtMs),
    );
    const elapsedMs = toMs - fromMs;
    const submitAtMs = until === "accept" ? null : await this.#all<Float64Array>("smsc", "times");
    const reportAtMs = until === "report" ? await this.#all<Float64Array>("sink", "times") : null;
    const messagesPerSecond =
      delayMs > 0 ? rateBetween(joined(submitAtMs!), joined(reportAtMs!), delayMs) : (messages * 1000) / elapsedMs;
    const answers = figures.map(({ answeredAtMs, startedAtMs }) =>
      answeredAtMs.map((atMs, index) => atMs - startedAtMs[index]!),
    );
    return {
      messages,
      elapsedMs,
      messagesPerSecond,
      requestsPerSecond: messagesPerSecond / perRequest,
      answerMs: percentilesOf(joined(answers)),
      submitMs: submitAtMs === null ? null : timesSince(figures, perRequest, submitAtMs),
      reportMs: reportAtMs === null ? null : timesSince(figures, perRequest, reportAtMs),
      gatewayMicros: perMessage(before.gateway.cpuMicros, after.gateway.cpuMicros, messages),
      waitMicros: divided(difference(before.gateway.waitMicros, after.gateway.waitMicros), messages),
      wakeUps: perMessage(before.gateway.wakeUps, after.gateway.wakeUps, messages),
      benchMicros: perMessage(before.bench, after.bench, messages),
      writtenBytes: difference(before.disk.writtenBytes, after.disk.writtenBytes),
      logBytes: difference(before.disk.logBytes, after.disk.logBytes),
      flushes: difference(before.disk.flushes, after.disk.flushes),
      duplicateSubmits: sumOf(submits.map(({ duplicates }) => duplicates)),
      duplicateReports: sumOf(reports.map(({ duplicates }) => duplicates)),
      strayReports: sumOf(reports.map(({ strays }) => strays)),
      reportsPerRequest: until === "report" ? messages / sumOf(reports.map((each) => each.requests)) : null,
      fromMs,
      toMs,
    };
  }

  /** Of each load's such part. */
  #all<Answer>(part: Part, question: string): Promise<Answer[]> {
    const patience = question === "times" ? "patient" : "impatient";
    return Promise.all(this.#loads.map((load) => load[part].ask<Answer>(question, null, patience)));
  }

  async #usage() {
    const [generator, smsc, sink] = await Promise.all(
      PARTS.map(async (part) => sumOf(await this.#all<number>(part, "cpu"))),
    );
    const { user, system } = process.cpuUsage();
    return {
      gateway: this.subject.usage(),
      bench: { generator: generator!, smsc: smsc!, sink: sink!, parent: user + system },
      disk: await this.subject.disk(),
    };
  }

  async #state(): Promise<string> {
    const told = this.#loads.flatMap(({ smsc, sink }) =>
      Object.entries({ smsc, sink }).map(async ([part, child]) => {
        const figures = await child.ask("figures").catch(() => null);
        return `${part} ${JSON.stringify(figures)}`;
      }),
    );
    return [...(await Promise.all(told)), this.subject.lastWords()].join("\n");
  }
}

/** Whole ones, of which the first have one more where they do not come out even. */
function shareOf(whole: number, index: number, shares: number): number {
  return Math.floor(whole / shares) + (index < whole % shares ? 1 : 0);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function joined(arrays: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(sumOf(arrays.map(({ length }) => length)));
  let at = 0;
  for (const array of arrays) {
    whole.set(array, at);
    at += array.length;
  }
  return whole;
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

/** How long after its request's start each message came by. */
function timesSince(loads: readonly LoadFigures[], perRequest: number, atMs: readonly Float64Array[]): Percentiles {
  const elapsed = loads.map(({ startedAtMs }, load) =>
    atMs[load]!.map((each, index) => each - startedAtMs[Math.floor(index / perRequest)]!),
  );
  const all = joined(elapsed);
  if (all.some((ms) => ms < 0)) throw new Error("a message came before its request: the clocks cannot be trusted");
  return percentilesOf(all);
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
