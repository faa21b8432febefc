/**
 * Pushes reports to the clients' URLs.
 *
 *   store ──take, dueReports──▶ Lane: waiting ──▶ in flight ──▶ Outcomes ──delivered, failed, released──▶ store
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
import type { ReportAttempt } from "../message/callback.ts";
import type { ReportBatch } from "../message/message.ts";
import { type Clock, Interval } from "../runtime/clock.ts";
import type { Lease } from "../runtime/lease.ts";
import { type Log, LogLimiter } from "../runtime/log.ts";
import type { Random } from "../runtime/random.ts";
import { type AccountLoad, AccountLoads } from "./account.ts";
import type { Resolve } from "./connector.ts";
import { countAnswer, type PushCounters, zeroCounters } from "./counters.ts";
import type { AddressPolicy } from "./guard.ts";
import type { Host, Turn } from "./host.ts";
import type { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import { type Outcome, Outcomes } from "./outcomes.ts";
import { Policies, type Policy } from "./policies.ts";
import type { ReportStore } from "./port.ts";
import { requestFor } from "./request.ts";
import { readRetryAfterMs, retryDelayMs } from "./retry.ts";
import type { PushSettings } from "./settings.ts";
import { readTarget } from "./target.ts";
import { type Answer, HttpTransport, type Transport } from "./transport.ts";

export interface PushOptions {
  readonly store: ReportStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly policy: AddressPolicy;
  readonly settings: PushSettings;
  /** Without it no request begins: another node may have the reports by now. */
  readonly lease: Lease;
  /** Whether a failure of the store says nothing of what it was told: the same call may work later. */
  readonly isStoreAway: (error: unknown) => boolean;
  /** How names become addresses; the system's way unless told. */
  readonly resolve?: Resolve;
  /** How requests are made; over HTTP unless told. */
  readonly transport?: Transport;
}

/** Batches asked of the store in one call, and calls in a row before the next poll. */
const REFILL_BATCHES = 500;
const REFILL_CALLS = 20;

export class Push {
  readonly #options: PushOptions;
  readonly #transport: Transport;
  readonly #policies: Policies;
  readonly #outcomes: Outcomes;
  readonly #limiter: LogLimiter;
  readonly #accounts = new AccountLoads();
  readonly #lanes: Lanes;
  #polling: Interval | null = null;
  #refilling: Promise<void> = Promise.resolve();
  #nextRefill: Promise<void> | null = null;
  #state: "running" | "stopping" | "stopped" = "running";
  #stopped: Promise<void> | null = null;
  #whenQuiet: (() => void) | null = null;
  /** Failures that other accounts share are told one after the other: each account's schedule has to be asked for. */
  #sharing: Promise<void> = Promise.resolve();
  /** Batches wait because the lease did not hold. */
  #lapsed = false;
  readonly #counters = zeroCounters();

  constructor(options: PushOptions) {
    const { store, clock, log, settings, isStoreAway } = options;
    this.#options = options;
    const transport = options.transport ?? new HttpTransport(options);
    this.#transport = transport;
    this.#limiter = new LogLimiter(clock);
    this.#policies = new Policies(store, clock, settings.secretsMs);
    this.#lanes = new Lanes({ clock, settings, forgotten: (origin) => transport.forget(origin) });
    const recorded = (outcome: Outcome) => this.#recorded(outcome);
    this.#outcomes = new Outcomes({ store, clock, log, isStoreAway, storeRetryMs: settings.storeRetryMs, recorded });
  }

  /** As they are at this moment. */
  get counters(): PushCounters {
    return { ...this.#counters, hostsNow: this.#lanes.hostCount, openCircuitsNow: this.#lanes.openCircuits };
  }

  /** Fetches what an earlier run left, and from now on what comes due. */
  start(): void {
    void this.fetch();
    this.#polling = new Interval(this.#options.clock, this.#options.settings.pollMs, async () => {
      this.#lanes.forgetIdle();
      this.#accounts.forgetIdle(this.#options.clock.now());
      this.#goOn();
      await this.fetch();
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
    this.#state = "stopping";
    const { stopMs } = this.#options.settings;
    await this.#atMost(stopMs, this.#quiet());
    this.#state = "stopped";
    await this.#transport.close();
    await this.#atMost(
      stopMs,
      Promise.all([this.#polling?.stop(), this.#refilling, this.#sharing.then(() => this.#outcomes.empty())]),
    );
    this.#outcomes.abandon();
  }

  /** Never rejects. */
  async #refill(): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      for (let calls = 0; calls < REFILL_CALLS; calls++) {
        const limit = Math.min(REFILL_BATCHES, this.#freeItems());
        if (limit <= 0 || this.#state !== "running") return;
        const { batches, more } = await store.dueReports({ nowMs: clock.now(), limit });
        this.take(batches);
        if (!more) return;
      }
    } catch (error) {
      log.warn({ err: error }, "the store did not say which reports are due, asking again");
    }
  }

  #freeItems(): number {
    return this.#options.settings.memoryItems - this.#counters.itemsInMemoryNow;
  }

