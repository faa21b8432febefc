/** API keys: kept as hashes, found by them. */
import type { ApiKey, CommandHandlers } from "../port.ts";
import { ACCOUNT_COLUMNS, type AccountRow, accountOf } from "./accounts.ts";
import type { CommandParts } from "./parts.ts";

/** A key's last use is written at most this often. */
const USED_RESOLUTION_MS = 60_000;

const LISTED = `api_key.id, account.key AS "accountKey", name, api_key.created_at_ms AS "createdAtMs", used_at_ms AS "usedAtMs"
  FROM api_key JOIN account ON account.id = api_key.account_id`;

type ApiKeyCommand = "createApiKey" | "findApiKey" | "apiKeys" | "revokeApiKey";

export function apiKeyCommands({ sql }: CommandParts): Pick<CommandHandlers, ApiKeyCommand> {
  const accountId = sql.prepare<[string], { id: number }>("SELECT id FROM account WHERE key = ?");
  const taken = sql.prepare<[string, string], unknown>("SELECT 1 FROM api_key WHERE id = ? OR key_hash = ?");
  const insert = sql.prepare<[string, string, number, string | null, number]>(
    "INSERT INTO api_key (id, key_hash, account_id, name, created_at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  const find = sql.prepare<[string], AccountRow & { usedAtMs: number | null }>(
    `SELECT ${ACCOUNT_COLUMNS}, used_at_ms AS "usedAtMs"
     FROM api_key JOIN account ON account.id = api_key.account_id WHERE key_hash = ?`,
  );
  const use = sql.prepare<[number, string]>("UPDATE api_key SET used_at_ms = ? WHERE key_hash = ?");
  const all = sql.prepare<[], ApiKey>(`SELECT ${LISTED} ORDER BY api_key.account_id, api_key.id`);
  const ofAccount = sql.prepare<[string], ApiKey>(`SELECT ${LISTED} WHERE account.key = ? ORDER BY api_key.id`);
  const remove = sql.prepare<[string]>("DELETE FROM api_key WHERE id = ?");
  const changed = sql.prepare("UPDATE counter SET changes = changes + 1");

  return {
    async createApiKey({ id, keyHash, accountKey, name, atMs }) {
      const owner = await accountId.get(accountKey);
      if (owner === undefined) return "unknown account";
      if ((await taken.get(id, keyHash)) !== undefined) return "taken";
      await insert.run(id, keyHash, owner.id, name, atMs);
      await changed.run();
      return "created";
    },

    async findApiKey({ keyHash, nowMs }) {
      const row = await find.get(keyHash);
      if (row === undefined) return null;
      if (row.usedAtMs === null || nowMs - row.usedAtMs >= USED_RESOLUTION_MS) await use.run(nowMs, keyHash);
      return accountOf(row);
    },

    apiKeys: async ({ accountKey }) => (accountKey === null ? all.all() : ofAccount.all(accountKey)),

    async revokeApiKey({ id }) {
      if ((await remove.run(id)) === 0) return "unknown key";
      await changed.run();
      return "revoked";
    },
  };
}
