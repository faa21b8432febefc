/** Rounds that nobody measured. */
import type { Round } from "../../bench/cycle/rig.ts";

/** A round in which all is `times` as much as it might be. */
export function madeUpRound(times: number, threads: readonly string[]): Round {
  const table = Object.fromEntries(threads.map((name) => [name, 100 * times]));
  const percentiles = { p50: 2 * times, p99: 6 * times, p999: 10 * times, most: 20 * times };
  return {
    messages: 100,
    elapsedMs: 1_000,
    messagesPerSecond: 100 * times,
    requestsPerSecond: 100 * times,
    answerMs: percentiles,
    submitMs: percentiles,
    reportMs: percentiles,
    gatewayMicros: table,
    wakeUps: Object.fromEntries(threads.map((name) => [name, times])),
    benchMicros: {},
    waitMicros: null,
    writtenBytes: null,
    logBytes: null,
    flushes: null,
    duplicateSubmits: 0,
    duplicateReports: 0,
    strayReports: 0,
    reportsPerRequest: null,
    fromMs: 0,
    toMs: 0,
  };
}
