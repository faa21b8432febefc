/** What push has done so far, as plain numbers, and the metrics that are made of them. */
import type { Answer } from "../../http/transport.ts";
import { counter, type Distribution, gauge, histogram, type Metric, seriesBy } from "../../runtime/metrics.ts";

/** Counted in batches, since the start; what ends in "Now" is a level. */
export const zeroCounters = () => ({
  delivered: 0,
  /** To be tried again. */
  failed: 0,
  /** Failed for the last time. */
  dead: 0,
  /** Of `failed` and `dead`, those that shared the failure of another. */
  shared: 0,
  /** Answered 410: never tried again. */
  gone: 0,
  /** Sent back to the store untried. */
  released: 0,
  /** Went out as part of another. */
  merged: 0,
  /** Requests made, by what came of them. */
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
  /** Of accounts to hosts, and of hosts that are open for some account. */
  openCircuitsNow: 0,
  openHostsNow: 0,
});
export type PushCounters = ReturnType<typeof zeroCounters>;

export function countAnswer(counters: PushCounters, answer: Answer): void {
  if (answer.kind === "answered") counters[`answered${hundredsOf(answer.status)}xx`]++;
  else counters[answer.kind]++;
}

/** A status beyond 599 is nobody's: it counts as a server's mistake. */
function hundredsOf(status: number): 2 | 3 | 4 | 5 {
  return Math.min(Math.trunc(status / 100), 5) as 2 | 3 | 4 | 5;
}

export function pushMetrics(counters: PushCounters, attemptSeconds: Distribution): Metric[] {
  const { delivered, failed, dead, gone, released, merged, unreachable, broken } = counters;
  const { answered2xx, answered3xx, answered4xx, answered5xx } = counters;
  const answered = { "2xx": answered2xx, "3xx": answered3xx, "4xx": answered4xx, "5xx": answered5xx };
  return [
    counter(
      "heliograph_reports_batches_total",
      "Batches of reports, by what became of them",
      seriesBy("outcome", { delivered, failed, dead, gone, released, merged }),
    ),
    counter(
      "heliograph_reports_shared_total",
      "Of the batches that failed, those that shared the failure of another",
      counters.shared,
    ),
    counter(
      "heliograph_reports_attempts_total",
      "Requests to receivers of reports, by what came of them",
      seriesBy("outcome", { ...answered, unreachable, broken }),
    ),
    histogram("heliograph_reports_attempt_seconds", "How long such a request took", attemptSeconds),
    gauge("heliograph_reports_batches_in_memory", "Batches of reports in memory", counters.batchesInMemoryNow),
    gauge("heliograph_reports_items_in_memory", "Reports in these batches", counters.itemsInMemoryNow),
    gauge("heliograph_reports_requests_in_flight", "Requests that are under way", counters.requestsInFlightNow),
    gauge("heliograph_reports_hosts", "Hosts of receivers that are known at present", counters.hostsNow),
    gauge(
      "heliograph_reports_hosts_open",
      "Of those, hosts that keep failing and get one probe at a time",
      counters.openHostsNow,
    ),
  ];
}
