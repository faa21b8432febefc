/**
 * Fetches receipts or messages from phones, where a provider cannot call us: either all that is new, page by page, or one message after the other that
 * waits for its receipt. What was fetched is safe before the next is asked for.
 */
import type { IncomingPart } from "../../message/incoming.ts";
import { isReservedId, type Receipt } from "../../message/receipt.ts";
import { type Clock, Interval, within } from "../../runtime/clock.ts";
import type { Called, Calls } from "./calls.ts";
import type { Description, PollDescription } from "./description.ts";
import { textAt } from "./paths.ts";
import { readIncoming, readReceipts } from "./reading.ts";

export interface PollerParts {
  readonly clock: Clock;
  readonly calls: Calls;
  readonly hasCallbacks: boolean;
  /** How often to ask, in place of what the description says. */
  readonly everySeconds: number | undefined;
  readonly onReceipt: (receipt: Receipt) => Promise<void>;
  readonly onIncoming: (part: IncomingPart) => Promise<void>;
  readonly onProblem: (says: string) => void;
}

const EVERY_SECONDS = 5;
/** Pages of one round: what is left comes with the next. */
const MAX_PAGES = 20;
/** Messages that are asked for one by one: the oldest is forgotten beyond it, and ends as what no receipt came for. */
const MAX_AWAITED = 100_000;
/** Calls of a round; of these at a time, and unless it is said in a second. */
const EACH_ROUND = 1_000;
const AT_ONCE = 10;
/** A message is asked for the more rarely the longer it waits: after an eighth of that time, and after five minutes at most. */
const PATIENCE = 8;
const MAX_WAIT_MS = 300_000;
const FINAL = new Set<Receipt["outcome"]>(["delivered", "undeliverable", "rejected", "expired", "lost"]);
/** Answers that are about us, or about the provider, and not about what was asked for. */
const OF_PROVIDER = new Set([401, 403, 408, 429]);

/** A message that waits for its receipt: since when, until when, and when it is asked for again. */
interface Awaited {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly nextMs: number;
}

/** Keeps what an answer says, and gives the receipts in it. */
type Take = (data: unknown) => Promise<readonly Receipt[]>;

export class Poller {
  readonly #poll: PollDescription;
  readonly #parts: PollerParts;
  readonly #take: Take;
  /** By their ids; those asked for longest ago first. */
  readonly #awaited = new Map<string, Awaited>();
  readonly #everyMs: number;
  #timer: Interval | null = null;
  #cursor: string | undefined;
  /** Until then it is left alone, after so many rounds in a row that it ended. */
  #restsUntilMs = 0;
  #rests = 0;
  readonly #stopping = Promise.withResolvers<boolean>();

  /** Those that a description needs: none for what the provider calls us with. */
  static of({ receipts, incoming, send }: Description, parts: PollerParts): Poller[] {
    const pollers: Poller[] = [];
    const add = (poll: PollDescription, take: Take) => pollers.push(new Poller(poll, parts, take));
    const isCalled = (way: { readonly callback?: boolean }) => way.callback === true && parts.hasCallbacks;
    // A provider that may say that it will not call is asked for the messages of which it does.
    if (receipts?.poll !== undefined && (!isCalled(receipts) || send?.uncalled !== undefined))
      add(receipts.poll, async (data) => {
        const found = readReceipts({ ...receipts, ...receipts.poll!.reads }, data, parts.clock.now());
        await Promise.all(found.map(parts.onReceipt));
        return found;
      });
    if (incoming?.poll !== undefined && !isCalled(incoming))
      add(incoming.poll, async (data) => {
        const found = readIncoming({ ...incoming, ...incoming.poll!.reads }, data, parts.clock.now());
        await Promise.all(found.map(parts.onIncoming));
        return [];
      });
    return pollers;
  }

  private constructor(poll: PollDescription, parts: PollerParts, take: Take) {
    this.#poll = poll;
    this.#parts = parts;
    this.#take = take;
    this.#everyMs = (parts.everySeconds ?? poll.everySeconds ?? EVERY_SECONDS) * 1_000;
  }

  get asksEach(): boolean {
    return this.#poll.each === true;
  }

