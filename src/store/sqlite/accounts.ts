/** Who, in SQLite: accounts, logins, sessions, opt-outs, and the catalogue that the operator sets. */
import type { Account, AccountCreation, CatalogueItem, CommandHandlers, NewAccount, Purpose } from "../port.ts";
import type { Db } from "./database.ts";
import type { Ledger } from "./ledger.ts";

export interface AccountRow extends Omit<Account, "suspended"> {
  readonly suspended: number;
}

export const ACCOUNT_COLUMNS = `account.id, account.key, account.kind, account.parent_id AS parentId, account.currency,
  account.rate_plan_id AS ratePlanId, account.default_sender AS defaultSender, account.suspended`;

export function accountOf(row: AccountRow): Account {
  const { id, key, kind, parentId, currency, ratePlanId, defaultSender, suspended } = row;
  return { id, key, kind, parentId, currency, ratePlanId, defaultSender, suspended: suspended === 1 };
}

/** A session's last use is written at most this often. */
const USED_RESOLUTION_MS = 1_000;

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
  | "catalogue"
  | "putCatalogue"
  | "rotateCallbackSecret"
  | "dropOldCallbackSecret"
  | "forget";

export function accountCommands(db: Db, ledger: Ledger): Pick<CommandHandlers, AccountCommand> {
  const byKey = db.prepare<[string], AccountRow>(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE key = ?`);
  const loginTaken = db.prepare<[string], unknown>("SELECT 1 FROM login WHERE username = ?");
  const insertAccount = db.prepare(
    `INSERT INTO account (key, kind, parent_id, currency, rate_plan_id, default_sender, credit_limit_micros, callback_secret, retry_minutes,
       created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertLogin = db.prepare<[string, number, string]>(
    "INSERT INTO login (username, account_id, password_hash) VALUES (?, ?, ?)",
  );
  const login = db.prepare<[string], AccountRow & { passwordHash: string }>(
    `SELECT ${ACCOUNT_COLUMNS}, password_hash AS passwordHash FROM login JOIN account ON account.id = login.account_id WHERE username = ?`,
  );
  const count = db.prepare<[string], { count: number }>("SELECT count(*) AS count FROM account WHERE kind = ?");
  const insertSession = db.prepare<[string, number, number, number]>(
    "INSERT INTO session (token_hash, account_id, created_at_ms, used_at_ms) VALUES (?, ?, ?, ?)",
  );
  const session = db.prepare<[string], AccountRow & { createdAtMs: number; usedAtMs: number }>(
    `SELECT ${ACCOUNT_COLUMNS}, session.created_at_ms AS createdAtMs, used_at_ms AS usedAtMs
     FROM session JOIN account ON account.id = session.account_id WHERE token_hash = ?`,
  );
  const useSession = db.prepare<[number, string]>("UPDATE session SET used_at_ms = ? WHERE token_hash = ?");
  const endSession = db.prepare<[string]>("DELETE FROM session WHERE token_hash = ?");
  const insertOptOut = db.prepare<[number, string, number]>(
    "INSERT OR IGNORE INTO opt_out (account_id, number, at_ms) VALUES (?, ?, ?)",
  );
  const deleteOptOut = db.prepare<[number, string]>("DELETE FROM opt_out WHERE account_id = ? AND number = ?");
  const changed = db.prepare("UPDATE counter SET changes = changes + 1");
  const changes = db.prepare<[], { changes: number }>("SELECT changes FROM counter");
  const setPurpose = db.prepare<[Purpose]>("UPDATE counter SET purpose = ? WHERE purpose IS NULL");
  const purposeOf = db.prepare<[], { purpose: Purpose | null }>("SELECT purpose FROM counter");
  const items = db.prepare<[], CatalogueItem>("SELECT kind, id, body FROM catalogue_item ORDER BY kind, id");
  const clearItems = db.prepare("DELETE FROM catalogue_item");
  const insertItem = db.prepare<[string, string, string]>(
    "INSERT INTO catalogue_item (kind, id, body) VALUES (?, ?, ?)",
  );
  const rotateSecret = db.prepare<[string, string]>(
    "UPDATE account SET old_callback_secret = callback_secret, callback_secret = ? WHERE key = ?",
  );
  const dropSecret = db.prepare<[string]>("UPDATE account SET old_callback_secret = NULL WHERE key = ?");
  const forgetReplays = db.prepare<[number]>("DELETE FROM replay WHERE kind = 'key' AND at_ms < ?");
  const forgetSessions = db.prepare<[number]>("DELETE FROM session WHERE created_at_ms < ?");

  /** The list's account id: 0 for the service's own, null for an account that does not exist. */
  const optOutList = (accountKey: string | null): number | null =>
    accountKey === null ? 0 : (byKey.get(accountKey)?.id ?? null);

  return {
    createAccount(input: NewAccount): AccountCreation {
      if (byKey.get(input.key) !== undefined) return { kind: "key taken" };
      if (loginTaken.get(input.username) !== undefined) return { kind: "username taken" };
      const parent = input.parentKey === null ? null : byKey.get(input.parentKey);
      if (parent === undefined || (parent !== null && parent.kind !== "reseller")) return { kind: "unknown parent" };
      const { key, kind, currency, ratePlanId, defaultSender, creditLimitMicros, callbackSecret, atMs } = input;
      const inserted = insertAccount.run(
        key,
        kind,
        parent?.id ?? null,
        currency,
        ratePlanId,
        defaultSender,
        creditLimitMicros,
        callbackSecret,
        input.retryMinutes === undefined ? null : JSON.stringify(input.retryMinutes),
        atMs,
      );
      const id = Number(inserted.lastInsertRowid);
      insertLogin.run(input.username, id, input.passwordHash);
      ledger.openPurse(id, key, currency);
      if (input.openingBalanceMicros > 0n) {
        ledger.post({
          atMs,
          kind: "funds",
          from: ledger.servicePurse("payments", currency),
          to: ledger.purseOf(id).id,
          amountMicros: input.openingBalanceMicros,
          description: "opening balance",
        });
      }
      changed.run();
      return { kind: "created", account: accountOf(byKey.get(key)!) };
    },

    findLogin({ username }) {
      const row = login.get(username);
      return row === undefined ? null : { account: accountOf(row), passwordHash: row.passwordHash };
    },

    countAccounts: ({ kind }) => count.get(kind)!.count,

    createSession({ tokenHash, accountId, nowMs }) {
      insertSession.run(tokenHash, accountId, nowMs, nowMs);
    },

    findSession({ tokenHash, nowMs, idleMs, longestMs }) {
      const row = session.get(tokenHash);
      if (row === undefined) return null;
      if (nowMs - row.usedAtMs >= idleMs || nowMs - row.createdAtMs >= longestMs) return null;
      if (nowMs - row.usedAtMs >= USED_RESOLUTION_MS) useSession.run(nowMs, tokenHash);
      return accountOf(row);
    },

    endSession({ tokenHash }) {
      endSession.run(tokenHash);
    },

    optOut({ accountKey, number, atMs }) {
      const list = optOutList(accountKey);
      if (list === null) return "unknown account";
      insertOptOut.run(list, number, atMs);
      return "added";
    },

    optIn({ accountKey, number }) {
      const list = optOutList(accountKey);
      if (list === null) return "unknown account";
      deleteOptOut.run(list, number);
      return "removed";
    },

    claimPurpose({ purpose }) {
      setPurpose.run(purpose);
      return purposeOf.get()!.purpose!;
    },

    purpose: () => purposeOf.get()!.purpose,

    changeCounter: () => changes.get()!.changes,

    catalogue: () => items.all(),

    putCatalogue({ items: wanted }) {
      clearItems.run();
      for (const { kind, id, body } of wanted) insertItem.run(kind, id, body);
      changed.run();
    },

    rotateCallbackSecret: ({ accountKey, secret }) =>
      rotateSecret.run(secret, accountKey).changes === 0 ? "unknown account" : "done",

    dropOldCallbackSecret: ({ accountKey }) => (dropSecret.run(accountKey).changes === 0 ? "unknown account" : "done"),

    forget({ nowMs, replayMs, sessionMs }) {
      forgetReplays.run(nowMs - replayMs);
      forgetSessions.run(nowMs - sessionMs);
    },
  };
}
