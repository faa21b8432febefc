/** The logs: which messages, and where in them. */
import type { AsWritten, MessageKey, ReportFacts } from "../../message/message.ts";
import type { Body } from "../../sms/body.ts";

/** Which messages, by their names; null where it does not matter. Of a client's own messageId, rejected messages have it too. */
export interface MessageNames {
  readonly bulkIds: readonly string[] | null;
  readonly messageIds: readonly string[] | null;
}

/** What the client has said of its messages; null where it does not matter. */
export interface PlatformFilter {
  readonly entityId: string | null;
  readonly applicationId: string | null;
  readonly campaignReferenceIds: readonly string[] | null;
}

/** Null means: whatever it is. */
export interface LogFilter extends MessageNames {
  readonly platform?: PlatformFilter | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly statusIds: readonly number[] | null;
  readonly mcc: string | null;
  readonly mnc: string | null;
  /** Both are times of sending, and both are included. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A place in the logs of an account: by time, and by key where the time is the same. */
export interface LogPosition {
  readonly atMs: number;
  readonly key: MessageKey;
}

/** Rows of the logs that one call looks at: under 2 ms, as measured with a filter that matches none of them. */
export const LOG_PAGE_ROWS = 2_000;

export interface LogQuery extends LogFilter {
  readonly accountId: number;
  readonly limit: number;
  /** Where the last page ended. */
  readonly after: LogPosition | null;
}

export interface LoggedMessage extends Omit<ReportFacts, "doneAtMs"> {
  readonly key: MessageKey;
  /** Null for a message that is still on its way. */
  readonly doneAtMs: number | null;
  /** Of a binary message, its hex. */
  readonly text: string;
  readonly encoding: Body["encoding"];
  readonly written: AsWritten | null;
}
