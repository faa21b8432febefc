/** What pushing reports needs of the store, and nothing more. The store implements it. */
import type { CallbackPolicy, ReportFailure } from "../../message/callback.ts";
import type { ReportBatch } from "../../message/message.ts";

/**
 * A batch is *held* from the moment the store hands it out (straight after the commit that made it, or by `dueReports`) until
 * one of the first three calls gives it back. What is held is not handed out a second time; what was held by a process that
 * is gone is handed out again.
 */
export interface ReportStore {
  /** Taken by its receiver, or never to be taken (410): forget it. */
  reportsDelivered(input: { ids: readonly string[] }): Promise<void>;
  /** Tried and not taken: when to try again, or null when this was the last try and it becomes a dead letter. */
  reportsFailed(input: { failures: readonly ReportFailure[] }): Promise<void>;
  /** Not tried, for want of room: hand it out again at `dueAtMs`. Its number of attempts stays as it is. */
  reportsReleased(input: { releases: readonly ReportRelease[] }): Promise<void>;
  /** Batches that are due and not held, oldest due first, at most `limit`; they are held from now on. */
  dueReports(input: { nowMs: number; limit: number }): Promise<DueReports>;
  /** Batches that were never tried become one, under the id of the first. They go out together from then on. */
  mergeReports(input: { ids: readonly string[] }): Promise<void>;
  /** How the account wants its reports. An alert about its balance goes to its reseller, if it has one, and is signed with that one's secret. */
  callbackPolicy(input: { accountId: number; forAlert?: boolean }): Promise<CallbackPolicy>;
  /** What people call it, for the log. */
  accountKey(input: { accountId: number }): Promise<string | null>;
}

export interface DueReports {
  readonly batches: ReportBatch[];
  readonly more: boolean;
  /** When the first of the others will be due; null where there is none, and where there are more that are due already. */
  readonly nextDueAtMs: number | null;
}

export interface ReportRelease {
  readonly id: string;
  readonly dueAtMs: number;
}
