/**
 * The checks of a service that looks at itself. However many watch, a check runs once at a time, at most once a minute, and one that takes long less
 * often: not more than a fiftieth of the time is spent on it. Nothing runs while nobody asks. Whoever wants it looked at now is not told what is
 * older than a few seconds, within that fiftieth.
 */
import type { Clock } from "../runtime/clock.ts";
import { CHECKS, type Check, runCheck } from "./checks.ts";
import type { Examined, Finding } from "./finding.ts";

const MIN_AGE_MS = 60_000;
/** The rest before somebody may have it looked at again. */
const MIN_REST_MS = 5_000;
const REST_FOR_WORK = 50;

export interface CheckResult {
  readonly name: string;
  readonly findings: readonly Finding[];
  /** When it ended, and how long it took; null before it has run. */
  readonly atMs: number | null;
  readonly tookMs: number | null;
  readonly beyond: string | null;
}

interface Watched {
  readonly check: Check;
  result: CheckResult;
  /** On the monotonic clock: from then on it is looked again. */
  freshUntilMs: number;
  /** Until then it is not looked again, whoever asks. */
  restsUntilMs: number;
  running: Promise<void> | null;
}

export class CheckWatch {
  readonly #clock: Clock;
  readonly #examined: Examined;
  readonly #watched: readonly Watched[] = CHECKS.filter(({ from }) => from !== "outside").map((check) => ({
    check,
    result: { name: check.name, findings: [], atMs: null, tookMs: null, beyond: check.beyond ?? null },
    freshUntilMs: Number.NEGATIVE_INFINITY,
    restsUntilMs: Number.NEGATIVE_INFINITY,
    running: null,
  }));

  constructor(clock: Clock, examined: Examined) {
    this.#clock = clock;
    this.#examined = examined;
  }

  /** What is known. What is too old is looked at meanwhile. */
  results(): CheckResult[] {
    const nowMs = this.#clock.monotonic();
    for (const watched of this.#watched) if (watched.freshUntilMs <= nowMs) void this.#run(watched);
    return this.#watched.map(({ result }) => result);
  }

  /** All of it, looked at now, but for what was a moment ago. */
  async again(): Promise<void> {
    const nowMs = this.#clock.monotonic();
    await Promise.all(
      this.#watched.map((watched) => (watched.restsUntilMs <= nowMs ? this.#run(watched) : watched.running)),
    );
  }

  #run(watched: Watched): Promise<void> {
    watched.running ??= this.#runOnce(watched).finally(() => {
      watched.running = null;
    });
    return watched.running;
  }

  async #runOnce(watched: Watched): Promise<void> {
    const startedMs = this.#clock.monotonic();
    const findings = await runCheck(watched.check, this.#examined);
    const endedMs = this.#clock.monotonic();
    const tookMs = endedMs - startedMs;
    watched.freshUntilMs = endedMs + Math.max(MIN_AGE_MS, tookMs * REST_FOR_WORK);
    watched.restsUntilMs = endedMs + Math.max(MIN_REST_MS, tookMs * REST_FOR_WORK);
    watched.result = { ...watched.result, findings, atMs: this.#clock.now(), tookMs: Math.round(tookMs) };
  }
}
