/**
 * What happened to accounts, added up by spans of time (steps: hours or days), for pages that are looked at again and again. What is settled does not
 * change any more, so every row is looked at once, and what it came to is kept in memory:
 *
 *      ◀── back, as far as anybody has asked for ──┤ kept ├── on, as time goes by ──▶ ┆ not settled yet ┆ now
 *
 * A look reads a bounded number of rows, however many there are: first what has come since the look before, then some more of the past. Until it has
 * reached the beginning of what was asked for it says how far it is. What is not settled is read with each look, and not kept.
 *
 * A row may still come late: a transaction that waited for long has a time that was settled before it was committed. Where there is a balance, such a
 * row shows: what the balance was below everything that is kept does not change, whatever comes later. If it seems to have changed, what is kept is
 * thrown away and read anew, within the bounds of a look. Where there is none, everything is read anew from time to time.
 */
import { type BoundedCache, sizedCache } from "../../runtime/cache.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Mutex } from "../mutex.ts";

export interface Walk<Position> {
  readonly accountId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly after: Position | null;
  readonly newestFirst: boolean;
  readonly limit: number;
  readonly stepMs: number;
}

export interface RunningTotalsOptions<Total, Position> {
  readonly clock: Clock;
  readonly stepMs: number;
  /** A row is in the store this soon after its time. */
  readonly settledMs: number;
  /** Steps that are kept of an account; nobody asks for more. */
  readonly maxSteps: number;
  /** Within so long of a look its answer is given again; 0 unless given. */
  readonly everyMs?: number;
  readonly page: (walk: Walk<Position>) => Promise<{ totals: readonly Total[]; next: Position | null }>;
  /** Totals of one step and one name are one. */
  readonly nameOf: (total: Total) => string;
  readonly add: (one: Total, other: Total) => Total;
  /** What all rows of an account come to, and what some of them do. */
  readonly audit?: {
    readonly balance: (accountId: number) => Promise<bigint>;
    readonly amountOf: (total: Total) => bigint;
  };
  /** What is kept is read anew so long after it was begun; never unless given. */
  readonly renewMs?: number;
}

export interface Totals<Total> {
  readonly totals: readonly Total[];
  /** From here on it is all there: the beginning of a step. */
  readonly sinceMs: number;
  /** Whether that is as far back as was asked for, and up to now, and agrees with the balance. */
  readonly complete: boolean;
  /** The balance when the last row was read; null where there is none. */
  readonly balance: bigint | null;
}

/** Rows that one command of the store looks at: others wait for it. A thousand take SQLite some 2 ms. */
const PAGE_ROWS = 1_000;
/** Pages of one look, and of what is not settled as many as that again. */
const PAGES_A_LOOK = 20;
/** Totals that are kept, of all accounts together: some 20 MB. */
const MAX_KEPT = 100_000;
/** Looks at the balance of which two after each other should be the same. */
const MAX_TRIES = 4;

interface Kept<Total, Position> {
  readonly sums: Map<string, Total>;
  /** Up to here all is kept; where a look ran out of pages, behind this row. */
  topMs: number;
  topAfter: Position | null;
  /** Down to here, likewise. */
  bottomMs: number;
  bottomAfter: Position | null;
  /** The balance there; null while it is not known. */
  base: bigint | null;
  /** When it was begun, on the monotonic clock. */
  readonly begunMs: number;
  answer: { readonly totals: Totals<Total>; readonly askedMs: number; readonly atMs: number } | null;
}

interface Seen<Total> {
  readonly sums: ReadonlyMap<string, Total>;
  readonly upToNow: boolean;
  /** It does not agree with the balance. */
  readonly isWrong: boolean;
  readonly balance: bigint | null;
}

export class RunningTotals<Total extends { readonly startMs: number }, Position extends { readonly atMs: number }> {
  readonly #options: RunningTotalsOptions<Total, Position>;
  readonly #kept: BoundedCache<number, Kept<Total, Position>> = sizedCache(MAX_KEPT, ({ sums }) => sums.size + 1);
  /** Of all looks one is under way, so that no row is counted twice, and the store has one page to find at a time. */
  readonly #mutex = new Mutex();

