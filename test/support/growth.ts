/**
 * How time grows with the length of what is looked at. Each time is the least of several runs, by the clock or by the processor, so that what
 * else the machine does is left out; and only ratios of them are judged.
 */

/** Ten times the length may take this many times as long: 10 for what is linear, 100 for what is quadratic. */
const MAX_RATIO = 35;
/** What takes less even at its longest is not judged: the clock is too coarse, and a quadratic one would take 50 times as long. */
const NEGLIGIBLE_US = 700;
const LENGTH = 8_000;
/** What grows exponentially is found before it takes for ever. */
const STEPS = [16, 24, 30, 100, 800];
const HOPELESS_US = 50_000;
const RUNS = 5;
const BATCH_US = 2_000;
const LOOKS = 3;

type Look = (length: number) => () => void;

/** In microseconds: by the clock, or by the processor where that is less, because others had it meanwhile. */
function once(run: () => void): number {
  const before = process.cpuUsage();
  const startMs = performance.now();
  run();
  const clockMicros = (performance.now() - startMs) * 1_000;
  const { user, system } = process.cpuUsage(before);
  // Below a millisecond the processor's time is too coarse.
  return clockMicros < 1_000 ? clockMicros : Math.min(clockMicros, Math.max(user + system, 1_000));
}

function least(run: () => void, runs = RUNS): number {
  let result = Number.POSITIVE_INFINITY;
  for (let count = 0; count < runs; count++) result = Math.min(result, once(run));
  return result;
}

/** What is wrong with the growth of something; null if it is linear, or nearly so. `look` makes the work for a length. */
export function growthFault(look: Look, length = LENGTH): string | null {
  for (const step of STEPS) {
    const micros = once(look(step));
    if (micros > HOPELESS_US && least(look(step), 2) > HOPELESS_US)
      return `${step} characters take ${Math.round(micros / 1000)} ms`;
  }
  // The longer one is looked at first, and by code that is not optimized yet: what seems wrong is looked at again, when all of it is warm.
  let fault = faultBetween(look, length);
  for (let again = 1; fault !== null && again < LOOKS; again++) fault = faultBetween(look, length);
  return fault;
}

function faultBetween(look: Look, length: number): string | null {
  const long = look(length);
  if (once(long) < NEGLIGIBLE_US) return null;
  const longMicros = least(long);
  if (longMicros < NEGLIGIBLE_US) return null;
  // The shorter one as often as it takes to be measured.
  const short = look(length / 10);
  const times = Math.ceil(BATCH_US / Math.max(20, least(short)));
  const shortMicros =
    least(() => {
      for (let count = 0; count < times; count++) short();
    }) / times;
  const ratio = longMicros / shortMicros;
  if (ratio <= MAX_RATIO) return null;
  return `${length} characters take ${Math.round(longMicros)} µs, ${Math.round(ratio)} times as long as a tenth of them`;
}

/** The least time for it in microseconds. */
export function microsFor(run: () => void): number {
  return least(run);
}
