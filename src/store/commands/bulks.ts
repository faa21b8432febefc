/**
 * Bulks: what a client may change about messages that wait for their time. However many they are, a change is one row:
 *
 *   PUT ──▶ the bulk's row ──▶ answered
 *                │
 *                ├── claimDue reads it for every message that comes due: from that commit on, nothing goes against it
 *                └── claimDue also takes a page of messages of the bulk whose turn it is, and makes them follow:
 *
 *                    canceled   they end, are refunded and reported
 *                    moved      due time and expiry count anew from the new sendAt
 *                    resumed    what came due meanwhile is due now, or when its window opens
 *
 *   While a bulk is paused nobody follows anything: a message that comes due is put off to its expiry, where it expires like any other.
 *
 * A bulk's `version` grows with every change that its messages must follow, and a message keeps the one that it has followed. The
 * messages of a page and their versions are written in one transaction, so whatever crashes in between, the others are found behind.
 *
 * A message that came due, and that its carrier put off, waits for a time too. But it is on its way: it keeps its bulk PROCESSING, so that nobody
 * changes the bulk, and follows nothing. It keeps its version as a negative number, where neither those who look for scheduled messages nor those who
 * look for messages that are behind find it.
 *
 * Only bulks with scheduled messages have a row. Messages accepted before it was made are not counted among its messages.
 */

import { firstSendable } from "../../schedule/sending-time.ts";
import type { BulkChange, BulkName, BulkStatus } from "../port/bulks.ts";
import { BULK, type BulkRow } from "../schema/bulk.ts";
import { MESSAGE, type MessageRow, STATE_NUMBER } from "../schema/message.ts";
import { commands } from "./entry.ts";
import type { CommandParts } from "./parts.ts";

/** What becomes of a message that comes due: it goes, or waits longer, or ends. */
export interface Fate {
  readonly kind: "goes" | "waits" | "canceled" | "expired";
  /** As it is now. */
  readonly row: MessageRow;
}

/** What a client may make of a bulk; every other change is refused. */
const MOVES: Readonly<Partial<Record<BulkStatus, readonly BulkStatus[]>>> = {
  PENDING: ["PAUSED", "CANCELED"],
  PAUSED: ["PENDING", "CANCELED"],
};

export class Bulks {
  readonly #parts: CommandParts;
  readonly #next;
  readonly #behind;

