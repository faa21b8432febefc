/** Command lines without a process of their own: the same program, with its console in the test's hands. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Console, speakingTo } from "../../src/cli/console.ts";
import { runCommandLine } from "../../src/cli/program.ts";
import type { Ended } from "../support/child.ts";
import { type Cleanup, temporaryDirectory } from "../support/service.ts";

export interface Person {
  /** What stands on standard input. */
  readonly input?: string;
  /** What a person at a terminal answers; without it nobody sits there. */
  readonly answer?: string;
  /** Whether what is printed goes to a terminal; it does for whoever answers. */
  readonly terminal?: boolean;
}

export async function runInProcess(
  args: readonly string[],
  { input, answer, terminal = answer !== undefined }: Person = {},
): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  const fake: Console = {
    out(text) {
      stdout += text;
    },
    error(text) {
      stderr += text;
    },
    outIsTerminal: terminal,
    isTerminal: answer !== undefined,
    async ask(question) {
      stdout += question;
      return answer!;
    },
    readInput: async () => input ?? assert.fail("nobody expected it to read"),
  };
  const code = await speakingTo(fake, () => runCommandLine(args));
  return { code, stdout, stderr };
}

export interface Commands {
  /** What a command on this store says; it must succeed. */
  done(...args: string[]): Promise<string>;
  /** The same, read from JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: looked into by the test that knows its shape
  json(...args: string[]): Promise<any>;
  /** What a command that cannot be done complains of, with its exit code. */
  refused(...args: string[]): Promise<[code: number | string, says: string]>;
  run(args: readonly string[], person?: Person): Promise<Ended>;
}

export function commandsOn(...where: readonly string[]): Commands {
  const run = (args: readonly string[], person?: Person) => runInProcess([...args, ...where], person);
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    return stdout;
  };
  return {
    run,
    done,
    json: async (...args) => JSON.parse(await done(...args, "--json")),
    async refused(...args) {
      const { code, stderr } = await run(args);
      return [code, stderr.replace(/^heliograph: /, "").trimEnd()];
    },
  };
}

/** A service that is set up, with the sandbox's catalogue in force, and its data. */
export async function newService(t: Cleanup): Promise<Commands & { readonly data: string }> {
  const data = join(await temporaryDirectory(t), "data");
  const commands = commandsOn("--data", data);
  await commands.done("init");
  await commands.done("apply", SANDBOX_CATALOGUE);
  return { data, ...commands };
}

export const SANDBOX_CATALOGUE = join(import.meta.dirname, "../../sandbox.catalogue.toml");
