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
 * look for messages that are behind find it. A bulk with a speed limit can be changed while it goes: there such a message is scheduled like any other,
 * and follows, unless its carrier has a part of it, or may have it.
 *
 * Only bulks with scheduled messages have such a row. Messages accepted before it was made are not counted among its messages. A bulk of many messages
 * that were sent at once has a row too, so that it can be listed (bulk-lists.ts): it is `at_once`, its messages know nothing of it, and nothing can be
 * changed of it.
 */
import type { SpeedLimit } from "../schedule/pace.ts";
import { firstSendable } from "../schedule/sending-time.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { BulkChangeOutcome, BulkName, BulkStatus } from "../store/port/bulks.ts";
import { BULK, type BulkRow } from "../store/schema/bulk.ts";
import { MESSAGE, type MessageRow, STATE_NUMBER } from "../store/schema/message.ts";
import { commands } from "./entry.ts";
import { limitColumns, Paces, putOffVersion } from "./pacing.ts";

/**
 * A bulk of so many messages in one request, sent at once, is listed. Fewer are not worth a row: their bulk is found by its id, and a row for each small
 * request would be felt by whoever sends those: it costs 10 to 20 µs.
 */
export const LISTED_MESSAGES = 50;

/** What a request brings to its bulk. */
interface BulkJoining {
  readonly accountId: number;
  readonly bulkId: string;
  readonly messages: number;
  /** When those of its messages that wait are to go; null if none waits. */
  readonly sendAtMs: number | null;
  readonly receivedAtMs: number;
  /** One that is named holds for the bulk from then on. */
  readonly speedLimit: SpeedLimit | null;
}

