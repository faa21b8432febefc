/**
 * The command line whole. Each command is a file of its own, which is loaded when it is the one that was asked for: all of them together
 * take longer to load than most take to run.
 */
import { Command, CommanderError } from "commander";
import { Refused } from "../admin/refusal.ts";
import { versionWords } from "../runtime/version.ts";
import { complain, print } from "./console.ts";
import { CommandFault, EXIT, Failed, UsageFault } from "./fault.ts";
import { refusalFault } from "./refusals.ts";

/** Makes a command; `program` is the whole of it, with all commands. */
type Make = (program: () => Promise<Command>) => Command;

/** Each command in the order of the list: what the list says of it, and where it is. */
const COMMANDS: Readonly<Record<string, readonly [summary: string, load: () => Promise<Make>]>> = {
  sandbox: [
    "try it out: demo accounts and a simulated phone network",
    async () => (await import("./run.ts")).sandboxCommand,
  ],
  serve: ["run the service for real", async () => (await import("./run.ts")).serveCommand],
  init: ["set up a real service and its first operator", async () => (await import("./init.ts")).initCommand],
  doctor: ["look for what is wrong, and say how to mend it", async () => (await import("./doctor.ts")).doctorCommand],
  migrate: ["bring the store's schema up to date", async () => (await import("./migrate.ts")).migrateCommand],
  copy: ["move the embedded store to PostgreSQL", async () => (await import("./copy.ts")).copyCommand],
  backup: ["write a backup of the store while services run", async () => (await import("./backup.ts")).backupCommand],
  secrets: ["the key that seals secrets in the store", async () => (await import("./secrets.ts")).secretsCommand],
  apply: [
    "put a catalogue file in force, after showing what it changes",
    async () => (await import("./apply.ts")).applyCommand,
  ],
  export: ["write the catalogue as a file for apply", async () => (await import("./export.ts")).exportCommand],
  account: ["accounts: clients, resellers, operators", async () => (await import("./account.ts")).accountCommand],
  "api-key": ["keys for programs, in place of a password", async () => (await import("./api-key.ts")).apiKeyCommand],
  carrier: ["carriers, one by one", async () => (await import("./carrier.ts")).carrierCommand],
  route: ["which numbers go to which carriers", async () => (await import("./route.ts")).routeCommand],
  rate: ["rate plans, and what a number costs", async () => (await import("./rate.ts")).rateCommand],
  exchange: ["exchange rates", async () => (await import("./exchange.ts")).exchangeCommand],
  number: ["numbers to which phones write", async () => (await import("./number.ts")).numberCommand],
  "opt-out": ["numbers that want no messages", async () => (await import("./opt-out.ts")).optOutCommand],
  message: ["messages: listed, and one whole", async () => (await import("./message.ts")).messageCommand],
  report: ["delivery reports that could not be pushed", async () => (await import("./report.ts")).reportCommand],
  receipt: ["receipts from carriers that match no message", async () => (await import("./receipt.ts")).receiptCommand],
  quarantine: [
    "what the store refused, and messages in doubt for it",
    async () => (await import("./quarantine.ts")).quarantineCommand,
  ],
  incoming: ["messages from phones that no account gets", async () => (await import("./incoming.ts")).incomingCommand],
  statement: ["an account's money over a time", async () => (await import("./statement.ts")).statementCommand],
  ledger: ["check that the books agree", async () => (await import("./ledger.ts")).ledgerCommand],
  audit: ["who changed what, and when", async () => (await import("./audit.ts")).auditCommand],
  listen: ["print what happens to messages, while it happens", async () => (await import("./listen.ts")).listenCommand],
  receive: [
    "print delivery reports that come in, for trying out",
    async () => (await import("./receive.ts")).receiveCommand,
  ],
  smsc: ["a simulated carrier over SMPP", async () => (await import("./smsc.ts")).smscCommand],
  provider: ["a simulated provider of SMS over HTTP", async () => (await import("./provider.ts")).providerCommand],
  completion: ["print a script for completion by Tab", async () => (await import("./completion.ts")).completionCommand],
};

const EXIT_CODES = `
Exit codes: 0 done; 1 it could not be done, and the message says what to do; 2 the command line is wrong; 75 from serve: other nodes have
taken over, and it should be started again.
heliograph COMMAND --help tells more of a command, with an example.`;

/** The program, with those commands loaded that are wanted; the others are names in a list. */
export async function programWith(wanted: (name: string) => boolean): Promise<Command> {
  const program = new Command("heliograph")
    .description("An SMS messaging service that anyone can run for themselves.")
    .version(
      `heliograph ${versionWords()}`,
      "-V, --version",
      "which version this is, and of which commit if that is known",
    )
    .showHelpAfterError("(heliograph --help lists the commands)")
    .addHelpText("after", EXIT_CODES)
    .configureOutput({ writeOut: print, writeErr: complain })
    .exitOverride();
  for (const [name, [summary, load]] of Object.entries(COMMANDS)) {
    const command = wanted(name) ? (await load())(() => programWith(() => true)) : new Command(name);
    program.addCommand(command.summary(summary));
  }
  inherit(program);
  return program;
}

function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command
      .copyInheritedSettings(parent)
      .showHelpAfterError(`(${pathOf(command)} --help tells more)`)
      .helpCommand(false);
    inherit(command);
  }
}

/** "heliograph account create" */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Runs a command line and gives the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    const program = await programWith((name) => args.slice(0, 2).includes(name));
    await program.parseAsync(args, { from: "user" });
    return EXIT.done;
  } catch (error) {
    return told(error);
  }
}

/** What the user can put right is told in a line; a bug is told whole. */
function told(thrown: unknown): number {
  const error = thrown instanceof Refused ? refusalFault(thrown.refusal) : thrown;
  // It has been told already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  if (error instanceof Failed) return EXIT.fault;
  const { message, stack, name } = error as Error;
  const expected = error instanceof CommandFault || EXPECTED.has((error as Error).constructor?.name ?? name);
  complain(`heliograph: ${expected ? message : (stack ?? error)}\n`);
  return error instanceof UsageFault ? EXIT.usage : EXIT.fault;
}

/** Faults of other parts, by their names: to import their classes would load all of the service for every command. */
const EXPECTED = new Set(["SettingsFault", "SecretFault", "CatalogueFault", "StartFault", "DatabaseUnavailable"]);
