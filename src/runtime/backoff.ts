/**
 * Back-off: how long to wait before the next try. The wait doubles with each failure up to a bound, and a share of it is left to chance, so that
 * what failed together does not come back together. Each caller has a `Backoff`, the table of its waits.
 */
import { type Random, systemRandom } from "./random.ts";

export interface Backoff {
  /** After the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** The share of a wait that chance may take off: 0.5 leaves half of it for sure. */
  readonly jitter: number;
}

/** The wait after so many failures in a row, from 1 on; `Infinity` of them give the longest. */
export function backoffMs(
  { firstMs, maxMs, jitter }: Backoff,
  failures: number,
  random: Random = systemRandom,
): number {
  const waitMs = Math.min(firstMs * 2 ** (Math.max(failures, 1) - 1), maxMs);
  return jitter === 0 ? waitMs : waitMs * (1 - jitter + jitter * random.next());
}
