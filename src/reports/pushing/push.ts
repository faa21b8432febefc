/**
 * Pushes reports to the clients' URLs.
 *
 *   store ──take, dueReports──▶ ReportLane ──▶ ReportSender ──▶ ReportOutcomes ──delivered, failed, released──▶ store
 *
 * The store is where reports live; here is only a bounded window of them. A batch comes straight from the commit that made it, or
 * is fetched when the time for its retry has come. It waits for its own host only, goes out, and whatever becomes of it is brought
 * back to the store: nothing is retried from memory, so a crash at any point costs a repetition and never a report.
 *
 * Past the bound a batch goes back to the store untried. What is bounded for all together, memory and lanes, is shared out by host and
 * by account: each may hold no more than in proportion to what is still free for all the others, so there is always some room for the
 * next. What an account has no room for comes back at the account's own pace, so that its backlog is not what every look at the
 * store finds first.
 */
import { AccountNames } from "../../events/account-names.ts";
import { HttpTransport } from "../../http/transport.ts";
import type { ReportBatch } from "../../message/message.ts";
import { SeenWrites } from "../../node/write-mark.ts";
import { Interval, within } from "../../runtime/clock.ts";
import type { Metric } from "../../runtime/metrics.ts";
import { type AccountLoad, AccountLoads } from "./account-load.ts";
import { type PushCounters, pushMetrics, zeroCounters } from "./counters.ts";
import type { Host, Turn } from "./host.ts";
import type { PushOptions } from "./push-settings.ts";
import { ReportLanes } from "./report-lanes.ts";
import { type BatchOutcome, ReportOutcomes } from "./report-outcomes.ts";
import { readTarget } from "./report-request.ts";
import { ReportSender } from "./report-sender.ts";

/** Batches asked of the store in one call, and calls in a row before the next poll. */
const REFILL_BATCHES = 500;
const REFILL_CALLS = 20;

export class Push {
  readonly #options: PushOptions;
  readonly #outcomes: ReportOutcomes;
  readonly #sender: ReportSender;
  readonly #accounts = new AccountLoads();
  readonly #lanes: ReportLanes;
  readonly #writes: SeenWrites;
  /** When a report in the store is due next, as far as is known. */
  #nextDueAtMs = Number.NEGATIVE_INFINITY;
  #polling: Interval | null = null;
  #refilling: Promise<void> = Promise.resolve();
  #nextRefill: Promise<void> | null = null;
  #stopping = false;
  #stopped: Promise<void> | null = null;
  #whenQuiet: (() => void) | null = null;
  /** Batches wait because the lease did not hold. */
  #lapsed = false;
  readonly #counters = zeroCounters();

