/**
 * Group commit. While one transaction commits, the commands that arrive wait, and then share the next one; each caller is answered
 * after the commit that holds its own effects. One flush to disk pays for hundreds of messages.
 *
 *      calls ──▶ waiting ──(next turn of the loop)──▶ engine.run(group) ──▶ answers, and the feed to delivery
 *
 * Accounts take turns, and what is large (a request of many messages, a search) has a transaction of its own, with a group of all that is small
 * between two of them: whatever one account has waiting, another's message waits for one such call at most. While other accounts send, requests of
 * many messages have a share of the time (bulk-share.ts), so that most messages of the others wait for none. What delivery tells of messages has a line of
 * its own, of which a few go along.
 */
import type { Clock } from "../runtime/clock.ts";
import { FairQueue } from "../runtime/fair-queue.ts";
import { BulkShare } from "./bulk-share.ts";
import { COMMAND_MODES, COMMAND_NAMES } from "./modes.ts";
import type { Feed } from "./port/delivery.ts";
import type { Acceptance } from "./port/messages.ts";
import type { CommandName, Store } from "./port/store.ts";

export interface Call {
  readonly command: CommandName;
  readonly input: unknown;
}

export type CallOutcome = { ok: true; value: unknown } | { ok: false; error: unknown };

export interface GroupResult {
  /** One for each call, in order. */
  readonly outcomes: readonly CallOutcome[];
  readonly feed: Feed | null;
}

export interface Engine {
  /** `onHandedOver`: the next group may begin, though this one has not ended. Groups end in the order in which they began. */
  run(calls: readonly Call[], onHandedOver?: () => void): Promise<GroupResult>;
  /** The next group is made ready while one is committed. */
  readonly overlaps?: boolean;
  /** Whether a command has a transaction of its own. */
  ownTransaction?(command: CommandName): boolean;
  /** Runs a command that need not wait for its turn among the others; null if it is not one of those. */
  runConcurrently?(call: Call): Promise<CallOutcome> | null;
  /** For what delivery tells, in lines (told-lines.ts), where that need not wait for what clients ask for. */
  readonly beside?: readonly Engine[];
  /** Does a little of what can wait, when nobody does; true if there is more of it. */
  onIdle?(): boolean;
  /** Does a little of what would make a large call dear, before it; false if there is nothing left. */
  makeRoom?(call: Call): boolean;
}

/** Messages and other commands in one transaction: a bound on how long the first caller of a group waits for the last. */
const MAX_GROUP = 2_000;
/** Where groups overlap, they are a quarter of what waits, if not less than this: what is answered together comes again together, and edge, store and database would take turns. */
const LEAST_OVERLAPPING = 64;
/** Messages of a request that shares a transaction with others. */
const MAX_SHARED = 500;
/**
 * What delivery tells, such as receipts, in one transaction: several for each message that clients send by it, so that they keep pace, but where those
 * are few also few, in a transaction of its own some more. While no client sends, as many as a group has.
 */
const OF_DELIVERY_A_MESSAGE = 3;
const MIN_BESIDE = 16;
const MIN_OF_DELIVERY = 50;
/** Of how many messages groups have had of late, what the next one counts by. */
const FADING = 0.95;
/** How often room is made for a request of many messages before what nobody waits for has its turn; and how often that may be, then it goes. */
const MAX_ROOM_STEPS = 8;
const MAX_DEFERRALS = 200;

/** What clients ask for that may look at very many rows. What changes bulks, and what delivery asks for, stays in its order. */
const SEARCHES: ReadonlySet<CommandName> = new Set([
  ...COMMAND_NAMES.filter((name) => COMMAND_MODES[name] === "search"),
  "fetchIncoming",
  "fetchReports",
]);

/** What a call adds to its group: as much as it has messages, receipts, or whatever it lists. */
function weightOf({ command, input }: Call): number {
  if (command === "accept") return (input as Acceptance).messages.length;
  let weight = 1;
  if (typeof input !== "object" || input === null) return weight;
  for (const value of Object.values(input)) if (Array.isArray(value)) weight = Math.max(weight, value.length);
  return weight;
}

function isLarge(call: Call): boolean {
  return call.command === "accept" ? weightOf(call) > MAX_SHARED : SEARCHES.has(call.command);
}

/** In whose line a call waits. What is no account's own stays in one line, in the order in which it came. */
function lineOf(call: Call): number {
  const { command, input } = call;
  if (command !== "accept" && !isLarge(call)) return NO_ACCOUNT;
  return (input as { accountId?: number | null } | undefined)?.accountId ?? NO_ACCOUNT;
}
const NO_ACCOUNT = 0;

