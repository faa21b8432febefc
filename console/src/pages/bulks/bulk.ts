/** A bulk as its pages have it: its words, and how fast it goes. */
import { useEffect, useRef } from "preact/hooks";
import { count } from "../../parts/Amount.tsx";
import type { StateColour } from "../../parts/Status.tsx";
import { clockOffsetMs, now } from "../../parts/Time.tsx";

export interface Bulk {
  readonly bulkId: string;
  readonly madeAt: string;
  readonly sendAt: string;
  readonly status: BulkStatus;
  /** Nothing of it waits for a time, so nothing can be changed of it. */
  readonly atOnce: boolean;
  readonly scheduled: number;
  readonly queued: number;
  readonly submitted: number;
  readonly delivered: number;
  readonly failed: number;
  readonly total: number;
  readonly isComplete: boolean;
  readonly lastDueAt: string | null;
}

export interface BulkList {
  readonly bulks: readonly Bulk[];
  readonly next: string | null;
}

export type BulkStatus = "PENDING" | "PAUSED" | "PROCESSING" | "CANCELED" | "FINISHED" | "FAILED";

export const STATUSES: Readonly<Record<BulkStatus, { readonly is: StateColour; readonly word: string }>> = {
  PENDING: { is: "waiting", word: "scheduled" },
  PAUSED: { is: "waiting", word: "paused" },
  PROCESSING: { is: "moving", word: "being sent" },
  FINISHED: { is: "done", word: "finished" },
  CANCELED: { is: "waiting", word: "canceled" },
  FAILED: { is: "failed", word: "nothing was sent" },
};

export interface Share {
  readonly is: StateColour;
  readonly word: string;
  readonly count: number;
}

/** Its messages by what became of them, in the order of the bar. */
export function sharesOf({ delivered, submitted, failed, scheduled, queued, status }: Bulk): Share[] {
  return [
    { is: "done", word: "delivered", count: delivered },
    { is: "moving", word: "with a carrier", count: submitted },
    { is: "failed", word: status === "CANCELED" ? "canceled or failed" : "failed", count: failed },
    { is: "waiting", word: "waiting", count: scheduled + queued },
  ];
}

/** "40", or "more than 40" as long as not all were counted. */
export function totalOf({ total, isComplete }: Bulk): string {
  return isComplete ? count(total) : `more than ${count(total)}`;
}

export const canBeChanged = ({ status, atOnce }: Bulk): boolean =>
  !atOnce && (status === "PENDING" || status === "PAUSED");

/** A speed is taken over so long. */
const WINDOW_MS = 20_000;

/** Messages a second that left for a carrier or came to their end, from one answer to the next; null as long as that is not known. */
export function useSpeed(bulk: Bulk | null): number | null {
  const seen = useRef<{ readonly atMs: number; readonly gone: number }[]>([]);
  const gone = bulk === null || !bulk.isComplete ? null : bulk.submitted + bulk.delivered + bulk.failed;
  const id = bulk?.bulkId;
  useEffect(() => {
    seen.current = [];
  }, [id]);
  useEffect(() => {
    if (gone !== null) seen.current.push({ atMs: Date.now(), gone });
  }, [gone]);
  // Whoever reads it is drawn anew every second, so that the speed falls when nothing comes any more.
  const nowMs = now.value - clockOffsetMs.value;
  while (seen.current.length > 1 && nowMs - seen.current[1]!.atMs > WINDOW_MS) seen.current.shift();
  const [first] = seen.current;
  const last = seen.current.at(-1);
  if (first === undefined || last === undefined || first === last) return null;
  if (nowMs - last.atMs > WINDOW_MS) return 0;
  return Math.max(0, ((last.gone - first.gone) * 1_000) / Math.max(1_000, nowMs - first.atMs));
}

/** When the last of its messages is expected to have gone, in milliseconds; null if that cannot be said. */
export function lastGoesAt({ scheduled, queued, lastDueAt, status }: Bulk, speed: number | null): number | null {
  if (status === "PAUSED" || status === "CANCELED" || scheduled + queued === 0) return null;
  const afterMs = speed !== null && speed > 0 ? ((scheduled + queued) / speed) * 1_000 : null;
  const dueMs = lastDueAt === null ? null : Date.parse(lastDueAt);
  if (afterMs === null) return dueMs;
  return Math.max(dueMs ?? 0, now.value + afterMs);
}

export function speedWords(speed: number): string {
  return `${speed >= 10 ? count(Math.round(speed)) : speed.toFixed(1)} a second`;
}
