/**
 * What the embedded store's log says of the disk. A disk that fails does so at every try, hundreds of times a minute: each kind of fault is told once,
 * and then once a minute with the number of those that were left out.
 */
import type { Clock } from "../../runtime/clock.ts";
import { type Log, LogLimiter } from "../../runtime/log.ts";
import { KeptAside } from "./aside.ts";

export function faultsTold(log: Pick<Log, "warn" | "error">, clock: Clock) {
  const limiter = new LogLimiter(clock, 1);
  const tell = (kind: string, level: "warn" | "error", facts: object, says: string): void =>
    limiter.write(kind, (more) => log[level]({ ...facts, ...more }, says));
  return {
    onFault(err: unknown): void {
      if (err instanceof KeptAside) tell("aside", "error", { err }, "what could not be written is kept aside");
      else tell("fault", "warn", { err }, "rows could not be written to their tables; they are still in the journal");
    },
    onDistrust(err: unknown): void {
      const says = "the store's log may not be on the disk; nothing is accepted until it is whole again";
      tell("distrust", "error", { err }, says);
    },
    onTrust: (): void => tell("trust", "warn", {}, "the store's log is whole again"),
  };
}
