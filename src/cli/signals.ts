/** What the commands that run until they are stopped share: where they may listen without being asked, and how a signal ends them. */
import { complain, say } from "./console.ts";

export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Says why a stop failed, and gives the exit code. */
export function stoppedBadly(error: Error): number {
  complain(`heliograph: it did not stop in order: ${error.stack}\n`);
  return 1;
}

/** The first signal stops in order, the second at once. */
export function stopOnSignal(service: { stop(): Promise<void> }, codeOf = stoppedBadly): void {
  let stopping = false;
  const onSignal = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    say("Heliograph stops; the same signal again ends it at once.");
    service.stop().then(
      () => process.exit(0),
      (error: Error) => process.exit(codeOf(error)),
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
