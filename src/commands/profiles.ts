/** What an account says of the people behind it. The service itself has no use for it. */
import { finder, selecting, updating } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { ACCOUNT, type AccountRow } from "../store/schema/account.ts";
import { IN_TENANT } from "./account-rows.ts";
import { commands } from "./entry.ts";

export function profileCommands({ sql }: CommandParts) {
  const finding = finder(sql, ACCOUNT);
  const kept = finding<[number, number | null], Pick<AccountRow, "key" | "profile">>(
    `SELECT key, profile FROM account WHERE id = ? AND ${IN_TENANT}`,
  );
  const locked = selecting(sql, ACCOUNT, ["profile"], ["id"], sql.dialect.lock());
  const keep = updating(sql, ACCOUNT, ["profile"]);

  return commands({
    async profile({ accountId, resellerId }) {
      const row = await kept.get(accountId, resellerId);
      return row === undefined ? null : { key: row.key, profile: row.profile ?? {} };
    },

    async changeProfile({ accountId, change }) {
      const after = { ...(await locked.get(accountId))?.profile, ...change };
      await keep({ id: accountId, profile: after });
      return after;
    },
  });
}
