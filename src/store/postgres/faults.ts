/** What an error of the database means to whoever asked: it is away, it wants to be asked again, or we have a bug. */
import { StoreUnavailable } from "../port.ts";

export type FaultKind = "away" | "again" | "bug";

/**
 * SQLSTATEs (PostgreSQL, appendix A), by code or by class, of a database that cannot serve us now: connection (08), out of resources (53),
 * shut down or starting (57P0), a standby that took no writes (25006), waits that took too long (57014, 55P03, 25P03, 25P04), and a
 * connection that has lost what was prepared on it (26000).
 */
const AWAY = /^(08...|53...|57P0.|57014|55P03|25P0[34]|25006|26000)$/;
/**
 * Serialisation, deadlock, and a unique race between nodes: whoever looks again sees what the other has written. 25P02 is what statements
 * hear that stand behind one that failed in their transaction, and may be heard first; what that one heard is its cause (link.ts).
 */
const AGAIN = /^(40001|40P01|23505|25P02)$/;
const SOCKET = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT", // the socket's file
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
]);
/** The driver's own errors have no code. */
const DRIVER = /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|was closed))/;

/** What statements hear behind one that has failed. */
export const BEHIND_A_FAILURE = "25P02";
const TAKEN = "23505";

/** The error that was first: of a statement behind another that failed, that other one's. */
export function firstFault(error: unknown): unknown {
  if (!(error instanceof Error) || codeOf(error) !== BEHIND_A_FAILURE) return error;
  return error.cause ?? error;
}

/** A name that is taken stays taken when it was no race: after as many tries as a race is worth, it is a fault of what was asked. */
export function isLasting(error: unknown): boolean {
  const first = firstFault(error);
  return first instanceof Error && codeOf(first) === TAKEN;
}

export function faultKind(fault: unknown): FaultKind {
  const error = firstFault(fault);
  if (error instanceof StoreUnavailable) return "away";
  if (!(error instanceof Error)) return "bug";
  const code = codeOf(error);
  if (code === null) return DRIVER.test(error.message) ? "away" : "bug";
  if (AWAY.test(code) || SOCKET.has(code)) return "away";
  return AGAIN.test(code) ? "again" : "bug";
}

/** What may work later becomes StoreUnavailable; a bug stays what it is. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const kind = faultKind(error);
  if (kind === "bug") return firstFault(error);
  const reason = faultReason(error);
  return new StoreUnavailable(
    kind === "away" ? `the database is away (${reason})` : `another node was faster (${reason})`,
  );
}

/** A word or two for people. Nothing that the database was sent is in it. */
export function faultReason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return (
    codeOf(error) ?? (DRIVER.test(error.message) || error instanceof StoreUnavailable ? error.message : error.name)
  );
}

function codeOf(error: Error): string | null {
  const { code } = error as Error & { code?: unknown };
  return typeof code === "string" ? code : null;
}
