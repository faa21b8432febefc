/** How an account's reports are signed and tried again. */
import { selecting } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { ACCOUNT } from "../store/schema/account.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";
import { callbackSecretPlace, secretWriter } from "./secrets.ts";

export function callbackCommands(parts: CommandParts) {
  const { sql, secrets } = parts;
  const { note } = auditWriter(parts);
  const { seal } = secretWriter(parts);
  const columns = `signer.key, signer.callback_secret AS secret, signer.old_callback_secret AS "oldSecret", account.retry_minutes AS "retryMinutes"`;
  const policyFor = (signer: string) =>
    sql.prepare<[number], { key: string; secret: string; oldSecret: string | null; retryMinutes: string | null }>(
      `SELECT ${columns} FROM account JOIN account AS signer ON signer.id = ${signer} WHERE account.id = ?`,
    );
  const policyOf = policyFor("account.id");
  // Whoever manages an account hears of its balance, and knows no secret of it.
  const alertPolicyOf = policyFor("coalesce(account.parent_id, account.id)");
  const resellerOf = selecting(sql, ACCOUNT, ["parentId"], ["key"]);
  const rotateSecret = sql.prepare<[string, string]>(
    "UPDATE account SET old_callback_secret = callback_secret, callback_secret = ? WHERE key = ?",
  );
  const dropSecret = sql.prepare<[string]>("UPDATE account SET old_callback_secret = NULL WHERE key = ?");

  /** The audit says that an account's secret was changed, and never what it is. */
  const secretOf = async (accountKey: string) => {
    const resellerId = (await resellerOf.get(accountKey))?.parentId ?? null;
    return { kind: "callbackSecret", subject: accountKey, resellerId, action: "change" } as const;
  };

  return commands({
    async callbackPolicy({ accountId, forAlert = false }) {
      const row = await (forAlert ? alertPolicyOf : policyOf).get(accountId);
      if (row === undefined) return { secrets: [], retryMinutes: null };
      const { key, secret, oldSecret, retryMinutes } = row;
      const kept = oldSecret === null ? [secret] : [secret, oldSecret];
      return {
        secrets: kept.map((text) => secrets.open(callbackSecretPlace(key), text)),
        retryMinutes: retryMinutes === null ? null : JSON.parse(retryMinutes),
      };
    },

    accountKey: async ({ accountId }) => (await policyOf.get(accountId))?.key ?? null,

    async rotateCallbackSecret({ accountKey, secret, by, atMs = 0 }) {
      const sealed = await seal(callbackSecretPlace(accountKey), secret);
      if ((await rotateSecret.run(sealed, accountKey)) === 0) return "unknown account";
      await note({ by, atMs, ...(await secretOf(accountKey)), after: { secrets: 2 } });
      return "done";
    },

    async dropOldCallbackSecret({ accountKey, by, atMs = 0 }) {
      if ((await dropSecret.run(accountKey)) === 0) return "unknown account";
      await note({ by, atMs, ...(await secretOf(accountKey)), after: { secrets: 1 } });
      return "done";
    },
  });
}
