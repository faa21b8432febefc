/** What push has done so far, as plain numbers for the metrics page. */
import type { Answer } from "./transport.ts";

/** Counted in batches, since the start; what ends in "Now" is a level. */
export interface PushCounters {
  delivered: number;
  /** To be tried again. */
  failed: number;
  /** Failed for the last time. */
  dead: number;
  /** Of `failed` and `dead`, those that shared the failure of another. */
  shared: number;
  /** Answered 410: never tried again. */
  gone: number;
  /** Sent back to the store untried. */
  released: number;
  /** Went out as part of another. */
  merged: number;
  /** Requests made, by what came of them. */
  answered2xx: number;
  answered3xx: number;
  answered4xx: number;
  answered5xx: number;
  unreachable: number;
  broken: number;
  batchesInMemoryNow: number;
  itemsInMemoryNow: number;
  requestsInFlightNow: number;
  hostsNow: number;
  openCircuitsNow: number;
}

export function zeroCounters(): PushCounters {
  return {
    delivered: 0,
    failed: 0,
    dead: 0,
    shared: 0,
    gone: 0,
    released: 0,
    merged: 0,
    answered2xx: 0,
    answered3xx: 0,
    answered4xx: 0,
    answered5xx: 0,
    unreachable: 0,
    broken: 0,
    batchesInMemoryNow: 0,
    itemsInMemoryNow: 0,
    requestsInFlightNow: 0,
    hostsNow: 0,
    openCircuitsNow: 0,
  };
}

export function countAnswer(counters: PushCounters, answer: Answer): void {
  if (answer.kind === "answered") counters[`answered${hundredsOf(answer.status)}xx`]++;
  else counters[answer.kind]++;
}

/** A status beyond 599 is nobody's: it counts as a server's mistake. */
function hundredsOf(status: number): 2 | 3 | 4 | 5 {
  return Math.min(Math.trunc(status / 100), 5) as 2 | 3 | 4 | 5;
}