/** Whether somebody waits for the answer to a call, or it only has to be done soon. */
export type Urgency = "awaited" | "soon";
/** Who calls. What delivery tells stays in its order, and clients do not wait for all of it. */
export type Caller = "clients" | "delivery";

/**
 * How long a group waits at least after the one before it began, by the most urgent call in it; one with an awaited call, after the one before it
 * that had one. A transaction and its flush cost as much for one message as for ten, so under load larger groups leave more of the machine for the
 * messages; what comes after a quiet moment waits for nothing.
 */
export interface GroupPause {
  readonly clock: Clock;
  readonly ms: Readonly<Record<Urgency, number>>;
}

/** Has an engine run a group, and may measure that. */
export interface GroupRunner {
  run(engine: Pick<Engine, "run">, calls: readonly Call[], onHandedOver: () => void): Promise<GroupResult>;
}
const STRAIGHT: GroupRunner = { run: (engine, calls, onHandedOver) => engine.run(calls, onHandedOver) };

interface Waiting {
  readonly call: Call;
  readonly answer: (outcome: CallOutcome) => void;
  readonly urgency: Urgency;
}

export class GroupCommit {
  readonly #engine: Engine;
  readonly #runner: GroupRunner;
  readonly #onFeed: (feed: Feed) => void;
  readonly #pause: GroupPause | null;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #ofDelivery = new FairQueue<Waiting>();
  /** What is large: requests of many messages, and searches. */
  readonly #bulks = new FairQueue<Waiting>();
  readonly #searches = new FairQueue<Waiting>();
  readonly #share: BulkShare | null;
  /** Of all that wait those that somebody waits for; of those the large ones. */
  #awaited = 0;
  #awaitedLarge = 0;
  /** The last transaction was a group, so that it is the turn of a large call; the last of those was a search. */
  #isTurnOfLarge = false;
  #wasSearch = false;
  /** Where the last transaction was of one call that has its own; null if it was not. */
  #lastOwn: FairQueue<Waiting> | null = null;
  /** How many messages groups have had of late, rather too many. */
  #weightOfLate = 0;
  #hasRoom = true;
  #deferrals = 0;
  /** A turn is under way, or about to be. */
  #busy: Promise<void> | null = null;
  /** Resolves when the last group that began has been answered. */
  #answered: Promise<void> = Promise.resolve();
  #idling = false;
  #nextAtMs: Record<Urgency, number> = { awaited: 0, soon: 0 };
  /** Ends the pause; null while there is none. */
  #wake: (() => void) | null = null;
  /** The pause is for a request of many messages alone: whatever comes ends it. */
  #sleepsForBulk = false;

  constructor(engine: Engine, onFeed: (feed: Feed) => void, pause: GroupPause | null = null, runner = STRAIGHT) {
    this.#engine = engine;
    this.#runner = runner;
    this.#onFeed = onFeed;
    this.#pause = pause;
    this.#share = pause === null ? null : new BulkShare(pause.clock);
  }

  add(
    call: Call,
    answer: (outcome: CallOutcome) => void,
    urgency: Urgency = "awaited",
    caller: Caller = "clients",
  ): void {
    const beside = this.#engine.runConcurrently?.(call) ?? null;
    if (beside !== null) {
      beside.then(answer, (error: unknown) => answer({ ok: false, error }));
      return;
    }
    const account = lineOf(call);
    const line = caller === "delivery" ? this.#ofDelivery : this.#lineFor(call);
    line.push(account, { call, answer, urgency });
    if (call.command === "accept" && !isLarge(call)) this.#share?.sent(account);
    if (urgency === "awaited") this.#count(call, 1);
    this.#busy ??= this.#commitAll();
    if (urgency === "awaited" || this.#sleepsForBulk) this.#wake?.();
  }

  /** How many wait that share a transaction. */
  get #small(): number {
    return this.#waiting.size + this.#ofDelivery.size;
  }

