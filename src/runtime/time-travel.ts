/**
 * Moves the sandbox's clock: one jump at a time, and each of them is on disk before anything acts on it, so that a restart does not fall back in
 * time. Ids, postings and messages stand in the order of their times, so there is no way back: an empty data directory begins with the real time.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "./private-files.ts";
import type { TravelClock } from "./travel-clock.ts";

/** In the data directory: by how many milliseconds the clock is ahead. */
const OFFSET_FILE = "clock-offset";
/** Ten years: ids last until 2109. */
export const MAX_OFFSET_MS = 3_650 * 86_400_000;

/** What was kept by an earlier run; 0 where nothing was. */
export function keptOffsetMs(directory: string): number {
  const path = join(directory, OFFSET_FILE);
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, "utf8").trim();
  const offsetMs = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(offsetMs <= MAX_OFFSET_MS)) {
    throw new Error(
      `${path} does not say by how many milliseconds the sandbox's clock is ahead: name another directory with --data`,
    );
  }
  return offsetMs;
}

/** From the next start on the clock shows the real time. */
export function forgetOffset(directory: string): void {
  rmSync(join(directory, OFFSET_FILE), { force: true });
}

export interface TimeTravelParts {
  readonly clock: TravelClock;
  readonly directory: string;
  /** What has to move with the clock. It is moved before the clock, and so is ahead of it for a moment. */
  readonly before: (byMs: number) => Promise<void>;
  /** Wakes the clocks of the other threads, in their order. This thread's comes after them. */
  readonly rearmOthers: () => Promise<void>;
}

export class TimeTravel {
  readonly #parts: TimeTravelParts;
  #underWay: Promise<unknown> = Promise.resolve();

  constructor(parts: TimeTravelParts) {
    this.#parts = parts;
  }

  get offsetMs(): number {
    return this.#parts.clock.offsetMs;
  }

  now(): number {
    return this.#parts.clock.now();
  }

  /** By as much as `byMs` says when its turn comes; what it throws is thrown here, and nothing moves. */
  jump<Prepared extends { readonly byMs: number }>(prepare: () => Promise<Prepared>): Promise<Prepared> {
    const jumped = this.#underWay.then(async () => {
      const prepared = await prepare();
      const { clock, directory, before, rearmOthers } = this.#parts;
      const { byMs } = prepared;
      if (!(byMs >= 0 && clock.offsetMs + byMs <= MAX_OFFSET_MS))
        throw new RangeError(`a jump by ${byMs} ms leads nowhere`);
      writePrivateFile(join(directory, OFFSET_FILE), `${clock.offsetMs + byMs}\n`, { replace: true });
      await before(byMs);
      clock.move(byMs);
      await rearmOthers();
      clock.rearm();
      return prepared;
    });
    this.#underWay = jumped.catch(() => undefined);
    return jumped;
  }
}
