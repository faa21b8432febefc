/**
 * Views that somebody watches, read again and again: at once, then about every 700 ms, and sooner when the account has just done something. Whoever
 * watches the same view of the same caller gets the same answer of the same read.
 *
 * Watching must never cost the store much. A view is read again after ten times as long as the last read took. Few reads are under way at a time,
 * accounts in turn, and after each its place rests nine times as long: so all of them together take at most a fifth of the store's time.
 */
import { hash } from "node:crypto";
import { parse } from "node:querystring";
import { type Clock, sleep, type Timer } from "../../runtime/clock.ts";
import { type Log, silentLog } from "../../runtime/log.ts";
import type { Account } from "../../store/port/accounts.ts";
import { toApiError } from "../error-answers.ts";
import { ApiError } from "../errors.ts";
import { Mutex } from "../mutex.ts";
import { ask, type View } from "./view.ts";

const READ_EVERY_MS = 700;
/** After something was done, and at most so often. */
const READ_SOON_MS = 60;
const BACKOFF_FACTOR = 10;
const MAX_BACKOFF_MS = 30_000;
const READS_AT_A_TIME = 2;
const REST_FACTOR = 9;
const MAX_REST_MS = 2_000;
const MAX_ANSWER_OCTETS = 512 * 1024;

/** What a read has brought: an answer or a problem, as JSON, and a hash by which it is known again. */
export interface News {
  readonly event: "view" | "problem";
  /** The fields of the event's data, without the brackets around them. */
  readonly fields: string;
  readonly hash: string;
}

export type Serialize = (answer: unknown) => string;

/** A view with the query that one asks it with. */
export interface Question {
  readonly view: View;
  /** As in an address, without the question mark. */
  readonly query: string;
  readonly serialize: Serialize;
}

/** One who watches. */
export interface Viewer {
  /** It is to be read as soon as may be. */
  touch(): void;
  /** Who asks, as it is now. */
  renew(caller: Account): void;
  stop(): void;
}

export interface SharedViewsParts {
  readonly clock: Clock;
  readonly log: Log;
}

export class SharedViews {
  readonly #parts: SharedViewsParts;
  readonly #turns = new Mutex(READS_AT_A_TIME);
  readonly #views = new Map<string, SharedView>();
  readonly #byAccount = new Map<number, Set<SharedView>>();

  constructor(parts: SharedViewsParts) {
    this.#parts = parts;
  }

  /** How many different ones are watched. */
  get size(): number {
    return this.#views.size;
  }

  watch(question: Question, caller: Account, listener: (news: News) => void): Viewer {
    const key = keyOf(question, caller);
    const shared = this.#views.get(key) ?? this.#begin(key, question, caller);
    shared.listeners.add(listener);
    shared.touch();
    return {
      touch: () => shared.touch(),
      renew: (now) => shared.renew(now),
      stop: () => {
        shared.listeners.delete(listener);
        if (shared.listeners.size === 0) this.#end(key, shared);
      },
    };
  }

  /** The account has done something here: what it watches may have changed. */
  touch(accountId: number): void {
    const views = this.#byAccount.get(accountId);
    if (views !== undefined) for (const shared of views) shared.touch();
  }

  #begin(key: string, question: Question, caller: Account): SharedView {
    const shared = new SharedView(this.#parts, this.#turns, question, caller);
    this.#views.set(key, shared);
    const views = this.#byAccount.get(caller.id) ?? new Set();
    this.#byAccount.set(caller.id, views.add(shared));
    return shared;
  }

  #end(key: string, shared: SharedView): void {
    if (this.#views.get(key) !== shared) return;
    shared.stop();
    this.#views.delete(key);
    const views = this.#byAccount.get(shared.accountId);
    views?.delete(shared);
    if (views?.size === 0) this.#byAccount.delete(shared.accountId);
  }
}

/** An account's users and keys may see different things. */
function keyOf({ view, query }: Question, { id, user, apiKey, passwordOfReseller }: Account): string {
  return JSON.stringify([view.name, query, id, user?.username, apiKey?.id, passwordOfReseller]);
}

class SharedView {
  readonly accountId: number;
  readonly listeners = new Set<(news: News) => void>();
  readonly #parts: SharedViewsParts;
  readonly #turns: Mutex;
  readonly #question: Question;
  #caller: Account;
  #timer: Timer | null = null;
  /** When the timer is due, and before when it may not be. */
  #dueMs = Number.POSITIVE_INFINITY;
  #earliestMs = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isTouched = false;
  #isFailing = false;
  #stopped = false;

  constructor(parts: SharedViewsParts, turns: Mutex, question: Question, caller: Account) {
    this.#parts = parts;
    this.#turns = turns;
    this.#question = question;
    this.#caller = caller;
    this.accountId = caller.id;
  }

  renew(caller: Account): void {
    this.#caller = caller;
  }

  touch(): void {
    // What is being read may have been looked at before the change.
    if (this.#isReading) this.#isTouched = true;
    else this.#readAt(this.#earliestMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #readAt(atMs: number): void {
    if (this.#stopped || atMs >= this.#dueMs) return;
    this.#timer?.cancel();
    this.#dueMs = atMs;
    this.#timer = this.#parts.clock.after(Math.max(0, atMs - this.#parts.clock.monotonic()), () => void this.#read());
  }

  async #read(): Promise<void> {
    const { clock } = this.#parts;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#isReading = true;
    this.#isTouched = false;
    await this.#turns.take(async () => {
      if (this.#stopped) return;
      this.#isTouched = false;
      const startedMs = clock.monotonic();
      const news = await this.#ask();
      const tookMs = clock.monotonic() - startedMs;
      for (const listener of this.listeners) listener(news);
      this.#isReading = false;
      const endedMs = clock.monotonic();
      const backoffMs = Math.min(tookMs * BACKOFF_FACTOR, MAX_BACKOFF_MS);
      this.#earliestMs = endedMs + Math.max(READ_SOON_MS, backoffMs);
      this.#readAt(this.#isTouched ? this.#earliestMs : endedMs + Math.max(READ_EVERY_MS, backoffMs));
      await sleep(clock, Math.min(tookMs * REST_FACTOR, MAX_REST_MS));
    }, this.accountId);
  }

  async #ask(): Promise<News> {
    const { view, query, serialize } = this.#question;
    try {
      const answer = serialize(await ask(view, this.#caller, parse(query)));
      if (Buffer.byteLength(answer) > MAX_ANSWER_OCTETS) throw tooLarge();
      this.#isFailing = false;
      return newsOf("view", `"answer":${answer}`);
    } catch (error) {
      // One that goes on failing is written down once.
      const log = this.#isFailing ? silentLog : this.#parts.log;
      this.#isFailing = true;
      return problemNews(toApiError(error as Error, `live ${view.name}`, log));
    }
  }
}

function newsOf(event: News["event"], fields: string): News {
  return { event, fields, hash: hash("sha1", fields, "base64") };
}

export function problemNews(error: ApiError): News {
  const { text, additionalDescription, variables } = error.body().requestError.serviceException;
  const problem = { problem: additionalDescription ?? text, status: error.kind.status, fields: variables ?? [] };
  return newsOf("problem", JSON.stringify(problem).slice(1, -1));
}

function tooLarge(): ApiError {
  return new ApiError("badRequest", `The answer has more than ${MAX_ANSWER_OCTETS} octets: ask for less of it.`);
}
