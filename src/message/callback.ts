/** What the push of reports and the store tell each other about an account's callbacks. */

/** How an account wants its reports. */
export interface CallbackPolicy {
  /** Webhook signing secrets, newest first: one, or two while one is being changed. */
  readonly secrets: readonly string[];
  /** How many minutes each retry waits, in order; null for the service's own schedule. */
  readonly retryMinutes: readonly number[] | null;
}

/** One try to push a report, kept so that people can see what happened. */
export interface ReportAttempt {
  readonly atMs: number;
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  /** What went wrong, and the first bytes of the answer if there was one. */
  readonly reason: string;
  readonly excerpt: string;
}

export interface ReportFailure {
  readonly id: string;
  /** How often it was tried, this time included. */
  readonly attempts: number;
  /** When to try again, or null when this was the last time and it becomes a dead letter. */
  readonly retryAtMs: number | null;
  readonly reason: string;
  /** Null where another batch's try spoke for this one. */
  readonly attempt: ReportAttempt | null;
}
