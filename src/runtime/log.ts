/** Structured logs, one JSON object a line. Never a message's text, a password or a token. */
import pino from "pino";

export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error">;

export function createLog(level: string, bindings: Record<string, unknown> = {}): Log {
  // Written at once: the last lines before a crash are the ones that matter, and it works alike on every thread.
  return pino(
    { level, base: bindings, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
}

export const silentLog: Log = pino({ level: "silent" });
