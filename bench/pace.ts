/**
 * How fast the finder of a carrier's rate finds it: `npm run bench -- pace`. It runs over simulated time, against a carrier that throttles at
 * random, above a limit, or both. The figures are the same on every machine; each is the mean of so many seeds, and in brackets the worst.
 */
import { atRandom, both, LIMITERS, play, type Story, settledAfter, sum } from "./pace/model.ts";

const SEEDS = [1, 2, 3, 4, 5];
const SECONDS = 60;
/** What comes before is finding. */
const FOUND_S = 10;
const CHANGED_S = 20;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const mean = (values: readonly number[]): number => sum(values) / values.length;
const row = (...cells: string[]): void => console.log(`| ${cells.join(" | ")} |`);

function table(title: string, ...columns: string[]): void {
  console.log(`\n${title}\n`);
  row(...columns);
  row(...columns.map(() => "---"));
}

const played = (story: Omit<Story, "seed" | "seconds">) =>
  SEEDS.map((seed) => play({ ...story, seconds: SECONDS, seed }));

const OFFERED = [20, 200, 2_000, 5_000];
table(
  "Throttled at random: share of what is offered that gets through",
  "throttled",
  ...OFFERED.map((rate) => `${rate}/s`),
);
for (const share of [0.001, 0.01, 0.02, 0.05]) {
  const cells = OFFERED.map((offered) => {
    const through = played({ throttle: atRandom(share), offered }).map(
      ({ accepted }) => sum(accepted) / (offered * SECONDS),
    );
    return `${percent(mean(through))} (${percent(Math.min(...through))})`;
  });
  row(percent(share), ...cells);
}

const LIMITS = [5, 20, 50, 200, 2_000];
for (const [name, chance] of [
  ["A limit, with three times as much offered", 0],
  ["The same, and 1 % throttled at random besides", 0.01],
] as const) {
  table(
    `${name}: share of the limit that is reached / throttled, and settled after`,
    "limit",
    ...Object.keys(LIMITERS),
  );
  for (const limit of LIMITS) {
    const cells = Object.values(LIMITERS).map((limiter) => {
      const throttle =
        chance === 0
          ? limiter(() => limit)
          : both(
              limiter(() => limit),
              atRandom(chance),
            );
      const told = played({ throttle, offered: 3 * limit });
      return figures(told, limit, FOUND_S, 0);
    });
    row(`${limit}/s`, ...cells);
  }
}

table("A limit that changes", "from, to", ...Object.keys(LIMITERS));
for (const [before, after] of [
  [20, 5],
  [5, 20],
  [200, 50],
  [50, 200],
  [2_000, 50],
  [50, 2_000],
] as const) {
  const cells = Object.values(LIMITERS).map((limiter) => {
    const throttle = limiter((nowMs) => (nowMs < CHANGED_S * 1_000 ? before : after));
    const told = played({ throttle, offered: 2 * Math.max(before, after) });
    return figures(told, after, CHANGED_S + FOUND_S, CHANGED_S);
  });
  row(`${before}, ${after}/s`, ...cells);
}

function figures(told: ReturnType<typeof played>, limit: number, from: number, changed: number): string {
  const reached = told.map(({ accepted }) => sum(accepted, from) / (limit * (SECONDS - from)));
  const refused = told.map(
    ({ accepted, throttled }) => sum(throttled, from) / (sum(accepted, from) + sum(throttled, from)),
  );
  const settled = told.map(({ accepted }) => settledAfter(accepted, limit, changed));
  return `${percent(mean(reached))} / ${percent(mean(refused))}, ${mean(settled).toFixed(0)} s`;
}
