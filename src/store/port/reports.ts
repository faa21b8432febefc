/** Reports that are pushed, those that are fetched, and those that nobody took. */
import type { CallbackPolicy, ReportAttempt, ReportFailure } from "../../message/callback.ts";
import type { ReportBatch } from "../../message/message.ts";
import type { MessageNames, PlatformFilter } from "./tracking.ts";

/** Reports that may be tried now; they are held from then on. */
export interface DueReports {
  readonly batches: ReportBatch[];
  readonly more: boolean;
  /** When the first of the others will be due; null where there is none, and while there are more that are due already. */
  readonly nextDueAtMs: number | null;
}

export interface ReportStore {
  /**
   * Batches of reports that are due, oldest due first. They are held from then on, as those are that a commit has handed out, until one of the next three
   * gives them back: what is held is not handed out a second time, unless the process that holds it is gone.
   */
  dueReports(input: { nowMs: number; limit: number }): Promise<DueReports>;
  /** Taken by their receivers, or never to be taken (410). */
  reportsDelivered(input: { ids: readonly string[] }): Promise<void>;
  reportsFailed(input: { failures: readonly ReportFailure[] }): Promise<void>;
  /** Not tried, for want of room: handed out again by dueReports from then on. Their attempts stay as they are. */
  reportsReleased(input: { releases: readonly { id: string; dueAtMs: number }[] }): Promise<void>;
  /** Batches that were never tried become one, under the id of the first. */
  mergeReports(input: { ids: readonly string[] }): Promise<void>;
  /** How the account wants its reports. An alert about its balance goes to its reseller, if it has one, and is signed with that one's secret. */
  callbackPolicy(input: { accountId: number; forAlert?: boolean }): Promise<CallbackPolicy>;
}

/** How long a report that is not pushed waits to be fetched. */
export const REPORT_FETCH_MS = 48 * 3_600_000;

/** Which dead letters; what is null does not matter. */
export interface DeadLetterFilter {
  readonly accountKey: string | null;
  readonly url: string | null;
  /** Scheme, name and port of their URL. */
  readonly host?: string | null;
  /** Only reports that were made then or later. */
  readonly sinceMs?: number | null;
}

/** A report that was not taken yet. */
interface UntakenReport {
  readonly id: string;
  readonly accountKey: string;
  readonly url: string;
  readonly itemCount: number;
  readonly attempts: number;
  readonly reason: string;
  /** The last tries, oldest first. */
  readonly history: readonly ReportAttempt[];
}

export interface DeadLetter extends UntakenReport {
  readonly deadAtMs: number;
}

/** One that failed and is tried again. */
export interface WaitingReport extends UntakenReport {
  readonly nextTryAtMs: number;
}

/** One of them with all that is known of it. */
export interface ReportDetail extends UntakenReport {
  readonly host: string;
  /** Null for a dead letter. */
  readonly nextTryAtMs: number | null;
  /** Null for one that is tried again. */
  readonly deadAtMs: number | null;
  /** What is sent. */
  readonly batch: ReportBatch;
}

/** How far the reports of a host are counted. */
export const MAX_COUNTED_REPORTS = 1_000;

/** A host that does not take an account's reports. */
export interface ReportHost {
  readonly accountKey: string;
  /** Scheme, name and port. */
  readonly host: string;
  /** Reports that failed and are tried again, counted up to a bound. */
  readonly waiting: number;
  readonly dead: number;
  /** When the next of those that wait is tried; null if none waits. */
  readonly nextTryAtMs: number | null;
  /** The first try that failed, of those that are known; null if none is. */
  readonly failingSinceMs: number | null;
  /** The last try that is known. */
  readonly last: ReportAttempt | null;
}

export interface ReportFetch extends MessageNames {
  readonly accountId: number;
  readonly limit: number;
  readonly nowMs: number;
  /** Reports that have waited since before this are not handed out any more. */
  readonly sinceMs: number;
  /** What is not confirmed by then is handed out again. */
  readonly againAtMs: number;
  /** Only messages of which the client has said this. */
  readonly platform?: PlatformFilter | null;
  /** Only these, which a search has found. */
  readonly keys?: readonly string[] | null;
}

/** A search among the reports that wait to be fetched, of an account or of one bulk. */
export interface PullSearch extends Pick<ReportFetch, "accountId" | "limit" | "nowMs" | "sinceMs"> {
  readonly bulkId: string | null;
  readonly platform: PlatformFilter;
  /** Where the last page ended. */
  readonly after: PullPosition | null;
}

/** A place among the reports that wait to be fetched. */
export interface PullPosition {
  /** Whether they were handed out before; those come first. */
  readonly pull: number;
  readonly atMs: number;
  readonly key: string;
}
