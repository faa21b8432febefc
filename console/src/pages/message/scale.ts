/**
 * Where the events of a timeline stand: to scale, within bounds. Two that follow each other quickly still have room for their words. A time in which
 * nothing happens for much longer than usual is drawn shorter than it is, with a mark.
 */
export interface Placed {
  readonly at: number;
  /** The way to it is drawn shorter than it is. */
  readonly isBroken: boolean;
}

export interface Bounds {
  /** What is there to be filled. */
  readonly length: number;
  /** The least room between two events, and that of a time which is cut short. */
  readonly least: number;
  readonly broken: number;
}

/** So many times longer than what is usual, a time is cut short; one that is over at once is not. */
const MUCH_LONGER = 50;
const AT_ONCE_MS = 1_000;
/** Halvings until the scale is found to less than a pixel. */
const HALVINGS = 60;

export function placesOf(timesMs: readonly number[], { length, least, broken }: Bounds): Placed[] {
  const gaps = timesMs.slice(1).map((atMs, index) => Math.max(0, atMs - timesMs[index]!));
  const sorted = [...gaps].sort((one, other) => one - other);
  const usual = Math.max(1, sorted[Math.floor((sorted.length - 1) / 2)] ?? 1);
  const isLong = (gap: number): boolean => gaps.length > 1 && gap > AT_ONCE_MS && gap > MUCH_LONGER * usual;
  const widthsAt = (scale: number): number[] =>
    gaps.map((gap) => (isLong(gap) ? broken : Math.max(least, gap * scale)));
  const sum = (widths: readonly number[]): number => widths.reduce((total, width) => total + width, 0);
  let low = 0;
  let high = length;
  for (let turn = 0; turn < HALVINGS; turn++) {
    const middle = (low + high) / 2;
    if (sum(widthsAt(middle)) > length) high = middle;
    else low = middle;
  }
  const widths = widthsAt(low);
  let at = 0;
  return [
    { at, isBroken: false },
    ...widths.map((width, index) => {
      at += width;
      return { at, isBroken: isLong(gaps[index]!) };
    }),
  ];
}
