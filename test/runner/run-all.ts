/**
 * Runs jobs side by side, tells how it goes, and gives what failed a second try: alone, after all others. What passes then is shaky, and is told
 * of at the end; a few such files do not fail the run, because on a busy machine they would fail it for nothing.
 */
import { NO_CHROMIUM } from "../support/chromium.ts";
import { type Failure, type Job, type JobOptions, type Outcome, runJob } from "./job.ts";
import type { Plan } from "./parts.ts";

/** More files than this are not shaky by chance. */
const MAX_SHAKY = 5;
const SLOWEST_SHOWN = Number(process.env.TEST_SLOWEST ?? 10);
const PROGRESS_MS = 30_000;
const REASON_LINES = 30;

const jobName = ({ files, store }: Job): string =>
  `${files[0]}${files.length > 1 ? ` and ${files.length - 1} more` : ""}${store === "postgres" ? " on PostgreSQL" : ""}`;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** The command that runs just that test. */
function again({ file, store, test }: Failure): string {
  const pattern =
    test.length === 0 ? "" : ` --test-name-pattern='${test.at(-1)!.replace(/[.*+?^${}()|[\]\\']/g, ".")}'`;
  return `${store === "postgres" ? "TEST_STORE=postgres " : ""}npx node --test${pattern} ${file}`;
}

function tell(failure: Failure): string {
  const lines = failure.reason.trimEnd().split("\n");
  const shown = lines.length > REASON_LINES ? [...lines.slice(0, REASON_LINES), "…"] : lines;
  return [
    `✖ ${failure.file}${failure.store === "postgres" ? " on PostgreSQL" : ""}${failure.test.length > 0 ? `: ${failure.test.join(" › ")}` : ""}`,
    ...shown.map((line) => `    ${line}`),
    `    → ${again(failure)}`,
  ].join("\n");
}

/** Where a process ended that several files share, one of them is to blame, and all are tried again. */
function failedFiles({ failures }: Outcome): number {
  return failures.some(({ test }) => test.length === 0) ? 1 : new Set(failures.map(({ file }) => file)).size;
}

/** Whether all went well. */
export async function runAll({ jobs, slots, withoutBrowser }: Plan, options: JobOptions): Promise<boolean> {
  const print = console.log;
  const beganAt = performance.now();
  const files = jobs.reduce((sum, job) => sum + job.files.length, 0);
  const outcomes: Outcome[] = [];
  let filesDone = 0;
  const progress = setInterval(() => {
    const failed = outcomes.reduce((sum, outcome) => sum + outcome.failures.length, 0);
    print(
      `  ${filesDone} of ${files} files, ${((performance.now() - beganAt) / 60_000).toFixed(1)} minutes${failed > 0 ? `, ${failed} failures` : ""}`,
    );
  }, PROGRESS_MS);

  const waiting = [...jobs];
  const slot = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const outcome = await runJob(job, options);
      outcomes.push(outcome);
      filesDone += job.files.length;
      for (const failure of outcome.failures) print(tell(failure));
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
  clearInterval(progress);

  const first = outcomes.flatMap((outcome) => outcome.failures);
  const secondTries = new Map(first.map((failure) => [`${failure.store} ${failure.file}`, failure]));
  const lasting: Failure[] = [];
  const shaky: Failure[] = [];
  // When so much failed, a second try would say nothing and take long.
  const isHopeless = outcomes.reduce((sum, outcome) => sum + failedFiles(outcome), 0) > MAX_SHAKY;
  for (const failure of secondTries.values()) {
    if (isHopeless) continue;
    print(`once more, alone: ${failure.file}`);
    const outcome = await runJob({ files: [failure.file], store: failure.store }, options);
    for (const again of outcome.failures) print(tell(again));
    lasting.push(...outcome.failures);
    if (outcome.failures.length === 0) shaky.push(failure);
  }
  const failures = isHopeless ? first : lasting;

  const tookMinutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
  print(`\n${files} files in ${tookMinutes} minutes; the slowest:`);
  const slowest = outcomes.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST_SHOWN);
  for (const { job, durationMs } of slowest) print(`  ${seconds(durationMs).padStart(8)}  ${jobName(job)}`);
  // Who asks for a number of files wants to know where the time goes.
  if (process.env.TEST_SLOWEST !== undefined) {
    const tests = outcomes.flatMap((outcome) => outcome.tests).toSorted((a, b) => b.durationMs - a.durationMs);
    print("\nthe slowest tests:");
    for (const { file, name, durationMs } of tests.slice(0, SLOWEST_SHOWN))
      print(`  ${seconds(durationMs).padStart(8)}  ${file}: ${name}`);
  }
  if (failures.length > 0) print(`\nfailed:\n${failures.map(tell).join("\n")}`);
  if (isHopeless) print(`\n${secondTries.size} files failed: too many for a second try`);
  for (const { file, store, test, reason } of shaky) {
    const where = store === "postgres" ? `${file} on PostgreSQL` : file;
    print(`shaky: ${where}, "${test.join(" › ")}", ${reason.split("\n", 1)[0]}`);
  }
  const isShaky = ({ file, store }: Failure): boolean =>
    shaky.some((other) => other.file === file && other.store === store);
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0) + first.filter(isShaky).length;
  const skipped = outcomes.reduce((sum, outcome) => sum + outcome.skipped, 0) + withoutBrowser.length;
  if (withoutBrowser.length > 0)
    print(`\n${withoutBrowser.length} files are skipped, each counted as one test: ${NO_CHROMIUM}`);
  print(`\n${passed} passed, ${failures.length} failed, ${skipped} skipped`);
  return failures.length === 0;
}
