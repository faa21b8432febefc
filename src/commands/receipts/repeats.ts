/**
 * Receipts that come again: the carrier did not hear that we had the first, or we died between the commit and the answer. When the last word about a
 * part has come its row goes, so nothing would match the second. So every commit writes down the receipts that it applied, as one row of short names.
 * Nobody reads these rows until a receipt matches nothing; then what was written since the last look, by whichever node, goes into memory.
 *
 * A name is made of the carrier, its id and the phone: a carrier may use an id again, for another phone. With it are the outcomes that were told and
 * the message's key, and for people the id as the carrier writes it (message-parts.ts). The same outcome is a repeat. Another is what the carrier says after its last word, and is recorded beside the message. A
 * receipt without an id has no name, because the next one for its phone would be the same. The rows and what is in memory are bounded by age and number;
 * whatever is beyond is parked like any other receipt that matches nothing.
 *
 * A carrier may also use an id again for the same phone, and then a receipt with a known name is the first of a new message. If it comes before
 * the answer to that message's submit, nothing tells it from a repeat. So repeats are parked too, marked as such: nobody sees them, and they go
 * after a few minutes, or when they are too many.
 */
import type { MessageKey } from "../../message/message.ts";
import type { Receipt, ReceiptOutcome } from "../../message/receipt.ts";
import { perKey } from "../../runtime/lazy.ts";
import { NO_KEY, type Settled, settledOf, settledText } from "../../store/settled.ts";
import type { Sql } from "../../store/sql.ts";
import type { Unit } from "../../store/unit.ts";

/** How long a receipt is remembered at most. */
export const MAX_REPEAT_AGE_MS = 24 * 3_600_000;
/** Rows that are kept, one for each commit with receipts, and names in all of them. */
export const MAX_SETTLED_ROWS = 20_000;
export const MAX_SETTLED_NAMES = 300_000;
/** So long a receipt that came again waits for a message: longer than the answer to a submit is waited for. And so many wait. */
export const MAX_REPEAT_WAIT_MS = 5 * 60_000;
export const MAX_PARKED_REPEATS = 10_000;
/**
 * Rows of two nodes need not be seen in the order of their ids. Behind one that is missing, those that are younger than this at a look are read again at
 * the next: it may still be written.
 */
const COMMIT_MS = 2_000;
const PAGE_ROWS = 500;