/** What becomes of a message that comes due: it goes, or waits longer, or ends. */
export interface Fate {
  readonly kind: "goes" | "waits" | "canceled" | "expired";
  /** As it is now. */
  readonly row: MessageRow;
  /** Whether it follows what becomes of its bulk. */
  readonly follows: boolean;
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
      `SELECT ${MESSAGE.list} FROM message WHERE account_id = ? AND bulk_id = ? AND ${sql.dialect.waits} = 0
         AND bulk_version >= 0 AND bulk_version <= ? LIMIT ?
       ${sql.dialect.lock()}`,
    );
  }

  /**
   * The bulk that a request's messages belong to, or null if they follow none. One with a `sendAtMs`, for messages that wait, makes the row if there is
   * none; so does one with many messages, for those who list bulks.
   */
  join({ accountId, bulkId, messages, sendAtMs, receivedAtMs, speedLimit }: BulkJoining): BulkRow | null {
    const { tables } = this.#parts;
    const known = tables.bulks.get(accountId, bulkId);
    if (known === undefined) {
      if (sendAtMs === null && messages < LISTED_MESSAGES) return null;
      const fresh: BulkRow = {
        account_id: accountId,
        bulk_id: bulkId,
        state: "open",
        send_at_ms: sendAtMs ?? receivedAtMs,
        version: 0,
        moved_version: 0,
        holds: 0,
        sent: 0,
        turn: null,
        made_at_ms: receivedAtMs,
        at_once: sendAtMs === null ? 1 : 0,
        ...limitColumns(speedLimit, null),
      };
      tables.bulks.insert(fresh);
      return sendAtMs === null ? null : fresh;
    }
    if (known.at_once === 1) {
      if (sendAtMs === null) return null;
      // From now on there is something that can be changed.
      const change = { at_once: 0, send_at_ms: sendAtMs, ...limitColumns(speedLimit, known) };
      tables.bulks.change(known, change);
      return { ...known, ...change };
    }
    // What joins a canceled bulk is called off like the rest of it.
    if (known.state === "canceled") this.#change(known, {});
    if (speedLimit === null) return known;
    const limit = limitColumns(speedLimit, known);
    tables.bulks.change(known, limit);
    return { ...known, ...limit };
  }

  /** A carrier has taken a message. */
  sent(row: MessageRow): void {
    if (row.bulk_version === null) return;
    const { tables } = this.#parts;
    const bulk = tables.bulks.get(row.account_id, row.bulk_id);
    if (bulk?.sent === 0) tables.bulks.change(bulk, { sent: 1 });
  }

  /** What becomes of a message whose time has come. What only has to wait is written here. */
  fateOf(dueRow: MessageRow, nowMs: number, paces: Paces): Fate {
    const { tables } = this.#parts;
    const isPutOff = dueRow.bulk_version !== null && dueRow.bulk_version < 0;
    const row = isPutOff ? tables.messages.change(dueRow, { bulk_version: putOffVersion(dueRow) }) : dueRow;
    const known = row.bulk_version === null ? undefined : tables.bulks.get(row.account_id, row.bulk_id);
    const follows = known !== undefined && (!isPutOff || followsWhenPutOff(row, known));
    const bulk = follows ? known : undefined;
    if (bulk?.state === "canceled") return { kind: "canceled", row, follows };
    const timed =
      bulk !== undefined && row.bulk_version! < bulk.moved_version ? this.#follow(row, bulk, nowMs, paces) : row;
    if (timed.due_at_ms > nowMs) return { kind: "waits", row: timed, follows };
    if (timed.expires_at_ms <= nowMs) return { kind: "expired", row: timed, follows };
    if (bulk?.state !== "paused") return { kind: "goes", row: timed, follows };
    tables.messages.change(timed, { due_at_ms: timed.expires_at_ms });
    if (bulk.holds === 0) tables.bulks.change(bulk, { holds: 1 });
    return { kind: "waits", row: timed, follows };
  }

  /** The version that a message keeps while its carrier puts it off. */
  versionOfPutOff(row: MessageRow): number | null {
    const bulk = row.bulk_version === null ? undefined : this.#parts.tables.bulks.get(row.account_id, row.bulk_id);
    return bulk !== undefined && followsWhenPutOff(row, bulk) ? row.bulk_version : putOffVersion(row);
  }

  /** A page of the messages of the bulk whose turn it is follow it. Returns whether any bulk has more of them. */
  async takeTurn(nowMs: number, limit: number, cancel: (page: MessageRow[]) => Promise<void>): Promise<boolean> {
    const { tables } = this.#parts;
    const next = await this.#next.get();
    if (next === undefined) return false;
    const { account_id: accountId, bulk_id: bulkId } = next;
    await tables.load({ lockedBulks: [{ accountId, bulkId }], wallets: [accountId] });
    const bulk = tables.bulks.get(accountId, bulkId)!;
    const canceled = bulk.state === "canceled";
    const upTo = canceled ? bulk.version : bulk.version - 1;
    const page = tables.messages.cache(await this.#behind.all(accountId, bulkId, upTo, limit));
    const paces = new Paces(tables);
    if (canceled) await cancel(page);
    else for (const row of page) this.#follow(row, bulk, nowMs, paces);
    paces.write();
    // The others first: a bulk of a million does not hold up one of ten.
    tables.bulks.change(bulk, { turn: page.length === limit ? this.#parts.ids.take(1) : null });
    await tables.flush();
    return (await this.#next.get()) !== undefined;
  }

  #follow(row: MessageRow, bulk: BulkRow, nowMs: number, paces: Paces): MessageRow {
    const window = row.delivery_window === null ? null : JSON.parse(row.delivery_window);
    let { due_at_ms: dueAtMs, expires_at_ms: expiresAtMs, slot_until_ms: slotUntilMs } = row;
    if (row.bulk_version! < bulk.moved_version) {
      dueAtMs = firstSendable({ nowMs: bulk.send_at_ms, sendAtMs: null, window });
      const slot = slotUntilMs === null ? null : paces.move(row, dueAtMs, nowMs);
      if (slot !== null) ({ dueAtMs, untilMs: slotUntilMs } = slot);
      expiresAtMs = dueAtMs + row.validity_ms;
    } else if (dueAtMs === expiresAtMs) {
      // Put off while the bulk was paused.
      dueAtMs = Math.min(firstSendable({ nowMs, sendAtMs: null, window }), expiresAtMs);
    }
    const times = { due_at_ms: dueAtMs, expires_at_ms: expiresAtMs, slot_until_ms: slotUntilMs };
    return this.#parts.tables.messages.change(row, { ...times, bulk_version: bulk.version });
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
    const { waits } = sql.dialect;
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
      `SELECT 1 FROM message WHERE account_id = ? AND bulk_id = ? AND ${waits} = ? AND bulk_version >= 0 LIMIT 1`,
    );

    // In one statement: a message may be put off, or come due again, between two. Where the states stood in it, PostgreSQL could take an index of all
    // that are queued or scheduled.
    const anyOnItsWay = sql.prepare<[number, string, number, number, string, number], unknown>(
      `SELECT 1 AS found WHERE EXISTS (SELECT 1 FROM message WHERE account_id = ? AND bulk_id = ? AND ${waits} = ? AND bulk_version >= 0)
         OR EXISTS (SELECT 1 FROM message WHERE account_id = ? AND bulk_id = ? AND ${waits} = ? AND bulk_version < 0)`,
    );

    const statusOf = async (bulk: BulkRow): Promise<BulkStatus> => {
      const any = async (state: keyof typeof STATE_NUMBER): Promise<boolean> =>
        (await anyInState.get(bulk.account_id, bulk.bulk_id, STATE_NUMBER[state])) !== undefined;
      if (bulk.state === "canceled") return "CANCELED";
      const isOnItsWay = async (): Promise<boolean> => {
        const name = [bulk.account_id, bulk.bulk_id] as const;
        return (await anyOnItsWay.get(...name, STATE_NUMBER.queued, ...name, STATE_NUMBER.scheduled)) !== undefined;
      };
      if (await any("scheduled")) {
        if (bulk.state === "paused") return "PAUSED";
        // One with a speed limit may go for days: what waits of it can be changed while others are on their way.
        return bulk.speed_amount === null && (await isOnItsWay()) ? "PROCESSING" : "PENDING";
      }
      if ((await isOnItsWay()) || (await any("submitted"))) return "PROCESSING";
      return bulk.sent === 1 ? "FINISHED" : "FAILED";
    };

    const scheduledBulk = ({ accountId, bulkId }: BulkName): BulkRow | undefined => {
      const bulk = tables.bulks.get(accountId, bulkId);
      return bulk?.at_once === 1 ? undefined : bulk;
    };

    /** The change is made on the row as it is in this transaction: dispatch was there before it, or comes after it. */
    const change = async (
      name: BulkName,
      isAllowed: (status: BulkStatus) => boolean,
      make: (bulk: BulkRow) => Partial<BulkRow>,
    ): Promise<BulkChangeOutcome> => {
      await tables.load({ lockedBulks: [name] });
      const bulk = scheduledBulk(name);
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
        const bulk = scheduledBulk(name);
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
          ({ version, free_slot_us: freeUs }) => ({
            next_slot_us: freeUs,
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

/** A bulk with a speed limit is changed while it goes. What its carrier puts off is then to follow too, unless the carrier has a part of it, or may have it. */
function followsWhenPutOff({ taken, unknown_count: unknown }: MessageRow, { speed_amount: amount }: BulkRow): boolean {
  return amount !== null && taken === null && unknown === 0;
}
