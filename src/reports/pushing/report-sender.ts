/**
 * Sends batches of reports: one request from its signing to what came of it. It knows nothing of turns and of room; whatever becomes of
 * a batch goes to the store (report-outcomes.ts), and nothing is tried again from here.
 */
import type { AccountNames } from "../../events/account-names.ts";
import type { Answer, Transport } from "../../http/transport.ts";
import type { ReportAttempt } from "../../message/callback.ts";
import type { ReportBatch } from "../../message/message.ts";
import type { Clock } from "../../runtime/clock.ts";
import { isDebugging, LogLimiter } from "../../runtime/log.ts";
import { ANSWER_SECONDS, Histogram } from "../../runtime/metrics.ts";
import { shownUrl } from "../../runtime/shown-url.ts";
import { hostOf } from "../../runtime/urls.ts";
import { isStoreAway } from "../../store/port/errors.ts";
import { CallbackPolicies, type OpenedPolicy } from "./callback-policies.ts";
import { countAnswer, type PushCounters } from "./counters.ts";
import type { Host, Turn } from "./host.ts";
import type { PushOptions } from "./push-settings.ts";
import type { ReportLane } from "./report-lane.ts";
import type { ReportLanes } from "./report-lanes.ts";
import type { ReportOutcomes } from "./report-outcomes.ts";
import { readTarget, requestFor } from "./report-request.ts";
import { ReportTrace } from "./report-trace.ts";
import { readRetryAfterMs, retryDelayMs } from "./retry.ts";
import { ShortenedSchedules } from "./shortened.ts";

export interface ReportSenderParts extends Omit<PushOptions, "policy" | "resolve" | "mark"> {
  readonly realClock: Clock;
  readonly transport: Transport;
  readonly names: AccountNames;
  readonly lanes: ReportLanes;
  readonly outcomes: ReportOutcomes;
  readonly counters: PushCounters;
}

export class ReportSender {
  readonly #parts: ReportSenderParts;
  readonly #policies: CallbackPolicies;
  readonly #limiter: LogLimiter;
  readonly #trace: ReportTrace;
  readonly #shortened: ShortenedSchedules;
  readonly #isDebugging: boolean;
  /** Failures that other accounts share are told one after the other: each account's schedule has to be asked for. */
  #sharing: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly attemptSeconds = new Histogram(ANSWER_SECONDS);

  constructor(parts: ReportSenderParts) {
    const { store, clock, settings } = parts;
    this.#parts = parts;
    this.#policies = new CallbackPolicies(store, clock, settings.secretsMs);
    this.#limiter = new LogLimiter(clock);
    this.#trace = new ReportTrace(parts.trace);
    this.#shortened = new ShortenedSchedules(parts);
    this.#isDebugging = isDebugging(parts.log);
  }

  /** Resolves when the answer is dealt with. Never rejects. */
  async send(host: Host, { lane, batches }: Turn): Promise<void> {
    const { realClock } = this.#parts;
    const batch = await this.#merged(batches);
    const policy = batch === null ? null : await this.#policyOf([batch]);
    const startedMs = realClock.monotonic();
    const answer = batch === null || policy === null ? null : await this.#attempt(batch, policy);
    // A request that our own stop cut off says nothing about its receiver.
    if (this.#isClosed) return;
    if (batch === null || policy === null || answer === null) host.unsent(lane);
    else this.#answered(host, lane, batch, policy, answer, realClock.monotonic() - startedMs);
  }

  /** Ends requests under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#shortened.tell();
    await this.#parts.transport.close();
  }

  /** Resolves when the store knows what became of all that was sent. Ask for a bound around it. */
  async settled(): Promise<void> {
    await this.#sharing;
    await this.#parts.outcomes.recorder.settled();
  }

  /**
   * Several batches as one, under the id of the first. The store knows it first, so that a crash after the request brings the same
   * items again under the same id. Null when the store does not answer: then they wait there. If it refuses to merge them, the first goes alone.
   */
  async #merged(batches: readonly ReportBatch[]): Promise<ReportBatch | null> {
    const [first, ...others] = batches;
    if (others.length === 0) return first!;
    const { store, clock, settings } = this.#parts;
    try {
      await store.mergeReports({ ids: batches.map(({ id }) => id) });
    } catch (error) {
      const isAway = this.#storeFailed(error, first!, "reports could not be merged");
      for (const batch of isAway ? batches : others)
        this.release(batch, clock.now() + settings.storeRetryMs, batch.items.length);
      return isAway ? null : first!;
    }
    this.#parts.counters.merged += others.length;
    this.#parts.counters.batchesInMemoryNow -= others.length;
    // Batches that go together are of one kind (Host).
    return { ...first, items: batches.flatMap(({ items }) => items as ReportBatch["items"][number][]) } as ReportBatch;
  }

