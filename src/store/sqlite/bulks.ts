/**
 * Bulks in SQLite: what a client may change about messages that wait for their time. However many they are, a change is one row:
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
 * Only bulks with scheduled messages have a row. Messages accepted before it was made are not counted among its messages.
 */
import { firstSendable } from "../../schedule/sending-time.ts";
import type { BulkChange, BulkStatus, CommandHandlers } from "../port.ts";
import type { Db } from "./database.ts";
import { MESSAGE_COLUMNS, type MessageRow, STATE_NUMBER } from "./rows.ts";
import type { Unit } from "./unit.ts";

export interface BulkRow {
  readonly account_id: number;
  readonly bulk_id: string;
  readonly state: "open" | "paused" | "canceled";
  readonly send_at_ms: number;
  readonly version: number;
  readonly moved_version: number;
  readonly holds: number;
  readonly sent: number;
}

/** What becomes of a message that comes due: it goes, or waits longer, or ends. */
export interface Fate {
  readonly kind: "goes" | "waits" | "canceled" | "expired";
  /** As it is now. */
  readonly row: MessageRow;
}

const BULK_COLUMNS = "account_id, bulk_id, state, send_at_ms, version, moved_version, holds, sent";

/** What a client may make of a bulk; every other change is refused. */
const MOVES: Readonly<Partial<Record<BulkStatus, readonly BulkStatus[]>>> = {
  PENDING: ["PAUSED", "CANCELED"],
  PAUSED: ["PENDING", "CANCELED"],
};

type BulkCommand = "bulk" | "lookThroughBulk" | "moveBulk" | "setBulkStatus";

export class Bulks {
  readonly #db: Db;
  readonly #unit: () => Unit;
  readonly #find;
  readonly #insert;
  readonly #change;
  readonly #lastTurn;
  readonly #setTurn;
  readonly #next;
  readonly #behind;
  readonly #retime;
  readonly #hold;
  readonly #markSent;

