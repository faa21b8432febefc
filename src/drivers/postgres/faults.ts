/**
 * What an error of the database means to whoever asked.
 *
 * | kind    | what it is                                                      | the same call            |
 * |---------|-----------------------------------------------------------------|--------------------------|
 * | away    | the database cannot be reached, or serves nobody                | may work later           |
 * | again   | another node was faster                                         | is tried again at once   |
 * | broken  | rights, a schema, a disk: some commands fail, whatever they say | may work when it is mended |
 * | refused | the values have no place, or our own code fails on them         | fails always             |
 *
 * Only "refused" speaks against what was asked, so only that may ever be set aside. What is not known here is "broken".
 */
import { DatabaseUnavailable } from "../errors.ts";

export type FaultKind = "away" | "again" | "broken" | "refused";

/**
 * SQLSTATEs (PostgreSQL, appendix A), by code or by class, of a database that cannot serve us now: connection (08), out of resources (53),
 * shut down or starting (57P0), a standby that took no writes (25006), waits that took too long (57014, 55P03, 25P03, 25P04), and a
 * connection that has lost what was prepared on it (26000).
 */
const AWAY = /^(08...|53...|57P0.|57014|55P03|25P0[34]|25006|26000)$/;
/**
 * Serialisation, deadlock, and a unique race between nodes (and isLockedRow below): whoever looks again sees what the other has written. 25P02 is what statements
 * hear that stand behind one that failed in their transaction, and may be heard first; what that one heard is its cause (link.ts).
 */
const AGAIN = /^(40001|40P01|23505|25P02)$/;
/** Data exceptions, integrity constraints and limits of the program, such as an index row that is too large: these are about values. */
const REFUSED = /^(22|23|54)...$/;
/** No class begins with E: the codes of the operating system do. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;
/** The driver's own errors have no code. */
const DRIVER =
  /^(Connection terminated|timeout expired|Query read timeout|Client (has encountered|was closed)|received (unexpected|invalid)|SASL)/i;

/**
 * A row that another transaction has locked, where the statement said that it waits for none. A wait that took too long has the same code, but comes from
 * where PostgreSQL interrupts what runs.
 */
function isLockedRow(error: Error): boolean {
  const { routine = WHERE_INTERRUPTED } = error as { routine?: string };
  return codeOf(error) === NO_LOCK && routine !== WHERE_INTERRUPTED;
}

/** A statement, or its wait for a lock, that took longer than it may: the database is there, and may well serve others. */
const NO_LOCK = "55P03";
const WHERE_INTERRUPTED = "ProcessInterrupts";
const SLOW = new Set(["57014", NO_LOCK]);

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
  if (error instanceof DatabaseUnavailable) return "away";
  if (!(error instanceof Error)) return "refused";
  const code = codeOf(error);
  if (code === null) return DRIVER.test(error.message) ? "away" : "refused";
  if (!SQLSTATE.test(code)) return isOfCode(error) ? "refused" : "away";
  if (isLockedRow(error)) return "again";
  if (AWAY.test(code)) return "away";
  if (AGAIN.test(code)) return "again";
  return REFUSED.test(code) ? "refused" : "broken";
}

/** Node's own errors of a wrong argument have a code too; all others with such a code are of sockets, files and certificates. */
function isOfCode(error: Error): boolean {
  return error instanceof TypeError || error instanceof RangeError;
}

/** Every connection was in use for as long as a statement may take. */
export class PoolBusy extends DatabaseUnavailable {}

/** A server, or a pool, is there and will not have us: what others say who cannot be reached tells less. */
export function isAnswer(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || (error instanceof Error && SQLSTATE.test(codeOf(error) ?? ""));
}

/** It is a standby, or was set so. */
export class ReadOnlyServer extends DatabaseUnavailable {
  constructor(name: string) {
    super(`${name} takes no writes`, "25006");
  }
}

/** Of what is "away": it speaks of one statement or of this process, not of the database. */
export function isSlow(fault: unknown): boolean {
  const error = firstFault(fault);
  return error instanceof PoolBusy || (error instanceof Error && SLOW.has(codeOf(error) ?? ""));
}

/** What may work later becomes DatabaseUnavailable; what is refused stays what it is. */
export function asDatabaseError(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  const first = firstFault(error);
  const kind = faultKind(first);
  if (kind === "refused") return first;
  const reason = faultReason(first);
  if (kind === "broken") return new DatabaseUnavailable(`${(first as Error).message} (${reason})`, reason);
  return new DatabaseUnavailable(
    kind === "away" ? `the database is away (${reason})` : `another node was faster (${reason})`,
    reason,
  );
}

/** Whatever kept us from connecting, a password or a certificate among them, says nothing of what was to be written. */
export function asConnectError(error: unknown): DatabaseUnavailable {
  if (error instanceof DatabaseUnavailable) return error;
  const reason = faultReason(error);
  return new DatabaseUnavailable(`the database is away (${reason})`, reason);
}

/** A word or two for people. Nothing that the database was sent is in it. */
export function faultReason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  // What has no code is the driver's, which says what it wanted of the server.
  return codeOf(error) ?? error.message;
}

export function codeOf(error: Error): string | null {
  const { code } = error as Error & { code?: unknown };
  return typeof code === "string" ? code : null;
}
