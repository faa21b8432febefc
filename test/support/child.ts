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

/** The environment of this process without settings of Heliograph, and with these. */
function environment(settings: Record<string, string>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("HELIOGRAPH_"));
  return { ...Object.fromEntries(inherited), ...settings };
}

export interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** What was to end by itself and did not is ended after this time. */
const MAX_RUN_MS = 180_000;

/** Runs `heliograph` with these arguments to its end. */
export async function runProgram(
  args: readonly string[],
  settings: Record<string, string> = {},
  node = process.execPath,
): Promise<Ended> {
  const child = spawn(node, [PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(settings),
    timeout: MAX_RUN_MS,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => {
    stdout += data;
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr += data;
  });
  const code = await new Promise<number | string>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal ?? "")),
  );
  return { code, stdout, stderr };
}

/** A command that goes on until it is ended, and what it has printed so far. */
export interface Program {
  output(): string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | string>;
  readonly ended: Promise<number | string>;
}

export function startProgram(
  t: Pick<TestContext, "after">,
  args: readonly string[],
  settings: Record<string, string> = {},
): Program {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(settings),
  });
  const ended = new Promise<number | string>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal ?? "")),
  );
  const end = (signal: NodeJS.Signals): Promise<number | string> => {
    child.kill(signal);
    return ended;
  };
  t.after(() => end("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return { output: () => output, end, ended };
}

/**
 * Starts `heliograph` with these arguments, and settings in the environment, and waits until it listens. No file that it writes grows beyond
 * `largestFileKb`, where that is given: to the program the disk is full.
 */
export async function startChild(
  t: Pick<TestContext, "after">,
  args: readonly string[],
  settings: Record<string, string> = {},
  largestFileKb: number | null = null,
  entry = PROGRAM,
): Promise<Child> {
  const command = [process.execPath, entry, ...args];
  // The shell counts in half kilobytes.
  const limited = ["/bin/sh", "-c", `ulimit -f ${(largestFileKb ?? 0) * 2} && exec "$@"`, "sh", ...command];
  const [program, ...programArgs] = largestFileKb === null ? command : limited;
  const child = spawn(program!, programArgs, {
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(settings),
  });
  const ended = new Promise<number | string>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal ?? "")),
  );
  const end = (signal: NodeJS.Signals): Promise<number | string> => {
    child.kill(signal);
    return ended;
  };
  t.after(() => end("SIGKILL"));
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
  return { url, process: child, output: () => output, end };
}