  constructor(db: Db, unit: () => Unit) {
    this.#db = db;
    this.#unit = unit;
    this.#find = db.prepare<[number, string], BulkRow>(
      `SELECT ${BULK_COLUMNS} FROM bulk WHERE account_id = ? AND bulk_id = ?`,
    );
    this.#insert = db.prepare<[number, string, number]>(
      "INSERT INTO bulk (account_id, bulk_id, send_at_ms) VALUES (?, ?, ?)",
    );
    this.#change = db.prepare<[BulkRow["state"], number, number, number, number, number, string]>(
      `UPDATE bulk SET state = ?, send_at_ms = ?, version = ?, moved_version = ?, holds = ? WHERE account_id = ? AND bulk_id = ?`,
    );
    this.#lastTurn = db.prepare<[], { turn: number | null }>(
      "SELECT max(turn) AS turn FROM bulk WHERE turn IS NOT NULL",
    );
    this.#setTurn = db.prepare<[number | null, number, string]>(
      "UPDATE bulk SET turn = ? WHERE account_id = ? AND bulk_id = ?",
    );
    this.#next = db.prepare<[], BulkRow>(
      `SELECT ${BULK_COLUMNS} FROM bulk WHERE turn IS NOT NULL ORDER BY turn LIMIT 1`,
    );
    this.#behind = db.prepare<[number, string, number, number], MessageRow>(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE account_id = ? AND bulk_id = ? AND state = 0 AND bulk_version <= ? LIMIT ?`,
    );
    this.#retime = db.prepare<[number, number, number, bigint]>(
      "UPDATE message SET due_at_ms = ?, expires_at_ms = ?, bulk_version = ? WHERE key = ?",
    );
    this.#hold = db.prepare<[number, string]>("UPDATE bulk SET holds = 1 WHERE account_id = ? AND bulk_id = ?");
    this.#markSent = db.prepare<[number, string]>(
      "UPDATE bulk SET sent = 1 WHERE account_id = ? AND bulk_id = ? AND sent = 0",
    );
  }

  /** The bulk that a request's messages belong to. One with a `sendAtMs`, for messages that wait, makes the row if there is none. */
  join(accountId: number, bulkId: string, sendAtMs: number | null): BulkRow | null {
    if (sendAtMs !== null && this.#find.get(accountId, bulkId) === undefined) {
      this.#insert.run(accountId, bulkId, sendAtMs);
    }
    const bulk = this.#find.get(accountId, bulkId) ?? null;
    // What joins a canceled bulk is called off like the rest of it.
    if (bulk?.state === "canceled") this.#wake(bulk);
    return bulk;
  }

  /** A carrier has taken a message. */
  sent(row: MessageRow): void {
    if (row.bulk_version !== null) this.#markSent.run(row.account_id, row.bulk_id);
  }

  /** What becomes of a message whose time has come. What only has to wait is written here. */
  fateOf(row: MessageRow, nowMs: number): Fate {
    const bulk = row.bulk_version === null ? undefined : this.#find.get(row.account_id, row.bulk_id);
    if (bulk?.state === "canceled") return { kind: "canceled", row };
    const timed = bulk !== undefined && row.bulk_version! < bulk.moved_version ? this.#follow(row, bulk, nowMs) : row;
    if (timed.due_at_ms > nowMs) return { kind: "waits", row: timed };
    if (timed.expires_at_ms <= nowMs) return { kind: "expired", row: timed };
    if (bulk?.state !== "paused") return { kind: "goes", row: timed };
    this.#retime.run(timed.expires_at_ms, timed.expires_at_ms, timed.bulk_version!, BigInt(row.key));
    if (bulk.holds === 0) this.#hold.run(bulk.account_id, bulk.bulk_id);
    return { kind: "waits", row: timed };
  }

  /** A page of the messages of the bulk whose turn it is follow it. Returns whether any bulk has more of them. */
  takeTurn(nowMs: number, limit: number, cancel: (row: MessageRow) => void): boolean {
    const bulk = this.#next.get();
    if (bulk === undefined) return false;
    const canceled = bulk.state === "canceled";
    const upTo = canceled ? bulk.version : bulk.version - 1;
    const page = this.#behind.all(bulk.account_id, bulk.bulk_id, upTo, limit);
    for (const row of page) {
      if (canceled) cancel(row);
      else this.#follow(row, bulk, nowMs);
    }
    // The others first: a bulk of a million does not hold up one of ten.
    if (page.length === limit) this.#queue(bulk);
    else this.#setTurn.run(null, bulk.account_id, bulk.bulk_id);
    return this.#next.get() !== undefined;
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
    this.#retime.run(dueAtMs, expiresAtMs, bulk.version, BigInt(row.key));
    return { ...row, due_at_ms: dueAtMs, expires_at_ms: expiresAtMs, bulk_version: bulk.version };
  }

  /** Puts the bulk behind all that wait for their turn. */
  #queue({ account_id, bulk_id }: BulkRow): void {
    this.#setTurn.run((this.#lastTurn.get()?.turn ?? 0) + 1, account_id, bulk_id);
  }

  /** The same, and delivery is to claim at once. */
  #wake(bulk: BulkRow): void {
    this.#queue(bulk);
    this.#unit().due(0);
  }

  #write(bulk: BulkRow, change: Partial<BulkRow>): void {
    const { state, send_at_ms, version, moved_version, holds } = { ...bulk, ...change };
    this.#change.run(state, send_at_ms, version, moved_version, holds, bulk.account_id, bulk.bulk_id);
    if (version > bulk.version || state === "canceled") this.#wake(bulk);
  }

  commands(): Pick<CommandHandlers, BulkCommand> {
    const db = this.#db;
    const first = db.prepare<[number, string], { receivedAtMs: number }>(
      `SELECT received_at_ms AS receivedAtMs FROM message WHERE account_id = ? AND bulk_id = ? ORDER BY message.key LIMIT 1`,
    );
    const messagesAfter = db.prepare<
      [number, string, bigint, number],
      { key: string; state: number; sentAtMs: number | null }
    >(
      `SELECT CAST(key AS TEXT) AS key, state, sent_at_ms AS sentAtMs FROM message
       WHERE account_id = ? AND bulk_id = ? AND message.key > ? ORDER BY message.key LIMIT ?`,
    );
    const anyInState = db.prepare<[number, string, number], unknown>(
      "SELECT 1 FROM message WHERE account_id = ? AND bulk_id = ? AND state = ? AND bulk_version >= 0 LIMIT 1",
    );

    const statusOf = (bulk: BulkRow): BulkStatus => {
      const any = (state: keyof typeof STATE_NUMBER): boolean =>
        anyInState.get(bulk.account_id, bulk.bulk_id, STATE_NUMBER[state]) !== undefined;
      if (bulk.state === "canceled") return "CANCELED";
      if (any("scheduled")) {
        if (bulk.state === "paused") return "PAUSED";
        return any("queued") ? "PROCESSING" : "PENDING";
      }
      if (any("queued") || any("submitted")) return "PROCESSING";
      return bulk.sent === 1 ? "FINISHED" : "FAILED";
    };

    /** The change is made on the row as it is in this transaction: dispatch was there before it, or comes after it. */
    const change = (
      { accountId, bulkId }: { accountId: number; bulkId: string },
      isAllowed: (status: BulkStatus) => boolean,
      make: (bulk: BulkRow) => Partial<BulkRow>,
    ): BulkChange => {
      const bulk = this.#find.get(accountId, bulkId);
      if (bulk === undefined)
        return first.get(accountId, bulkId) === undefined ? { kind: "unknown" } : { kind: "not scheduled" };
      const status = statusOf(bulk);
      if (!isAllowed(status)) return { kind: "refused", status };
      this.#write(bulk, make(bulk));
      return { kind: "changed" };
    };

    return {
      bulk: ({ accountId, bulkId }) => {
        const bulk = this.#find.get(accountId, bulkId);
        if (bulk !== undefined) return { sendAtMs: bulk.send_at_ms, status: statusOf(bulk) };
        const message = first.get(accountId, bulkId);
        return message === undefined ? null : { sendAtMs: message.receivedAtMs, status: null };
      },

      lookThroughBulk: ({ accountId, bulkId, afterKey, limit }) => {
        const page = messagesAfter.all(accountId, bulkId, BigInt(afterKey), limit);
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
    };
  }
}
