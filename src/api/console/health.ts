/**
 * How the service is, for the pages that watch it. Every five seconds it looks at the counters of this node and keeps what it saw for two hours, as
 * numbers in a ring. What the pages ask for again and again is asked of delivery and of the store once for all of them.
 */
import type { CarrierFacts } from "../../carriers/facts.ts";
import type { CalledBack } from "../../carriers/http/callbacks.ts";
import type { Examined } from "../../doctor/finding.ts";
import { CheckWatch } from "../../doctor/watch.ts";
import { type Clock, Interval } from "../../runtime/clock.ts";
import { History } from "../../runtime/history.ts";
import type { Log } from "../../runtime/log.ts";
import { RecentTimes } from "../../runtime/recent-times.ts";
import type { Backlog, ClusterFacts } from "../../store/port/nodes.ts";
import type { Store } from "../../store/port/store.ts";

/** The carriers of this node, on the other side of the service. */
export interface CarriersPort {
  readonly facts: () => Promise<readonly CarrierFacts[]>;
  /** What a carrier said by calling us. False where this node does not serve it. */
  readonly heard: (carrierId: string, said: CalledBack) => Promise<boolean>;
}

export interface HealthParts extends Examined {
  readonly store: Examined["store"] & Pick<Store, "nodes" | "backlog" | "reportHosts">;
  readonly clock: Clock;
  readonly log: Log;
  readonly carriers: CarriersPort;
  /** Batches of reports in memory. */
  readonly reportsInMemory: () => Promise<number>;
  /** Messages that were written here so far. */
  readonly accepted: () => number;
}

export const SAMPLE_MS = 5_000;
/** Two hours. */
export const KEPT_SAMPLES = 1_440;
/** Of so many carriers the parts a second are remembered. */
const MAX_CARRIERS = 200;
/** What waits is counted up to this. */
export const MAX_COUNTED = 10_000;
const BACKLOG_AGE_MS = 5_000;
/** Hosts that do not take reports are counted up to this. */
const MAX_HOSTS = 20;
const STORAGE_AGE_MS = 60_000;
const LIVE_AGE_MS = 500;

export const SERIES = ["accepted", "submitted", "delivered", "failed", "answerMs", "receiptMs", "waiting"] as const;

/** What the counters said at the last look. */
interface Totals {
  readonly atMs: number;
  readonly accepted: number;
  readonly carriers: ReadonlyMap<string, CarrierFacts>;
}

export class ServiceHealth {
  readonly #parts: HealthParts;
  readonly checks: CheckWatch;
  readonly samples = new History(KEPT_SAMPLES, SERIES);
  readonly #partsSent = new Map<string, History<"parts">>();
  readonly #answerTimes = new RecentTimes();
  readonly carriers: () => Promise<readonly CarrierFacts[]>;
  /** Batches of reports in the memory of this node. */
  readonly reportsInMemory: () => Promise<number>;
  readonly backlog: () => Promise<Backlog>;
  /** Hosts of clients that did not take reports, which are tried again; up to a bound. */
  readonly failingHosts: () => Promise<number>;
  readonly cluster: () => Promise<ClusterFacts>;
  readonly storage: () => Promise<ClusterFacts["storage"]>;
  readonly replication: () => Promise<ClusterFacts["replication"]>;
  #before: Totals | null = null;
  #sampling: Interval | null = null;

  constructor(parts: HealthParts) {
    const { clock, store, carriers } = parts;
    this.#parts = parts;
    this.checks = new CheckWatch(clock, parts);
    this.carriers = kept(clock, LIVE_AGE_MS, carriers.facts);
    this.reportsInMemory = kept(clock, LIVE_AGE_MS, parts.reportsInMemory);
    this.backlog = kept(clock, BACKLOG_AGE_MS, () => store.backlog({ nowMs: clock.now(), limit: MAX_COUNTED }));
    this.failingHosts = kept(clock, BACKLOG_AGE_MS, async () => {
      const hosts = await store.reportHosts({ accountKey: null, limit: MAX_HOSTS });
      return new Set(hosts.filter(({ waiting }) => waiting > 0).map(({ host }) => host)).size;
    });
    this.cluster = kept(clock, LIVE_AGE_MS, () => store.nodes({}));
    this.storage = kept(clock, STORAGE_AGE_MS, async () => (await store.nodes({ storage: true })).storage);
    this.replication = kept(clock, BACKLOG_AGE_MS, async () => (await store.nodes({ replication: true })).replication);
  }

