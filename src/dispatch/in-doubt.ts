/** Messages that carriers may have, and of which the store does not know yet what became of them. Should the process die, they go again. */
import type { MessageKey } from "../message/message.ts";

export class InDoubt {
  /** How often each was handed over without the store knowing what became of that. */
  readonly #counts = new Map<MessageKey, number>();

  get size(): number {
    return this.#counts.size;
  }

  keys(): Iterable<MessageKey> {
    return this.#counts.keys();
  }

  /** The message is in doubt until it was settled as often. */
  add(key: MessageKey): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  settle(key: MessageKey): void {
    const left = this.#counts.get(key)! - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }
}
