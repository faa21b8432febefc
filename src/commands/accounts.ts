/** Accounts: made, seen and changed by an operator, or by a reseller as far as they are its tenants. */
import { counting, finder, inserting, selecting, updating } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { isKeyOf, isUsernameOf, keyPrefix, usernamePrefixes } from "../store/names.ts";
import type {
  AccountChange,
  AccountCreation,
  AccountKind,
  Actor,
  ManagedAccount,
  NewAccount,
  Tenant,
} from "../store/port/accounts.ts";
import { ACCOUNT, type AccountRow, LOGIN, PLAIN_ACCOUNT } from "../store/schema/account.ts";
import { accountOf, CALLER_COLUMNS, type CallerRow, IN_TENANT } from "./account-rows.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";
import { fundsAudit, settling } from "./funds.ts";
import { alertWhenSet } from "./ledger.ts";
import { callbackSecretPlace, secretWriter } from "./secrets.ts";

/** What an operator sets of an account, when it is made and later. */
const SETTINGS = [
  ...(["ratePlanId", "defaultSender", "creditLimitMicros", "retryMinutes"] as const),
  ...(["allowedSenders", "allowedAddresses", "limits", "alertBelowMicros", "alertUrl"] as const),
] as const;
const MANAGED = [...PLAIN_ACCOUNT, ...SETTINGS, "version", "createdAtMs", "retiredAtMs"] as const;
type ManagedRow = Pick<AccountRow, (typeof MANAGED)[number]> & { readonly parentKey: string | null; balance: string };

const COLUMNS = `${ACCOUNT.named(...MANAGED)}, parent.key AS "parentKey", CAST(wallet.balance_micros AS TEXT) AS balance`;
const FROM = `FROM account JOIN wallet ON wallet.account_id = account.id LEFT JOIN account AS parent ON parent.id = account.parent_id`;

