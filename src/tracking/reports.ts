/**
 * The reports of a message, with each try to push them. A try is known from the trace; of a report that still waits or was given up, also from its row. One that its
 * receiver took at the first try has left no mark, unless every step is noted.
 */

import { SUBJECT, type TraceDetails } from "../events/trace.ts";
import type { ReportAttempt } from "../message/callback.ts";
import { shownUrl } from "../runtime/shown-url.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { MessageLife, UntakenReport } from "../store/port/message-life.ts";
import { type NumberedTry, numberedTries } from "./tries.ts";

export interface TrackedAttempt {
  readonly try: number;
  readonly at: string;
  /** What the receiver answered with; null when it did not answer. */
  readonly status: number | null;
  readonly tookMs: number;
  /** Null for one that was taken. */
  readonly reason: string | null;
  /** The beginning of what was answered. */
  readonly answer: string;
  readonly nextTryAt: string | null;
}

export interface TrackedReport {
  readonly id: string;
  readonly url: string;
  readonly state: "waiting" | "taken" | "dead";
  /** In all, also before a replay. */
  readonly tries: number;
  /** Of these, so many for which another report to the same host was tried, and was not taken. */
  readonly triedWithOthers: number;
  /** How often somebody had it sent again after it was a dead letter, as far as that is known. */
  readonly replays: number;
  readonly attempts: readonly TrackedAttempt[];
  readonly nextTryAt: string | null;
  /** Why it was not taken, of the last try. */
  readonly reason: string | null;
}

type Tried = TraceDetails["attempt"] & { readonly atMs: number };

export function trackedReports({ trace, reports }: MessageLife): TrackedReport[] {
  const noted = new Map<string, Tried[]>();
  for (const { subject, kind, atMs, detail } of trace) {
    if (kind !== "attempt") continue;
    const tried = { ...(JSON.parse(detail) as TraceDetails["attempt"]), atMs };
    noted.set(subject, [...(noted.get(subject) ?? []), tried]);
  }
  const kept = new Set(reports.map(({ id }) => SUBJECT.report(id)));
  const gone = [...noted].filter(([subject]) => !kept.has(subject)).map(([subject, tries]) => goneOf(subject, tries));
  return [...gone, ...reports.map((report) => keptOf(report, noted.get(SUBJECT.report(report.id)) ?? []))];
}

/** One whose row is gone: its receiver has it. */
function goneOf(subject: string, tries: readonly Tried[]): TrackedReport {
  const numbers = numberedTries(tries);
  const total = numbers.at(-1)!.number;
  return {
    id: subject.slice(1),
    url: shownUrl(tries.at(-1)!.url),
    state: "taken",
    tries: total,
    triedWithOthers: total - tries.length,
    replays: numbers.filter(({ isReplay }) => isReplay).length,
    attempts: tries.map((tried, index) => attemptOf(tried, numbers[index]!.number)),
    nextTryAt: null,
    reason: null,
  };
}

function keptOf(report: UntakenReport, tries: readonly Tried[]): TrackedReport {
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
    ? tries.map((tried, index) => attemptOf(tried, numbers[index]!.number))
    : history.map((each, index) => historyOf(each, index, total, report));
  return {
    id,
    url: shownUrl(batch.url),
    state: isWaiting ? "waiting" : "dead",
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
  return last.number + Math.max(0, count - tries.at(-1)!.try);
}

function attemptOf(tried: Tried, number: number): TrackedAttempt {
  const { atMs, status, tookMs, reason, excerpt, retryAtMs } = tried;
  return {
    try: number,
    at: formatDateTime(atMs),
    status,
    tookMs,
    reason,
    answer: excerpt,
    nextTryAt: retryAtMs === null ? null : formatDateTime(retryAtMs),
  };
}

function historyOf(
  { atMs, status, durationMs, reason, excerpt }: ReportAttempt,
  index: number,
  total: number,
  { history, deadAtMs, dueAtMs }: UntakenReport,
): TrackedAttempt {
  const isLast = index === history.length - 1;
  return {
    // The history has the last ones.
    try: total - history.length + index + 1,
    at: formatDateTime(atMs),
    status,
    tookMs: durationMs,
    reason,
    answer: excerpt,
    nextTryAt: isLast && deadAtMs === null ? formatDateTime(dueAtMs) : null,
  };
}
