/** Logins and the sessions that they open. */
import { finder, purging } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { ACCOUNT, API_KEY, LOGIN } from "../store/schema/account.ts";
import { accountOf, CALLER_COLUMNS, type CallerRow } from "./account-rows.ts";
import { commands } from "./entry.ts";
import { INCOMING_ID_MS } from "./incoming.ts";
import { loginEventWriter } from "./login-events.ts";

const USER_COLUMNS = `login.username, set_by_reseller AS "setByReseller",
  CASE WHEN second_factor.confirmed_at_ms IS NULL THEN 0 ELSE 1 END AS "secondFactor"`;
const USERS = `login JOIN account ON account.id = login.account_id LEFT JOIN second_factor ON second_factor.username = login.username`;

/** A session's last use is written at most this often. */
const USED_RESOLUTION_MS = 1_000;

/**
 * Sessions that one user may have, so that all of them can be ended in one statement: past that the oldest end. A login ends so many of them at
 * most: there may be more from before there was a bound.
 */
export const MAX_SESSIONS = 5_000;
const END_SESSIONS = 100;

interface SessionRow extends CallerRow {
  readonly withFactor: number;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
  /** Of a program's token. */
  readonly expiresAtMs: number | null;
}

/** A token ends at its time; a session when it was not used for long, or is old. */
function hasEnded({ expiresAtMs, usedAtMs, createdAtMs }: SessionRow, nowMs: number, idleMs: number, maxMs: number) {
  if (expiresAtMs !== null) return nowMs >= expiresAtMs;
  return nowMs - usedAtMs >= idleMs || nowMs - createdAtMs >= maxMs;
}

export function sessionCommands(parts: CommandParts) {
  const { sql } = parts;
  const noteLogin = loginEventWriter(parts);
  // A session's scopes stand like those of a key.
  const finding = finder(sql, ACCOUNT, LOGIN, API_KEY);
  const login = finding<[string], CallerRow & { passwordHash: string }>(
    `SELECT ${CALLER_COLUMNS}, ${USER_COLUMNS}, password_hash AS "passwordHash" FROM ${USERS} WHERE login.username = ?`,
  );
  const insertSession = sql.prepare<[string, number, string, number, number, number, number | null, string | null]>(
    `INSERT INTO session (token_hash, account_id, username, with_factor, created_at_ms, used_at_ms, expires_at_ms, scopes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const endOldest = sql.prepare<[string, number, number, string]>(
    `DELETE FROM session WHERE token_hash IN
       (SELECT token_hash FROM session WHERE username = ? ORDER BY created_at_ms DESC LIMIT ? OFFSET ?) AND token_hash <> ?`,
  );
  const session = finding<[string], SessionRow>(
    `SELECT ${CALLER_COLUMNS}, ${USER_COLUMNS}, with_factor AS "withFactor", session.created_at_ms AS "createdAtMs", used_at_ms AS "usedAtMs",
       session.expires_at_ms AS "expiresAtMs", session.scopes
     FROM session JOIN (${USERS}) ON login.username = session.username WHERE token_hash = ?`,
  );
  const useSession = sql.prepare<[number, string]>("UPDATE session SET used_at_ms = ? WHERE token_hash = ?");
  const endSession = sql.prepare<[string]>("DELETE FROM session WHERE token_hash = ?");
  const replay = { table: "replay", key: "account_id, kind, token", at: "at_ms", only: "kind = 'key'" };
  const purgeReplays = purging(sql, replay);
  const purgeSessions = purging(sql, { table: "session", key: "token_hash", at: "created_at_ms" });
  const purgeIncomingIds = purging(sql, { table: "incoming_id", key: "carrier_id, id", at: "at_ms" });

  return commands({
    async findLogin({ username }) {
      const row = await login.get(username);
      return row === undefined ? null : { account: accountOf(row), passwordHash: row.passwordHash };
    },

    async createSession({ tokenHash, accountId, username, withFactor, nowMs, event, token }) {
      const { expiresAtMs = null, scopes = null } = token ?? {};
      const kept = scopes === null ? null : JSON.stringify(scopes);
      await insertSession.run(tokenHash, accountId, username, withFactor ? 1 : 0, nowMs, nowMs, expiresAtMs, kept);
      await endOldest.run(username, END_SESSIONS, MAX_SESSIONS, tokenHash);
      if (event !== null) await noteLogin({ ...event, atMs: nowMs });
    },

    async findSession({ tokenHash, nowMs, idleMs, maxMs, lookOnly = false }) {
      const row = await session.get(tokenHash);
      if (row === undefined || hasEnded(row, nowMs, idleMs, maxMs)) return null;
      // Opened with a password alone, at the moment at which that ceased to be enough.
      if (row.secondFactor === 1 && row.withFactor === 0) return null;
      if (!lookOnly && row.expiresAtMs === null && nowMs - row.usedAtMs >= USED_RESOLUTION_MS)
        await useSession.run(nowMs, tokenHash);
      return accountOf(row);
    },

    async endSession({ tokenHash }) {
      await endSession.run(tokenHash);
    },

    async purgeExpired({ nowMs, replayMs, sessionMs, limit }) {
      const replays = await purgeReplays({ beforeMs: nowMs - replayMs, limit });
      const sessions = await purgeSessions({ beforeMs: nowMs - sessionMs, limit });
      const incomingIds = await purgeIncomingIds({ beforeMs: nowMs - INCOMING_ID_MS, limit });
      return { more: replays.more || sessions.more || incomingIds.more };
    },
  });
}
