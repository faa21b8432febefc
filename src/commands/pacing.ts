/**
 * The speed limit of a bulk (schedule/pace.ts), kept over restarts and nodes:
 *
 *   accept ──▶ the first message has the slot that is now; the others are due at even distances, and have no slot yet
 *                 │
 *   claimDue ──▶ a due message takes the bulk's next slot, in the transaction that releases it. If that slot is not now, the message is put to it,
 *                 │  and the slot is its own: each message is put off so once at most, unless what happens next happens to it
 *                 │
 *   dispatch ──▶ hands it over while its slot is good. If that is over (its carrier was down, its lane long, its process killed), or if the carrier
 *                   did not take it, the message goes back to the store and takes another slot: a slot is good for one handing over
 *
 * A message that is in a node's memory has no slot in its row. So whoever finds it there after a kill, and does not know whether it was handed over,
 * takes another slot for it. A message whose slot would come behind its end has none either, and waits for its end.
 *
 * The bulk's row has `next_slot_us`, behind all slots that were given, and `free_slot_us`, behind all that were used: a bulk that is moved gives its
 * slots anew from there. Messages that follow the bulk have given up theirs by then, and the others are known by their versions.
 */
import type { Content } from "../message/message.ts";
import { perKey } from "../runtime/lazy.ts";
import { Pace, type SpeedLimit } from "../schedule/pace.ts";
import type { DeliveryWindow } from "../schedule/window.ts";
import { STATUS } from "../sms/statuses.ts";
import type { BulkRow } from "../store/schema/bulk.ts";
import type { MessageRow } from "../store/schema/message.ts";
import type { Tables } from "../store/tables.ts";

/** What a limit makes of a bulk's row. */
export function limitColumns(limit: SpeedLimit | null, known: BulkRow | null) {
  return {
    speed_amount: limit?.amount ?? null,
    speed_unit_ms: limit?.unitMs ?? null,
    next_slot_us: known?.next_slot_us ?? null,
    free_slot_us: known?.free_slot_us ?? null,
  };
}

function limitOf({ speed_amount: amount, speed_unit_ms: unitMs }: BulkRow): SpeedLimit | null {
  return amount === null || unitMs === null ? null : { amount, unitMs };
}

function windowOf({ delivery_window: window }: MessageRow): DeliveryWindow | null {
  return window === null ? null : JSON.parse(window);
}

/** When a new message is due, and until when its slot is good: 0 where it has none yet. */
interface Place {
  readonly dueAtMs: number;
  readonly untilMs: number;
}

/** The messages of one request, spread over time. */
export class Spreading {
  readonly #bulk: BulkPace;
  readonly #nowMs: number;
  /** By when they may first go: those with the same windows and sendAt stand in one row. */
  readonly #rowOf = perKey((_: string) => new Pace(this.#bulk.pace.limit, this.#bulk.pace.nextUs));

  constructor(tables: Tables, bulk: BulkRow, limit: SpeedLimit, nowMs: number) {
    this.#bulk = new BulkPace(tables, bulk, limit);
    this.#nowMs = nowMs;
  }

