/**
 * The reports of a message, with each try to push them. A try is known from the trace; of a report that still waits or was given up, also from its row. One that its
 * receiver took at the first try has left no mark, unless every step is noted.
 */
import { SUBJECT, type TraceDetails } from "../events/trace.ts";
import { shownUrl } from "../runtime/shown-url.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { MessageLife, UntakenReport } from "../store/port/message-life.ts";
import { type Step, stepsOf } from "./steps.ts";
import { type NumberedTry, numberedTries } from "./tries.ts";

/** One report, with its tries in all, also before a replay; so many of them were made with another report to the same host, which was not taken. */
export type TrackedReport = ReturnType<typeof goneOf> | ReturnType<typeof keptOf>;

type Tried = Step<"attempt">;

export function trackedReports(life: MessageLife): TrackedReport[] {
  const noted = Map.groupBy(stepsOf(life, "attempt"), ({ subject }) => subject);
  const kept = new Set(life.reports.map(({ id }) => SUBJECT.report(id)));
  const gone = [...noted].filter(([subject]) => !kept.has(subject)).map(([subject, tries]) => goneOf(subject, tries));
  return [...gone, ...life.reports.map((report) => keptOf(report, noted.get(SUBJECT.report(report.id)) ?? []))];
}

/** One whose row is gone: its receiver has it. */
function goneOf(subject: string, tries: readonly Tried[]) {
  const numbers = numberedTries(tries);
  const total = numbers.at(-1)!.number;
  return {
    id: subject.slice(1),
    url: shownUrl(tries.at(-1)!.detail.url),
    state: "taken" as const,
    tries: total,
    triedWithOthers: total - tries.length,
    replays: numbers.filter(({ isReplay }) => isReplay).length,
    attempts: tries.map(({ atMs, detail }, index) => attemptOf(numbers[index]!.number, atMs, detail)),
    nextTryAt: null,
    reason: null,
  };
}

function keptOf(report: UntakenReport, tries: readonly Tried[]) {
  const { id, batch, deadAtMs, dueAtMs, reason, history, attempts: count } = report;
  const isWaiting = deadAtMs === null;
  // Steps leave with their age, and the row has the last tries for as long as it is there.
  const isNoted = tries.length >= history.length;
  const known = isNoted ? tries.length : history.length;
  const numbers = isNoted ? numberedTries(tries) : [];
  const replays = isNoted ? numbers.filter(({ isReplay }) => isReplay).length : Number(history.length > count);
  const isUntried = count === 0 && known > 0;
  const total = Math.max(known, totalOf(numbers, tries, count));
  const attempts = isNoted
    ? tries.map(({ atMs, detail }, index) => attemptOf(numbers[index]!.number, atMs, detail))
    : history.map(({ atMs, durationMs: tookMs, ...attempt }, index) => {
        const retryAtMs = isWaiting && index === history.length - 1 ? dueAtMs : null;
        // The history has the last ones.
        return attemptOf(total - history.length + index + 1, atMs, { ...attempt, tookMs, retryAtMs });
      });
  return {
    id,
    url: shownUrl(batch.url),
    state: isWaiting ? ("waiting" as const) : ("dead" as const),
    tries: total,
    triedWithOthers: total - known,
    replays: replays + (isUntried && isNoted ? 1 : 0),
    attempts,
    nextTryAt: isWaiting && total > 0 ? formatDateTime(dueAtMs) : null,
    reason,
  };
}

/** The row counts since the last replay, and may know of tries behind those that were noted. */
function totalOf(numbers: readonly NumberedTry[], tries: readonly Tried[], count: number): number {
  const last = numbers.at(-1);
  if (last === undefined) return count;
  return last.number + Math.max(0, count - tries.at(-1)!.detail.try);
}

type Outcome = Pick<TraceDetails["attempt"], "status" | "tookMs" | "reason" | "excerpt" | "retryAtMs">;

function attemptOf(number: number, atMs: number, { status, tookMs, reason, excerpt, retryAtMs }: Outcome) {
  const nextTryAt = retryAtMs === null ? null : formatDateTime(retryAtMs);
  return { try: number, at: formatDateTime(atMs), status, tookMs, reason, answer: excerpt, nextTryAt };
}
