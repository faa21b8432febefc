/**
 * How many requests and messages a second one account may bring, and how many requests it may have in progress, over all nodes together.
 * What an account has of its own counts before the service's. Each node gives out its share: the limit divided by the nodes that take
 * requests, as they are now. An account has a bucket of one second's share that fills again steadily. A request with more messages
 * than fit goes when the bucket is full, and leaves it in debt: nobody is locked out, and the mean holds.
 */
import type { Intake } from "../intake/intake.ts";
import type { SendAnswer, SendRequest } from "../intake/request.ts";
import { boundedCache } from "../runtime/cache.ts";
import type { Clock } from "../runtime/clock.ts";
import { STATUS } from "../sms/statuses.ts";
import type { Account } from "../store/port/accounts.ts";
import { type ApiError, tooMany } from "./errors.ts";

export interface RateLimitSettings {
  /** 0 is no limit. */
  readonly requestsPerSecond: number;
  readonly messagesPerSecond: number;
  readonly connectionsPerAccount: number;
  /** Of one address, by callers that have not shown who they are. */
  readonly strangerRequestsPerSecond: number;
  /** Messages of one account that are rejected. */
  readonly rejectedPerSecond: number;
}

const REJECTED = new Set(
  Object.values(STATUS)
    .filter(({ groupName }) => groupName === "REJECTED")
    .map(({ id }) => id),
);

interface Bucket {
  /** Below 0 is a debt. */
  tokens: number;
  filledAtMs: number;
}

const SECOND_MS = 1_000;
/** Buckets at a time. The one used longest ago makes room, and is full again for who comes back. */
const MAX_BUCKETS = 10_000;
/** Tokens come in fractions, whose sum is a little off. */
const ROUNDING = 1e-6;

/** One for each name; a second's worth may come at once. */
export class Buckets<Name extends string | number> {
  readonly #clock: Clock;
  readonly #buckets = boundedCache<Name, Bucket>(MAX_BUCKETS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes so many at a rate a second, or says in how many milliseconds they may be asked for again. */
  take(name: Name, rate: number, count: number): { waitMs: number } | null {
    // Of a share of less than one a second, one must fit.
    const size = Math.max(1, rate);
    const bucket = this.#filled(name, rate, size);
    const need = Math.min(count, size);
    if (bucket.tokens + ROUNDING < need) return { waitMs: ((need - bucket.tokens) / rate) * SECOND_MS };
    bucket.tokens -= count;
    return null;
  }

  /** Takes so many, whether or not they are there. */
  owe(name: Name, rate: number, count: number): void {
    if (count > 0) this.#filled(name, rate, Math.max(1, rate)).tokens -= count;
  }

  /** How long it is until nothing is owed. */
  waitMs(name: Name, rate: number): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return 0;
    const owed = -this.#filled(name, rate, Math.max(1, rate)).tokens;
    return owed > ROUNDING ? (owed / rate) * SECOND_MS : 0;
  }

  giveBack(name: Name, count: number): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) bucket.tokens += count;
  }

  #filled(name: Name, rate: number, size: number): Bucket {
    const nowMs = this.#clock.monotonic();
    const known = this.#buckets.get(name);
    const bucket = known ?? { tokens: size, filledAtMs: nowMs };
    if (known === undefined) this.#buckets.set(name, bucket);
    bucket.tokens = Math.min(size, bucket.tokens + ((nowMs - bucket.filledAtMs) / SECOND_MS) * rate);
    bucket.filledAtMs = nowMs;
    return bucket;
  }
}

export class RateLimits {
  readonly #settings: RateLimitSettings;
  readonly #requests: Buckets<number>;
  readonly #messages: Buckets<number>;
  readonly #strangers: Buckets<string>;
  readonly #rejected: Buckets<number>;
  /** Requests in progress, by account; those that have none are not in it. */
  readonly #open = new Map<number, number>();
  #nodes = 1;
  #any: boolean;

  constructor(settings: RateLimitSettings, clock: Clock) {
    this.#settings = settings;
    const { requestsPerSecond, messagesPerSecond, connectionsPerAccount } = settings;
    this.#any = requestsPerSecond + messagesPerSecond + connectionsPerAccount > 0;
    this.#requests = new Buckets(clock);
    this.#messages = new Buckets(clock);
    this.#strangers = new Buckets(clock);
    this.#rejected = new Buckets(clock);
  }