  get #all(): number {
    return this.#small + this.#bulks.size + this.#searches.size;
  }

  #lineFor(call: Call): FairQueue<Waiting> {
    if (!isLarge(call)) return this.#waiting;
    return SEARCHES.has(call.command) ? this.#searches : this.#bulks;
  }

  /** Resolves when all that was asked for so far is answered. */
  async settled(): Promise<void> {
    for (let last: Promise<void> | null = null; last !== this.#answered; ) {
      while (this.#busy !== null) await this.#busy;
      last = this.#answered;
      await last;
    }
  }

  async #commitAll(): Promise<void> {
    do {
      await this.#gather();
      await this.#makeRoom();
      await this.#commit();
    } while (this.#all > 0);
    this.#busy = null;
    this.#onIdle();
  }

  /** For a large request: a step, and more as long as nobody waits for anything else. */
  async #makeRoom(): Promise<void> {
    this.#hasRoom = true;
    const large = this.#lineOfLarge?.first;
    if (large === undefined || this.#engine.makeRoom === undefined) return;
    for (let step = 0; step < MAX_ROOM_STEPS; step++) {
      if (!this.#engine.makeRoom(large.call)) return;
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.#awaited > this.#awaitedLarge) break;
    }
    this.#hasRoom = ++this.#deferrals > MAX_DEFERRALS;
  }

  /** To be called now and then, where it may be that nobody calls anything for long: what can wait is done all the same. */
  seeToWhatWaits(): void {
    if (this.#busy === null) this.#onIdle();
  }

  #onIdle(): void {
    if (this.#idling || this.#engine.onIdle === undefined) return;
    this.#idling = true;
    setImmediate(() => {
      this.#idling = false;
      if (this.#busy === null && this.#engine.onIdle!()) this.#onIdle();
    });
  }

  /** What arrives in this turn of the loop goes along, and soon after another group what arrives in the next moment too. */
  async #gather(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    // The answers of the group before have gone by now.
    if (this.#waitMs() >= 1) this.#engine.onIdle?.();
    while (this.#waitMs() >= 1) await this.#sleep(this.#waitMs());
    this.#sleepsForBulk = true;
    while (this.#small + this.#searches.size === 0 && this.#bulkWaitMs >= 1) {
      // Room for it is made meanwhile.
      if (this.#engine.makeRoom?.(this.#bulks.first!.call) === true)
        await new Promise<void>((resolve) => setImmediate(resolve));
      else await this.#sleep(this.#bulkWaitMs);
    }
    this.#sleepsForBulk = false;
  }

  /** Until the next request of many messages may go. */
  get #bulkWaitMs(): number {
    const { first } = this.#bulks;
    return first === undefined ? 0 : (this.#share?.waitMs(lineOf(first.call)) ?? 0);
  }

  /** Of what is large, where the next call waits; null where none may go. Searches and requests of many messages take turns. */
  get #lineOfLarge(): FairQueue<Waiting> | null {
    const isBulkReady = this.#bulks.size > 0 && this.#bulkWaitMs < 1;
    if (isBulkReady && (this.#wasSearch || this.#searches.size === 0)) return this.#bulks;
    return this.#searches.size > 0 ? this.#searches : null;
  }

  /** A group begins. */
  #begun(group: readonly Waiting[]): void {
    let isAwaited = false;
    for (const { call, urgency } of group) {
      if (urgency !== "awaited") continue;
      isAwaited = true;
      this.#count(call, -1);
    }
    if (this.#pause === null) return;
    const { clock, ms } = this.#pause;
    const nowMs = clock.monotonic();
    this.#nextAtMs.soon = nowMs + ms.soon;
    if (isAwaited) this.#nextAtMs.awaited = nowMs + ms.awaited;
  }

  #count(call: Call, more: number): void {
    this.#awaited += more;
    if (isLarge(call)) this.#awaitedLarge += more;
  }

  #waitMs(): number {
    if (this.#pause === null) return 0;
    return this.#nextAtMs[this.#awaited > 0 ? "awaited" : "soon"] - this.#pause.clock.monotonic();
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#pause!.clock.after(ms, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wake = null;
  }

  /** Never rejects: whatever happens, everyone gets an answer. */
  async #run(calls: readonly Call[], onHandedOver: () => void): Promise<GroupResult> {
    try {
      return await this.#runner.run(this.#engine, calls, onHandedOver);
    } catch (error) {
      return { outcomes: calls.map(() => ({ ok: false, error })), feed: null };
    }
  }

  /** What goes next: a large request, if it is its turn and there is room for it, or whatever shares a transaction, which may be nothing. */
  #take(): Waiting[] {
    const isTurnOfLarge = this.#hasRoom && (this.#isTurnOfLarge || this.#small === 0);
    const line = isTurnOfLarge ? this.#lineOfLarge : null;
    this.#isTurnOfLarge = line === null;
    if (line === null) return this.#takeShared();
    this.#wasSearch = line === this.#searches;
    this.#deferrals = 0;
    return [line.shift()!];
  }

  /** What clients wait for, and beside it some of what delivery tells. */
  #takeShared(): Waiting[] {
    const own = this.#lineOfOwn();
    this.#lastOwn = own;
    if (own !== null) return [own.shift()!];
    const group: Waiting[] = [];
    const weight = this.#takeInto(group, this.#waiting, this.#mostOfClients);
    this.#weightOfLate = Math.max(weight, this.#weightOfLate * FADING);
    this.#takeInto(group, this.#ofDelivery, this.#mostOfDelivery(weight));
    return group;
  }

  get #mostOfClients(): number {
    if (this.#engine.overlaps !== true) return MAX_GROUP;
    return Math.min(MAX_GROUP, Math.max(LEAST_OVERLAPPING, this.#waiting.size >> 2));
  }

  #mostOfDelivery(weight: number): number {
    if (weight === 0 && this.#share?.isQuiet !== false) return MAX_GROUP;
    const least = weight === 0 ? MIN_OF_DELIVERY : MIN_BESIDE;
    return Math.min(MAX_GROUP, Math.max(least, this.#weightOfLate * OF_DELIVERY_A_MESSAGE));
  }

  /** Where the next call is one that has a transaction of its own, if it is the turn of such; null where not. After one of them the others go. */
  #lineOfOwn(): FairQueue<Waiting> | null {
    const isOwn = (line: FairQueue<Waiting>): boolean => line.first !== undefined && this.#isOwn(line.first);
    const own = [this.#waiting, this.#ofDelivery].filter(isOwn);
    const areOthers = own.length < 2 && this.#small > own.reduce((sum, { size }) => sum + size, 0);
    if (this.#lastOwn !== null && areOthers) return null;
    return own.find((line) => line !== this.#lastOwn) ?? own[0] ?? null;
  }

  #isOwn({ call }: Waiting): boolean {
    return this.#engine.ownTransaction?.(call.command) === true;
  }

  /** Adds the first of a line, up to one that has a transaction of its own. Returns how much that is. */
  #takeInto(group: Waiting[], line: FairQueue<Waiting>, most: number): number {
    let weight = 0;
    for (let next = line.first; next !== undefined && weight < most; next = line.first) {
      if (this.#isOwn(next)) break;
      group.push(line.shift()!);
      weight += weightOf(next.call);
    }
    return weight;
  }

  /** Resolves when the next group may begin. */
  #commit(): Promise<void> {
    const group = this.#take();
    if (group.length === 0) return Promise.resolve();
    this.#begun(group);
    return new Promise((handedOver) => {
      this.#answered = this.#commitGroup(group, handedOver).then(handedOver);
    });
  }

  async #commitGroup(group: readonly Waiting[], onHandedOver: () => void): Promise<void> {
    const isBulk = group[0]!.call.command === "accept" && isLarge(group[0]!.call);
    const ended = isBulk ? this.#share?.begun() : undefined;
    const calls = group.map(({ call }) => call);
    const { outcomes, feed } = await this.#run(calls, onHandedOver);
    ended?.();
    // The feed first: whoever hears of an acceptance may count on its messages being on their way.
    if (feed !== null) this.#onFeed(feed);
    group.forEach(({ answer }, index) => {
      answer(outcomes[index]!);
    });
  }
}

/** How a command reaches its engine: straight, or over a channel to another thread. */
export type SendCall = (call: Call) => Promise<unknown>;

/** The store port over any way of sending commands. */
export function storeOver(send: SendCall): Store {
  const command = (name: CommandName) => (input: unknown) => send({ command: name, input });
  return Object.fromEntries(COMMAND_NAMES.map((name) => [name, command(name)])) as unknown as Store;
}

/** The store on this very thread: for tests and for the command line. */
export function localStore(engine: Engine, onFeed: (feed: Feed) => void): Store {
  return storeOver(callsOf(new GroupCommit(engine, onFeed)));
}

export function callsOf(group: GroupCommit, urgency?: Urgency, caller?: Caller): SendCall {
  return (call) =>
    new Promise((resolve, reject) => {
      const answer = (outcome: CallOutcome): void => {
        if (outcome.ok) resolve(outcome.value);
        else reject(outcome.error);
      };
      group.add(call, answer, urgency, caller);
    });
}

/** One command of a group is bad: each runs on its own, so that only the bad ones fail. */
export async function runEach(engine: Pick<Engine, "run">, calls: readonly Call[]): Promise<GroupResult> {
  const outcomes: CallOutcome[] = [];
  let feed: Feed | null = null;
  for (const call of calls) {
    const result = await engine.run([call]);
    outcomes.push(...result.outcomes);
    feed = joinFeeds(feed, result.feed);
  }
  return { outcomes, feed };
}

export function joinFeeds(first: Feed | null, second: Feed | null): Feed | null {
  if (first === null || second === null) return first ?? second;
  const dueTimes = [first.earliestDueAtMs, second.earliestDueAtMs].filter((atMs) => atMs !== null);
  const reportsWait = first.reportsWait === true || second.reportsWait === true;
  return {
    messages: [...first.messages, ...second.messages],
    reports: [...first.reports, ...second.reports],
    overflowed: [...first.overflowed, ...second.overflowed],
    earliestDueAtMs: dueTimes.length === 0 ? null : Math.min(...dueTimes),
    ...(reportsWait ? { reportsWait } : {}),
  };
}
