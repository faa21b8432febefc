/** A command's help ends with how it is used. */
import type { Command } from "commander";

export function withExample(command: Command, ...lines: readonly string[]): Command {
  const title = lines.length === 1 ? "Example:" : "Examples:";
  return command.addHelpText("after", `\n${title}\n${lines.map((line) => `  ${line}`).join("\n")}`);
}