  /** A message that the provider has: it is asked for until its last word, or its end. */
  await(id: string, untilMs: number): void {
    // One whose id we never learned can only be told by its phone.
    if (isReservedId(id)) return;
    this.#awaited.set(id, { sinceMs: this.#parts.clock.now(), untilMs, nextMs: 0 });
    if (this.#awaited.size > MAX_AWAITED) this.#awaited.delete(this.#awaited.keys().next().value!);
  }

  start(): void {
    const { clock } = this.#parts;
    this.#timer = new Interval(clock, this.#everyMs, async () => {
      if (clock.monotonic() < this.#restsUntilMs) return;
      const isWell = await (this.asksEach ? this.#askEach() : this.#askAll());
      if (isWell) this.#rests = 0;
    });
  }

  async stop(): Promise<void> {
    this.#stopping.resolve(true);
    await this.#timer?.stop();
  }

  /** One that is busy, does not know us or does not answer is left alone: for as long as it says, and longer each time. Gives whether it is. */
  #rest(called: readonly Called[]): boolean {
    const bad = called.filter(isOfProvider);
    if (bad.length === 0) return false;
    const saidMs = bad.map((each) => (each.kind === "answered" ? (each.retryAfterMs ?? 0) : 0));
    const waitMs = Math.max(...saidMs, Math.min(this.#everyMs * 2 ** this.#rests++, MAX_WAIT_MS));
    this.#restsUntilMs = this.#parts.clock.monotonic() + waitMs;
    return true;
  }

  async #askAll(): Promise<boolean> {
    const { calls } = this.#parts;
    let called = await calls.call({ method: "GET", ...this.#poll }, { cursor: this.#cursor });
    for (let page = 1; this.#isGood(called); page++) {
      await this.#take(called.data);
      const next = textAt(called.data, this.#poll.next);
      if (next === undefined || page >= MAX_PAGES) return true;
      if (!/^(https?:\/\/|\/)/.test(next)) {
        this.#cursor = next;
        return true;
      }
      called = await calls.follow(next);
    }
    this.#rest([called]);
    return false;
  }

  /** A few calls at a time, so many in a second. Gives whether the round came to its end. */
  async #askEach(): Promise<boolean> {
    const { clock } = this.#parts;
    const { most = 1, perSecond = AT_ONCE } = this.#poll;
    const atOnce = Math.min(AT_ONCE, Math.ceil(perSecond));
    const due = this.#due(EACH_ROUND * most);
    for (let from = 0; from < due.length; from += atOnce * most) {
      const endsMs = clock.monotonic() + (atOnce * 1_000) / perSecond;
      const groups = Array.from({ length: atOnce }, (_, at) => due.slice(from + at * most, from + (at + 1) * most));
      const called = await Promise.all(groups.filter(({ length }) => length > 0).map((ids) => this.#ask(ids)));
      if (this.#rest(called)) return false;
      if (from + atOnce * most >= due.length) break;
      if (await within(clock, endsMs - clock.monotonic(), this.#stopping.promise, false)) return false;
    }
    return true;
  }

  /** Those that are to be asked for now; those whose time is over are forgotten. */
  #due(most: number): string[] {
    const nowMs = this.#parts.clock.now();
    const due: string[] = [];
    for (const [id, { untilMs, nextMs }] of this.#awaited) {
      if (untilMs < nowMs) this.#awaited.delete(id);
      else if (nextMs <= nowMs && due.push(id) >= most) break;
    }
    return due;
  }

  /** Asks for messages, which are then the last to be asked for again. */
  async #ask(ids: readonly string[]): Promise<Called> {
    const { clock, calls } = this.#parts;
    const values = { id: ids.join(","), count: ids.length };
    const called = await calls.call({ method: "GET", ...this.#poll }, values);
    const found = this.#isGood(called) ? await this.#take(called.data) : [];
    const ended = found.filter(({ outcome }) => FINAL.has(outcome)).map(({ carrierMessageId }) => carrierMessageId);
    const nowMs = clock.now();
    for (const id of ids) {
      const awaited = this.#awaited.get(id);
      this.#awaited.delete(id);
      // What is said of one that was asked for alone is about that one, whatever it is called there.
      if (awaited === undefined || ended.includes(id) || (ids.length === 1 && ended.length > 0)) continue;
      const nextMs = nowMs + Math.min((nowMs - awaited.sinceMs) / PATIENCE, MAX_WAIT_MS);
      this.#awaited.set(id, { ...awaited, nextMs });
    }
    return called;
  }

  #isGood(called: Called): called is Extract<Called, { kind: "answered" }> {
    if (called.kind === "answered" && called.status < 300) return true;
    this.#parts.onProblem(called.kind === "answered" ? `HTTP ${called.status}` : called.reason);
    return false;
  }
}

function isOfProvider(called: Called): boolean {
  return called.kind !== "answered" || called.status >= 500 || OF_PROVIDER.has(called.status);
}
