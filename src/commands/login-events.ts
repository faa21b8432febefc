/**
 * What the audit says of logins. They stand in a table of their own: they come by the thousand, strangers have a hand in some of them, and
 * so they leave after a while, which entries of the audit itself never do.
 */
import type { CommandParts } from "../store/command-parts.ts";
import type { AuditEntry } from "../store/port/accounts.ts";
import type { LoginEvent } from "../store/port/credentials.ts";
import type { CommandInput } from "../store/port/store.ts";
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
  const columns = `id, at_ms AS "atMs", actor, address, action, 'login' AS kind, subject, NULL AS before, after`;
  const rest = "id < ? AND subject = coalesce(?, subject) AND actor = coalesce(?, actor) ORDER BY id DESC LIMIT ?";
  const all = sql.prepare<[number, number], AuditEntry>(
    `SELECT ${columns} FROM login_event WHERE id < ? ORDER BY id DESC LIMIT ?`,
  );
  const ofSubject = sql.prepare<[string, number, number], AuditEntry>(
    `SELECT ${columns} FROM login_event WHERE subject = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  );
  const ofActor = sql.prepare<[string, number, string | null, number], AuditEntry>(
    `SELECT ${columns} FROM login_event WHERE actor = ? AND id < ? AND subject = coalesce(?, subject) ORDER BY id DESC LIMIT ?`,
  );
  const ofReseller = sql.prepare<[number, number, string | null, string | null, number], AuditEntry>(
    `SELECT ${columns} FROM login_event WHERE parent_id = ? AND ${rest}`,
  );
  return async ({ resellerId, subject, actor, beforeId, limit }) => {
    const before = beforeId ?? Number.MAX_SAFE_INTEGER;
    if (resellerId !== null) return ofReseller.all(resellerId, before, subject, actor, limit);
    if (actor !== null) return ofActor.all(actor, before, subject, limit);
    return subject !== null ? ofSubject.all(subject, before, limit) : all.all(before, limit);
  };
}

export function loginEventCommands(parts: CommandParts) {
  const purge = parts.sql.prepare<[number, number]>(
    "DELETE FROM login_event WHERE id IN (SELECT id FROM login_event WHERE at_ms < ? ORDER BY at_ms LIMIT ?)",
  );
  return commands({
    noteLogin: loginEventWriter(parts),
    async purgeLoginEvents({ beforeMs, limit }) {
      return { more: (await purge.run(beforeMs, limit)) >= limit };
    },
  });
}
