/**
 * How far bulks are, for pages that watch them. A bulk may have millions of messages, and many pages may watch it. So its messages are counted in pages
 * along their keys, a few pages at each look:
 *
 *      ├─ settled ─┼─ page ─┼─ page (settled) ─┼─ page ─┼─ not looked at yet …
 *
 * A page in which every message has come to its end stays as it is, and is not read again; those at the front become one sum. The others are read in
 * turn. So after some looks everything was counted once, and from then on a look costs a bounded number of rows, however large the bulk is.
 */
import { boundedCache } from "../../runtime/cache.ts";
import { firstIdAt } from "../../runtime/ids.ts";
import { onceEach } from "../../runtime/lazy.ts";
import type { BulkCount, BulkName, BulkStatus, ListedBulk } from "../../store/port/bulks.ts";
import type { ApiParts } from "../parts.ts";

export interface Progress extends Omit<BulkCount, "lastKey"> {
  /** Whether all messages were counted. Until then it is what was found so far. */
  readonly isComplete: boolean;
}

/** Rows of one read: a millisecond or two. */
const PAGE_MESSAGES = 1_000;
/** Pages kept for one bulk, apart from those at the front that are settled. Beyond them nothing is counted. */
const MAX_PAGES = 2_000;
const KEPT_BULKS = 300;
/** Pages of the browser that look at the same time share what was read. */
const SHARED_MS = 400;
/** Nodes number messages by their own clocks: a message may come in behind one with a higher key, but not so much later. */
const LATE_MS = 60_000;
/** Messages may join a bulk that is finished; that is looked for so often. */
const LOOK_AGAIN_MS = 15_000;

/** Below that of every message. */
const FIRST_KEY = "0";

interface CountedPage {
  readonly afterKey: string;
  count: BulkCount | null;
  /** On the monotonic clock. */
  readAgainAtMs: number;
}

interface Known {
  settled: BulkCount;
  pages: CountedPage[];
  /** Where the next look begins. */
  next: number;
  lookedAtMs: number;
  underWay: Promise<number> | null;
}

const NOTHING: BulkCount = {
  scheduled: 0,
  queued: 0,
  submitted: 0,
  delivered: 0,
  failed: 0,
  anySent: false,
  lastDueAtMs: null,
  lastKey: null,
};

export class BulkProgress {
  readonly #parts: ApiParts;
  readonly #known = onceEach(boundedCache<string, Known>(KEPT_BULKS), () => ({
    settled: NOTHING,
    pages: [{ afterKey: FIRST_KEY, count: null, readAgainAtMs: 0 }],
    next: 0,
    lookedAtMs: Number.NEGATIVE_INFINITY,
    underWay: null,
  }));

  constructor(parts: ApiParts) {
    this.#parts = parts;
  }

  /** Looks at these bulks, those first that were not looked at for longest, with so many reads at most for all of them. */
  async look(names: readonly BulkName[], reads: number): Promise<Progress[]> {
    const all = names.map((name) => ({ name, known: this.#known(`${name.accountId} ${name.bulkId}`) }));
    let left = reads;
    for (const { name, known } of [...all].sort((one, other) => one.known.lookedAtMs - other.known.lookedAtMs)) {
      if (left <= 0) break;
      known.underWay ??= this.#read(name, known, left).finally(() => {
        known.underWay = null;
      });
      left -= await known.underWay;
    }
    return all.map(({ known }) => progressOf(known));
  }

  /** Returns how many reads it took. */
  async #read(name: BulkName, known: Known, most: number): Promise<number> {
    const { store, clock } = this.#parts;
    const nowMs = clock.monotonic();
    if (nowMs - known.lookedAtMs < SHARED_MS) return 0;
    let reads = 0;
    for (let steps = 0; steps < known.pages.length && reads < most; steps++) {
      if (known.next >= known.pages.length) known.next = 0;
      const page = known.pages[known.next++]!;
      if (page.readAgainAtMs > nowMs) continue;
      reads++;
      page.count = await store.countBulk({ ...name, afterKey: page.afterKey, limit: PAGE_MESSAGES });
      const { lastKey } = page.count;
      const isFull = lastKey !== null && totalOf(page.count) >= PAGE_MESSAGES;
      // What came in the last seconds may be missing, also all of a new bulk.
      const newest = lastKey ?? page.afterKey;
      const isOld = newest !== FIRST_KEY && BigInt(newest) < firstIdAt(clock.now() - LATE_MS);
      const isSettled = isOld && openOf(page.count) === 0;
      page.readAgainAtMs = isSettled ? (isFull ? Number.POSITIVE_INFINITY : nowMs + LOOK_AGAIN_MS) : 0;
      if (isFull && page === known.pages.at(-1) && known.pages.length < MAX_PAGES)
        known.pages.push({ afterKey: lastKey, count: null, readAgainAtMs: 0 });
    }
    joinSettled(known);
    known.lookedAtMs = nowMs;
    return reads;
  }
}

/** The pages at the front that stay as they are become one sum. */
function joinSettled(known: Known): void {
  let count = 0;
  while (known.pages[count]?.readAgainAtMs === Number.POSITIVE_INFINITY) count++;
  known.settled = known.pages.slice(0, count).reduce((sum, page) => add(sum, page.count!), known.settled);
  known.pages.splice(0, count);
  known.next = Math.max(0, known.next - count);
}

function progressOf({ settled, pages }: Known): Progress {
  const { lastKey: _, ...sum } = pages.reduce((sum, { count }) => (count === null ? sum : add(sum, count)), settled);
  const last = pages.at(-1)?.count ?? null;
  return { ...sum, isComplete: last !== null && totalOf(last) < PAGE_MESSAGES };
}

function add(one: BulkCount, other: BulkCount): BulkCount {
  const dueTimes = [one.lastDueAtMs, other.lastDueAtMs].filter((each) => each !== null);
  return {
    scheduled: one.scheduled + other.scheduled,
    queued: one.queued + other.queued,
    submitted: one.submitted + other.submitted,
    delivered: one.delivered + other.delivered,
    failed: one.failed + other.failed,
    anySent: one.anySent || other.anySent,
    lastDueAtMs: dueTimes.length === 0 ? null : Math.max(...dueTimes),
    lastKey: other.lastKey ?? one.lastKey,
  };
}

function openOf({ scheduled, queued, submitted }: Omit<BulkCount, "lastKey">): number {
  return scheduled + queued + submitted;
}

export function totalOf(count: Omit<BulkCount, "lastKey">): number {
  return openOf(count) + count.delivered + count.failed;
}

/** The status of a bulk by what was counted of it, as GET /sms/1/bulks/status has it. */
export function statusOf({ state }: Pick<ListedBulk, "state">, progress: Progress): BulkStatus {
  if (state === "canceled") return "CANCELED";
  const { scheduled, queued } = progress;
  if (state !== "at once" && scheduled > 0) {
    if (state === "paused") return "PAUSED";
    return queued > 0 ? "PROCESSING" : "PENDING";
  }
  if (!progress.isComplete || openOf(progress) > 0) return "PROCESSING";
  return progress.anySent ? "FINISHED" : "FAILED";
}