/** A row has them as numbers: they stay what they are. */
const OUTCOME_BITS: Readonly<Record<ReceiptOutcome, number>> = {
  held: 1,
  delivered: 2,
  undeliverable: 4,
  rejected: 8,
  expired: 16,
  lost: 32,
};
/** A receipt that matches nothing, whose name is known. */
export interface KnownReceipt {
  /** This outcome has been told. */
  readonly isRepeat: boolean;
  /** Some outcome has been told that is final. */
  readonly hasLastWord: boolean;
  /** The message; null if there were several. */
  readonly key: MessageKey | null;
}

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
  /** Rows that were read and will be met again, because they were so young. */
  #seen = new Set<number>();
  /**
   * The younger half of what is remembered, and the older, which goes when the younger is full or old: by name, key and outcomes as they are in the
   * row. Nearly none of them is ever asked for, so nobody takes them apart before.
   */
  #names = new Map<number, string>();
  #older = new Map<number, string>();
  /** Some are as an older version wrote them: with the outcome in the name, and no key. */
  #anyOld = false;
  #begunMs = 0;

  constructor(sql: Sql, unit: () => Unit, now: () => number) {
    this.#unit = unit;
    this.#now = now;
    this.#after = sql.prepare<[number, number], SettledRow>(
      `SELECT id, at_ms AS "atMs", names FROM settled_receipt WHERE id > ? ORDER BY id LIMIT ?`,
    );
    this.#last = sql.prepare<[], { id: number | null }>("SELECT max(id) AS id FROM settled_receipt");
  }

  /** The receipt has been applied to this message, if this commit goes through. */
  note(carrierId: string, receipt: Receipt, key: MessageKey): void {
    if (receipt.carrierMessageId === "") return;
    const { settled } = this.#unit();
    const name = nameOf(carrierId, receipt, "");
    const known = settled.get(name);
    const outcomes = OUTCOME_BITS[receipt.outcome];
    const told = { key, outcomes, id: receipt.carrierMessageId };
    settled.set(name, known === undefined ? told : merged(known, told));
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
        const isNew = !this.#seen.has(id);
        if (ageMs >= COMMIT_MS || id === this.#readTo + 1) {
          this.#readTo = id;
          this.#seen.delete(id);
        } else this.#seen.add(id);
        if (isNew && ageMs <= MAX_REPEAT_AGE_MS) for (const entry of names.split(" ")) this.#remember(entry, nowMs);
      }
      if (rows.length < PAGE_ROWS) return;
    }
  }

  /** What was told under its name before, as of the last look; null if nothing was. */
  find(carrierId: string, receipt: Receipt): KnownReceipt | null {
    if (receipt.carrierMessageId === "") return null;
    const name = nameOf(carrierId, receipt, "");
    const told = [this.#remembered(name), this.#unit().settled.get(name)].filter((settled) => settled !== undefined);
    if (told.length === 0)
      return this.#anyOld && this.#isOld(nameOf(carrierId, receipt, receipt.outcome)) ? OLD_REPEAT : null;
    const { key, outcomes } = told.reduce(merged);
    return {
      isRepeat: (outcomes & OUTCOME_BITS[receipt.outcome]) !== 0,
      hasLastWord: (outcomes & ~OUTCOME_BITS.held) !== 0,
      key: key === NO_KEY ? null : key,
    };
  }

  #isOld(name: number): boolean {
    return this.#names.get(name) === OLD || this.#older.get(name) === OLD;
  }

  #remembered(name: number): Settled | undefined {
    const told = this.#names.get(name) ?? this.#older.get(name);
    return told === undefined ? undefined : settledOf(told);
  }

  #remember(entry: string, nowMs: number): void {
    const isOld = Math.abs(nowMs - this.#begunMs) >= MAX_REPEAT_AGE_MS / 2;
    if (isOld || this.#names.size >= MAX_SETTLED_NAMES / 2) {
      this.#older = this.#names;
      this.#names = new Map();
      this.#begunMs = nowMs;
    }
    const comma = entry.indexOf(",");
    const name = Number(comma < 0 ? entry : entry.slice(0, comma));
    const told = comma < 0 ? OLD : entry.slice(comma + 1);
    this.#anyOld ||= told === OLD;
    const known = this.#names.get(name) ?? this.#older.get(name);
    const isSame = known === undefined || known === told;
    this.#names.set(name, isSame ? told : settledText(merged(settledOf(known), settledOf(told))));
  }
}

const OLD = "";

const OLD_REPEAT: KnownReceipt = { isRepeat: true, hasLastWord: true, key: null };

/** Of two messages under one name, nobody knows which of them the next receipt is about. */
function merged(one: Settled, other: Settled): Settled {
  return { ...one, key: one.key === other.key ? one.key : NO_KEY, outcomes: one.outcomes | other.outcomes };
}

/** Where the hash of a carrier's receipts begins, or of those with one outcome: the same for thousands of them. */
const seedsOf = perKey((carrierId: string) =>
  perKey((outcome: ReceiptOutcome | "") => mixed([0xdeadbeef, 0x41c6ce57], `${carrierId}\n${outcome}\n`)),
);

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

/** What stands for octets in place of an id; the octets are compared too. */
export function hashOf(text: string): number {
  return finished(mixed([0xdeadbeef, 0x41c6ce57], text));
}

/** Names are hashes of 53 bits: of 300,000 names one in 3e10 receipts is taken for another. Numbers, for to write them to base 36 takes longer than all the rest. */
function nameOf(carrierId: string, { carrierMessageId, to }: Receipt, outcome: ReceiptOutcome | ""): number {
  return finished(mixed(seedsOf(carrierId)(outcome), `${carrierMessageId}\n${to ?? ""}`));
}

function finished([high, low]: [high: number, low: number]): number {
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (low & 0x1fffff) + (high >>> 0);
}
