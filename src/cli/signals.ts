/** What the commands that run until they are stopped share: how a signal ends them. */
import { systemClock } from "../runtime/clock.ts";
import { complain, say } from "./console.ts";

/** Says why a stop failed, and gives the exit code. */
export function stoppedBadly(error: Error): number {
  complain(`heliograph: it did not stop in order: ${error.stack}\n`);
  return 1;
}

/** A terminal and systemd signal a whole group of processes, and a parent may pass the same signal on: so soon it is no second one. */
const SAME_SIGNAL_MS = 500;

/** The first signal stops in order, the second at once. */
export function stopOnSignal(service: { stop(): Promise<void> }, codeOf = stoppedBadly): void {
  let stoppingSinceMs: number | null = null;
  const onSignal = (): void => {
    const nowMs = systemClock.monotonic();
    if (stoppingSinceMs !== null) {
      if (nowMs - stoppingSinceMs >= SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSinceMs = nowMs;
    say("Heliograph stops; the same signal again ends it at once.");
    service.stop().then(
      () => process.exit(0),
      (error: Error) => process.exit(codeOf(error)),
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
