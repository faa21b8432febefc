/**
 * Fetches receipts or messages from phones, where a provider cannot call us: either all that is new, page by page, or one message after the other that
 * waits for its receipt. What was fetched is safe before the next is asked for.
 */
import type { IncomingPart } from "../../message/incoming.ts";
import { isReservedId, type Receipt } from "../../message/receipt.ts";
import { type Clock, Interval } from "../../runtime/clock.ts";
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
/** Of those in a round, and of these at a time. */
const EACH_ROUND = 1_000;
const AT_ONCE = 10;
const FINAL = new Set<Receipt["outcome"]>(["delivered", "undeliverable", "rejected", "expired"]);

/** Keeps what an answer says, and gives the receipts in it. */
type Take = (data: unknown) => Promise<readonly Receipt[]>;

export class Poller {
  readonly #poll: PollDescription;
  readonly #parts: PollerParts;
  readonly #take: Take;
  /** Ids that wait, with when that ends; those asked for longest ago first. */
  readonly #awaited = new Map<string, number>();
  #timer: Interval | null = null;
  #cursor: string | undefined;
  #isStopped = false;

  /** Those that a description needs: none for what the provider calls us with. */
  static of({ receipts, incoming }: Description, parts: PollerParts): Poller[] {
    const pollers: Poller[] = [];
    const isCalled = (way: { readonly callback?: boolean }) => way.callback === true && parts.hasCallbacks;
    if (receipts?.poll !== undefined && !isCalled(receipts))
      pollers.push(
        new Poller(receipts.poll, parts, async (data) => {
          const found = readReceipts({ ...receipts, ...receipts.poll!.reads }, data, parts.clock.now());
          await Promise.all(found.map(parts.onReceipt));
          return found;
        }),
      );
    if (incoming?.poll !== undefined && !isCalled(incoming))
      pollers.push(
        new Poller(incoming.poll, parts, async (data) => {
          const found = readIncoming({ ...incoming, ...incoming.poll!.reads }, data, parts.clock.now());
          await Promise.all(found.map(parts.onIncoming));
          return [];
        }),
      );
    return pollers;
  }

  private constructor(poll: PollDescription, parts: PollerParts, take: Take) {
    this.#poll = poll;
    this.#parts = parts;
    this.#take = take;
  }

  get asksEach(): boolean {
    return this.#poll.each === true;
  }

  /** A message that the provider has: it is asked for until its last word, or its end. */
  await(id: string, untilMs: number): void {
    // One whose id we never learned can only be told by its phone.
    if (isReservedId(id)) return;
    this.#awaited.set(id, untilMs);
    if (this.#awaited.size > MAX_AWAITED) this.#awaited.delete(this.#awaited.keys().next().value!);
  }

  start(): void {
    const everyMs = (this.#parts.everySeconds ?? this.#poll.everySeconds ?? EVERY_SECONDS) * 1_000;
    this.#timer = new Interval(this.#parts.clock, everyMs, () => (this.asksEach ? this.#askEach() : this.#askAll()));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#timer?.stop();
  }

  async #askAll(): Promise<void> {
    const { calls } = this.#parts;
    let called = await calls.call({ method: "GET", ...this.#poll }, { cursor: this.#cursor });
    for (let page = 1; ; page++) {
      if (!this.#isGood(called)) return;
      await this.#take(called.data);
      const next = textAt(called.data, this.#poll.next);
      if (next === undefined || page >= MAX_PAGES) return;
      if (/^(https?:\/\/|\/)/.test(next)) called = await calls.follow(next);
      else {
        this.#cursor = next;
        return;
      }
    }
  }

  /** A provider that does not answer is asked again with the next round. */
  async #askEach(): Promise<void> {
    const round = [...this.#awaited.keys()].slice(0, EACH_ROUND);
    for (let from = 0; from < round.length; from += AT_ONCE) {
      const answered = await Promise.all(round.slice(from, from + AT_ONCE).map((id) => this.#ask(id)));
      if (answered.includes(false) || this.#isStopped) return;
    }
  }

  /** Asks for one message, which is then the last to be asked for again. Gives whether there was an answer. */
  async #ask(id: string): Promise<boolean> {
    const { clock, calls } = this.#parts;
    const untilMs = this.#awaited.get(id);
    this.#awaited.delete(id);
    if (untilMs === undefined || untilMs < clock.now()) return true;
    const called = await calls.call({ method: "GET", ...this.#poll }, { id });
    const found = this.#isGood(called) ? await this.#take(called.data) : [];
    if (!found.some(({ outcome }) => FINAL.has(outcome))) this.#awaited.set(id, untilMs);
    return called.kind === "answered";
  }

  #isGood(called: Called): called is Extract<Called, { kind: "answered" }> {
    if (called.kind === "answered" && called.status < 300) return true;
    this.#parts.onProblem(called.kind === "answered" ? `HTTP ${called.status}` : called.reason);
    return false;
  }
}
