/** Bulks: messages of one request or name, and what may be changed of those that wait. */

export const BULK_STATUSES = ["PENDING", "PAUSED", "PROCESSING", "CANCELED", "FINISHED", "FAILED"] as const;

export type BulkStatus = (typeof BULK_STATUSES)[number];

export interface BulkName {
  readonly accountId: number;
  readonly bulkId: string;
}

export interface Bulk {
  readonly sendAtMs: number;
  /** Null where no message of the bulk was ever scheduled: then its messages have to be looked through (`lookThroughBulk`). */
  readonly status: BulkStatus | null;
}

export type BulkChangeOutcome =
  | { kind: "changed" | "unknown" }
  /** None of its messages waits for its time, or ever did. */
  | { kind: "not scheduled" }
  /** Its status does not allow this. */
  | { kind: "refused"; status: BulkStatus };

/** Where a bulk stands in the list of its account's: by when it was made, and by its id where that is the same. */
export interface BulkPosition {
  readonly madeAtMs: number;
  readonly bulkId: string;
}

/** A bulk in the list: one with messages that were scheduled, or with many that were sent at once. */
export interface ListedBulk extends BulkPosition {
  readonly sendAtMs: number;
  readonly state: "open" | "paused" | "canceled" | "at once";
}

/** What became of a page of a bulk's messages. */
export interface BulkCount {
  /** They wait for their time. */
  readonly scheduled: number;
  /** They are on their way to a carrier. */
  readonly queued: number;
  /** A carrier has them, and has not said the last word. */
  readonly submitted: number;
  readonly delivered: number;
  /** They have come to another end: undeliverable, expired, rejected, canceled. */
  readonly failed: number;
  /** Whether a carrier has taken any. */
  readonly anySent: boolean;
  /** When the last of those that wait is due; null if none waits. */
  readonly lastDueAtMs: number | null;
  /** The key of the last message looked at; null if there was none. */
  readonly lastKey: string | null;
}