  constructor(options: PushOptions) {
    const { clock, settings } = options;
    this.#options = options;
    this.#writes = new SeenWrites(options.mark);
    const realClock = options.realClock ?? clock;
    const transport = options.transport ?? new HttpTransport({ ...options, clock: realClock });
    this.#lanes = new ReportLanes({ clock, settings, forgotten: (origin) => transport.forget(origin) });
    const names = new AccountNames((accountId) => options.store.accountKey({ accountId }));
    this.#outcomes = new ReportOutcomes({
      ...options,
      names,
      storeRetryMs: settings.storeRetryMs,
      recorded: (outcome) => this.#recorded(outcome),
    });
    this.#sender = new ReportSender({
      ...options,
      names,
      realClock,
      transport,
      lanes: this.#lanes,
      outcomes: this.#outcomes,
      counters: this.#counters,
    });
  }

  /** As they are at this moment. */
  get counters(): PushCounters {
    const { hostCount: hostsNow, openCircuits: openCircuitsNow, openHosts: openHostsNow } = this.#lanes;
    return { ...this.#counters, hostsNow, openCircuitsNow, openHostsNow };
  }

  metrics(): Metric[] {
    return pushMetrics(this.counters, this.#sender.attemptSeconds.distribution);
  }

  /** Fetches what an earlier run left, and from now on what comes due. */
  start(): void {
    void this.fetch();
    this.#polling = Interval.together(this.#options.clock, this.#options.settings.pollMs, async () => {
      this.#lanes.forgetIdle();
      this.#accounts.forgetIdle(this.#options.clock.now());
      this.#goOn();
      if (this.#writes.isNew || this.#options.clock.now() >= this.#nextDueAtMs) await this.fetch();
    });
  }

  /** Reports wait in the store that nobody has in memory. One question at a time: those who ask during one share the next. */
  fetch(): Promise<void> {
    this.#nextRefill ??= this.#refilling.then(() => {
      this.#nextRefill = null;
      this.#refilling = this.#refill();
      return this.#refilling;
    });
    return this.#nextRefill;
  }

  /** What the store has just committed, in order. */
  take(batches: readonly ReportBatch[]): void {
    for (const batch of batches) this.#accept(batch);
    this.#goOn();
  }

  /** After a lapse of the lease. The store speaks up at least every second, and so does the poll. */
  #goOn(): void {
    if (!this.#lapsed || !this.#options.lease.holds()) return;
    this.#lapsed = false;
    for (const host of this.#lanes.hosts()) this.#pump(host);
  }

  /** Lets requests under way end, within a bound. What was not delivered stays in the store. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping = true;
    const { clock, settings } = this.#options;
    const { stopMs } = settings;
    await within(clock, stopMs, this.#quiet(), undefined);
    await this.#sender.close();
    const settled = Promise.allSettled([this.#polling?.stop(), this.#refilling, this.#sender.settled()]);
    await within(clock, stopMs, settled, undefined);
    this.#outcomes.recorder.abandon();
  }

  /** Never rejects. */
  async #refill(): Promise<void> {
    const { log } = this.#options;
    // Until all that is due is here the next poll asks again.
    this.#nextDueAtMs = Number.NEGATIVE_INFINITY;
    try {
      await this.#writes.ask(() => this.#takeDue());
    } catch (error) {
      log.warn({ err: error }, "the store did not say which reports are due, asking again");
    }
  }

  async #takeDue(): Promise<void> {
    const { store, clock } = this.#options;
    for (let calls = 0; calls < REFILL_CALLS; calls++) {
      const limit = Math.min(REFILL_BATCHES, this.#freeItems());
      if (limit <= 0 || this.#stopping) return;
      const { batches, more, nextDueAtMs } = await store.dueReports({ nowMs: clock.now(), limit });
      this.take(batches);
      if (more) continue;
      this.#nextDueAtMs = nextDueAtMs ?? Number.POSITIVE_INFINITY;
      return;
    }
  }

  #freeItems(): number {
    return this.#options.settings.memoryItems - this.#counters.itemsInMemoryNow;
  }

  #accept(batch: ReportBatch): void {
    if (this.#stopping) return;
    const { clock, random } = this.#options;
    const account = this.#accounts.of(batch.accountId);
    const target = readTarget(batch.url);
    if (target === null) {
      this.#enterMemory(batch, account);
      this.#sender.fail(batch, "not an http or https URL", null, null);
      return;
    }
    const items = batch.items.length;
    const lane = this.#lanes.of(account, target.origin);
    if (lane === null || !account.hasRoomFor(items, this.#freeItems())) {
      this.#sender.release(batch, account.turnAtMs(clock.now(), random), 0);
      return;
    }
    const host = this.#lanes.hostOf(lane);
    if (!host.hasRoomFor(items, this.#freeItems())) {
      this.#sender.release(batch, host.turnAtMs(clock.now(), random), 0);
      return;
    }
    this.#enterMemory(batch, account);
    host.add(lane, batch);
    this.#lanes.note(lane);
    this.#pump(host);
  }

  #enterMemory(batch: ReportBatch, account: AccountLoad): void {
    this.#counters.batchesInMemoryNow++;
    this.#counters.itemsInMemoryNow += batch.items.length;
    account.items += batch.items.length;
  }

  #pump(host: Host): void {
    if (this.#stopping) return;
    if (!this.#options.lease.holds()) this.#lapsed = true;
    else for (let turn = host.next(); turn !== null; turn = host.next()) void this.#send(host, turn);
  }

  async #send(host: Host, turn: Turn): Promise<void> {
    const { lane } = turn;
    this.#counters.requestsInFlightNow++;
    lane.account.requests++;
    await this.#sender.send(host, turn);
    this.#counters.requestsInFlightNow--;
    lane.account.requests--;
    this.#lanes.note(lane);
    this.#pump(host);
    if (this.#counters.requestsInFlightNow === 0) this.#whenQuiet?.();
  }

  #recorded({ accountId, items }: BatchOutcome): void {
    if (items === 0) return;
    this.#counters.batchesInMemoryNow--;
    this.#counters.itemsInMemoryNow -= items;
    this.#accounts.of(accountId).items -= items;
  }

  #quiet(): Promise<void> {
    if (this.#counters.requestsInFlightNow === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenQuiet = resolve;
    });
  }
}
