/** What somebody may have meant who wrote a name that there is none of. */

/** No name of ours is longer, and the cost of a comparison grows with the square of it. */
const MAX_NAME = 64;
/** So many names are compared: a catalogue may have thousands of carriers. */
const MAX_COMPARED = 1_000;

/** '; did you mean "window"?', or nothing where no name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return near === null ? "" : `; did you mean "${near}"?`;
}

/** The known name that differs by the fewest letters, if those are at most a third of it. */
function nearest(name: string, known: Iterable<string>): string | null {
  if (name.length > MAX_NAME) return null;
  let best: string | null = null;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  let compared = 0;
  for (const candidate of known) {
    if (compared++ === MAX_COMPARED) break;
    if (Math.abs(candidate.length - name.length) >= least || candidate === name) continue;
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase());
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

/** How many letters have to be put in, taken out or changed; two that have changed places count as one (optimal string alignment). */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      let least = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + (isSame ? 0 : 1));
      const hasSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (hasSwapped) least = Math.min(least, before[column - 2]! + 1);
      next.push(least);
    }
    before = last;
    last = next;
  }
  return last[other.length]!;
}