  /** Whether the service or any account seen so far has a limit. */
  get any(): boolean {
    return this.#any;
  }

  /** How many nodes take requests. */
  set nodes(nodes: number) {
    this.#nodes = Math.max(1, nodes);
  }

  /** Counts a request, or throws the answer to one too many. What it returns is called when the request is over. */
  takeRequest({ id, limits }: Account): () => void {
    if (Object.keys(limits).length > 0) this.#any = true;
    const most = limits.connections ?? this.#settings.connectionsPerAccount;
    const open = this.#open.get(id) ?? 0;
    // Of a share of less than one, one must fit.
    if (most !== 0 && open >= Math.max(1, Math.floor(most / this.#nodes))) {
      throw tooMany("The account has more requests in progress than it may.", SECOND_MS);
    }
    const perSecond = limits.requestsPerSecond ?? this.#settings.requestsPerSecond;
    const late = perSecond === 0 ? null : this.#requests.take(id, perSecond / this.#nodes, 1);
    if (late !== null) throw tooMany("The account has sent more requests a second than it may.", late.waitMs);
    this.#open.set(id, open + 1);
    return () => {
      const left = this.#open.get(id)! - 1;
      if (left === 0) this.#open.delete(id);
      else this.#open.set(id, left);
    };
  }

  /** Counts a request of somebody who has not shown who it is, or throws the answer to one too many. Each node counts for itself. */
  takeStranger(site: string): void {
    const { strangerRequestsPerSecond: perSecond } = this.#settings;
    const late = perSecond === 0 ? null : this.#strangers.take(site, perSecond, 1);
    if (late !== null) throw tooMany("Too many requests without credentials came from this address.", late.waitMs);
  }

  /** The answer to an account that may bring no message just now, whatever its request says; null where it may. */
  refusal(account: Account): ApiError | null {
    const { id, limits } = account;
    const rejected = this.#rejectedRefusal(account);
    if (rejected !== null) return rejected;
    const perSecond = limits.messagesPerSecond ?? this.#settings.messagesPerSecond;
    const waitMs = perSecond === 0 ? 0 : this.#messages.waitMs(id, perSecond / this.#nodes);
    return waitMs > 0 ? tooMany("The account has sent more messages a second than it may.", waitMs) : null;
  }

  #rejectedRefusal({ id }: Account): ApiError | null {
    const { rejectedPerSecond } = this.#settings;
    const waitMs = rejectedPerSecond === 0 ? 0 : this.#rejected.waitMs(id, rejectedPerSecond / this.#nodes);
    return waitMs > 0 ? tooMany("Too many messages of the account were rejected.", waitMs) : null;
  }

  /**
   * The intake with the limits of messages before it. What it does not accept is not counted as messages; and what it accepts only to reject it is
   * work that nobody pays for, so an account that had much of it waits before it may bring more.
   */
  before(intake: Pick<Intake, "send">): Pick<Intake, "send"> {
    const messages = this.#messages;
    const rejected = this.#rejected;
    const { rejectedPerSecond } = this.#settings;
    const within = async (account: Account, request: SendRequest, perSecond: number): Promise<SendAnswer> => {
      const count = request.messages.reduce((sum, { destinations }) => sum + destinations.length, 0);
      const late = perSecond === 0 ? null : messages.take(account.id, perSecond / this.#nodes, count);
      if (late !== null) throw tooMany("The account has sent more messages a second than it may.", late.waitMs);
      let accepted = false;
      try {
        const answer = await intake.send(account, request);
        accepted = answer.kind === "accepted";
        if (rejectedPerSecond !== 0) rejected.owe(account.id, rejectedPerSecond / this.#nodes, rejectedIn(answer));
        return answer;
      } finally {
        if (!accepted && perSecond !== 0) messages.giveBack(account.id, count);
      }
    };
    return {
      send: (account, request) => {
        const perSecond = account.limits.messagesPerSecond ?? this.#settings.messagesPerSecond;
        const refusal = this.#rejectedRefusal(account);
        if (refusal !== null) throw refusal;
        return perSecond + rejectedPerSecond === 0
          ? intake.send(account, request)
          : within(account, request, perSecond);
      },
    };
  }
}

function rejectedIn(answer: SendAnswer): number {
  if (answer.kind !== "accepted") return 0;
  let count = 0;
  for (const { statusId } of answer.results) if (REJECTED.has(statusId)) count++;
  return count;
}
