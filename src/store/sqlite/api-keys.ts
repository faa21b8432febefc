/** API keys in SQLite: kept as hashes, found by them. */
import type { ApiKey, CommandHandlers } from "../port.ts";
import { ACCOUNT_COLUMNS, type AccountRow, accountOf } from "./accounts.ts";
import type { Db } from "./database.ts";

/** A key's last use is written at most this often. */
const USED_RESOLUTION_MS = 60_000;

const LISTED = `api_key.id, account.key AS accountKey, name, api_key.created_at_ms AS createdAtMs, used_at_ms AS usedAtMs
  FROM api_key JOIN account ON account.id = api_key.account_id`;

type ApiKeyCommand = "createApiKey" | "findApiKey" | "apiKeys" | "revokeApiKey";

export function apiKeyCommands(db: Db): Pick<CommandHandlers, ApiKeyCommand> {
  const accountId = db.prepare<[string], { id: number }>("SELECT id FROM account WHERE key = ?");
  const taken = db.prepare<[string, string], unknown>("SELECT 1 FROM api_key WHERE id = ? OR key_hash = ?");
  const insert = db.prepare<[string, string, number, string | null, number]>(
    "INSERT INTO api_key (id, key_hash, account_id, name, created_at_ms) VALUES (?, ?, ?, ?, ?)",
  );
  const find = db.prepare<[string], AccountRow & { usedAtMs: number | null }>(
    `SELECT ${ACCOUNT_COLUMNS}, used_at_ms AS usedAtMs
     FROM api_key JOIN account ON account.id = api_key.account_id WHERE key_hash = ?`,
  );
  const use = db.prepare<[number, string]>("UPDATE api_key SET used_at_ms = ? WHERE key_hash = ?");
  const all = db.prepare<[], ApiKey>(`SELECT ${LISTED} ORDER BY api_key.account_id, api_key.id`);
  const ofAccount = db.prepare<[string], ApiKey>(`SELECT ${LISTED} WHERE account.key = ? ORDER BY api_key.id`);
  const remove = db.prepare<[string]>("DELETE FROM api_key WHERE id = ?");
  const changed = db.prepare("UPDATE counter SET changes = changes + 1");

  return {
    createApiKey({ id, keyHash, accountKey, name, atMs }) {
      const owner = accountId.get(accountKey);
      if (owner === undefined) return "unknown account";
      if (taken.get(id, keyHash) !== undefined) return "taken";
      insert.run(id, keyHash, owner.id, name, atMs);
      changed.run();
      return "created";
    },

    findApiKey({ keyHash, nowMs }) {
      const row = find.get(keyHash);
      if (row === undefined) return null;
      if (row.usedAtMs === null || nowMs - row.usedAtMs >= USED_RESOLUTION_MS) use.run(nowMs, keyHash);
      return accountOf(row);
    },

    apiKeys: ({ accountKey }) => (accountKey === null ? all.all() : ofAccount.all(accountKey)),

    revokeApiKey({ id }) {
      if (remove.run(id).changes === 0) return "unknown key";
      changed.run();
      return "revoked";
    },
  };
}
