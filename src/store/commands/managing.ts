/** Managing accounts: seen and changed by an operator, or by a reseller within its own tenant. */
import type { AccountChange, AccountKind, CommandHandlers, ManagedAccount, Tenant } from "../port.ts";
import type { Value } from "../sql.ts";
import { ACCOUNT_COLUMNS, type AccountRow, accountOf } from "./accounts.ts";
import { auditWriter } from "./audit.ts";
import type { CommandParts } from "./parts.ts";

interface ManagedRow extends AccountRow {
  readonly version: number;
  readonly parentKey: string | null;
  readonly balance: string;
  readonly creditLimit: string;
  readonly alertBelow: string | null;
  readonly alertUrl: string | null;
  readonly retryMinutes: string | null;
  readonly createdAtMs: number;
  readonly retiredAtMs: number | null;
}

const MANAGED = `${ACCOUNT_COLUMNS}, account.version, parent.key AS "parentKey", CAST(wallet.balance_micros AS TEXT) AS balance,
  CAST(account.credit_limit_micros AS TEXT) AS "creditLimit", CAST(account.alert_below_micros AS TEXT) AS "alertBelow",
  account.alert_url AS "alertUrl", account.retry_minutes AS "retryMinutes", account.created_at_ms AS "createdAtMs",
  account.retired_at_ms AS "retiredAtMs"`;
const FROM = `FROM account JOIN wallet ON wallet.account_id = account.id LEFT JOIN account AS parent ON parent.id = account.parent_id`;
/** A tenant of null is everything. */
const IN_REALM = "coalesce(account.parent_id, 0) = coalesce(CAST(? AS BIGINT), account.parent_id, 0)";

type ManagingCommand = "accounts" | "account" | "changeAccount" | "setPassword" | "endSessions";

