/**
 * Messages of this node that wait for their carrier, as its own transactions have left them. Nobody else changes one, save an operator who ends it. So
 * they are not read again, and not locked: whoever changes one says in the statement that it still is this node's (CHANGE_OWNED in statements.ts), or the
 * transaction fails, and reads it when it is tried again.
 */
import type { MessageKey } from "../../message/message.ts";
import { SlotMap } from "../../runtime/slots.ts";
import { type MessageRow, STATE_NUMBER } from "../schema/message.ts";

/** A kilobyte or two each. */
const MAX_ROWS = 10_000;

export class OwnedMessages {
  readonly epoch: number;
  readonly #rows = new SlotMap<MessageKey, MessageRow>();

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  owns({ state, owner }: MessageRow): boolean {
    return state === STATE_NUMBER.queued && owner === this.epoch;
  }

  /** A transaction has left these so. */
  keep(rows: readonly MessageRow[]): void {
    for (const row of rows) this.#rows.set(row.key, row);
    for (const [key] of this.#rows.entries()) {
      if (this.#rows.size <= MAX_ROWS) break;
      this.#rows.delete(key);
    }
  }

  /** It is taken out: a transaction that fails may leave another, and what comes after it reads. */
  take(key: MessageKey): MessageRow | undefined {
    const row = this.#rows.get(key);
    if (row !== undefined) this.#rows.delete(key);
    return row;
  }
}
