/** API keys: kept as hashes, found by them. */
import { finder, inserting, selecting } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { ApiKey } from "../store/port/credentials.ts";
import { ACCOUNT, API_KEY } from "../store/schema/account.ts";
import type { Value } from "../store/sql.ts";
import { accountOf, CALLER_COLUMNS, type CallerRow, IN_TENANT } from "./account-rows.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";

/** A key's last use is written at most this often. */
const USED_RESOLUTION_MS = 60_000;

const FROM = "FROM api_key JOIN account ON account.id = api_key.account_id";
const LISTED = API_KEY.named("id", "name", "scopes", "expiresAtMs", "allowedAddresses", "createdAtMs", "usedAtMs");

export function apiKeyCommands(parts: CommandParts) {
  const { sql } = parts;
  const { noteChange } = auditWriter(parts);
  const accountId = selecting(sql, ACCOUNT, ["id", "parentId"], ["key"]);
  const taken = sql.prepare<[string, string], unknown>("SELECT 1 FROM api_key WHERE id = ? OR key_hash = ?");
  const insert = inserting(sql, API_KEY);
  const finding = finder(sql, ACCOUNT, API_KEY);
  const find = finding<
    [string],
    CallerRow & { keyExpiresAtMs: number | null; usedAtMs: number | null }
  >(`SELECT ${CALLER_COLUMNS}, scopes, api_key.id AS "keyId", expires_at_ms AS "keyExpiresAtMs",
       api_key.allowed_addresses AS "keyAllowedAddresses", used_at_ms AS "usedAtMs" ${FROM} WHERE key_hash = ?`);
  const use = sql.prepare<[number, string]>("UPDATE api_key SET used_at_ms = ? WHERE key_hash = ?");
  const listed = <Given extends Value[]>(where: string) =>
    finding<Given, ApiKey>(`SELECT account.key AS "accountKey", ${LISTED} ${FROM} WHERE ${where}`);
  const all = listed<[number | null]>(`${IN_TENANT} ORDER BY api_key.account_id, api_key.id`);
  const ofAccount = listed<[string, number | null]>(`account.key = ? AND ${IN_TENANT} ORDER BY api_key.id`);
  const one = sql.prepare<[string, number | null], Pick<ApiKey, "accountKey" | "name"> & { parentId: number | null }>(
    `SELECT account.key AS "accountKey", name, account.parent_id AS "parentId" ${FROM} WHERE api_key.id = ? AND ${IN_TENANT}`,
  );
  const owner = selecting(sql, API_KEY, ["accountId", "name"], ["id"]);
  const remove = sql.prepare<[string]>("DELETE FROM api_key WHERE id = ?");

  return commands({
    async createApiKey(input) {
      const { id, keyHash, accountKey, name, by, atMs } = input;
      const { scopes = null, expiresAtMs = null, allowedAddresses = null, madeWith = null } = input;
      const account = await accountId.get(accountKey);
      if (account === undefined) return "unknown account";
      if ((await taken.get(id, keyHash)) !== undefined) return "taken";
      await insert.run({ ...input, accountId: account.id, createdAtMs: atMs });
      const about = { kind: "apiKey", subject: id, resellerId: account.parentId } as const;
      const after = { accountKey, name, scopes, expiresAtMs, allowedAddresses, madeWith };
      await noteChange({ by, atMs, action: "create", ...about, after });
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
      return accountKey === null ? all.all(resellerId) : ofAccount.all(accountKey, resellerId);
    },

    async revokeApiKey({ id, resellerId = null, by, atMs = 0 }) {
      const row = await one.get(id, resellerId);
      if (row === undefined) return "unknown key";
      await remove.run(id);
      const { accountKey, name, parentId } = row;
      const about = { kind: "apiKey", subject: id, resellerId: parentId } as const;
      await noteChange({ by, atMs, action: "delete", ...about, before: { accountKey, name } });
      return "revoked";
    },
  });
}