  constructor(parts: CommandParts) {
    this.#parts = parts;
    const { sql } = parts;
    this.#next = sql.prepare<[], BulkRow>(
      `SELECT ${BULK.list} FROM bulk WHERE turn IS NOT NULL ORDER BY bulk.turn LIMIT 1 ${sql.dialect.lockFree()}`,
    );
    this.#behind = sql.prepare<[number, string, number, number], MessageRow>(
      `SELECT ${MESSAGE.list} FROM message WHERE account_id = ? AND bulk_id = ? AND state = 0
         AND bulk_version >= 0 AND bulk_version <= ? LIMIT ?
       ${sql.dialect.lock()}`,
    );
  }

  /** The bulk that a request's messages belong to. One with a `sendAtMs`, for messages that wait, makes the row if there is none. */
  join(accountId: number, bulkId: string, sendAtMs: number | null): BulkRow | null {
    const { tables } = this.#parts;
    const known = tables.bulks.get(accountId, bulkId);
    if (known === undefined) {
      if (sendAtMs === null) return null;
      const fresh: BulkRow = {
        account_id: accountId,
        bulk_id: bulkId,
        state: "open",
        send_at_ms: sendAtMs,
        version: 0,
        moved_version: 0,
        holds: 0,
        sent: 0,
        turn: null,
      };
      tables.bulks.insert(fresh);
      return fresh;
    }
    // What joins a canceled bulk is called off like the rest of it.
    if (known.state === "canceled") this.#change(known, {});
    return known;
  }

  /** A carrier has taken a message. */
  sent(row: MessageRow): void {
    if (row.bulk_version === null) return;
    const { tables } = this.#parts;
    const bulk = tables.bulks.get(row.account_id, row.bulk_id);
    if (bulk?.sent === 0) tables.bulks.change(bulk, { sent: 1 });
  }

  /** What becomes of a message whose time has come. What only has to wait is written here. */
  fateOf(dueRow: MessageRow, nowMs: number): Fate {
    const { tables } = this.#parts;
    const isPutOff = dueRow.bulk_version !== null && dueRow.bulk_version < 0;
    const row = isPutOff ? tables.messages.change(dueRow, { bulk_version: putOffVersion(dueRow) }) : dueRow;
    const bulk = row.bulk_version === null ? undefined : tables.bulks.get(row.account_id, row.bulk_id);
    if (bulk?.state === "canceled") return { kind: "canceled", row };
    const timed = bulk !== undefined && row.bulk_version! < bulk.moved_version ? this.#follow(row, bulk, nowMs) : row;
    if (timed.due_at_ms > nowMs) return { kind: "waits", row: timed };
    if (timed.expires_at_ms <= nowMs) return { kind: "expired", row: timed };
    if (bulk?.state !== "paused") return { kind: "goes", row: timed };
    tables.messages.change(timed, { due_at_ms: timed.expires_at_ms });
    if (bulk.holds === 0) tables.bulks.change(bulk, { holds: 1 });
    return { kind: "waits", row: timed };
  }

  /** A page of the messages of the bulk whose turn it is follow it. Returns whether any bulk has more of them. */
  async takeTurn(nowMs: number, limit: number, cancel: (row: MessageRow) => void): Promise<boolean> {
    const { tables } = this.#parts;
    const next = await this.#next.get();
    if (next === undefined) return false;
    const { account_id: accountId, bulk_id: bulkId } = next;
    await tables.load({ lockedBulks: [{ accountId, bulkId }], wallets: [accountId] });
    const bulk = tables.bulks.get(accountId, bulkId)!;
    const canceled = bulk.state === "canceled";
    const upTo = canceled ? bulk.version : bulk.version - 1;
    const page = tables.messages.cache(await this.#behind.all(accountId, bulkId, upTo, limit));
    for (const row of page) {
      if (canceled) cancel(row);
      else this.#follow(row, bulk, nowMs);
    }
    // The others first: a bulk of a million does not hold up one of ten.
    tables.bulks.change(bulk, { turn: page.length === limit ? this.#parts.ids.take(1) : null });
    await tables.flush();
    return (await this.#next.get()) !== undefined;
  }

  #follow(row: MessageRow, bulk: BulkRow, nowMs: number): MessageRow {
    const window = row.delivery_window === null ? null : JSON.parse(row.delivery_window);
    let { due_at_ms: dueAtMs, expires_at_ms: expiresAtMs } = row;
    if (row.bulk_version! < bulk.moved_version) {
      dueAtMs = firstSendable({ nowMs: bulk.send_at_ms, sendAtMs: null, window });
      expiresAtMs = dueAtMs + row.validity_ms;
    } else if (dueAtMs === expiresAtMs) {
      // Put off while the bulk was paused.
      dueAtMs = Math.min(firstSendable({ nowMs, sendAtMs: null, window }), expiresAtMs);
    }
    const change = { due_at_ms: dueAtMs, expires_at_ms: expiresAtMs, bulk_version: bulk.version };
    return this.#parts.tables.messages.change(row, change);
  }

  /** What its messages must follow puts the bulk behind all that wait for their turn, and delivery is to claim at once. */
  #change(bulk: BulkRow, change: Partial<BulkRow>): void {
    const { tables, unit, ids } = this.#parts;
    const { version, state } = { ...bulk, ...change };
    const follows = version > bulk.version || state === "canceled";
    if (follows) unit().due(0);
    tables.bulks.change(bulk, follows ? { ...change, turn: ids.take(1) } : change);
  }

  commands() {
    const { sql, tables } = this.#parts;
    const first = sql.prepare<[number, string], { receivedAtMs: number }>(
      `SELECT received_at_ms AS "receivedAtMs" FROM message WHERE account_id = ? AND bulk_id = ? ORDER BY message.key LIMIT 1`,
    );
    const messagesAfter = sql.prepare<
      [number, string, bigint, number],
      { key: string; state: number; sentAtMs: number | null }
    >(
      `SELECT CAST(key AS TEXT) AS key, state, sent_at_ms AS "sentAtMs" FROM message
       WHERE account_id = ? AND bulk_id = ? AND message.key > ? ORDER BY message.key LIMIT ?`,
    );
    const anyInState = sql.prepare<[number, string, number], unknown>(
      "SELECT 1 FROM message WHERE account_id = ? AND bulk_id = ? AND state = ? AND bulk_version >= 0 LIMIT 1",
    );

    // In one statement: a message may be put off, or come due again, between two.
    const anyOnItsWay = sql.prepare<[number, string, number, string], unknown>(
      `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM message WHERE account_id = ? AND bulk_id = ? AND state = 1 AND bulk_version >= 0)
         OR EXISTS (SELECT 1 FROM message WHERE account_id = ? AND bulk_id = ? AND state = 0 AND bulk_version < 0)`,
    );

    const statusOf = async (bulk: BulkRow): Promise<BulkStatus> => {
      const any = async (state: keyof typeof STATE_NUMBER): Promise<boolean> =>
        (await anyInState.get(bulk.account_id, bulk.bulk_id, STATE_NUMBER[state])) !== undefined;
      if (bulk.state === "canceled") return "CANCELED";
      const isOnItsWay = async (): Promise<boolean> => {
        const name = [bulk.account_id, bulk.bulk_id] as const;
        return (await anyOnItsWay.get(...name, ...name)) !== undefined;
      };
      if (await any("scheduled")) {
        if (bulk.state === "paused") return "PAUSED";
        return (await isOnItsWay()) ? "PROCESSING" : "PENDING";
      }
      if ((await isOnItsWay()) || (await any("submitted"))) return "PROCESSING";
      return bulk.sent === 1 ? "FINISHED" : "FAILED";
    };

    /** The change is made on the row as it is in this transaction: dispatch was there before it, or comes after it. */
    const change = async (
      name: BulkName,
      isAllowed: (status: BulkStatus) => boolean,
      make: (bulk: BulkRow) => Partial<BulkRow>,
    ): Promise<BulkChange> => {
      await tables.load({ lockedBulks: [name] });
      const bulk = tables.bulks.get(name.accountId, name.bulkId);
      if (bulk === undefined) {
        const message = await first.get(name.accountId, name.bulkId);
        return { kind: message === undefined ? "unknown" : "not scheduled" };
      }
      const status = await statusOf(bulk);
      if (!isAllowed(status)) return { kind: "refused", status };
      this.#change(bulk, make(bulk));
      return { kind: "changed" };
    };

    return commands({
      bulk: async (name) => {
        await tables.load({ bulks: [name] });
        const bulk = tables.bulks.get(name.accountId, name.bulkId);
        if (bulk !== undefined) return { sendAtMs: bulk.send_at_ms, status: await statusOf(bulk) };
        const message = await first.get(name.accountId, name.bulkId);
        return message === undefined ? null : { sendAtMs: message.receivedAtMs, status: null };
      },

      lookThroughBulk: async ({ accountId, bulkId, afterKey, limit }) => {
        const page = await messagesAfter.all(accountId, bulkId, BigInt(afterKey), limit);
        return {
          unfinished: page.some(({ state }) => state !== STATE_NUMBER.done),
          sent: page.some(({ sentAtMs }) => sentAtMs !== null),
          lastKey: page.length === limit ? page.at(-1)!.key : null,
        };
      },

      moveBulk: (input) =>
        change(
          input,
          (status) => MOVES[status] !== undefined,
          ({ version }) => ({
            send_at_ms: Math.max(input.sendAtMs, input.nowMs),
            version: version + 1,
            moved_version: version + 1,
            holds: 0,
          }),
        ),

      setBulkStatus: (input) =>
        change(
          input,
          (status) => MOVES[status]?.includes(input.status) === true,
          ({ version, holds }) => {
            if (input.status === "CANCELED") return { state: "canceled" };
            if (input.status === "PAUSED") return { state: "paused" };
            return { state: "open", version: version + holds, holds: 0 };
          },
        ),
    });
  }
}

/** The version of a message that its carrier puts off; and again, the one that it had before. */
export function putOffVersion({ bulk_version: version }: MessageRow): number | null {
  return version === null ? null : -1 - version;
}
