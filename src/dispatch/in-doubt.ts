/** Messages that carriers may have, and of which the store does not know yet what became of them. Should the process die, they go again. */
import type { MessageKey } from "../message/message.ts";

/** A message that was handed over, without the store knowing what became of that. */
export interface Doubt {
  readonly key: MessageKey;
  /** Its neighbours among all that are in doubt. */
  before: Doubt | null;
  behind: Doubt | null;
}

/** A chain: in a map, a name that comes and goes with every message costs more than all else that is noted of it here. */
export class InDoubt {
  #last: Doubt | null = null;

  /** How many messages there are. One may have been handed over several times. */
  get size(): number {
    return new Set(this.keys()).size;
  }

  /** From the newest on; a message as often as it was handed over. */
  *keys(): Iterable<MessageKey> {
    for (let doubt = this.#last; doubt !== null; doubt = doubt.before) yield doubt.key;
  }

  /** The message is in doubt until what is returned is settled. */
  add(key: MessageKey): Doubt {
    const doubt: Doubt = { key, before: this.#last, behind: null };
    if (this.#last !== null) this.#last.behind = doubt;
    this.#last = doubt;
    return doubt;
  }

  settle(doubt: Doubt): void {
    const { before, behind } = doubt;
    // It was settled.
    if (before === null && behind === null && this.#last !== doubt) return;
    if (before !== null) before.behind = behind;
    if (behind === null) this.#last = before;
    else behind.before = before;
    // An old object that names younger ones keeps them from the collector of the young generation.
    doubt.before = null;
    doubt.behind = null;
  }
}
