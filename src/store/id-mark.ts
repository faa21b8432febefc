/**
 * The mark: up to where a node's ids are promised. An id is handed out only after a commit, and a commit that finds ids taken beyond the mark
 * raises it, in the same transaction, by a few seconds' worth. A start begins above the mark of its number. So no id comes twice, whatever the
 * clock does, also when its message or report was deleted long ago; and what it costs is one row every few seconds.
 *
 * On a mark far ahead of the clock ids would go on from there for as long, and with them what is kept by the days of its ids. So a start takes
 * another number then, if one is free: its ids are as the clock says, and differ in the number.
 */
import { firstIdAt, type IdSource, nodeOf, TOOL_NODE } from "../runtime/ids.ts";

/** What a commit promises beyond the ids in use. After a crash ids are ahead of the clock by no more than that. */
const PROMISE = firstIdAt(10_000);
/** A clock may be set back by this much between two starts before the node takes another number. */
const FAR_AHEAD_MS = 24 * 3_600_000;
/**
 * A backup knows nothing of the ids that were handed out after it was made, and a clock that was set back in between may have let them be ahead of
 * it. The first start on a restored one begins this much ahead.
 */
const RESTORED_AHEAD_MS = 3_600_000;

/** What data without a mark is taken to have handed out beyond what it has. */
const UNMARKED = firstIdAt(3_600_000);

/** The mark of this number counts for every node. */
export const EVERY_NODE = -1;

export class IdMark {
  readonly ids: IdSource;
  #promised: bigint;

  constructor(ids: IdSource) {
    this.ids = ids;
    this.#promised = ids.highest;
  }

  /** The mark that the transaction has to write, because ids were taken that are not promised; else null. */
  due(): bigint | null {
    const { highest } = this.ids;
    return highest > this.#promised ? highest + PROMISE : null;
  }

  /** A commit has written it. */
  raised(mark: bigint): void {
    this.#promised = mark;
  }
}

/** A mark above this is far ahead. */
export function farAhead(nowMs: number): bigint {
  return firstIdAt(nowMs + FAR_AHEAD_MS);
}

/** The mark for every node when a backup is started on. */
export function restoredMark(nowMs: number): bigint {
  return firstIdAt(nowMs + RESTORED_AHEAD_MS);
}

/**
 * The highest id that is there. A mark is above all of its number, but data from before there were marks, or from elsewhere, may know less of itself: on
 * SQLite the newest of its messages may have been in the journal only when the marks were made.
 */
export const HIGHEST_STORED = `SELECT CAST(max(id) AS TEXT) AS id FROM
  (SELECT max(key) AS id FROM message UNION ALL SELECT max(id) FROM report UNION ALL SELECT max(key) FROM incoming_message) AS stored`;

/** These marks, and what the highest id that is there makes of them. */
export function marksWith(marks: ReadonlyMap<number, bigint>, highest: string | null): ReadonlyMap<number, bigint> {
  if (highest === null) return marks;
  const id = BigInt(highest);
  const isKnown = id <= (marks.get(nodeOf(id)) ?? 0n) || id <= (marks.get(EVERY_NODE) ?? 0n);
  // Not all that has an id is there: bulks, and what has left.
  return isKnown ? marks : new Map(marks).set(nodeOf(id), id + UNMARKED);
}

/** The first number whose mark is not far ahead of the clock; the first of all if there is none. */
export function chooseNumber(marks: ReadonlyMap<number, bigint>, nowMs: number): number {
  const most = farAhead(nowMs);
  for (let number = 0; number < TOOL_NODE; number++) if ((marks.get(number) ?? 0n) <= most) return number;
  return 0;
}

/**
 * Above this id a node of that number begins: above its own mark, and so that what comes later has the higher id also above those of the others,
 * unless they are far ahead.
 */
export function startAfter(marks: ReadonlyMap<number, bigint>, number: number, nowMs: number): bigint {
  const most = farAhead(nowMs);
  let highest = 0n;
  for (const [node, mark] of marks) {
    const counts = node === number || node === EVERY_NODE || mark <= most;
    if (counts && mark > highest) highest = mark;
  }
  return highest;
}