  constructor(options: RunningTotalsOptions<Total, Position>) {
    this.#options = options;
  }

  /** What there is since the beginning of a step. */
  read(accountId: number, sinceMs: number): Promise<Totals<Total>> {
    return this.#mutex.take(() => this.#look(accountId, sinceMs), accountId);
  }

  async #look(accountId: number, sinceMs: number): Promise<Totals<Total>> {
    const { clock, settledMs, everyMs = 0 } = this.#options;
    const nowMs = clock.now();
    const settled = nowMs - settledMs;
    let kept = this.#keptOf(accountId, nowMs, settled);
    const { answer } = kept;
    if (answer !== null && answer.askedMs === sinceMs && clock.monotonic() - answer.atMs < everyMs)
      return answer.totals;
    try {
      const begun = { accountId, sinceMs, settled };
      let seen = await this.#walk(begun, kept, PAGES_A_LOOK);
      if (seen.isWrong) {
        kept = this.#begin(settled);
        seen = await this.#walk(begun, kept, PAGES_A_LOOK);
      }
      const wholeMs = this.#wholeSince(kept);
      const totals = {
        totals: [...seen.sums.values()].filter(({ startMs }) => startMs >= Math.max(sinceMs, wholeMs)),
        sinceMs: Math.max(sinceMs, wholeMs),
        complete: seen.upToNow && wholeMs <= sinceMs,
        balance: seen.balance,
      };
      kept.answer = { totals, askedMs: sinceMs, atMs: clock.monotonic() };
      return totals;
    } finally {
      this.#drop(kept, nowMs);
      // As another object: only then the cache looks at its size again.
      this.#kept.set(accountId, { ...kept });
    }
  }

  #keptOf(accountId: number, nowMs: number, settled: number): Kept<Total, Position> {
    const { clock, audit, renewMs = Number.POSITIVE_INFINITY } = this.#options;
    const known = this.#kept.get(accountId);
    if (known === undefined || clock.monotonic() - known.begunMs >= renewMs) return this.#begin(settled);
    // Money moved all the time when it was begun, so nothing says whether it is right.
    if (audit !== undefined && known.base === null) return this.#begin(settled);
    // The clock may have been set back: then what comes now lies before what is kept.
    return known.topMs <= nowMs ? known : this.#begin(settled);
  }

  #begin(settled: number): Kept<Total, Position> {
    const begunMs = this.#options.clock.monotonic();
    const edges = { topMs: settled, topAfter: null, bottomMs: settled, bottomAfter: null };
    return { sums: new Map(), ...edges, base: null, begunMs, answer: null };
  }

  async #walk(
    { accountId, sinceMs, settled }: { accountId: number; sinceMs: number; settled: number },
    kept: Kept<Total, Position>,
    pages: number,
  ): Promise<Seen<Total>> {
    const left = await this.#goOn(accountId, kept, settled, pages);
    if (left === 0) return { sums: kept.sums, upToNow: false, isWrong: false, balance: await this.#balance(accountId) };
    // What the balance was below is known before anything else is read, so that nothing comes in between unseen.
    if (kept.base === null) kept.base = (await this.#toNow(accountId, kept)).base;
    await this.#goBack(accountId, kept, sinceMs, left);
    const { sums, isAll, base, balance } = await this.#toNow(accountId, kept);
    const agrees = base !== null && base === kept.base;
    const isAudited = this.#options.audit !== undefined;
    return {
      sums,
      upToNow: isAll && (agrees || !isAudited),
      isWrong: isAudited && base !== null && !agrees,
      balance,
    };
  }

  async #balance(accountId: number): Promise<bigint | null> {
    return (await this.#options.audit?.balance(accountId)) ?? null;
  }

  /** What is kept with what is not settled, the balance of that moment, and what it was below; null where it moves all the time. */
  async #toNow(accountId: number, kept: Kept<Total, Position>) {
    let before = await this.#balance(accountId);
    for (let tries = 1; ; tries++) {
      const sums = new Map(kept.sums);
      const isAll = await this.#addUnsettled(accountId, sums, kept.topMs);
      const balance = await this.#balance(accountId);
      const isSteady = balance !== null && balance === before && isAll;
      const base = isSteady ? balance - this.#amountOf(sums.values()) : null;
      if (isSteady || balance === null || !isAll || tries === MAX_TRIES) return { sums, isAll, base, balance };
      before = balance;
    }
  }

  #amountOf(totals: Iterable<Total>): bigint {
    const { audit } = this.#options;
    let amount = 0n;
    if (audit !== undefined) for (const total of totals) amount += audit.amountOf(total);
    return amount;
  }

  /** Adds what has been settled since the look before. Returns how many pages are left. */
  async #goOn(accountId: number, kept: Kept<Total, Position>, untilMs: number, pages: number): Promise<number> {
    let left = pages;
    while (kept.topMs < untilMs && left > 0) {
      const page = await this.#page(accountId, kept.topMs, untilMs, kept.topAfter, false);
      for (const total of page.totals) this.#addTo(kept.sums, total);
      kept.topAfter = page.next;
      if (page.next === null) kept.topMs = untilMs;
      left--;
    }
    return left;
  }

  /** Adds the past, from where the look before ended. */
  async #goBack(accountId: number, kept: Kept<Total, Position>, sinceMs: number, pages: number): Promise<number> {
    let left = pages;
    while (left > 0 && !reaches(kept, sinceMs)) {
      const page = await this.#page(accountId, sinceMs, kept.bottomMs, kept.bottomAfter, true);
      for (const total of page.totals) this.#addTo(kept.sums, total);
      if (kept.base !== null) kept.base -= this.#amountOf(page.totals);
      kept.bottomAfter = page.next;
      if (page.next === null) kept.bottomMs = sinceMs;
      left--;
    }
    return left;
  }

  /** Whether that was all of it. */
  async #addUnsettled(accountId: number, sums: Map<string, Total>, sinceMs: number): Promise<boolean> {
    let after: Position | null = null;
    for (let pages = 0; pages < PAGES_A_LOOK; pages++) {
      const page = await this.#page(accountId, sinceMs, Number.MAX_SAFE_INTEGER, after, false);
      for (const total of page.totals) this.#addTo(sums, total);
      if (page.next === null) return true;
      after = page.next;
    }
    return false;
  }

  #page(accountId: number, sinceMs: number, untilMs: number, after: Position | null, newestFirst: boolean) {
    const { stepMs, page } = this.#options;
    return page({ accountId, sinceMs, untilMs, after, newestFirst, limit: PAGE_ROWS, stepMs });
  }

  #addTo(sums: Map<string, Total>, total: Total): void {
    const { nameOf, add } = this.#options;
    const name = `${total.startMs} ${nameOf(total)}`;
    const known = sums.get(name);
    sums.set(name, known === undefined ? total : add(known, total));
  }

  /** The first step of which nothing is missing. */
  #wholeSince({ bottomMs, bottomAfter }: Kept<Total, Position>): number {
    const { stepMs } = this.#options;
    const fromMs = bottomAfter === null ? bottomMs : bottomAfter.atMs + 1;
    return Math.ceil(fromMs / stepMs) * stepMs;
  }

  /** Drops steps that nobody asks for any more. */
  #drop(kept: Kept<Total, Position>, nowMs: number): void {
    const { stepMs, maxSteps } = this.#options;
    const firstMs = (Math.floor(nowMs / stepMs) - maxSteps) * stepMs;
    if (kept.bottomMs >= firstMs || kept.bottomAfter !== null) return;
    for (const [name, total] of kept.sums) {
      if (total.startMs >= firstMs) continue;
      kept.sums.delete(name);
      if (kept.base !== null) kept.base += this.#amountOf([total]);
    }
    kept.bottomMs = firstMs;
  }
}

/** Whether all since then is kept. Of the milliseconds at which a look ran out of pages some may be missing. */
function reaches({ bottomMs, bottomAfter }: Kept<unknown, { readonly atMs: number }>, sinceMs: number): boolean {
  return bottomAfter === null ? bottomMs <= sinceMs : bottomAfter.atMs < sinceMs;
}
