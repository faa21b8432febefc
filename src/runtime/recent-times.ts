/** The last durations of something that happens again and again, of which the middle one and a slow one are asked for now and then. */

/** Enough for the 95th of a hundred to mean something, and few enough to be sorted at every look. */
const KEPT = 256;

export interface TimesSummary {
  readonly medianMs: number;
  /** 95 of 100 are no longer. */
  readonly slowMs: number;
}

export class RecentTimes {
  readonly #times = new Float64Array(KEPT);
  #count = 0;

  add(durationMs: number): void {
    this.#times[this.#count++ % KEPT] = durationMs;
  }

  /** What there was since this was last asked, and begins anew. */
  take(): TimesSummary | null {
    const { summary } = this;
    this.#count = 0;
    return summary;
  }

  /** Null where there were none. */
  get summary(): TimesSummary | null {
    const sorted = this.#times.slice(0, Math.min(this.#count, KEPT)).sort();
    if (sorted.length === 0) return null;
    const at = (share: number): number => rounded(sorted[Math.ceil(share * sorted.length) - 1]!);
    return { medianMs: at(0.5), slowMs: at(0.95) };
  }
}

/** Of short ones a tenth of a millisecond is worth saying. */
function rounded(ms: number): number {
  return ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms);
}
