/**
 * Logins for the audit. Who logs in is written with the session; what was wrong is written beside, and strangers have a hand in that: so
 * there is a bound on how much a node writes in a minute, and what is left out is counted.
 */
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { counter, type Metric } from "../runtime/metrics.ts";
import type { FactorProof, LoginEvent } from "../store/port/credentials.ts";
import type { Store } from "../store/port/store.ts";
import { Allowance } from "./allowance.ts";

const MINUTE_MS = 60_000;
/** Whoever opens more sessions than this is a program. */
const MAX_OPENED_A_MINUTE = 10;
/** Of all users and strangers together. */
const MAX_WRONG_A_MINUTE = 60;

export interface LoginLogParts {
  readonly store: Pick<Store, "noteLogin">;
  readonly clock: Clock;
  readonly log: Log;
}

export class LoginLog {
  readonly #parts: LoginLogParts;
  readonly #opened: Allowance;
  readonly #wrong: Allowance;
  #leftOut = 0;

  constructor(parts: LoginLogParts) {
    const { clock } = parts;
    this.#parts = parts;
    this.#opened = new Allowance({ clock, most: MAX_OPENED_A_MINUTE, eachMs: MINUTE_MS });
    this.#wrong = new Allowance({ clock, most: MAX_WRONG_A_MINUTE, eachMs: MINUTE_MS });
  }

  /** What to write with a session that a user opens; null where it is left out. */
  opened(username: string, address: string, shownWith: FactorProof["kind"] | null): LoginEvent | null {
    if (this.#isLeftOut(this.#opened, username)) return null;
    return { action: "open", username, address, facts: { with: withWords(shownWith) } };
  }

  /** Nobody waits for it: whoever brings something wrong is answered as soon as ever. */
  wrong(event: LoginEvent): void {
    if (this.#isLeftOut(this.#wrong)) return;
    const { store, clock, log } = this.#parts;
    store.noteLogin({ ...event, atMs: clock.now() }).catch((error: unknown) => {
      log.warn({ err: error }, "a wrong login could not be written into the audit");
    });
  }

  #isLeftOut(allowance: Allowance, name?: string): boolean {
    if (allowance.take(name)) return false;
    this.#leftOut++;
    return true;
  }

  metrics(): Metric[] {
    const help = "Logins that are not in the audit because there were too many in a minute";
    return [counter("heliograph_logins_left_out_total", help, this.#leftOut)];
  }
}

function withWords(shownWith: FactorProof["kind"] | null): string {
  return shownWith === null ? "password" : `password and ${shownWith}`;
}
