/**
 * What the embedded store's log says of the disk. A disk that fails does so at every try, hundreds of times a minute: each kind of fault is told once,
 * and then once a minute with the number of those that were left out.
 */
import type { Clock } from "../../runtime/clock.ts";
import { type Log, LogLimiter } from "../../runtime/log.ts";
import { KeptAside } from "./aside.ts";

export function faultsTold(log: Pick<Log, "warn" | "error">, clock: Clock) {
  const limiter = new LogLimiter(clock, 1);
  return {
    onFault(err: unknown): void {
      if (err instanceof KeptAside)
        limiter.write("aside", (more) => log.error({ err, ...more }, "what could not be written is kept aside"));
      else
        limiter.write("fault", (more) =>
          log.warn({ err, ...more }, "rows could not be written to their tables; they are still in the journal"),
        );
    },
    onDistrust: (err: unknown): void =>
      limiter.write("distrust", (more) =>
        log.error(
          { err, ...more },
          "the store's log may not be on the disk; nothing is accepted until it is whole again",
        ),
      ),
    onTrust: (): void => limiter.write("trust", (more) => log.warn(more, "the store's log is whole again")),
  };
}
