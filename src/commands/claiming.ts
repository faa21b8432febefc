/** From the store into memory: messages whose time has come, and those of a lane with room; and back. */
import { step } from "../message/life.ts";
import { STATUS } from "../sms/statuses.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { BulkName } from "../store/port/bulks.ts";
import { IS_NOT_HELD } from "../store/quarantine.ts";
import { MESSAGE, type MessageRow, STATE_NUMBER } from "../store/schema/message.ts";
import { laneOf } from "../store/tables.ts";
import type { Bulks } from "./bulks.ts";
import { commands } from "./entry.ts";
import { Paces } from "./pacing.ts";
import { queuedMessage } from "./queued-message.ts";
import type { Matches } from "./receipts/matches.ts";
import { type TakenParts, waitingNames } from "./submitting.ts";

function bulkNameOf(row: MessageRow): BulkName {
  return { accountId: row.account_id, bulkId: row.bulk_id };
}

export function claimingCommands(
  { sql, tables, lanes, unit, epoch }: CommandParts,
  bulks: Bulks,
  { endUntaken, expire }: TakenParts,
  beginMatches: () => Matches,
) {
  const { dialect } = sql;
  const due = sql.prepare<[number, number], MessageRow>(
    `SELECT ${MESSAGE.list} FROM message WHERE ${dialect.waits} = 0 AND due_at_ms <= ? ORDER BY due_at_ms, message.key LIMIT ?
     ${dialect.lockFree()}`,
  );
  const nextDue = sql.prepare<[], { at: number | null }>(
    `SELECT min(due_at_ms) AS at FROM message WHERE ${dialect.waits} = 0`,
  );
  const unowned = sql.prepare<[string, number, number], MessageRow>(
    `SELECT ${MESSAGE.list} FROM message
     WHERE ${dialect.waits} = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? AND ${IS_NOT_HELD}
     ORDER BY message.key NULLS FIRST LIMIT ? ${dialect.lockFree("message")}`,
  );
  const owned = sql.prepare<[number, number], MessageRow>(
    `SELECT ${MESSAGE.list} FROM message WHERE ${dialect.waits} = 1 AND owner = ? LIMIT ? ${dialect.lockFree()}`,
  );

  return commands({
    async claimDue({ nowMs, limit }) {
      const cancel = (row: MessageRow, matches: Matches): void =>
        endUntaken(row, step("scheduled", "canceled")!, nowMs, matches);
      const moreTurns = await bulks.takeTurn(nowMs, limit, async (page) => {
        const parked = page.flatMap(waitingNames);
        if (parked.length > 0) await tables.load({ parked });
        const matches = beginMatches();
        for (const row of page) cancel(row, matches);
      });
      const rows = tables.messages.cache(await due.all(nowMs, limit));
      await tables.load({
        lockedBulks: rows.filter((row) => row.bulk_version !== null).map(bulkNameOf),
        wallets: rows.map((row) => row.account_id),
        parked: rows.flatMap(waitingNames),
      });
      const matches = beginMatches();
      const paces = new Paces(tables);
      for (const dueRow of rows) {
        const { kind, row, follows } = bulks.fateOf(dueRow, nowMs, paces);
        if (kind === "canceled") cancel(row, matches);
        if (kind === "expired") expire(row, nowMs, matches);
        if (kind !== "goes") continue;
        const hasLimit = row.slot_until_ms !== null;
        const slotUntilMs = hasLimit ? paces.release(row, follows, nowMs) : null;
        if (hasLimit && slotUntilMs === null) continue;
        const lane = laneOf(row);
        const owned = lanes.enter(lane, hasLimit);
        const statusId = STATUS[step("scheduled", "due")!.status].id;
        tables.messages.change(row, {
          state: STATE_NUMBER.queued,
          status_id: statusId,
          owner: owned ? epoch : null,
          // What is in memory may be handed over: nobody else gets its slot.
          ...(hasLimit ? { slot_until_ms: owned ? 0 : slotUntilMs } : {}),
        });
        if (owned) {
          unit().onRollback(() => lanes.leave(lane));
          unit().messages.push(queuedMessage(hasLimit ? { ...row, slot_until_ms: slotUntilMs } : row));
        } else {
          unit().overflow(lane);
        }
      }
      paces.write();
      await tables.flush();
      return { more: moreTurns || rows.length === limit, nextDueAtMs: (await nextDue.get())?.at ?? null };
    },

    async claimLane({ accountId, carrierId, limit }) {
      const lane = { accountId, carrierId };
      const wanted = Math.min(limit, lanes.room(lane));
      if (wanted <= 0) return { claimed: 0, more: true };
      const emptied = lanes.emptied(lane);
      const known = tables.messages.nextWaiting(lane, wanted);
      const rows = known ?? tables.messages.cache(await unowned.all(carrierId, accountId, wanted));
      for (const row of rows)
        tables.messages.change(row, row.slot_until_ms === null ? { owner: epoch } : { owner: epoch, slot_until_ms: 0 });
      unit().messages.push(...rows.map(queuedMessage));
      const more = rows.length === wanted;
      lanes.take(lane, rows.length);
      unit().onRollback(() => lanes.take(lane, -rows.length));
      if (!more) unit().onCommit(emptied);
      return { claimed: rows.length, more };
    },

    async handBack({ limit }) {
      const rows = tables.messages.cache(await owned.all(epoch, limit));
      for (const row of rows) tables.messages.change(row, { owner: null });
      return { more: rows.length === limit };
    },
  });
}
