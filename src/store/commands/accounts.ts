/** Who: accounts, logins, sessions, opt-outs, and the catalogue that the operator sets. */
import { isKeyOf, isUsernameOf, keyPrefix, usernamePrefixes } from "../names.ts";
import type { Account, AccountCreation, CommandHandlers, NewAccount, Purpose } from "../port.ts";
import type { Value } from "../sql.ts";
import { auditWriter } from "./audit.ts";
import { loginEventWriter } from "./login-events.ts";
import type { CommandParts } from "./parts.ts";
import { callbackSecretPlace, secretWriter } from "./secrets.ts";

export interface AccountRow
  extends Omit<
    Account,
    "suspended" | "allowedSenders" | "allowedAddresses" | "limits" | "scopes" | "user" | "apiKey" | "passwordOfReseller"
  > {
  readonly suspended: number;
  readonly allowedSenders: string | null;
  readonly allowedAddresses: string | null;
  readonly limits: string;
  /** Of the API key by which it was found. */
  readonly scopes?: string | null;
  /** Of the login or session by which it was found. */
  readonly username?: string;
  readonly secondFactor?: number;
  readonly keyId?: string;
  readonly keyExpiresAtMs?: number | null;
  readonly keyAllowedAddresses?: string | null;
  readonly setByReseller?: number;
}

export const ACCOUNT_COLUMNS = `account.id, account.key, account.kind, account.parent_id AS "parentId", account.currency,
  account.rate_plan_id AS "ratePlanId", account.default_sender AS "defaultSender", account.suspended,
  account.allowed_senders AS "allowedSenders", account.allowed_addresses AS "allowedAddresses", account.limits`;
const USER_COLUMNS = `login.username, set_by_reseller AS "setByReseller",
  CASE WHEN second_factor.confirmed_at_ms IS NULL THEN 0 ELSE 1 END AS "secondFactor"`;
const USERS = `login JOIN account ON account.id = login.account_id LEFT JOIN second_factor ON second_factor.username = login.username`;

export function accountOf(row: AccountRow): Account {
  const { id, key, kind, parentId, currency, ratePlanId, defaultSender, suspended } = row;
  return {
    id,
    key,
    kind,
    parentId,
    currency,
    ratePlanId,
    defaultSender,
    allowedSenders: parsed(row.allowedSenders),
    allowedAddresses: parsed(row.allowedAddresses),
    limits: JSON.parse(row.limits),
    suspended: suspended === 1,
    scopes: parsed(row.scopes ?? null),
    user: row.username === undefined ? null : { username: row.username, secondFactor: row.secondFactor === 1 },
    apiKey:
      row.keyId === undefined
        ? null
        : {
            id: row.keyId,
            expiresAtMs: row.keyExpiresAtMs ?? null,
            allowedAddresses: parsed(row.keyAllowedAddresses ?? null),
          },
    passwordOfReseller: row.setByReseller === 1,
  };
}

/** JSON, or nothing. */
export function parsed<Thing>(text: string | null): Thing | null {
  return text === null ? null : JSON.parse(text);
}

export function unparsed(thing: unknown): string | null {
  return thing === null || thing === undefined ? null : JSON.stringify(thing);
}

/** A session's last use is written at most this often. */
const USED_RESOLUTION_MS = 1_000;

/**
 * Sessions that one user may have, so that all of them can be ended in one statement: past that the oldest end. A login ends so many of them at
 * most: there may be more from before there was a bound.
 */
export const MAX_SESSIONS = 5_000;
const END_SESSIONS = 100;

type AccountCommand =
  | "createAccount"
  | "findLogin"
  | "countAccounts"
  | "createSession"
  | "findSession"
  | "endSession"
  | "optOut"
  | "optIn"
  | "claimPurpose"
  | "purpose"
  | "changeCounter"
  | "optOuts"
  | "rotateCallbackSecret"
  | "dropOldCallbackSecret"
  | "purgeExpired";