  get leaseMs(): number {
    return this.#parts.settings.node.leaseMs;
  }

  start(): void {
    const { clock, log } = this.#parts;
    this.#sampling = Interval.together(clock, SAMPLE_MS, () =>
      this.#sample().catch((error) =>
        log.warn({ err: error }, "delivery's counters could not be read; the charts of the console have a gap"),
      ),
    );
  }

  async stop(): Promise<void> {
    await this.#sampling?.stop();
  }

  /** A request that brought messages was answered. */
  answered(durationMs: number): void {
    this.#answerTimes.add(durationMs);
  }

  /** A carrier's parts a second, oldest first: the newest `count` samples, in groups of `each`. */
  partsSent(carrierId: string, count: number, each = 1): { atMs: number[]; parts: (number | null)[] } {
    return this.#partsSent.get(carrierId)?.history(count, each) ?? { atMs: [], parts: [] };
  }

  async #sample(): Promise<void> {
    const { clock, accepted, carriers } = this.#parts;
    const facts = await carriers.facts();
    const now: Totals = {
      atMs: clock.monotonic(),
      accepted: accepted(),
      carriers: new Map(facts.map((carrier) => [carrier.id, carrier])),
    };
    const before = this.#before;
    this.#before = now;
    const answerMs = this.#answerTimes.take()?.medianMs ?? null;
    if (before === null) return;
    const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1_000);
    const grown = (carrier: CarrierFacts, name: "messages" | "parts" | "delivered" | "failed" | "refused"): number =>
      // A carrier that is new here, or was started anew, has counted from nothing.
      Math.max(0, carrier[name] - Math.min(before.carriers.get(carrier.id)?.[name] ?? 0, carrier[name])) / seconds;
    const sum = (of: (carrier: CarrierFacts) => number): number => facts.reduce((all, one) => all + of(one), 0);
    const busiest = facts
      .filter((one) => grown(one, "delivered") > 0)
      .sort((one, other) => grown(other, "delivered") - grown(one, "delivered"))[0];
    const atMs = clock.now();
    this.samples.add(atMs, {
      accepted: (now.accepted - before.accepted) / seconds,
      submitted: sum((one) => grown(one, "messages")),
      delivered: sum((one) => grown(one, "delivered")),
      failed: sum((one) => grown(one, "failed") + grown(one, "refused")),
      answerMs,
      receiptMs: busiest?.receiptTimes?.medianMs ?? null,
      waiting: sum(({ waiting, putOff }) => waiting + putOff),
    });
    for (const carrier of facts) this.#partsOf(carrier.id)?.add(atMs, { parts: grown(carrier, "parts") });
    for (const id of this.#partsSent.keys()) if (!now.carriers.has(id)) this.#partsSent.delete(id);
  }

  #partsOf(carrierId: string): History<"parts"> | undefined {
    const known = this.#partsSent.get(carrierId);
    if (known !== undefined || this.#partsSent.size >= MAX_CARRIERS) return known;
    const made = new History(KEPT_SAMPLES, ["parts"]);
    this.#partsSent.set(carrierId, made);
    return made;
  }
}

/** A question whose answer is kept for a while: however many ask, it is asked once, and again when the answer is too old. */
function kept<Answer>(clock: Clock, ageMs: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let last: { readonly answer: Promise<Answer>; readonly untilMs: number } | null = null;
  return () => {
    const nowMs = clock.monotonic();
    if (last === null || last.untilMs <= nowMs) {
      const answer = ask();
      // A failure is told to those who asked for it, and not kept.
      answer.catch(() => {
        if (last?.answer === answer) last = null;
      });
      last = { answer, untilMs: nowMs + ageMs };
    }
    return last.answer;
  };
}
