/** A long run at a steady rate, and what must hold at its end: level memory, no growing backlog, every message reported once, books that agree. */
import { MODES } from "./requests.ts";
import type { Rig, Round, RoundOrder } from "./rig.ts";
import { spreadOf } from "./statistics.ts";

export interface SoakMinute {
  readonly minute: number;
  readonly messagesPerSecond: number;
  /** Messages that should have been sent by now and have not been reported: the most in this minute. */
  readonly backlog: number;
  readonly memoryBytes: number;
}

export interface Check {
  readonly what: string;
  readonly holds: boolean;
  readonly found: string;
}

export interface SoakResult {
  readonly minutes: readonly SoakMinute[];
  readonly round: Round;
  readonly checks: readonly Check[];
}

interface Sample {
  readonly done: number;
  readonly backlog: number;
  readonly memoryBytes: number;
}

const SAMPLE_MS = 1_000;
const SAMPLES_A_MINUTE = 60_000 / SAMPLE_MS;
/** The last quarter against the second: the first is for the service to find its size. */
const MAX_MEMORY_GROWTH = 1.1;
/** A backlog of this much more work than before is one that grows. */
const MAX_BACKLOG_GROWTH_SECONDS = 1;

export async function soak(
  rig: Rig,
  order: RoundOrder & { readonly perSecond: number },
  onMinute: (minute: SoakMinute) => void,
): Promise<SoakResult> {
  const messagesPerSecond = order.perSecond * MODES[order.mode].destinations;
  const samples: Sample[] = [];
  const minutes: SoakMinute[] = [];
  let beganAtMs = 0;
  let done = 0;
  let timer: NodeJS.Timeout | undefined;
  const sample = (): void => {
    const wanted = Math.floor(((performance.now() - beganAtMs) / 1000) * messagesPerSecond);
    // All has been sent: what is left is the end of it.
    if (wanted > order.messages + messagesPerSecond / 2) return;
    const backlog = Math.max(0, Math.min(wanted, order.messages) - done);
    samples.push({ done, backlog, memoryBytes: rig.subject.memoryBytes() ?? 0 });
    if (samples.length % SAMPLES_A_MINUTE !== 0) return;
    const last = samples.slice(-SAMPLES_A_MINUTE);
    const before = samples.at(-SAMPLES_A_MINUTE - 1)?.done ?? 0;
    const minute = {
      minute: samples.length / SAMPLES_A_MINUTE,
      messagesPerSecond: ((done - before) * 1000) / (SAMPLES_A_MINUTE * SAMPLE_MS),
      backlog: Math.max(...last.map(({ backlog }) => backlog)),
      memoryBytes: Math.max(...last.map(({ memoryBytes }) => memoryBytes)),
    };
    minutes.push(minute);
    onMinute(minute);
  };
  const { onProgress } = rig;
  rig.onBegin = () => {
    beganAtMs = performance.now();
    timer = setInterval(sample, SAMPLE_MS);
  };
  rig.onProgress = (count) => {
    done = count;
    onProgress(count);
  };
  let round: Round;
  try {
    round = await rig.run(order);
  } finally {
    clearInterval(timer);
  }
  await rig.subject.stop();
  const fault = await rig.subject.auditBooks();
  return {
    minutes,
    round,
    checks: [
      memoryCheck(samples),
      backlogCheck(samples, messagesPerSecond),
      countCheck(round),
      { what: "the books agree", holds: fault === null, found: fault ?? "heliograph ledger verify finds nothing" },
    ],
  };
}

function quarter(samples: readonly Sample[], number: number, value: (sample: Sample) => number): number {
  const at = (end: number): number => Math.floor((samples.length * end) / 4);
  return spreadOf(samples.slice(at(number - 1), at(number)).map(value)).median;
}

function memoryCheck(samples: readonly Sample[]): Check {
  const [second, last] = [2, 4].map((number) => quarter(samples, number, ({ memoryBytes }) => memoryBytes));
  const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
  return {
    what: "memory is level",
    holds: last! <= second! * MAX_MEMORY_GROWTH,
    found: `${megabytes(second!)} in the second quarter, ${megabytes(last!)} in the last`,
  };
}

function backlogCheck(samples: readonly Sample[], messagesPerSecond: number): Check {
  const [second, last] = [2, 4].map((number) => quarter(samples, number, ({ backlog }) => backlog));
  return {
    what: "the backlog does not grow",
    holds: last! <= second! + MAX_BACKLOG_GROWTH_SECONDS * messagesPerSecond,
    found: `${Math.round(second!)} messages in the second quarter, ${Math.round(last!)} in the last`,
  };
}

function countCheck({ messages, duplicateSubmits, duplicateReports, strayReports }: Round): Check {
  return {
    what: "every message was submitted and reported once",
    holds: duplicateSubmits + duplicateReports + strayReports === 0,
    found:
      `${messages.toLocaleString("en")} reported; ${duplicateSubmits} submitted twice, ` +
      `${duplicateReports} reported twice, ${strayReports} reported that nobody sent`,
  };
}