export function managingCommands(parts: CommandParts): Pick<CommandHandlers, ManagingCommand> {
  const { sql, tables, unit } = parts;
  const note = auditWriter(parts);
  const list = sql.prepare<[string, number | null, string | null, number | null, number], ManagedRow>(
    `SELECT ${MANAGED} ${FROM} WHERE account.key > ? AND ${IN_REALM} AND account.kind = coalesce(?, account.kind)
       AND account.suspended = coalesce(CAST(? AS INTEGER), account.suspended) ORDER BY account.key LIMIT ?`,
  );
  const one = sql.prepare<[string, number | null], ManagedRow>(
    `SELECT ${MANAGED} ${FROM} WHERE account.key = ? AND ${IN_REALM}`,
  );
  const lock = sql.prepare<[string], { id: number }>(`SELECT id FROM account WHERE key = ? ${sql.dialect.lock()}`);
  const usersOf = sql.prepare<[number], { username: string }>(
    "SELECT username FROM login WHERE account_id = ? ORDER BY username",
  );
  const update = sql.prepare<Value[]>(
    `UPDATE account SET version = version + 1, rate_plan_id = ?, default_sender = ?, allowed_senders = ?, allowed_addresses = ?, limits = ?,
       alert_below_micros = ?, alert_url = ?, retry_minutes = ?, credit_limit_micros = ?, suspended = ?, retired_at_ms = ? WHERE id = ?`,
  );
  const userOf = sql.prepare<[string], { accountId: number; accountKey: string }>(
    `SELECT account_id AS "accountId", account.key AS "accountKey" FROM login JOIN account ON account.id = login.account_id WHERE username = ?`,
  );
  const setHash = sql.prepare<[string, number, string]>(
    "UPDATE login SET password_hash = ?, set_by_reseller = ? WHERE username = ?",
  );
  const endSessions = sql.prepare<[number]>("DELETE FROM session WHERE account_id = ?");
  const dropKeys = sql.prepare<[number]>("DELETE FROM api_key WHERE account_id = ?");
  const changed = sql.prepare("UPDATE counter SET changes = changes + 1");

  const managed = async (row: ManagedRow): Promise<ManagedAccount> => {
    const { scopes: _, user: __, apiKey: ___, passwordOfReseller: ____, ...account } = accountOf(row);
    const { version, parentKey, balance, creditLimit, alertBelow, alertUrl, retryMinutes, createdAtMs, retiredAtMs } =
      row;
    return {
      ...account,
      version,
      parentKey,
      usernames: (await usersOf.all(row.id)).map(({ username }) => username),
      balanceMicros: BigInt(balance),
      creditLimitMicros: BigInt(creditLimit),
      alert: alertBelow === null || alertUrl === null ? null : { belowMicros: BigInt(alertBelow), url: alertUrl },
      retryMinutes: retryMinutes === null ? null : JSON.parse(retryMinutes),
      createdAtMs,
      retiredAtMs,
    };
  };

  const find = async (key: string, { resellerId }: Tenant): Promise<ManagedAccount | null> => {
    const row = await one.get(key, resellerId);
    return row === undefined ? null : managed(row);
  };

  const noteChange = async (): Promise<void> => {
    await changed.run();
    unit().changed = true;
  };

  return {
    async accounts({ resellerId, kind, suspended, afterKey, limit }) {
      const flag = suspended === null ? null : Number(suspended);
      const rows = await list.all(afterKey ?? "", resellerId, kind as AccountKind | null, flag, limit);
      return Promise.all(rows.map(managed));
    },

    account: ({ key, resellerId }) => find(key, { resellerId }),

    async changeAccount({ key, resellerId, version, change, by, atMs }) {
      await lock.get(key);
      const before = await find(key, { resellerId });
      if (before === null || before.retiredAtMs !== null) return { kind: "unknown" };
      if (version !== null && version !== before.version) return { kind: "outdated", account: before };
      const after = applied(before, change, atMs);
      await tables.load({ wallets: [before.id] });
      if (tables.wallet(before.id).balanceMicros < -after.creditLimitMicros) return { kind: "owes more" };
      await update.run(
        after.ratePlanId,
        after.defaultSender,
        after.allowedSenders === null ? null : JSON.stringify(after.allowedSenders),
        after.allowedAddresses === null ? null : JSON.stringify(after.allowedAddresses),
        JSON.stringify(after.limits),
        after.alert?.belowMicros ?? null,
        after.alert?.url ?? null,
        after.retryMinutes === null ? null : JSON.stringify(after.retryMinutes),
        after.creditLimitMicros,
        after.suspended ? 1 : 0,
        after.retiredAtMs,
        before.id,
      );
      if (after.suspended) await endSessions.run(before.id);
      if (after.retiredAtMs !== null) await dropKeys.run(before.id);
      await note({
        by,
        atMs,
        action: change.retired === true ? "retire" : "change",
        kind: "account",
        subject: key,
        resellerId: before.parentId,
        before: shown(before),
        after: shown(after),
      });
      await noteChange();
      return { kind: "changed", account: (await find(key, { resellerId }))! };
    },

    async setPassword({ username, resellerId, passwordHash, by, atMs }) {
      const user = await userOf.get(username);
      const account = user === undefined ? null : await find(user.accountKey, { resellerId });
      if (user === undefined || account === null || account.retiredAtMs !== null) return "unknown user";
      await setHash.run(passwordHash, resellerId === null ? 0 : 1, username);
      await endSessions.run(user.accountId);
      const about = { kind: "password", subject: username, resellerId: account.parentId };
      await note({ by, atMs, action: "change", ...about, before: null, after: { account: account.key } });
      await noteChange();
      return "done";
    },

    async endSessions({ accountKey, resellerId, by, atMs }) {
      const account = await find(accountKey, { resellerId });
      if (account === null) return "unknown account";
      const ended = await endSessions.run(account.id);
      const about = { kind: "sessions", subject: accountKey, resellerId: account.parentId };
      await note({ by, atMs, action: "delete", ...about, before: { sessions: ended }, after: null });
      await noteChange();
      return { ended };
    },
  };
}

function applied(before: ManagedAccount, change: AccountChange, atMs: number): ManagedAccount {
  const { retired, ...rest } = change;
  const after = { ...before, ...rest };
  return retired === true ? { ...after, suspended: true, retiredAtMs: atMs } : after;
}

/** What the audit keeps of an account: what can be changed, and nothing that changes by itself. */
function shown(account: ManagedAccount): object {
  const { id: _, version: __, balanceMicros: ___, usernames: ____, ...rest } = account;
  return rest;
}
