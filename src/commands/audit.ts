/** The audit: every change that somebody made, written in the transaction that makes it, and never changed after. */
import type { FundsMoveKind } from "../money/postings.ts";
import { shownUrl } from "../runtime/shown-url.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { Actor, AuditEntry } from "../store/port/accounts.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";
import { loginEventReader } from "./login-events.ts";

/** What was done with an account's money; the kind of such an entry is "funds". */
export type FundsAction = FundsMoveKind | "transfer" | "writeOff";

/** What changes can be of. Logins are read with them, and stand in a table of their own. */
export const AUDIT_KINDS = [
  ...([
    "account",
    "funds",
    "password",
    "secondFactor",
    "sessions",
    "apiKey",
    "callbackSecret",
    "subscription",
  ] as const),
  ...(["carrier", "route", "ratePlan", "exchangeRate", "number", "optOut"] as const),
  ...(["receipt", "incoming", "quarantine", "login"] as const),
] as const;

export interface AuditedChange {
  readonly by: Actor | undefined;
  readonly atMs: number;
  readonly action: "create" | "change" | "retire" | "delete" | "reconnect" | "try" | FundsAction;
  readonly kind: Exclude<(typeof AUDIT_KINDS)[number], "login">;
  readonly subject: string;
  /** The reseller whose client it is about. */
  readonly resellerId: number | null;
  /** What was there and what is there, without secrets. */
  readonly before?: unknown;
  readonly after?: unknown;
}

export function auditWriter({ sql, unit }: CommandParts) {
  const insert = sql.prepare(
    "INSERT INTO audit (at_ms, actor, address, action, kind, subject, parent_id, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const changed = sql.prepare("UPDATE counter SET changes = changes + 1");
  /** Changes without an actor are the service's own, and not noted. */
  const note = async ({ by, atMs, action, kind, subject, resellerId, before, after }: AuditedChange): Promise<void> => {
    if (by === undefined) return;
    await insert.run(atMs, by.name, by.address, action, kind, subject, resellerId, asJson(before), asJson(after));
  };
  /** Accounts or the catalogue are others than before: whoever has them in memory looks again. */
  const tellChange = async (): Promise<void> => {
    await changed.run();
    unit().changed = true;
  };
  const noteChange = (change: AuditedChange): Promise<void> => note(change).then(tellChange);
  return { note, tellChange, noteChange };
}

/** It is kept for ever, and in every backup: a URL stands there as it may be shown. */
function asJson(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return JSON.stringify(value, (_, part) => {
    if (typeof part === "bigint") return part.toString();
    return typeof part === "string" && part.includes(":/") ? shownUrl(part) : part;
  });
}

export function auditCommands({ sql }: CommandParts) {
  const entries = <Given extends Value[]>(where: string) =>
    sql.prepare<[...Given, limit: number], AuditEntry>(
      `SELECT id, at_ms AS "atMs", actor, address, action, kind, subject, before, after FROM audit WHERE ${where} ORDER BY id DESC LIMIT ?`,
    );
  const rest = "id < ? AND kind = coalesce(?, kind) AND subject = coalesce(?, subject) AND actor = coalesce(?, actor)";
  const all = entries<[number, string | null, string | null, string | null]>(rest);
  const ofSubject = entries<[string, string, number, string | null]>(
    "kind = ? AND subject = ? AND id < ? AND actor = coalesce(?, actor)",
  );
  const ofReseller = entries<[number, number, string | null, string | null, string | null]>(
    `parent_id = ? AND ${rest}`,
  );
  const logins = loginEventReader({ sql });

  return commands({
    async audit({ resellerId, kind, subject, actor, beforeId, limit }) {
      if (kind === "login") return logins({ resellerId, subject, actor, beforeId, limit });
      const before = beforeId ?? Number.MAX_SAFE_INTEGER;
      if (resellerId !== null) return ofReseller.all(resellerId, before, kind, subject, actor, limit);
      if (kind !== null && subject !== null) return ofSubject.all(kind, subject, before, actor, limit);
      return all.all(before, kind, subject, actor, limit);
    },
  });
}
