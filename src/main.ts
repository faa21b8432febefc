/** The command line: what was asked for is in cli/. */
import { runCommandLine } from "./cli/program.ts";

const code = await runCommandLine(process.argv.slice(2));
// A service that was started goes on; its own end says how it ended.
if (code !== 0) process.exitCode = code;