  /** `statusId` is what the message would have without a limit. Null for one that is rejected, which takes no slot. */
  place({ dueAtMs, window }: Content, statusId: number): Place | null {
    const pace = this.#bulk.pace;
    const mayGo = statusId === STATUS.PENDING_ENROUTE.id;
    if (!mayGo && statusId !== STATUS.PENDING_ACCEPTED.id) return null;
    if (mayGo && pace.isFree(this.#nowMs)) {
      const slot = pace.take(this.#nowMs, this.#nowMs, null);
      this.#bulk.use(pace.startOf(slot));
      return slot;
    }
    const row = this.#rowOf(`${dueAtMs} ${JSON.stringify(window)}`);
    const slot = row.take(this.#nowMs, dueAtMs ?? this.#nowMs, window);
    return { dueAtMs: slot.dueAtMs, untilMs: 0 };
  }

  write(): void {
    this.#bulk.write();
  }
}

/** The paces of the bulks whose messages a command looks at. They are written together at its end. */
export class Paces {
  readonly #tables: Tables;
  readonly #paces = new Map<string, BulkPace | null>();

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /**
   * A message with a limit is due: until when the slot that it goes with is good, or null if it has to wait for its slot. One that follows no changes
   * of its bulk waits as one that is put off.
   */
  release(row: MessageRow, follows: boolean, nowMs: number): number | null {
    const bulk = this.#of(row);
    const held = row.slot_until_ms ?? 0;
    if (bulk === null) return nowMs;
    // A message that has a slot is not due before that starts. Slots of before the last move are given again.
    if (held >= nowMs && bulk.isSinceMove(row)) {
      bulk.use(row.due_at_ms);
      return held;
    }
    // Its validity counts from its slot, until it had one and could have gone.
    const isNew = row.expires_at_ms === row.due_at_ms + row.validity_ms;
    const slot = bulk.pace.takeDue(nowMs, windowOf(row), isNew ? Number.POSITIVE_INFINITY : row.expires_at_ms);
    if (slot !== null && slot.dueAtMs <= nowMs) {
      bulk.use(bulk.pace.startOf(slot));
      return slot.untilMs;
    }
    // Without a slot it waits for its end.
    const dueAtMs = slot?.dueAtMs ?? row.expires_at_ms;
    this.#tables.messages.change(row, {
      due_at_ms: dueAtMs,
      expires_at_ms: isNew ? dueAtMs + row.validity_ms : row.expires_at_ms,
      slot_until_ms: slot?.untilMs ?? 0,
      ...(follows ? {} : { bulk_version: putOffVersion({ bulk_version: bulk.version }) }),
    });
    return null;
  }

  /** The slot of a message that may go from then on, as its bulk was moved there. */
  move(row: MessageRow, fromMs: number, nowMs: number): Place | null {
    return this.#of(row)?.pace.take(nowMs, fromMs, windowOf(row)) ?? null;
  }

  #of({ account_id: accountId, bulk_id: bulkId }: MessageRow): BulkPace | null {
    const id = `${accountId} ${bulkId}`;
    const known = this.#paces.get(id);
    if (known !== undefined) return known;
    const bulk = this.#tables.bulks.get(accountId, bulkId);
    const limit = bulk === undefined ? null : limitOf(bulk);
    const pace = limit === null ? null : new BulkPace(this.#tables, bulk!, limit);
    this.#paces.set(id, pace);
    return pace;
  }

  write(): void {
    for (const pace of this.#paces.values()) pace?.write();
  }
}

/** A bulk's pace while a command runs. */
class BulkPace {
  readonly pace: Pace;
  readonly #tables: Tables;
  readonly #bulk: BulkRow;
  #freeUs: number;

  constructor(tables: Tables, bulk: BulkRow, limit: SpeedLimit) {
    this.#tables = tables;
    this.#bulk = bulk;
    this.pace = new Pace(limit, bulk.next_slot_us ?? 0);
    this.#freeUs = bulk.free_slot_us ?? 0;
  }

  get version(): number {
    return this.#bulk.version;
  }

  /** Whether what the message has of its bulk's slots it has since the bulk was last moved. */
  isSinceMove({ bulk_version: version }: MessageRow): boolean {
    return version === null || version >= this.#bulk.moved_version;
  }

  /** A message goes with a slot that started then, at the latest. */
  use(startMs: number): void {
    this.#freeUs = Math.max(this.#freeUs, this.pace.behindUs(startMs));
  }

  write(): void {
    const { next_slot_us: nextUs, free_slot_us: freeUs } = this.#bulk;
    if (this.pace.nextUs === (nextUs ?? 0) && this.#freeUs === (freeUs ?? 0)) return;
    this.#tables.bulks.change(this.#bulk, { next_slot_us: this.pace.nextUs, free_slot_us: this.#freeUs });
  }
}

/** The version of a message that its carrier puts off, and that follows nothing meanwhile; and again, the one that it had before. */
export function putOffVersion({ bulk_version: version }: Pick<MessageRow, "bulk_version">): number | null {
  return version === null ? null : -1 - version;
}
