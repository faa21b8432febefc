/**
 * Notices a peer that is no longer there. A connection whose other end has lost its power looks like one with nothing to say, so
 * after some silence the peer is asked (`probe`: enquire_link), and after some more it is taken for dead. Any octet from it is a
 * sign of life.
 */
import type { Clock, Timer } from "../../../runtime/clock.ts";

export interface WatchdogOptions {
  readonly clock: Clock;
  readonly idleMs: number;
  readonly probeTimeoutMs: number;
  readonly probe: () => unknown;
  readonly dead: () => void;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  #heardAtMs: number;
  /** It was asked and has not said a word since. */
  #asked = false;
  #listening = true;
  #timer: Timer | null;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#heardAtMs = options.clock.monotonic();
    this.#timer = options.clock.after(options.idleMs, () => this.#look());
  }

  heard(): void {
    this.#heardAtMs = this.#options.clock.monotonic();
    this.#asked = false;
  }

  /** While we do not read, silence proves nothing. */
  listen(listening: boolean): void {
    this.#listening = listening;
    this.heard();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** The timer is not moved with each octet that comes: when it fires, it sees how long the silence is. */
  #look(): void {
    const { clock, idleMs, probeTimeoutMs, probe, dead } = this.#options;
    if (!this.#listening) this.heard();
    if (this.#asked) {
      this.#timer = null;
      dead();
      return;
    }
    const silentMs = clock.monotonic() - this.#heardAtMs;
    this.#asked = silentMs >= idleMs;
    this.#timer = clock.after(this.#asked ? probeTimeoutMs : idleMs - silentMs, () => this.#look());
    if (this.#asked) probe();
  }
}
