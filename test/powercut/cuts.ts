/** Where the power is cut in a recorded run. */
import { seededRandom } from "../../src/runtime/random.ts";
import { MANNERS, type Manner } from "./disk.ts";
import type { Failure } from "./run.ts";
import type { Entry } from "./trace.ts";

export interface Cut {
  /** The power goes after so many entries of the trace. */
  readonly entries: number;
  readonly manner: Manner;
  readonly seed: number;
}

/** Whether the run was what it was meant to be. The timing of a run is its own, so a flush that was chosen to fail may never come. */
export function hasFailed(entries: readonly Entry[], failure: Failure | null): boolean {
  return failure === null || entries.some(({ kind }) => kind === "flush failed");
}

/**
 * In order of the trace, by seed. Where a flush fails the cuts are behind it, as before it the run is a plain one; every other cut is before the
 * checkpoint that brings all into the database, and with that makes up for the failure. A run whose failure never came has none: it would count as if it had.
 */
export function cutsOf(entries: readonly Entry[], failure: Failure | null, points: number, runSeed: number): Cut[] {
  if (!hasFailed(entries, failure)) return [];
  const random = seededRandom(runSeed);
  const from = entries.findIndex(({ kind }) => kind === "flush failed") + 1;
  const checkpoint = entries.findIndex(
    (entry, index) => index >= from && entry.kind === "flushed" && entry.flush === "database",
  );
  const ends = [entries.length, from === 0 || checkpoint < 0 ? entries.length : checkpoint];
  const cuts = Array.from({ length: points }, (_, index) => ({
    entries: from + Math.floor(random.next() * (ends[index % 2]! - from + 1)),
    manner: MANNERS[Math.floor(random.next() * MANNERS.length)]!,
    seed: Math.floor(random.next() * 1_000_000),
  }));
  return cuts.sort((one, other) => one.entries - other.entries);
}
