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

export type BulkChange =
  | { kind: "changed" }
  | { kind: "unknown" }
  /** None of its messages waits for its time, or ever did. */
  | { kind: "not scheduled" }
  /** Its status does not allow this. */
  | { kind: "refused"; status: BulkStatus };