  #accept(batch: ReportBatch): void {
    if (this.#state !== "running") return;
    const { clock, random } = this.#options;
    const account = this.#accounts.of(batch.accountId);
    const target = readTarget(batch.url);
    if (target === null) {
      this.#enterMemory(batch, account);
      this.#fail(batch, "not an http or https URL", null, null);
      return;
    }
    const items = batch.items.length;
    const lane = this.#lanes.of(account, target.origin);
    if (lane === null || !account.hasRoomFor(items, this.#freeItems())) {
      this.#release(batch, account.turnAtMs(clock.now(), random), 0);
    } else if (!lane.host.hasRoomFor(items, this.#freeItems())) {
      this.#release(batch, lane.host.turnAtMs(clock.now(), random), 0);
    } else {
      this.#enterMemory(batch, account);
      lane.host.add(lane, batch);
      this.#lanes.note(lane);
      this.#pump(lane.host);
    }
  }

  #enterMemory(batch: ReportBatch, account: AccountLoad): void {
    this.#counters.batchesInMemoryNow++;
    this.#counters.itemsInMemoryNow += batch.items.length;
    account.items += batch.items.length;
  }

  #pump(host: Host): void {
    if (this.#state !== "running") return;
    if (!this.#options.lease.holds()) this.#lapsed = true;
    else for (let turn = host.next(); turn !== null; turn = host.next()) void this.#send(turn);
  }

  /** Never rejects. */
  async #send({ lane, batches }: Turn): Promise<void> {
    const { clock } = this.#options;
    const { host, account } = lane;
    this.#counters.requestsInFlightNow++;
    account.requests++;
    const batch = await this.#merged(batches);
    const policy = batch === null ? null : await this.#policyOf([batch]);
    const startedMs = clock.monotonic();
    const answer = batch === null || policy === null ? null : await this.#attempt(batch, policy);
    this.#counters.requestsInFlightNow--;
    account.requests--;
    // A request that our own stop cut off says nothing about its receiver.
    if (this.#state !== "stopped") {
      if (batch === null || policy === null || answer === null) host.unsent(lane);
      else this.#answered(lane, batch, policy, answer, clock.monotonic() - startedMs);
    }
    this.#lanes.note(lane);
    this.#pump(host);
    if (this.#counters.requestsInFlightNow === 0) this.#whenQuiet?.();
  }

  /**
   * Several batches as one, under the id of the first. The store knows it first, so that a crash after the request brings the same
   * items again under the same id. Null when the store does not answer: then they wait there. If it refuses to merge them, the first goes alone.
   */
  async #merged(batches: readonly ReportBatch[]): Promise<ReportBatch | null> {
    const [first, ...others] = batches;
    if (others.length === 0) return first!;
    const { store, clock, settings } = this.#options;
    try {
      await store.mergeReports({ ids: batches.map(({ id }) => id) });
    } catch (error) {
      const isAway = this.#storeFailed(error, first!, "reports could not be merged");
      for (const batch of isAway ? batches : others)
        this.#release(batch, clock.now() + settings.storeRetryMs, batch.items.length);
      return isAway ? null : first!;
    }
    this.#counters.merged += others.length;
    this.#counters.batchesInMemoryNow -= others.length;
    // Batches that go together are of one kind (Host).
    return { ...first, items: batches.flatMap(({ items }) => items as ReportBatch["items"][number][]) } as ReportBatch;
  }

  /**
   * How the account of these batches wants them. Null when that is not to be had, and the batches are dealt with: while the store is away they wait
   * there, and anything else is a failed try, so that it ends some day where somebody sees it.
   */
  async #policyOf(batches: readonly ReportBatch[]): Promise<Policy | null> {
    const { clock, settings } = this.#options;
    const [first] = batches;
    try {
      return await this.#policies.of(first!.accountId);
    } catch (error) {
      const isAway = this.#storeFailed(error, first!, SECRET_UNREADABLE);
      for (const batch of batches) {
        if (isAway) this.#release(batch, clock.now() + settings.storeRetryMs, batch.items.length);
        else this.#fail(batch, SECRET_UNREADABLE, this.#delayMs(batch, null, null), null);
      }
      return null;
    }
  }

