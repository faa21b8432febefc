/** Structured logs, one JSON object a line. Never a message's text, a password or a token. */
import pino from "pino";
import { boundedCache } from "./cache.ts";
import type { Clock } from "./clock.ts";
import { visible } from "./visible.ts";

export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error"> & Partial<Pick<pino.Logger, "isLevelEnabled">>;

/**
 * Whether lines of this level are written. Whoever would write one for each message asks once, when it is made: then nothing is put together for a line that
 * nobody gets to see.
 */
export function isDebugging(log: Log): boolean {
  return log.isLevelEnabled?.("debug") === true;
}

/** The name of the drivers' error for a database that is away (drivers/errors.ts). */
const AWAY = "DatabaseUnavailable";

/** That the database is away says all there is to say: where in our code we noticed helps nobody. Every other error has its stack. */
function serializedError(error: unknown): unknown {
  return error instanceof Error && error.constructor.name === AWAY
    ? { type: AWAY, message: error.message }
    : pino.stdSerializers.err(error as Error);
}

export function createLog(level: string, bindings: Record<string, unknown> = {}): Log {
  // Written at once: the last lines before a crash are the ones that matter, and it works alike on every thread.
  const destination = pino.destination({ fd: 2, sync: true });
  return pino(
    {
      level,
      base: bindings,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: serializedError },
    },
    { write: (line: string) => destination.write(visible(line)) },
  );
}

export const silentLog: Log = pino({ level: "silent" });

const MINUTE_MS = 60_000;
const MAX_LINES_A_MINUTE = 10;
const MAX_KINDS = 1_000;

/**
 * A bound on the lines that a stranger can cause. Of one kind so many are written in a minute; those after them are counted, and the first
 * line of a later minute says how many they were.
 */
export class LogLimiter {
  readonly #clock: Clock;
  readonly #maxLines: number;
  readonly #kinds = boundedCache<string, { sinceMs: number; lines: number; leftOut: number }>(MAX_KINDS);

  constructor(clock: Clock, maxLinesAMinute = MAX_LINES_A_MINUTE) {
    this.#clock = clock;
    this.#maxLines = maxLinesAMinute;
  }

  /** Calls `write`, with a field for the line if some were left out before it, or not at all. A kind names who and what: "acme malformed". */
  write(kind: string, write: (more: { readonly leftOut?: number }) => void): void {
    const nowMs = this.#clock.monotonic();
    const known = this.#kinds.get(kind);
    if (known !== undefined && nowMs - known.sinceMs < MINUTE_MS) {
      if (known.lines >= this.#maxLines) {
        known.leftOut++;
        return;
      }
      known.lines++;
      write({});
      return;
    }
    this.#kinds.set(kind, { sinceMs: nowMs, lines: 1, leftOut: 0 });
    const leftOut = known?.leftOut ?? 0;
    write(leftOut === 0 ? {} : { leftOut });
  }
}
