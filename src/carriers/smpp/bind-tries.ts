/**
 * The tries of one connection to reach its carrier, each of a host, several beside each other where hosts do not answer. The first that is bound counts;
 * the others are given up.
 */
import type { SmppSession } from "./session/session.ts";

/**
 * Tries without an answer, of one host and of all. Each comes to its own end, within ten seconds for the connection and the profile's time for the bind. One that is
 * slow is never given up for a new one: a carrier that always takes so long would never be bound. With four of a host there is still one every few seconds.
 */
const MAX_OF_HOST = 4;
const MAX_TRIES = 16;

export interface BindTry {
  readonly host: string;
  /** Null while it goes on, and when it has failed. */
  readonly session: SmppSession | null;
  readonly isOver: boolean;
}

interface Running extends BindTry {
  session: SmppSession | null;
  isOver: boolean;
  readonly givingUp: AbortController;
  readonly ended: Promise<void>;
}

export interface BindTriesParts {
  /** Connects and binds; null where that fails. When it is given up, nothing is left of it. */
  readonly bind: (host: string, givenUp: AbortSignal) => Promise<SmppSession | null>;
  readonly onEnd: () => void;
}

export class BindTries {
  readonly #parts: BindTriesParts;
  #tries: readonly Running[] = [];

  constructor(parts: BindTriesParts) {
    this.#parts = parts;
  }

  get bound(): BindTry | null {
    return this.#tries.find(({ session }) => session !== null) ?? null;
  }

  /** Null where as many are open as may be. */
  begin(host: string): BindTry | null {
    this.#tries = this.#tries.filter(({ isOver, session }) => !isOver || session !== null);
    const ofHost = this.#tries.filter((other) => other.host === host);
    if (ofHost.length >= MAX_OF_HOST || this.#tries.length >= MAX_TRIES) return null;
    const one = this.#run(host);
    this.#tries = [...this.#tries, one];
    return one;
  }

  #run(host: string): Running {
    const givingUp = new AbortController();
    const run = async (): Promise<void> => {
      one.session = await this.#parts.bind(host, givingUp.signal);
      one.isOver = true;
      this.#parts.onEnd();
    };
    // It begins when it is known here.
    const ended = Promise.resolve().then(run);
    const one: Running = { host, session: null, isOver: false, givingUp, ended };
    return one;
  }

  /** Resolves when nothing is left of them, but of the one that is kept. */
  async giveUp(kept: BindTry | null): Promise<void> {
    const others = this.#tries.filter((one) => one !== kept);
    this.#tries = [];
    for (const { givingUp } of others) givingUp.abort();
    await Promise.all(others.map(({ ended }) => ended));
  }
}
