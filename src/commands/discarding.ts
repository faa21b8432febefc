/** Deletes what matched nothing, or was kept aside, when somebody has looked at it. Who did so is in the audit. */
import { step } from "../message/life.ts";
import type { MessageKey } from "../message/message.ts";
import { perKey } from "../runtime/lazy.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { AsideKind } from "../store/port/quarantine.ts";
import { STATE_NUMBER } from "../store/schema/message.ts";
import { auditWriter } from "./audit.ts";
import type { Endings } from "./endings.ts";
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

export function discardingCommands(parts: CommandParts, { conclude }: Endings) {
  const { sql, tables } = parts;
  const audit = auditWriter(parts);
  const dropping = perKey((row: string) => sql.prepare<[bigint]>(`DELETE FROM ${row}`));
  const heldKey = sql.prepare<[bigint], { key: MessageKey | null }>(
    `SELECT CAST(held_key AS TEXT) AS key FROM ${HELD_ROW}`,
  );
  /** What became of a message that nobody can tell of, if it waits for that. */
  const end = async (id: string, atMs: number): Promise<void> => {
    const key = (await heldKey.get(BigInt(id)))?.key ?? null;
    if (key === null) return;
    await tables.load({ messages: [key], refunds: true });
    const row = tables.messages.get(key);
    if (row?.state === STATE_NUMBER.queued) conclude(row, step("submitting", "gave up")!, 0, atMs, null);
  };
  return commands({
    async discard({ kind, ids, held, by, atMs }) {
      const gone: string[] = [];
      const isHeld = kind === "quarantine" && held !== undefined;
      if (isHeld && held === "ends") for (const id of new Set(ids)) await end(id, atMs);
      const drop = dropping(isHeld ? HELD_ROW : ROW[kind]);
      for (const id of new Set(ids)) if ((await drop.run(BigInt(id))) > 0) gone.push(id);
      if (gone.length > 0) {
        const subject = gone.length === 1 ? gone[0]! : `${gone.length} items`;
        const before = { ids: gone.slice(0, NAMED), count: gone.length };
        await audit.note({ by, atMs, action: "delete", kind, subject, resellerId: null, before });
      }
      return { discarded: gone.length };
    },
  });
}
