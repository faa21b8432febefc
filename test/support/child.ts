/** The real program as a child process: started, watched, and ended by the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";

const PROGRAM = join(import.meta.dirname, "../../bin/heliograph.js");

export interface Child {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything it has printed so far, both streams. */
  output(): string;
  /** Sends the signal and waits for the end; gives the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

/** Starts `heliograph` with these arguments and waits until it listens. */
export async function startChild(t: TestContext, args: readonly string[]): Promise<Child> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | string>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal ?? "")),
  );
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    const onData = (data: Buffer): void => {
      output += data;
      const match = /^Heliograph listens on (http:\S+)$/m.exec(output);
      if (match !== null) resolve(match[1]!);
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    child.once("close", () => reject(new Error(`it ended before it listened: ${output}`)));
  });
  const end = (signal: NodeJS.Signals): Promise<number | string> => {
    child.kill(signal);
    return ended;
  };
  t.after(() => end("SIGKILL"));
  return { url, process: child, output: () => output, end };
}
