/**
 * What the audit says of logins. They stand in a table of their own: they come by the thousand, strangers have a hand in some of them, and
 * so they leave after a while, which entries of the audit itself never do.
 */
import { purging } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { AuditEntry } from "../store/port/accounts.ts";
import type { LoginEvent } from "../store/port/credentials.ts";
import type { CommandInput } from "../store/port/store.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";

/** The actor where nobody is known by the name that was given. No account's key has a space in it. */
const STRANGER = "a stranger";
const MAX_NAME_CHARACTERS = 64;

/** A name that anybody may have made up, fit to be kept and shown: short, and without what moves a cursor or turns a line around. */
function shownName(username: string): string {
  const letters = [...username.slice(0, 2 * MAX_NAME_CHARACTERS).toWellFormed()];
  return letters
    .slice(0, MAX_NAME_CHARACTERS)
    .join("")
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

export function loginEventWriter({ sql }: CommandParts): (event: LoginEvent & { atMs: number }) => Promise<void> {
  const owner = sql.prepare<[string], { key: string; parentId: number | null }>(
    `SELECT account.key, account.parent_id AS "parentId" FROM login JOIN account ON account.id = login.account_id WHERE username = ?`,
  );
  const insert = sql.prepare(
    "INSERT INTO login_event (at_ms, actor, address, action, subject, parent_id, after) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  return async ({ action, username, address, facts, atMs }) => {
    const account = username === null ? undefined : await owner.get(username);
    // Where it does not matter whom wrong ones were meant for, they are about the address.
    const subject = username === null ? address : shownName(username);
    const { key = STRANGER, parentId = null } = account ?? {};
    await insert.run(atMs, key, address, action, subject, parentId, JSON.stringify(facts));
  };
}

type Filter = Omit<CommandInput<"audit">, "kind">;

/** Logins as entries of the audit. Their ids are their own. */
export function loginEventReader({ sql }: Pick<CommandParts, "sql">): (filter: Filter) => Promise<AuditEntry[]> {
  const entries = <Given extends Value[]>(where: string) =>
    sql.prepare<[...Given, limit: number], AuditEntry>(
      `SELECT id, at_ms AS "atMs", actor, address, action, 'login' AS kind, subject, NULL AS before, after FROM login_event
       WHERE ${where} ORDER BY id DESC LIMIT ?`,
    );
  const all = entries<[number]>("id < ?");
  const ofSubject = entries<[string, number]>("subject = ? AND id < ?");
  const ofActor = entries<[string, number, string | null]>("actor = ? AND id < ? AND subject = coalesce(?, subject)");
  const ofReseller = entries<[number, number, string | null, string | null]>(
    "parent_id = ? AND id < ? AND subject = coalesce(?, subject) AND actor = coalesce(?, actor)",
  );
  return async ({ resellerId, subject, actor, beforeId, limit }) => {
    const before = beforeId ?? Number.MAX_SAFE_INTEGER;
    if (resellerId !== null) return ofReseller.all(resellerId, before, subject, actor, limit);
    if (actor !== null) return ofActor.all(actor, before, subject, limit);
    return subject !== null ? ofSubject.all(subject, before, limit) : all.all(before, limit);
  };
}

export function loginEventCommands(parts: CommandParts) {
  return commands({
    noteLogin: loginEventWriter(parts),
    purgeLoginEvents: purging(parts.sql, { table: "login_event", key: "id", at: "at_ms" }),
  });
}
