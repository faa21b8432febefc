/**
 * How the work of a function grows with its input. Times are compared with each other, and never with a fixed limit: what takes ten times
 * as long for ten times the input is linear, and what is quadratic takes a hundred times as long.
 */
const FACTOR = 10;
/** Between linear, ten, and quadratic, a hundred. */
const LINEAR = 50;
/** So many rounds say enough if the work grows as it should, and so many are made before it is said not to. */
const MIN_ROUNDS = 3;
const MAX_ROUNDS = 40;
/** Shorter work is repeated until it can be measured; and short it is meant to be, so that some runs are not interrupted. */
const MEASURABLE_MS = 0.1;
const MAX_REPEATS = 1_000;

function repeated(work: () => unknown, times: number): number {
  const startedMs = performance.now();
  for (let count = 0; count < times; count++) work();
  return performance.now() - startedMs;
}

/** How many times as long the work takes for an input of ten times the length, or null if that is near enough to ten times. */
export function growthBeyondLinear<Input>(
  inputOf: (length: number) => Input,
  length: number,
  work: (input: Input) => unknown,
): number | null {
  const [short, long] = [inputOf(length), inputOf(length * FACTOR)];
  // Both are warm before either counts.
  for (const input of [long, short]) work(input);
  let times = 1;
  while (repeated(() => work(short), times) < MEASURABLE_MS && times < MAX_REPEATS) times *= 2;
  // Of each the least: whatever else the machine does can only add.
  let [shortMs, longMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    shortMs = Math.min(
      shortMs,
      repeated(() => work(short), times),
    );
    longMs = Math.min(
      longMs,
      repeated(() => work(long), times),
    );
    if (round >= MIN_ROUNDS && longMs / shortMs < LINEAR) return null;
  }
  return longMs / shortMs;
}