export function accountCommands(parts: CommandParts): Pick<CommandHandlers, AccountCommand> {
  const { sql, tables, unit } = parts;
  const note = auditWriter(parts);
  const noteLogin = loginEventWriter(parts);
  const { seal } = secretWriter(parts);
  const byKey = sql.prepare<[string], AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE key = ?`);
  const loginTaken = sql.prepare<[string], unknown>("SELECT 1 FROM login WHERE username = ?");
  const insertAccount = sql.prepare<Value[], { id: number }>(
    `INSERT INTO account (key, kind, parent_id, currency, rate_plan_id, default_sender, credit_limit_micros, callback_secret, retry_minutes,
       allowed_senders, allowed_addresses, limits, alert_below_micros, alert_url, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  const openWallet = sql.prepare<[number, string, string]>(
    "INSERT INTO wallet (account_id, name, currency) VALUES (?, ?, ?)",
  );
  const insertLogin = sql.prepare<[string, number, string, number]>(
    "INSERT INTO login (username, account_id, password_hash, set_by_reseller) VALUES (?, ?, ?, ?)",
  );
  const login = sql.prepare<[string], AccountRow & { passwordHash: string }>(
    `SELECT ${ACCOUNT_COLUMNS}, ${USER_COLUMNS}, password_hash AS "passwordHash" FROM ${USERS} WHERE login.username = ?`,
  );
  const resellers = sql.prepare<[], { key: string }>("SELECT key FROM account WHERE kind = 'reseller'");
  const keyInNamespace = sql.prepare<[number, string], { key: string }>(
    "SELECT key FROM account WHERE lower(substr(key, 1, CAST(? AS INTEGER))) = ? LIMIT 1",
  );
  const userInNamespace = sql.prepare<[number, string, string, string], { key: string }>(
    `SELECT account.key FROM login JOIN account ON account.id = login.account_id
     WHERE lower(substr(username, 1, CAST(? AS INTEGER))) IN (?, ?, ?) LIMIT 1`,
  );
  const count = sql.prepare<[string], { count: number }>("SELECT count(*) AS count FROM account WHERE kind = ?");
  const insertSession = sql.prepare<[string, number, string, number, number, number]>(
    "INSERT INTO session (token_hash, account_id, username, with_factor, created_at_ms, used_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const endOldest = sql.prepare<[string, number, number, string]>(
    `DELETE FROM session WHERE token_hash IN
       (SELECT token_hash FROM session WHERE username = ? ORDER BY created_at_ms DESC LIMIT ? OFFSET ?) AND token_hash <> ?`,
  );
  const session = sql.prepare<[string], AccountRow & { withFactor: number; createdAtMs: number; usedAtMs: number }>(
    `SELECT ${ACCOUNT_COLUMNS}, ${USER_COLUMNS}, with_factor AS "withFactor", session.created_at_ms AS "createdAtMs", used_at_ms AS "usedAtMs"
     FROM session JOIN (${USERS}) ON login.username = session.username WHERE token_hash = ?`,
  );
  const useSession = sql.prepare<[number, string]>("UPDATE session SET used_at_ms = ? WHERE token_hash = ?");
  const endSession = sql.prepare<[string]>("DELETE FROM session WHERE token_hash = ?");
  const insertOptOut = sql.prepare<[number, string, number]>(
    "INSERT INTO opt_out (account_id, number, at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const deleteOptOut = sql.prepare<[number, string]>("DELETE FROM opt_out WHERE account_id = ? AND number = ?");
  const optedOut = sql.prepare<[number, string, number], { number: string; atMs: number }>(
    `SELECT number, at_ms AS "atMs" FROM opt_out WHERE account_id = ? AND number > ? ORDER BY number LIMIT ?`,
  );
  const changed = sql.prepare("UPDATE counter SET changes = changes + 1");
  const changes = sql.prepare<[], { changes: number }>("SELECT changes FROM counter");
  const setPurpose = sql.prepare<[Purpose]>("UPDATE counter SET purpose = ? WHERE purpose IS NULL");
  const purposeOf = sql.prepare<[], { purpose: Purpose | null }>("SELECT purpose FROM counter");
  const rotateSecret = sql.prepare<[string, string]>(
    "UPDATE account SET old_callback_secret = callback_secret, callback_secret = ? WHERE key = ?",
  );
  const dropSecret = sql.prepare<[string]>("UPDATE account SET old_callback_secret = NULL WHERE key = ?");
  const purgeReplays = sql.prepare<[number, number]>(
    `DELETE FROM replay WHERE kind = 'key' AND (account_id, token) IN
       (SELECT account_id, token FROM replay WHERE kind = 'key' AND at_ms < ? ORDER BY at_ms LIMIT ?)`,
  );
  const purgeSessions = sql.prepare<[number, number]>(
    "DELETE FROM session WHERE token_hash IN (SELECT token_hash FROM session WHERE created_at_ms < ? ORDER BY created_at_ms LIMIT ?)",
  );

  const noteChange = async (): Promise<void> => {
    await changed.run();
    unit().changed = true;
  };

  /** A list: whose it is (0 for the service's own), and the reseller who may hear of it; null for an account that does not exist. */
  const optOutList = async (accountKey: string | null): Promise<{ id: number; resellerId: number | null } | null> => {
    if (accountKey === null) return { id: 0, resellerId: null };
    const account = await byKey.get(accountKey);
    return account === undefined ? null : { id: account.id, resellerId: account.parentId };
  };

  /** The audit says that an account's secret was changed, and never what it is. */
  const secretOf = async (accountKey: string) => {
    const resellerId = (await byKey.get(accountKey))?.parentId ?? null;
    return { kind: "callbackSecret", subject: accountKey, resellerId, before: null };
  };

  const listed = (accountKey: string | null, number: string): string => `${accountKey ?? "service"} ${number}`;

  /** What stands in the way of a new account's names, if anything: the namespaces of resellers do not overlap, and have their own clients only. */
  const nameFault = async ({ key, kind, username, parentKey }: NewAccount): Promise<AccountCreation | null> => {
    // Two resellers whose keys differ in their letter case alone may be there from before.
    const ownKey = parentKey !== null && isKeyOf(parentKey, key);
    const ownUsername = parentKey !== null && isUsernameOf(parentKey, username);
    for (const { key: resellerKey } of await resellers.all()) {
      const same = kind === "reseller" && key.toLowerCase() === resellerKey.toLowerCase();
      if (same || (!ownKey && isKeyOf(resellerKey, key))) return { kind: "name reserved", field: "key", resellerKey };
      if (!ownUsername && isUsernameOf(resellerKey, username))
        return { kind: "name reserved", field: "username", resellerKey };
    }
    if (kind !== "reseller") return null;
    const [dash, dot, underscore] = usernamePrefixes(key) as [string, string, string];
    const inTheWay =
      (await keyInNamespace.get(dash.length, keyPrefix(key).toLowerCase())) ??
      (await userInNamespace.get(dash.length, dash, dot, underscore));
    return inTheWay === undefined ? null : { kind: "namespace taken", accountKey: inTheWay.key };
  };

  return {
    async createAccount(input: NewAccount): Promise<AccountCreation> {
      if ((await byKey.get(input.key)) !== undefined) return { kind: "key taken" };
      if ((await loginTaken.get(input.username)) !== undefined) return { kind: "username taken" };
      const parent = input.parentKey === null ? null : await byKey.get(input.parentKey);
      if (parent === undefined || (parent !== null && parent.kind !== "reseller")) return { kind: "unknown parent" };
      const fault = await nameFault(input);
      if (fault !== null) return fault;
      const { key, kind, currency, ratePlanId, defaultSender, creditLimitMicros, callbackSecret, atMs } = input;
      const inserted = await insertAccount.get(
        key,
        kind,
        parent?.id ?? null,
        currency,
        ratePlanId,
        defaultSender,
        creditLimitMicros,
        await seal(callbackSecretPlace(key), callbackSecret),
        unparsed(input.retryMinutes),
        unparsed(input.allowedSenders),
        unparsed(input.allowedAddresses),
        JSON.stringify(input.limits ?? {}),
        input.alert?.belowMicros ?? null,
        input.alert?.url ?? null,
        atMs,
      );
      const { id } = inserted!;
      await insertLogin.run(input.username, id, input.passwordHash, input.byReseller === true ? 1 : 0);
      await openWallet.run(id, key, currency);
      if (input.openingBalanceMicros > 0n) {
        await tables.load({ wallets: [id] });
        tables.post({
          atMs,
          kind: "funds",
          from: tables.serviceWallet("payments", currency),
          to: tables.wallet(id).id,
          amountMicros: input.openingBalanceMicros,
          description: "opening balance",
        });
      }
      const { passwordHash: _, callbackSecret: __, by, ...shown } = input;
      const about = { kind: "account", subject: key, resellerId: parent?.id ?? null };
      await note({ by, atMs, action: "create", ...about, before: null, after: shown });
      await noteChange();
      return { kind: "created", account: accountOf((await byKey.get(key))!) };
    },

    async findLogin({ username }) {
      const row = await login.get(username);
      return row === undefined ? null : { account: accountOf(row), passwordHash: row.passwordHash };
    },

    countAccounts: async ({ kind }) => (await count.get(kind))!.count,

    async createSession({ tokenHash, accountId, username, withFactor, nowMs, event }) {
      await insertSession.run(tokenHash, accountId, username, withFactor ? 1 : 0, nowMs, nowMs);
      await endOldest.run(username, END_SESSIONS, MAX_SESSIONS, tokenHash);
      if (event !== null) await noteLogin({ ...event, atMs: nowMs });
    },

    async findSession({ tokenHash, nowMs, idleMs, longestMs }) {
      const row = await session.get(tokenHash);
      if (row === undefined) return null;
      if (nowMs - row.usedAtMs >= idleMs || nowMs - row.createdAtMs >= longestMs) return null;
      // Opened with a password alone, at the moment at which that ceased to be enough.
      if (row.secondFactor === 1 && row.withFactor === 0) return null;
      if (nowMs - row.usedAtMs >= USED_RESOLUTION_MS) await useSession.run(nowMs, tokenHash);
      return accountOf(row);
    },

    async endSession({ tokenHash }) {
      await endSession.run(tokenHash);
    },

    async optOut({ accountKey, number, by, atMs }) {
      const list = await optOutList(accountKey);
      if (list === null) return "unknown account";
      const added = await insertOptOut.run(list.id, number, atMs);
      const about = { kind: "optOut", subject: listed(accountKey, number), resellerId: list.resellerId };
      if (added > 0) await note({ by, atMs, action: "create", ...about, before: null, after: { number } });
      return "added";
    },

    async optIn({ accountKey, number, by, atMs = 0 }) {
      const list = await optOutList(accountKey);
      if (list === null) return "unknown account";
      const removed = await deleteOptOut.run(list.id, number);
      const about = { kind: "optOut", subject: listed(accountKey, number), resellerId: list.resellerId };
      if (removed > 0) await note({ by, atMs, action: "delete", ...about, before: { number }, after: null });
      return "removed";
    },

    async optOuts({ accountKey, after, limit }) {
      const list = await optOutList(accountKey);
      return list === null ? "unknown account" : optedOut.all(list.id, after, limit);
    },

    async claimPurpose({ purpose }) {
      await setPurpose.run(purpose);
      return (await purposeOf.get())!.purpose!;
    },

    purpose: async () => (await purposeOf.get())!.purpose,

    changeCounter: async () => (await changes.get())!.changes,

    async rotateCallbackSecret({ accountKey, secret, by, atMs = 0 }) {
      const sealed = await seal(callbackSecretPlace(accountKey), secret);
      if ((await rotateSecret.run(sealed, accountKey)) === 0) return "unknown account";
      await note({ by, atMs, action: "change", ...(await secretOf(accountKey)), after: { secrets: 2 } });
      return "done";
    },

    async dropOldCallbackSecret({ accountKey, by, atMs = 0 }) {
      if ((await dropSecret.run(accountKey)) === 0) return "unknown account";
      await note({ by, atMs, action: "change", ...(await secretOf(accountKey)), after: { secrets: 1 } });
      return "done";
    },

    async purgeExpired({ nowMs, replayMs, sessionMs, limit }) {
      const replays = await purgeReplays.run(nowMs - replayMs, limit);
      const sessions = await purgeSessions.run(nowMs - sessionMs, limit);
      return { more: replays >= limit || sessions >= limit };
    },
  };
}
