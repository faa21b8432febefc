/** What failed of that which a node does about the others all the time, told once a minute for each thing that it does. */
import type { Clock } from "../../runtime/clock.ts";
import { type Log, LogLimiter } from "../../runtime/log.ts";
import { asDatabaseError, faultKind, isSlow } from "./faults.ts";

export interface LookFaultsParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: { lostTouch(): void };
}

export class LookFaults {
  readonly #parts: LookFaultsParts;
  readonly #limiter: LogLimiter;

  constructor(parts: LookFaultsParts) {
    this.#parts = parts;
    this.#limiter = new LogLimiter(parts.clock, 1);
  }

  /** `what` follows "could not". */
  note(what: string, error: unknown): void {
    const { nodes, log } = this.#parts;
    const err = asDatabaseError(error);
    // A database that is away has been told of by its connections. One that was slow with a single statement is there, and so are the others.
    if (faultKind(error) === "away" && !isSlow(error)) {
      nodes.lostTouch();
      log.debug({ err }, `could not ${what}`);
      return;
    }
    this.#limiter.write(what, (more) => log.warn({ err, ...more }, `could not ${what}; trying again`));
  }
}
