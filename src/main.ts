/** The command line. Each command is a file in cli/. */
import { Command } from "commander";
import { accountCommand } from "./cli/account.ts";
import { apiKeyCommand } from "./cli/api-key.ts";
import { applyCommand } from "./cli/apply.ts";
import { copyCommand } from "./cli/copy.ts";
import { incomingCommand } from "./cli/incoming.ts";
import { initCommand } from "./cli/init.ts";
import { migrateCommand } from "./cli/migrate.ts";
import { optOutCommand } from "./cli/opt-out.ts";
import { receiptCommand } from "./cli/receipt.ts";
import { receiveCommand } from "./cli/receive.ts";
import { reportCommand } from "./cli/report.ts";
import { sandboxCommand, serveCommand } from "./cli/run.ts";
import { smscCommand } from "./cli/smsc.ts";
import { fail } from "./cli/support.ts";

const program = new Command("heliograph")
  .description("An SMS messaging service that anyone can run for themselves.")
  .configureHelp({ sortSubcommands: false })
  .showHelpAfterError("(heliograph --help lists the commands)");

for (const command of [
  sandboxCommand(),
  serveCommand(),
  initCommand(),
  migrateCommand(),
  copyCommand(),
  applyCommand(),
  accountCommand(),
  apiKeyCommand(),
  optOutCommand(),
  receiptCommand(),
  reportCommand(),
  incomingCommand(),
  receiveCommand(),
  smscCommand(),
]) {
  program.addCommand(command);
}

try {
  await program.parseAsync();
} catch (error) {
  fail(error);
}
