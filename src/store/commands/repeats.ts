/**
 * Receipts that come again: the carrier did not hear that we had the first, or we died between the commit and the answer. When the last word about a
 * part has come its row goes, so nothing would match the second. So every commit writes down the receipts that it applied, as one row of short names.
 * Nobody reads these rows until a receipt matches nothing; then what was written since the last look, by whichever node, goes into a set in memory.
 *
 * A name is made of the carrier, its id, the phone and the outcome: a carrier may use an id again, for another phone. A receipt without an id has
 * no name, because the next one for its phone would be the same. The rows and the set are bounded by age and number; whatever is beyond is parked
 * like any other receipt that matches nothing.
 *
 * A carrier may also use an id again for the same phone, and then a receipt with a known name is the first of a new message. If it comes before
 * the answer to that message's submit, nothing tells it from a repeat. So repeats are parked too, marked as such: nobody sees them, and they go
 * after a few minutes, or when they are too many.
 */
import type { Receipt } from "../../carriers/port.ts";
import type { Sql } from "../sql.ts";
import type { Unit } from "../unit.ts";

/** How long a receipt is remembered at most. */
export const MAX_REPEAT_AGE_MS = 24 * 3_600_000;
/** Rows that are kept, one for each commit with receipts, and names in all of them. */
export const MAX_SETTLED_ROWS = 20_000;
export const MAX_SETTLED_NAMES = 300_000;
/** So long a receipt that came again waits for a message: longer than the answer to a submit is waited for. And so many wait. */
export const MAX_REPEAT_WAIT_MS = 5 * 60_000;
export const MAX_PARKED_REPEATS = 10_000;
/** Rows of two nodes need not be seen in the order of their ids: those that are younger than this at a look are read again at the next. */
const COMMIT_MS = 2_000;
const PAGE_ROWS = 500;

interface SettledRow {
  readonly id: number;
  readonly atMs: number;
  readonly names: string;
}

export class Repeats {
  readonly #unit: () => Unit;
  readonly #now: () => number;
  readonly #after;
  readonly #last;
  /** Up to here all rows have been read. */
  #readTo: number | null = null;
  /** The younger half of what is remembered, and the older, which goes when the younger is full or old. */
  #names = new Set<number>();
  #older = new Set<number>();
  #begunMs = 0;

  constructor(sql: Sql, unit: () => Unit, now: () => number) {
    this.#unit = unit;
    this.#now = now;
    this.#after = sql.prepare<[number, number], SettledRow>(
      `SELECT id, at_ms AS "atMs", names FROM settled_receipt WHERE id > ? ORDER BY id LIMIT ?`,
    );
    this.#last = sql.prepare<[], { id: number | null }>("SELECT max(id) AS id FROM settled_receipt");
  }

  /** The receipt has been applied, if this commit goes through. */
  note(carrierId: string, receipt: Receipt): void {
    if (receipt.carrierMessageId !== "") this.#unit().settled.add(nameOf(carrierId, receipt));
  }

  /** Reads what was written since the last look. */
  async look(): Promise<void> {
    const nowMs = this.#now();
    this.#readTo ??= Math.max(0, ((await this.#last.get())?.id ?? 0) - MAX_SETTLED_ROWS);
    for (let after = this.#readTo; ; ) {
      const rows = await this.#after.all(after, PAGE_ROWS);
      for (const { id, atMs, names } of rows) {
        after = id;
        const ageMs = Math.abs(nowMs - atMs);
        if (ageMs >= COMMIT_MS) this.#readTo = id;
        if (ageMs <= MAX_REPEAT_AGE_MS) for (const name of names.split(" ")) this.#remember(Number(name), nowMs);
      }
      if (rows.length < PAGE_ROWS) return;
    }
  }

  /** Whether it was applied before, as of the last look. */
  has(carrierId: string, receipt: Receipt): boolean {
    if (receipt.carrierMessageId === "") return false;
    const name = nameOf(carrierId, receipt);
    return this.#names.has(name) || this.#older.has(name) || this.#unit().settled.has(name);
  }

  #remember(name: number, nowMs: number): void {
    const isOld = Math.abs(nowMs - this.#begunMs) >= MAX_REPEAT_AGE_MS / 2;
    if (isOld || this.#names.size >= MAX_SETTLED_NAMES / 2) {
      this.#older = this.#names;
      this.#names = new Set();
      this.#begunMs = nowMs;
    }
    this.#names.add(name);
  }
}

/** The row of a unit: what it applied. */
export function settledRow(unit: Unit): { names: string; count: number } | null {
  return unit.settled.size === 0 ? null : { names: [...unit.settled].join(" "), count: unit.settled.size };
}

/** Where the hash of a carrier's receipts with one outcome begins: the same for thousands of them. */
const SEEDS = new Map<string, Map<Receipt["outcome"], readonly [high: number, low: number]>>();

function seedOf(carrierId: string, outcome: Receipt["outcome"]): readonly [high: number, low: number] {
  let ofCarrier = SEEDS.get(carrierId);
  if (ofCarrier === undefined) {
    ofCarrier = new Map();
    SEEDS.set(carrierId, ofCarrier);
  }
  let seed = ofCarrier.get(outcome);
  if (seed === undefined) {
    seed = mixed([0xdeadbeef, 0x41c6ce57], `${carrierId}\n${outcome}\n`);
    ofCarrier.set(outcome, seed);
  }
  return seed;
}

/** cyrb53: two multiplicative hashes, whose last bits are mixed in the end. */
function mixed(from: readonly [high: number, low: number], text: string): [high: number, low: number] {
  let [high, low] = from;
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  return [high, low];
}

/** Names are hashes of 53 bits: of 300,000 names one in 3e10 receipts is taken for another. Numbers, for to write them to base 36 takes longer than all the rest. */
function nameOf(carrierId: string, { carrierMessageId, to, outcome }: Receipt): number {
  let [high, low] = mixed(seedOf(carrierId, outcome), `${carrierMessageId}\n${to ?? ""}`);
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (low & 0x1fffff) + (high >>> 0);
}
