/** How many things happened within a stretch of time. */

/** The most of these moments that lie in any stretch of this length, its two ends included. */
export function mostWithin(times: readonly number[], lengthMs: number): number {
  const sorted = times.toSorted((first, second) => first - second);
  let most = 0;
  let first = 0;
  for (const [place, time] of sorted.entries()) {
    while (time - sorted[first]! > lengthMs) first++;
    most = Math.max(most, place - first + 1);
  }
  return most;
}
