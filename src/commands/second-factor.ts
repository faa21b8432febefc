/**
 * Second factors of users. A code is taken by one statement that finds it not taken yet: it locks the row, so of two nodes that bring the
 * same code at the same moment the later one finds nothing to change.
 */
import { counting } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { Actor } from "../store/port/accounts.ts";
import type { FactorProof, SecondFactor } from "../store/port/credentials.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";
import { secondFactorPlace, secretWriter } from "./secrets.ts";

export function secondFactorCommands(parts: CommandParts) {
  const { sql, secrets } = parts;
  const { note, noteChange } = auditWriter(parts);
  const { seal } = secretWriter(parts);
  const userOf = sql.prepare<[string], { accountKey: string; parentId: number | null }>(
    `SELECT account.key AS "accountKey", account.parent_id AS "parentId"
     FROM login JOIN account ON account.id = login.account_id WHERE username = ?`,
  );
  const find = sql.prepare<[string], Omit<SecondFactor, "recoveryCodes">>(
    `SELECT secret, begun_at_ms AS "begunAtMs", confirmed_at_ms AS "confirmedAtMs", last_step AS "lastStep"
     FROM second_factor WHERE username = ?`,
  );
  const countCodes = counting<[string]>(sql, "recovery_code WHERE username = ?");
  const begin = sql.prepare<[string, string, number]>(
    `INSERT INTO second_factor (username, secret, begun_at_ms) VALUES (?, ?, ?)
     ON CONFLICT (username) DO UPDATE SET secret = excluded.secret, begun_at_ms = excluded.begun_at_ms
     WHERE second_factor.confirmed_at_ms IS NULL`,
  );
  const confirm = sql.prepare<[number, number, string, number]>(
    `UPDATE second_factor SET confirmed_at_ms = ?, last_step = ?
     WHERE username = ? AND begun_at_ms = ? AND confirmed_at_ms IS NULL`,
  );
  const addCode = sql.prepare<[string, string]>("INSERT INTO recovery_code (username, code_hash) VALUES (?, ?)");
  const takeStep = sql.prepare<[number, string, number, number]>(
    `UPDATE second_factor SET last_step = ?
     WHERE username = ? AND begun_at_ms = ? AND last_step < ? AND confirmed_at_ms IS NOT NULL`,
  );
  const takeCode = sql.prepare<[string, string]>("DELETE FROM recovery_code WHERE username = ? AND code_hash = ?");
  const remove = sql.prepare<[string]>("DELETE FROM second_factor WHERE username = ?");
  const dropCodes = sql.prepare<[string]>("DELETE FROM recovery_code WHERE username = ?");
  const endOthers = sql.prepare<[string, string]>("DELETE FROM session WHERE username = ? AND token_hash <> ?");
  const raise = sql.prepare<[string]>("UPDATE session SET with_factor = 1 WHERE token_hash = ?");

  const take = async (username: string, proof: FactorProof): Promise<boolean> => {
    if (proof.kind === "recovery code") return (await takeCode.run(username, proof.codeHash)) > 0;
    const { begunAtMs, step } = proof;
    return (await takeStep.run(step, username, begunAtMs, step)) > 0;
  };

  /** What the audit says of a user's second factor. */
  const told = async (username: string, by: Actor, atMs: number) => {
    const user = await userOf.get(username);
    const about = { kind: "secondFactor", subject: username, resellerId: user?.parentId ?? null } as const;
    return { by, atMs, ...about, account: user?.accountKey };
  };

  return commands({
    async secondFactor({ username }) {
      const row = await find.get(username);
      if (row === undefined) return null;
      return {
        ...row,
        secret: secrets.open(secondFactorPlace(username), row.secret),
        recoveryCodes: await countCodes(username),
      };
    },

    async beginSecondFactor({ username, secret, by, atMs }) {
      const { account, ...about } = await told(username, by, atMs);
      if (account === undefined) return "unknown user";
      const sealed = await seal(secondFactorPlace(username), secret);
      if ((await begin.run(username, sealed, atMs)) === 0) return "in force";
      await note({ ...about, action: "create", after: { account, inForce: false } });
      return "begun";
    },

    async confirmSecondFactor({ username, begunAtMs, step, recoveryHashes, keepTokenHash, by, atMs }) {
      if ((await confirm.run(atMs, step, username, begunAtMs)) === 0) return "outdated";
      for (const codeHash of recoveryHashes) await addCode.run(username, codeHash);
      // They were opened with a password alone.
      await endOthers.run(username, keepTokenHash ?? "");
      if (keepTokenHash !== null) await raise.run(keepTokenHash);
      const { account, ...about } = await told(username, by, atMs);
      const before = { account, inForce: false };
      await noteChange({ ...about, action: "change", before, after: { account, inForce: true } });
      return "confirmed";
    },

    async useSecondFactor({ username, proof }) {
      return (await take(username, proof)) ? "taken" : "refused";
    },

    async removeSecondFactor({ username, proof, by, atMs }) {
      if (proof !== null && !(await take(username, proof))) return "refused";
      if ((await remove.run(username)) === 0) return "none";
      await dropCodes.run(username);
      if (proof === null) await endOthers.run(username, "");
      const { account, ...about } = await told(username, by, atMs);
      const shownWith = proof?.kind ?? "nothing";
      await noteChange({ ...about, action: "delete", before: { account, shownWith } });
      return "removed";
    },
  });
}
