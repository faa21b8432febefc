/** Reports that are fetched, and those that nobody took. */
import type { ReportAttempt } from "../../message/callback.ts";
import type { MessageNames } from "./tracking.ts";

/** How long a report that is not pushed waits to be fetched. */
export const REPORT_FETCH_MS = 48 * 3_600_000;

/** Which dead letters; what is null does not matter. */
export interface DeadLetterFilter {
  readonly accountKey: string | null;
  readonly url: string | null;
}

export interface DeadLetter {
  readonly id: string;
  readonly accountKey: string;
  readonly url: string;
  readonly itemCount: number;
  readonly attempts: number;
  readonly deadAtMs: number;
  readonly reason: string;
  /** The last tries, oldest first. */
  readonly history: readonly ReportAttempt[];
}

export interface ReportFetch extends MessageNames {
  readonly accountId: number;
  readonly limit: number;
  readonly nowMs: number;
  /** Reports that have waited since before this are not handed out any more. */
  readonly sinceMs: number;
  /** What is not confirmed by then is handed out again. */
  readonly againAtMs: number;
}
