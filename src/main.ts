/** The command line: what was asked for is in cli/. */
import { runCommandLine } from "./cli/program.ts";

// Whoever reads may have seen enough, as in `heliograph message list … | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

const code = await runCommandLine(process.argv.slice(2));
// A service that was started goes on; its own end says how it ended.
if (code !== 0) process.exitCode = code;
