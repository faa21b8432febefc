/**
 * How many requests and messages a second one account may bring, over all nodes together. Each node gives out its share: the limit
 * divided by the nodes that take requests, as they are now. An account has a bucket of one second's share that fills again steadily.
 * A request with more messages than fit goes when the bucket is full, and leaves it in debt: nobody is locked out, and the mean holds.
 */
import type { Intake } from "../intake/intake.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Account } from "../store/port.ts";
import { ApiError } from "./errors.ts";

export interface RateLimitSettings {
  /** 0 is no limit. */
  readonly requestsPerSecond: number;
  readonly messagesPerSecond: number;
}

interface Bucket {
  /** Below 0 is a debt. */
  tokens: number;
  filledAtMs: number;
}

const SECOND_MS = 1_000;
/** Buckets at a time. The one used longest ago makes room, and is full again for who comes back. */
const MOST_BUCKETS = 10_000;
/** Tokens come in fractions, whose sum is a little off. */
const ROUNDING = 1e-6;

class Buckets {
  readonly #clock: Clock;
  readonly #perSecond: number;
  /** The one used longest ago first. */
  readonly #buckets = new Map<number, Bucket>();
  nodes = 1;

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Takes so many, or says in how many milliseconds they may be asked for again. */
  take(accountId: number, count: number): { waitMs: number } | null {
    const rate = this.#perSecond / this.nodes;
    // Of a share of less than one a second, one must fit.
    const size = Math.max(1, rate);
    const bucket = this.#filled(accountId, rate, size);
    const need = Math.min(count, size);
    if (bucket.tokens + ROUNDING < need) return { waitMs: ((need - bucket.tokens) / rate) * SECOND_MS };
    bucket.tokens -= count;
    return null;
  }

  giveBack(accountId: number, count: number): void {
    const bucket = this.#buckets.get(accountId);
    if (bucket !== undefined) bucket.tokens += count;
  }

  #filled(accountId: number, rate: number, size: number): Bucket {
    const nowMs = this.#clock.monotonic();
    const bucket = this.#buckets.get(accountId) ?? { tokens: size, filledAtMs: nowMs };
    bucket.tokens = Math.min(size, bucket.tokens + ((nowMs - bucket.filledAtMs) / SECOND_MS) * rate);
    bucket.filledAtMs = nowMs;
    this.#buckets.delete(accountId);
    this.#buckets.set(accountId, bucket);
    if (this.#buckets.size > MOST_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value!);
    return bucket;
  }
}

export class RateLimits {
  readonly #requests: Buckets | null;
  readonly #messages: Buckets | null;

  constructor({ requestsPerSecond, messagesPerSecond }: RateLimitSettings, clock: Clock) {
    this.#requests = requestsPerSecond === 0 ? null : new Buckets(requestsPerSecond, clock);
    this.#messages = messagesPerSecond === 0 ? null : new Buckets(messagesPerSecond, clock);
  }

  /** Whether there is any limit. */
  get any(): boolean {
    return this.#requests !== null || this.#messages !== null;
  }

  /** How many nodes take requests. */
  set nodes(nodes: number) {
    for (const buckets of [this.#requests, this.#messages]) if (buckets !== null) buckets.nodes = Math.max(1, nodes);
  }

  /** Counts a request, or throws the answer to one too many. */
  takeRequest(account: Account): void {
    const late = this.#requests?.take(account.id, 1) ?? null;
    if (late !== null) throw tooMany("requests", late.waitMs);
  }

  /** The intake with the limit of messages before it. What it does not accept is not counted. */
  before(intake: Pick<Intake, "send">): Pick<Intake, "send"> {
    const messages = this.#messages;
    if (messages === null) return intake;
    return {
      async send(account, request) {
        const count = request.messages.reduce((sum, { destinations }) => sum + destinations.length, 0);
        const late = messages.take(account.id, count);
        if (late !== null) throw tooMany("messages", late.waitMs);
        let accepted = false;
        try {
          const answer = await intake.send(account, request);
          accepted = answer.kind === "accepted";
          return answer;
        } finally {
          if (!accepted) messages.giveBack(account.id, count);
        }
      },
    };
  }
}

function tooMany(what: string, waitMs: number): ApiError {
  return new ApiError("tooManyRequests", {
    description: `The account has sent more ${what} a second than it may.`,
    headers: { "retry-after": String(Math.max(1, Math.ceil(waitMs / SECOND_MS))) },
  });
}
