/** When a report is tried again, by the service's own function, on a scale on which a minute and a day can both be seen. */
import { PUSH_DEFAULTS } from "../../src/reports/pushing/push-settings.ts";
import { retryDelayMs } from "../../src/reports/pushing/retry.ts";
import { Drawing } from "./drawing.ts";

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const [FROM, WIDTH] = [230, 680];
const MARKS = [
  [MINUTE_MS, "1 min"],
  [10 * MINUTE_MS, "10 min"],
  [HOUR_MS, "1 h"],
  [6 * HOUR_MS, "6 h"],
  [24 * HOUR_MS, "1 day"],
  [48 * HOUR_MS, "2 days"],
] as const;

/** Where a time after the first try stands. */
function placeOf(ms: number): number {
  const [first, last] = [Math.log(30_000), Math.log(48 * HOUR_MS)];
  return FROM + (Math.max(0, Math.log(Math.max(ms, 1)) - first) / (last - first)) * WIDTH;
}

/** Times of all tries after the first, without what chance adds. */
function triesOf(accountMinutes: readonly number[] | null): number[] {
  const times: number[] = [];
  let at = 0;
  for (let attempts = 1; ; attempts++) {
    const wait = retryDelayMs(PUSH_DEFAULTS, { next: () => 0 }, attempts, null, accountMinutes);
    if (wait === null) return times;
    at += wait;
    times.push(at);
  }
}

export function retries(): Drawing {
  const drawing = new Drawing("A report that is not taken: its retries over time", 960, 330);
  const ROWS = [
    { name: "the service's schedule", minutes: null },
    { name: "an account's own: 1,5,30", minutes: [1, 5, 30] },
  ];
  for (const [ms, label] of MARKS) {
    drawing.line([placeOf(ms), 70], [placeOf(ms), 236], "waiting");
    drawing.words([placeOf(ms), 256], label, { look: "small", anchor: "middle" });
  }
  drawing.words([24, 256], "after the first try", { look: "small" });
  ROWS.forEach(({ name, minutes }, index) => {
    const y = 104 + index * 76;
    const tries = triesOf(minutes);
    drawing.words([24, y + 5], name, { look: "name" });
    drawing.line([FROM, y], [placeOf(tries.at(-1)!), y], "retrying");
    drawing.dot([FROM, y], "moving");
    for (const at of tries) drawing.dot([placeOf(at), y], at === tries.at(-1) ? "failed" : "retrying");
    const hours = tries.at(-1)! / HOUR_MS;
    const after = hours < 1 ? `${Math.round(hours * 60)} minutes` : `${Math.round(hours * 10) / 10} hours`;
    drawing.words([placeOf(tries.at(-1)!), y + 24], `${tries.length} retries, ${after}, then a dead letter`, {
      look: "small",
      tone: "failed",
      anchor: hours > 6 ? "end" : "start",
    });
  });
  drawing.words(
    [24, 288],
    `Up to ${PUSH_DEFAULTS.jitter * 100} % is added to each wait by chance. A 2xx answer ends it; 410 too. A 429 or 503 with Retry-After can make a wait longer,`,
    { look: "small" },
  );
  drawing.words(
    [24, 306],
    "by an hour at most. A dead letter is kept, and sent again when you or your operator say so.",
    { look: "small" },
  );
  return drawing;
}
