/**
 * Generated cases. The short run draws the same ones each time, so that its answer is about the change and not about luck; the long run draws fresh
 * ones, and tells the seed with a failure. TEST_SEED makes the same choices again.
 */
import fc from "fast-check";

/** Whether this is the long run, where tests are as large as they can be (test/runner/parts.ts). */
export const isLong = process.env.TEST_SIZE === "long";

const SHORT_CASES = 200;
const LONG_TIMES = 10;
const SHORT_FRACTION = 100;

/** How many cases a property is tried with: so many of them or 200 in the short run, ten times as many in the long one. */
export function cases(usual: number): number {
  return isLong ? usual * LONG_TIMES : Math.min(usual, SHORT_CASES);
}

/** How large an attack is, or how many times it is made: as large as this in the long run, a hundredth of it in the short one. */
export function sized(large: number): number {
  return isLong ? large : Math.ceil(large / SHORT_FRACTION);
}

const given = process.env.TEST_SEED;
export const seed = given !== undefined ? Number(given) : isLong ? Math.trunc(Math.random() * 2 ** 31) : 1;
fc.configureGlobal({ seed });

export default fc;
