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

/** Where each command is, in the order of the list. */
const FILES = {
  sandbox: async () => (await import("./run.ts")).sandboxCommand(),
  serve: async () => (await import("./run.ts")).serveCommand(),
  init: async () => (await import("./init.ts")).initCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
  migrate: async () => (await import("./migrate.ts")).migrateCommand(),
  copy: async () => (await import("./copy.ts")).copyCommand(),
  backup: async () => (await import("./backup.ts")).backupCommand(),
  secrets: async () => (await import("./secrets.ts")).secretsCommand(),
  apply: async () => (await import("./apply.ts")).applyCommand(),
  export: async () => (await import("./export.ts")).exportCommand(),
  account: async () => (await import("./account.ts")).accountCommand(),
  "api-key": async () => (await import("./api-key.ts")).apiKeyCommand(),
  carrier: async () => (await import("./carrier.ts")).carrierCommand(),
  route: async () => (await import("./route.ts")).routeCommand(),
  rate: async () => (await import("./rate.ts")).rateCommand(),
  exchange: async () => (await import("./exchange.ts")).exchangeCommand(),
  number: async () => (await import("./number.ts")).numberCommand(),
  "opt-out": async () => (await import("./opt-out.ts")).optOutCommand(),
  message: async () => (await import("./message.ts")).messageCommand(),
  report: async () => (await import("./report.ts")).reportCommand(),
  receipt: async () => (await import("./receipt.ts")).receiptCommand(),
  quarantine: async () => (await import("./quarantine.ts")).quarantineCommand(),
  incoming: async () => (await import("./incoming.ts")).incomingCommand(),
  statement: async () => (await import("./statement.ts")).statementCommand(),
  ledger: async () => (await import("./ledger.ts")).ledgerCommand(),
  audit: async () => (await import("./audit.ts")).auditCommand(),
  listen: async () => (await import("./listen.ts")).listenCommand(),
  receive: async () => (await import("./receive.ts")).receiveCommand(),
  smsc: async () => (await import("./smsc.ts")).smscCommand(),
  provider: async () => (await import("./provider.ts")).providerCommand(),
  completion: async () => (await import("./completion.ts")).completionCommand(() => programWith(() => true)),
} satisfies Readonly<Record<string, () => Promise<Command>>>;

type Name = keyof typeof FILES;

/** What the list of commands says of each. */
const SUMMARIES: Readonly<Record<Name, string>> = {
  sandbox: "try it out: demo accounts and a simulated phone network",
  serve: "run the service for real",
  init: "set up a real service and its first operator",
  doctor: "look for what is wrong, and say how to mend it",
  migrate: "bring the store's schema up to date",
  copy: "move the embedded store to PostgreSQL",
  backup: "write a backup of the store while services run",
  secrets: "the key that seals secrets in the store",
  apply: "put a catalogue file in force, after showing what it changes",
  export: "write the catalogue as a file for apply",
  account: "accounts: clients, resellers, operators",
  "api-key": "keys for programs, in place of a password",
  carrier: "carriers, one by one",
  route: "which numbers go to which carriers",
  rate: "rate plans, and what a number costs",
  exchange: "exchange rates",
  number: "numbers to which phones write",
  "opt-out": "numbers that want no messages",
  message: "messages: listed, and one whole",
  report: "delivery reports that could not be pushed",
  receipt: "receipts from carriers that match no message",
  quarantine: "what the store refused, and messages in doubt for it",
  incoming: "messages from phones that no account gets",
  statement: "an account's money over a time",
  ledger: "check that the books agree",
  audit: "who changed what, and when",
  listen: "print what happens to messages, while it happens",
  receive: "print delivery reports that come in, for trying out",
  smsc: "a simulated carrier over SMPP",
  provider: "a simulated provider of SMS over HTTP",
  completion: "print a script for completion by Tab",
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
  for (const name of Object.keys(FILES) as Name[]) {
    const command = wanted(name) ? await FILES[name]() : new Command(name);
    program.addCommand(command.summary(SUMMARIES[name]));
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
