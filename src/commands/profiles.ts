/** What an account says of the people behind it. The service itself has no use for it. */
import type { Profile } from "../message/profile.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { IN_TENANT, parsed } from "./account-rows.ts";
import { commands } from "./entry.ts";

export function profileCommands({ sql }: CommandParts) {
  const kept = sql.prepare<[number, number | null], { key: string; profile: string | null }>(
    `SELECT key, profile FROM account WHERE id = ? AND ${IN_TENANT}`,
  );
  const locked = sql.prepare<[number], { profile: string | null }>(
    `SELECT profile FROM account WHERE id = ? ${sql.dialect.lock()}`,
  );
  const keep = sql.prepare<[string, number]>("UPDATE account SET profile = ? WHERE id = ?");

  return commands({
    async profile({ accountId, resellerId }) {
      const row = await kept.get(accountId, resellerId);
      return row === undefined ? null : { key: row.key, profile: parsed(row.profile) ?? {} };
    },

    async changeProfile({ accountId, change }) {
      const before = parsed<Profile>((await locked.get(accountId))?.profile ?? null);
      const after = { ...before, ...change };
      await keep.run(JSON.stringify(after), accountId);
      return after;
    },
  });
}
