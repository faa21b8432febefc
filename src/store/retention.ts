/**
 * When a message may be deleted: when its end is so long ago as the operator says messages are kept, and its report does not wait to be fetched any
 * more. It counts from the end, for a message may have been accepted months before it was sent. Reports that are pushed have rows of their own.
 */
import { REPORT_FETCH_MS } from "./port/reports.ts";

/** The end of a message is when we heard of it, by our own clock. What is not final has none. */
export function isOver(beforeMs: string, unfetchedBeforeMs: string): string {
  return `state = 4 AND coalesce(done_at_ms, received_at_ms) < ${beforeMs} AND (pull IS NULL OR pull_at_ms <= ${unfetchedBeforeMs})`;
}

/** Reports that have waited since before this are not handed out any more. */
export function unfetchedBefore(nowMs: number): number {
  return nowMs - REPORT_FETCH_MS;
}