export function accountCommands(parts: CommandParts) {
  const { sql, tables, unit } = parts;
  const { note, tellChange, noteChange } = auditWriter(parts);
  const { seal } = secretWriter(parts);
  const auditFunds = fundsAudit(parts);
  const settle = settling(parts);
  const finding = finder(sql, ACCOUNT);
  const byKey = finding<[string], CallerRow>(`SELECT ${CALLER_COLUMNS} FROM account WHERE key = ?`);
  const loginTaken = sql.prepare<[string], unknown>("SELECT 1 FROM login WHERE username = ?");
  const insertAccount = inserting(sql, ACCOUNT, "RETURNING id");
  const openWallet = sql.prepare<[number, string, string]>(
    "INSERT INTO wallet (account_id, name, currency) VALUES (?, ?, ?)",
  );
  const insertLogin = inserting(sql, LOGIN);
  const resellers = sql.prepare<[], { key: string }>("SELECT key FROM account WHERE kind = 'reseller'");
  const keyInNamespace = sql.prepare<[number, string], { key: string }>(
    "SELECT key FROM account WHERE lower(substr(key, 1, CAST(? AS INTEGER))) = ? LIMIT 1",
  );
  const userInNamespace = sql.prepare<[number, string, string, string], { key: string }>(
    `SELECT account.key FROM login JOIN account ON account.id = login.account_id
     WHERE lower(substr(username, 1, CAST(? AS INTEGER))) IN (?, ?, ?) LIMIT 1`,
  );
  const count = counting<[string]>(sql, "account WHERE kind = ?");
  const list = finding<
    [string, number | null, string | null, number | null, number],
    ManagedRow
  >(`SELECT ${COLUMNS} ${FROM} WHERE account.key > ? AND ${IN_TENANT} AND account.kind = coalesce(?, account.kind)
       AND account.suspended = coalesce(CAST(? AS INTEGER), account.suspended) ORDER BY account.key LIMIT ?`);
  const one = finding<[string, number | null], ManagedRow>(
    `SELECT ${COLUMNS} ${FROM} WHERE account.key = ? AND ${IN_TENANT}`,
  );
  const lock = selecting(sql, ACCOUNT, ["id"], ["key"], sql.dialect.lock());
  const usersOf = selecting(sql, LOGIN, ["username"], ["accountId"], "ORDER BY username");
  const update = updating(sql, ACCOUNT, [...SETTINGS, "suspended", "retiredAtMs"], "version = version + 1");
  const userOf = sql.prepare<[string], { accountId: number; accountKey: string }>(
    `SELECT account_id AS "accountId", account.key AS "accountKey" FROM login JOIN account ON account.id = login.account_id WHERE username = ?`,
  );
  const setHash = updating(sql, LOGIN, ["passwordHash", "setByReseller"]);
  const endSessions = sql.prepare<[number]>("DELETE FROM session WHERE account_id = ?");
  const dropKeys = sql.prepare<[number]>("DELETE FROM api_key WHERE account_id = ?");
  // Without its secret nobody can tell what an application's PINs were.
  const endPins = sql.prepare<[number]>("UPDATE pin_application SET enabled = 0, secret = '' WHERE account_id = ?");

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

  const managed = async (row: ManagedRow): Promise<ManagedAccount> => {
    const { alertBelowMicros: belowMicros, alertUrl: url, balance, ...account } = row;
    return {
      ...account,
      usernames: (await usersOf.all(row.id)).map(({ username }) => username),
      balanceMicros: BigInt(balance),
      alert: belowMicros === null || url === null ? null : { belowMicros, url },
    };
  };

  const find = async (key: string, { resellerId }: Tenant): Promise<ManagedAccount | null> => {
    const row = await one.get(key, resellerId);
    return row === undefined ? null : managed(row);
  };

  return commands({
    async createAccount(input) {
      if ((await byKey.get(input.key)) !== undefined) return { kind: "key taken" };
      if ((await loginTaken.get(input.username)) !== undefined) return { kind: "username taken" };
      const parent = input.parentKey === null ? null : await byKey.get(input.parentKey);
      if (parent === undefined || (parent !== null && parent.kind !== "reseller")) return { kind: "unknown parent" };
      const fault = await nameFault(input);
      if (fault !== null) return fault;
      const { passwordHash, callbackSecret, by, ...shown } = input;
      const { key, currency, atMs, username, limits = {}, alert = null, byReseller = false } = input;
      const resellerId = parent?.id ?? null;
      const sealed = await seal(callbackSecretPlace(key), callbackSecret);
      const names = { parentId: resellerId, callbackSecret: sealed, createdAtMs: atMs };
      const id = await insertAccount.id({ ...input, limits, ...alertColumns(alert), ...names });
      await insertLogin.run({ username, accountId: id, passwordHash, setByReseller: byReseller });
      await openWallet.run(id, key, currency);
      const made = { ...shown, ...madeWith(by) };
      await note({ by, atMs, action: "create", kind: "account", subject: key, resellerId, after: made });
      const { openingBalanceMicros: amountMicros } = input;
      if (amountMicros > 0n) {
        await tables.load({ wallets: [id] });
        const wallet = tables.wallets.ofAccount(id);
        const from = tables.wallets.ofService("payments", currency);
        const reason = "opening balance";
        tables.wallets.post({ atMs, kind: "funds", from, to: wallet.id, amountMicros, description: reason });
        const account = { id, key, currency, parentId: resellerId, retiredAtMs: null };
        await auditFunds(account, wallet, { by, atMs, action: "topUp", amountMicros, reason });
      }
      alertWhenSet(unit(), { id, key, alert }, { balanceMicros: amountMicros, currency }, atMs);
      await tellChange();
      return { kind: "created", account: accountOf((await byKey.get(key))!) };
    },

    countAccounts: ({ kind }) => count(kind),

    async accounts({ resellerId, kind, suspended, afterKey, limit }) {
      const flag = suspended === null ? null : Number(suspended);
      const rows = await list.all(afterKey ?? "", resellerId, kind as AccountKind | null, flag, limit);
      return Promise.all(rows.map(managed));
    },

    account: ({ key, resellerId }) => find(key, { resellerId }),

    async changeAccount({ key, resellerId, version, change, by, atMs }) {
      const { settlement = null } = change;
      const heirKey = settlement?.kind === "transfer" ? settlement.toKey : null;
      for (const each of [key, heirKey ?? key].sort()) await lock.get(each);
      const before = await find(key, { resellerId });
      if (before === null || before.retiredAtMs !== null) return { kind: "unknown" };
      if (version !== null && version !== before.version) return { kind: "outdated", account: before };
      const after = applied(before, change, atMs);
      if (change.retired === true) {
        const heir = heirKey === null ? null : await find(heirKey, { resellerId });
        const settled = await settle(before, settlement, heir, { by, atMs });
        if (settled.kind !== "settled") return settled;
      }
      await tables.load({ wallets: [before.id] });
      const wallet = tables.wallets.ofAccount(before.id);
      if (wallet.balanceMicros < -after.creditLimitMicros) return { kind: "owes more" };
      if (after.retiredAtMs === null && !isSameAlert(before, after)) alertWhenSet(unit(), after, wallet, atMs);
      await update({ ...after, ...alertColumns(after.alert) });
      if (after.suspended) await endSessions.run(before.id);
      if (after.retiredAtMs !== null) {
        await dropKeys.run(before.id);
        await endPins.run(before.id);
      }
      const action = change.retired === true ? "retire" : "change";
      const about = { kind: "account", subject: key, resellerId: before.parentId } as const;
      const audited = { before: shown(before), after: { ...shown(after), ...madeWith(by) } };
      await noteChange({ by, atMs, action, ...about, ...audited });
      await tables.flush();
      return { kind: "changed", account: (await find(key, { resellerId }))! };
    },

    async setPassword({ username, resellerId, passwordHash, by, atMs }) {
      const user = await userOf.get(username);
      const account = user === undefined ? null : await find(user.accountKey, { resellerId });
      if (user === undefined || account === null || account.retiredAtMs !== null) return "unknown user";
      await setHash({ username, passwordHash, setByReseller: resellerId !== null });
      await endSessions.run(user.accountId);
      const about = { kind: "password", subject: username, resellerId: account.parentId } as const;
      await noteChange({ by, atMs, action: "change", ...about, after: { account: account.key, ...madeWith(by) } });
      return "done";
    },

    async endSessions({ accountKey, resellerId, by, atMs }) {
      const account = await find(accountKey, { resellerId });
      if (account === null) return "unknown account";
      const ended = await endSessions.run(account.id);
      const about = { kind: "sessions", subject: accountKey, resellerId: account.parentId } as const;
      await noteChange({ by, atMs, action: "delete", ...about, before: { sessions: ended } });
      return { ended };
    },
  });
}

function alertColumns(alert: ManagedAccount["alert"]) {
  return { alertBelowMicros: alert?.belowMicros ?? null, alertUrl: alert?.url ?? null };
}

function isSameAlert({ alert: one }: ManagedAccount, { alert: other }: ManagedAccount): boolean {
  return one?.belowMicros === other?.belowMicros && one?.url === other?.url;
}

function applied(before: ManagedAccount, change: AccountChange, atMs: number): ManagedAccount {
  const { retired, settlement: _, ...rest } = change;
  const after = { ...before, ...rest };
  // Without credit: what another node still charges, before it has heard of this, makes no debt.
  return retired === true ? { ...after, creditLimitMicros: 0n, suspended: true, retiredAtMs: atMs } : after;
}

/** With which API key it was done, if with one: what that did is looked for when the key has leaked. */
function madeWith(by: Actor | undefined): { readonly madeWith?: string } {
  return by?.apiKey === undefined ? {} : { madeWith: by.apiKey };
}

/** What the audit keeps of an account: what can be changed, and nothing that changes by itself. */
function shown(account: ManagedAccount): object {
  const { id: _, version: __, balanceMicros: ___, usernames: ____, ...rest } = account;
  return rest;
}
