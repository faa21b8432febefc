/** Medians, spreads and percentiles. */

/** The middle of several measurements, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, least: sorted[0]!, most: sorted.at(-1)! };
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly most: number;
}

/** The value that such a share of them does not exceed; they are sorted. */
export function atShare(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}

export function percentilesOf(values: Float64Array): Percentiles {
  const sorted = values.toSorted();
  const at = (share: number): number => atShare(sorted, share);
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), most: sorted.at(-1)! };
}
