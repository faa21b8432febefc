/** Structured logs, one JSON object a line. Never a message's text, a password or a token. */
import pino from "pino";
import { visible } from "./visible.ts";

export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error">;

export function createLog(level: string, bindings: Record<string, unknown> = {}): Log {
  // Written at once: the last lines before a crash are the ones that matter, and it works alike on every thread.
  const destination = pino.destination({ fd: 2, sync: true });
  return pino(
    { level, base: bindings, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => destination.write(visible(line)) },
  );
}

export const silentLog: Log = pino({ level: "silent" });