  /** Logs it, and says whether the store is only away. */
  #storeFailed(error: unknown, { accountId }: ReportBatch, says: string): boolean {
    const { log, isStoreAway } = this.#options;
    const isAway = isStoreAway(error);
    const level = isAway ? "warn" : "error";
    const kind = isAway ? "away" : `${accountId} ${says}`;
    this.#limiter.write(kind, (more) => log[level]({ err: error, accountId, ...more }, says));
    return isAway;
  }

  /** Null when it could not be sent, which has then been dealt with. */
  async #attempt(batch: ReportBatch, policy: Policy): Promise<Answer | null> {
    const { clock, log, lease, settings } = this.#options;
    if (!lease.holds()) {
      this.#release(batch, clock.now() + settings.storeRetryMs, batch.items.length);
      return null;
    }
    try {
      return await this.#transport.post(requestFor(batch, readTarget(batch.url)!, policy.keys, clock.now()));
    } catch (error) {
      log.error({ err: error, reportId: batch.id }, "a report could not be written");
      this.#fail(batch, "the report could not be written", this.#delayMs(batch, policy, null), null);
      return null;
    }
  }

  #answered(lane: Lane, batch: ReportBatch, policy: Policy, answer: Answer, tookMs: number): void {
    countAnswer(this.#counters, answer);
    const wasOpen = lane.open;
    lane.account.pace.took(tookMs);
    const { shared, emptied } = lane.host.answered(lane, batch, answer, tookMs);
    for (const other of emptied) this.#lanes.note(other);
    if (lane.open !== wasOpen) this.#logCircuit(lane, answer);

    if (answer.kind === "answered" && (isSuccess(answer.status) || answer.status === GONE)) {
      if (answer.status === GONE) this.#counters.gone++;
      else this.#counters.delivered++;
      this.#outcomes.add({ kind: "delivered", id: batch.id, accountId: batch.accountId, items: batch.items.length });
      return;
    }
    this.#counters.shared += shared.length;
    const attempt = this.#attemptOf(answer, tookMs);
    this.#fail(batch, attempt.reason, this.#delayMs(batch, policy, answer), attempt);
    for (const [accountId, batches] of Map.groupBy(shared, (each) => each.accountId)) {
      if (accountId === batch.accountId) this.#share(batches, policy, answer);
      else this.#sharing = this.#sharing.then(() => this.#shareWithOther(batches, answer));
    }
  }

  /** Never rejects. */
  async #shareWithOther(batches: readonly ReportBatch[], answer: Answer): Promise<void> {
    const policy = await this.#policyOf(batches);
    if (policy !== null) this.#share(batches, policy, answer);
  }

  #share(batches: readonly ReportBatch[], policy: Policy, answer: Answer): void {
    for (const batch of batches) this.#fail(batch, reasonOf(answer), this.#delayMs(batch, policy, answer), null);
  }

  #attemptOf(answer: Answer, tookMs: number): ReportAttempt {
    const answered = answer.kind === "answered";
    return {
      atMs: this.#options.clock.now(),
      status: answered ? answer.status : null,
      durationMs: Math.round(tookMs),
      reason: reasonOf(answer),
      excerpt: answered ? answer.excerpt : "",
    };
  }

  #delayMs(batch: ReportBatch, policy: Policy | null, answer: Answer | null): number | null {
    const { clock, random, settings } = this.#options;
    const retryAfter = answer?.kind === "answered" && ASKS_FOR_TIME.has(answer.status) ? answer.retryAfter : null;
    const retryAfterMs = retryAfter === null ? null : readRetryAfterMs(retryAfter, clock.now());
    return retryDelayMs(settings, random, batch.attempts + 1, retryAfterMs, policy?.retryMinutes ?? null);
  }

  /** `delayMs` null: it becomes a dead letter. */
  #fail(batch: ReportBatch, reason: string, delayMs: number | null, attempt: ReportAttempt | null): void {
    const { clock, log } = this.#options;
    const attempts = batch.attempts + 1;
    const retryAtMs = delayMs === null ? null : clock.now() + delayMs;
    if (retryAtMs === null) {
      this.#counters.dead++;
      log.warn({ reportId: batch.id, accountId: batch.accountId, attempts, reason }, "a report is now a dead letter");
    } else {
      this.#counters.failed++;
      log.debug({ reportId: batch.id, accountId: batch.accountId, attempts, reason }, "a report was not taken");
    }
    this.#outcomes.add({
      kind: "failed",
      accountId: batch.accountId,
      items: batch.items.length,
      failure: { id: batch.id, attempts, retryAtMs, reason, attempt },
    });
  }

  /** `items` leave memory with it. */
  #release({ id, accountId }: ReportBatch, dueAtMs: number, items: number): void {
    this.#counters.released++;
    this.#outcomes.add({ kind: "released", accountId, items, release: { id, dueAtMs } });
  }

  #recorded({ accountId, items }: Outcome): void {
    if (items === 0) return;
    this.#counters.batchesInMemoryNow--;
    this.#counters.itemsInMemoryNow -= items;
    this.#accounts.of(accountId).items -= items;
  }

  #logCircuit({ open, host, account }: Lane, answer: Answer): void {
    const { log } = this.#options;
    const receiver = { host: host.origin, accountId: account.accountId };
    if (open)
      log.warn({ ...receiver, reason: reasonOf(answer) }, "a report receiver keeps failing, now one probe at a time");
    else log.info(receiver, "a report receiver is back");
  }

  #quiet(): Promise<void> {
    if (this.#counters.requestsInFlightNow === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenQuiet = resolve;
    });
  }

  async #atMost(limitMs: number, work: Promise<unknown>): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(limitMs, resolve);
      const done = () => {
        timer.cancel();
        resolve();
      };
      work.then(done, done);
    });
  }
}

const GONE = 410;
const SECRET_UNREADABLE = "the account's signing secret could not be read";
const ASKS_FOR_TIME = new Set([429, 503]);

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function reasonOf(answer: Answer): string {
  return answer.kind === "answered" ? `answered ${answer.status}` : answer.reason;
}
