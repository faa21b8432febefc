/** API keys: kept as hashes, found by them. */
import type { CommandParts } from "../store/command-parts.ts";
import type { ApiKey } from "../store/port/credentials.ts";
import type { Value } from "../store/sql.ts";
import { ACCOUNT_COLUMNS, type AccountRow, accountOf, IN_TENANT, parsed, unparsed } from "./account-rows.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";

/** A key's last use is written at most this often. */
const USED_RESOLUTION_MS = 60_000;

const LISTED = `api_key.id, account.key AS "accountKey", name, scopes, expires_at_ms AS "expiresAtMs",
  api_key.allowed_addresses AS "allowedAddresses", api_key.created_at_ms AS "createdAtMs", used_at_ms AS "usedAtMs" FROM api_key JOIN account ON account.id = api_key.account_id`;

interface ApiKeyRow extends Omit<ApiKey, "scopes" | "allowedAddresses"> {
  readonly scopes: string | null;
  readonly allowedAddresses: string | null;
}

function keyOf({ scopes, allowedAddresses, ...row }: ApiKeyRow): ApiKey {
  return { ...row, scopes: parsed(scopes), allowedAddresses: parsed(allowedAddresses) };
}

export function apiKeyCommands(parts: CommandParts) {
  const { sql } = parts;
  const { note, noteChange } = auditWriter(parts);
  const accountId = sql.prepare<[string], { id: number; parentId: number | null }>(
    'SELECT id, parent_id AS "parentId" FROM account WHERE key = ?',
  );
  const taken = sql.prepare<[string, string], unknown>("SELECT 1 FROM api_key WHERE id = ? OR key_hash = ?");
  const insert = sql.prepare<Value[]>(
    `INSERT INTO api_key (id, key_hash, account_id, name, scopes, expires_at_ms, allowed_addresses, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = sql.prepare<[string], AccountRow & { keyExpiresAtMs: number | null; usedAtMs: number | null }>(
    `SELECT ${ACCOUNT_COLUMNS}, scopes, api_key.id AS "keyId", expires_at_ms AS "keyExpiresAtMs",
       api_key.allowed_addresses AS "keyAllowedAddresses", used_at_ms AS "usedAtMs"
     FROM api_key JOIN account ON account.id = api_key.account_id WHERE key_hash = ?`,
  );
  const use = sql.prepare<[number, string]>("UPDATE api_key SET used_at_ms = ? WHERE key_hash = ?");
  const all = sql.prepare<[number | null], ApiKeyRow>(
    `SELECT ${LISTED} WHERE ${IN_TENANT} ORDER BY api_key.account_id, api_key.id`,
  );
  const ofAccount = sql.prepare<[string, number | null], ApiKeyRow>(
    `SELECT ${LISTED} WHERE account.key = ? AND ${IN_TENANT} ORDER BY api_key.id`,
  );
  const one = sql.prepare<[string, number | null], ApiKeyRow & { parentId: number | null }>(
    `SELECT account.parent_id AS "parentId", ${LISTED} WHERE api_key.id = ? AND ${IN_TENANT}`,
  );
  const owner = sql.prepare<[string], { accountId: number; name: string | null }>(
    'SELECT account_id AS "accountId", name FROM api_key WHERE id = ?',
  );
  const remove = sql.prepare<[string]>("DELETE FROM api_key WHERE id = ?");

  return commands({
    async createApiKey(input) {
      const { id, keyHash, accountKey, name, by, atMs } = input;
      const { scopes = null, expiresAtMs = null, allowedAddresses = null, madeWith = null } = input;
      const account = await accountId.get(accountKey);
      if (account === undefined) return "unknown account";
      if ((await taken.get(id, keyHash)) !== undefined) return "taken";
      const bounds = [unparsed(scopes), expiresAtMs, unparsed(allowedAddresses)];
      await insert.run(id, keyHash, account.id, name, ...bounds, atMs);
      const about = { kind: "apiKey", subject: id, resellerId: account.parentId } as const;
      const after = { accountKey, name, scopes, expiresAtMs, allowedAddresses, madeWith };
      await note({ by, atMs, action: "create", ...about, before: null, after });
      await noteChange();
      return "created";
    },

    async findApiKey({ keyHash, nowMs }) {
      const row = await find.get(keyHash);
      if (row === undefined) return null;
      const hasExpired = row.keyExpiresAtMs !== null && row.keyExpiresAtMs <= nowMs;
      const isNoted = row.usedAtMs !== null && nowMs - row.usedAtMs < USED_RESOLUTION_MS;
      if (!hasExpired && !isNoted) await use.run(nowMs, keyHash);
      return accountOf(row);
    },

    async apiKeyOwner({ id }) {
      return (await owner.get(id)) ?? null;
    },

    async apiKeys({ accountKey, resellerId = null }) {
      const rows = await (accountKey === null ? all.all(resellerId) : ofAccount.all(accountKey, resellerId));
      return rows.map(keyOf);
    },

    async revokeApiKey({ id, resellerId = null, by, atMs = 0 }) {
      const row = await one.get(id, resellerId);
      if (row === undefined) return "unknown key";
      await remove.run(id);
      const { accountKey, name, parentId } = row;
      const about = { kind: "apiKey", subject: id, resellerId: parentId } as const;
      await note({ by, atMs, action: "delete", ...about, before: { accountKey, name }, after: null });
      await noteChange();
      return "revoked";
    },
  });
}
