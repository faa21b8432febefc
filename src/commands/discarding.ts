/** Deletes what matched nothing, or was kept aside, when somebody has looked at it. Who did so is in the audit. */

import type { CommandParts } from "../store/command-parts.ts";
import type { AsideKind } from "../store/port/quarantine.ts";
import { auditWriter } from "./audit.ts";
import { commands } from "./entry.ts";

/** Which row an id names. Nothing that has a message or an account is among them. */
const ROW: Readonly<Record<AsideKind, string>> = {
  receipt: "parked_receipt WHERE id = ? AND repeated = 0",
  incoming: "incoming_message WHERE key = ? AND account_id IS NULL",
  quarantine: "quarantine WHERE id = ? AND held_key IS NULL",
};
const HELD_ROW = "quarantine WHERE id = ?";
/** Ids that are named in the audit. */
const NAMED = 20;

export function discardingCommands(parts: CommandParts) {
  const { sql } = parts;
  const audit = auditWriter(parts);
  const drop = Object.fromEntries(
    Object.entries(ROW).map(([kind, row]) => [kind, sql.prepare<[bigint]>(`DELETE FROM ${row}`)]),
  ) as Record<AsideKind, ReturnType<typeof sql.prepare<[bigint]>>>;
  const dropHeld = sql.prepare<[bigint]>(`DELETE FROM ${HELD_ROW}`);
  return commands({
    async discard({ kind, ids, held = false, by, atMs }) {
      const gone: string[] = [];
      const statement = held && kind === "quarantine" ? dropHeld : drop[kind];
      for (const id of new Set(ids)) if ((await statement.run(BigInt(id))) > 0) gone.push(id);
      if (gone.length > 0) {
        const subject = gone.length === 1 ? gone[0]! : `${gone.length} items`;
        const before = { ids: gone.slice(0, NAMED), count: gone.length };
        await audit.note({ by, atMs, action: "delete", kind, subject, resellerId: null, before, after: null });
      }
      return { discarded: gone.length };
    },
  });
}
