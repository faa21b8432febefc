/** What every run needs: a directory that goes with it, and an end in order, also when it is interrupted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OptionFault } from "./options.ts";
import { stopPrograms } from "./program.ts";
import { Progress } from "./progress.ts";

export interface Stage {
  /** What is started is put on it, and stopped at the end of the run. */
  readonly stack: AsyncDisposableStack;
  readonly directory: string;
  readonly progress: Progress;
}

export async function onStage(run: (stage: Stage) => Promise<void>): Promise<void> {
  const stack = new AsyncDisposableStack();
  let ending: Promise<void> | null = null;
  const end = (): Promise<void> => {
    ending ??= stack.disposeAsync();
    return ending;
  };
  let interrupted = false;
  const onSignal = (): void => {
    // What was under way fails when its processes end: that is no news to whoever stopped it.
    if (!interrupted) process.on("uncaughtException", () => undefined);
    interrupted = true;
    void end().finally(() => process.exit(1));
  };
  // Also the second time: a signal to the whole group may come twice, and stopping in order takes a few seconds at most.
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  const directory = stack.adopt(mkdtempSync(join(tmpdir(), "heliograph-bench-")), (it) =>
    rmSync(it, { recursive: true, force: true }),
  );
  stack.defer(stopPrograms);
  const progress = stack.adopt(new Progress(), (it) => it.end());
  try {
    await run({ stack, directory, progress });
  } catch (error) {
    if (!interrupted) throw error;
  } finally {
    await end();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

/** What is wrong with the options, or missing on the machine, is a sentence and no stack trace. */
export async function orSayFault(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof OptionFault)) throw error;
    console.error(`${error.message}\n\nnpm run bench -- --help lists the options.`);
    process.exitCode = 1;
  }
}