  /**
   * How the account of these batches wants them. Null when that is not to be had, and the batches are dealt with: while the store is away they wait
   * there, and anything else is a failed try, so that it ends some day where somebody sees it.
   */
  async #policyOf(batches: readonly ReportBatch[]): Promise<OpenedPolicy | null> {
    const { clock, settings } = this.#parts;
    const [first] = batches;
    try {
      return await this.#policies.of(first!);
    } catch (error) {
      const isAway = this.#storeFailed(error, first!, SECRET_UNREADABLE);
      for (const batch of batches) {
        if (isAway) this.release(batch, clock.now() + settings.storeRetryMs, batch.items.length);
        else this.fail(batch, SECRET_UNREADABLE, this.#delayMs(batch, null, null), null);
      }
      return null;
    }
  }

  /** Logs it, and says whether the store is only away. */
  #storeFailed(error: unknown, { accountId }: ReportBatch, says: string): boolean {
    const { log, names } = this.#parts;
    const isAway = isStoreAway(error);
    const level = isAway ? "warn" : "error";
    const kind = isAway ? "away" : `${accountId} ${says}`;
    this.#limiter.write(kind, (more) => {
      if (isAway) log[level]({ err: error, ...more }, says);
      else names.tell(accountId, (account) => log[level]({ err: error, account, ...more }, says));
    });
    return isAway;
  }

  /** Null when it could not be sent, which has then been dealt with. */
  async #attempt(batch: ReportBatch, policy: OpenedPolicy): Promise<Answer | null> {
    const { clock, realClock, log, names, lease, settings, transport } = this.#parts;
    if (!lease.holds()) {
      this.release(batch, clock.now() + settings.storeRetryMs, batch.items.length);
      return null;
    }
    try {
      return await transport.post(requestFor(batch, readTarget(batch.url)!, policy.keys, realClock.now()));
    } catch (error) {
      names.tell(batch.accountId, (account) =>
        log.error({ err: error, report: batch.id, account, host: hostOf(batch.url) }, "a report could not be written"),
      );
      this.fail(batch, "the report could not be written", this.#delayMs(batch, policy, null), null);
      return null;
    }
  }

  #answered(
    host: Host,
    lane: ReportLane,
    batch: ReportBatch,
    policy: OpenedPolicy,
    answer: Answer,
    tookMs: number,
  ): void {
    const { counters, lanes, outcomes } = this.#parts;
    countAnswer(counters, answer);
    this.attemptSeconds.observe(tookMs / 1_000);
    const wasOpen = lane.open;
    lane.account.pace.took(tookMs);
    const { shared, emptied } = host.answered(lane, batch, answer, tookMs);
    for (const other of emptied) lanes.note(other);
    if (lane.open !== wasOpen) this.#logCircuit(lane, answer);

    if (answer.kind === "answered" && (isSuccess(answer.status) || answer.status === GONE)) {
      if (answer.status === GONE) counters.gone++;
      else counters.delivered++;
      outcomes.delivered({ id: batch.id, accountId: batch.accountId, items: batch.items.length });
      if (this.#isDebugging) this.#logTry("debug", batch, { status: answer.status }, "a report was taken");
      if (this.#parts.live?.isOn === true) this.#tellLive(batch, this.#attemptOf(answer, tookMs), null, null);
      if (this.#trace.isWanted(batch)) this.#trace.taken(batch, this.#attemptOf(answer, tookMs));
      return;
    }
    counters.shared += shared.length;
    const attempt = this.#attemptOf(answer, tookMs);
    this.fail(batch, attempt.reason, this.#delayMs(batch, policy, answer), attempt);
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

  #share(batches: readonly ReportBatch[], policy: OpenedPolicy, answer: Answer): void {
    for (const batch of batches) this.fail(batch, reasonOf(answer), this.#delayMs(batch, policy, answer), null);
  }

  #attemptOf(answer: Answer, tookMs: number): ReportAttempt {
    const answered = answer.kind === "answered";
    return {
      atMs: this.#parts.clock.now(),
      status: answered ? answer.status : null,
      durationMs: Math.round(tookMs),
      reason: reasonOf(answer),
      excerpt: answered ? answer.excerpt : "",
    };
  }

  #delayMs(batch: ReportBatch, policy: OpenedPolicy | null, answer: Answer | null): number | null {
    const { realClock, random, settings } = this.#parts;
    const retryAfter = answer?.kind === "answered" && ASKS_FOR_TIME.has(answer.status) ? answer.retryAfter : null;
    const retryAfterMs = retryAfter === null ? null : readRetryAfterMs(retryAfter, realClock.now());
    const attempts = batch.attempts + 1;
    const { retryMinutes } = policy ?? { retryMinutes: null };
    const delayMs = retryDelayMs(settings, random, attempts, retryAfterMs, retryMinutes);
    if (delayMs === null) this.#shortened.gaveUp(batch.accountId, attempts, retryMinutes);
    return delayMs;
  }

  /** A batch was not taken. `delayMs` null: it becomes a dead letter. */
  fail(batch: ReportBatch, reason: string, delayMs: number | null, attempt: ReportAttempt | null): void {
    const { clock } = this.#parts;
    const attempts = batch.attempts + 1;
    const retryAtMs = delayMs === null ? null : clock.now() + delayMs;
    if (retryAtMs === null) {
      this.#parts.counters.dead++;
      this.#logTry("warn", batch, { attempts, reason }, "a report is now a dead letter");
    } else {
      this.#parts.counters.failed++;
      if (this.#isDebugging) this.#logTry("debug", batch, { attempts, reason }, "a report was not taken");
    }
    this.#parts.outcomes.failed({
      accountId: batch.accountId,
      items: batch.items.length,
      failure: { id: batch.id, attempts, retryAtMs, reason, attempt },
    });
    this.#trace.failed(batch, reason, retryAtMs, attempt);
    if (this.#parts.live?.isOn === true) this.#tellLive(batch, attempt, reason, retryAtMs);
  }

  /** `reason` is null where the report was taken. */
  #tellLive(batch: ReportBatch, attempt: ReportAttempt | null, reason: string | null, retryAtMs: number | null): void {
    const { accountId, url, items, attempts } = batch;
    const [first] = items as readonly { readonly messageId?: string; readonly to?: string }[];
    this.#parts.live?.tell([
      {
        kind: "report",
        accountId,
        ...(first?.messageId === undefined ? {} : { messageId: first.messageId }),
        ...(first?.to === undefined ? {} : { to: first.to }),
        report: {
          url: shownUrl(url.slice(0, MAX_LIVE_URL)),
          items: items.length,
          try: attempts + 1,
          answer: attempt?.status ?? null,
          tookMs: attempt?.durationMs ?? null,
          reason,
          retryAtMs,
        },
      },
    ]);
  }

  #logTry(level: "debug" | "warn", { id: report, accountId, url }: ReportBatch, facts: object, says: string): void {
    const { log, names } = this.#parts;
    names.tell(accountId, (account) => log[level]({ report, account, host: hostOf(url), ...facts }, says));
  }

  /** A batch goes back to the store untried. `items` leave memory with it. */
  release({ id, accountId }: ReportBatch, dueAtMs: number, items: number): void {
    this.#parts.counters.released++;
    this.#parts.outcomes.released({ accountId, items, release: { id, dueAtMs } });
  }

  #logCircuit({ open, origin, account }: ReportLane, answer: Answer): void {
    const { log, names } = this.#parts;
    names.tell(account.accountId, (name) => {
      const receiver = { host: origin, account: name };
      if (open)
        log.warn({ ...receiver, reason: reasonOf(answer) }, "a report receiver keeps failing, now one probe at a time");
      else log.info(receiver, "a report receiver is back");
    });
  }
}

const GONE = 410;
const MAX_LIVE_URL = 500;
const SECRET_UNREADABLE = "the account's signing secret could not be read";
const ASKS_FOR_TIME = new Set([429, 503]);

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function reasonOf(answer: Answer): string {
  return answer.kind === "answered" ? `answered ${answer.status}` : answer.reason;
}
