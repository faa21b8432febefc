/** What happened, with what happened many times in a row told once. Pure. */
import type { MessageEvent } from "../../../../src/api/console/message-schemas.ts";

export interface FoldedEvent {
  /** The first of them. */
  readonly event: MessageEvent;
  readonly times: number;
  readonly lastAt: string;
  /** What came of it is awaited until then; of the last of them. */
  readonly until: string | null;
  /** Something else happened after it. */
  readonly isFollowed: boolean;
}

/** An answer takes another time each time. */
const withoutTime = (detail: string): string => detail.replace(/ · after [0-9]+ ms$/, "");

function isSame(one: MessageEvent, other: MessageEvent): boolean {
  if (one.exchange !== null || other.exchange !== null) return false;
  return one.kind === other.kind && one.what === other.what && withoutTime(one.detail) === withoutTime(other.detail);
}

export function folded(events: readonly MessageEvent[]): FoldedEvent[] {
  const rows: FoldedEvent[] = [];
  for (const event of events) {
    const last = rows.at(-1);
    if (last !== undefined && isSame(last.event, event))
      rows[rows.length - 1] = { ...last, times: last.times + 1, lastAt: event.at, until: event.until };
    else {
      if (last !== undefined) rows[rows.length - 1] = { ...last, isFollowed: true };
      rows.push({ event, times: 1, lastAt: event.at, until: event.until, isFollowed: false });
    }
  }
  return rows;
}

/** Says of a time that was awaited what became of it; null while it is still awaited. */
export function pastWords({ event, until, isFollowed }: FoldedEvent, nowMs: number): string | null {
  if (until === null || (!isFollowed && Date.parse(until) > nowMs)) return null;
  if (event.kind === "held") return "until";
  return isFollowed ? "was tried again at" : "is due again since";
}
