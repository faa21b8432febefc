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

interface Entry {
  readonly name: string;
  /** What the list of commands says of it. */
  readonly summary: string;
  load(): Promise<Command>;
}

const COMMANDS: readonly Entry[] = [
  {
    name: "sandbox",
    summary: "try it out: demo accounts and a simulated phone network",
    load: async () => (await import("./run.ts")).sandboxCommand(),
  },
  { name: "serve", summary: "run the service for real", load: async () => (await import("./run.ts")).serveCommand() },
  {
    name: "init",
    summary: "set up a real service and its first operator",
    load: async () => (await import("./init.ts")).initCommand(),
  },
  {
    name: "doctor",
    summary: "look for what is wrong, and say how to mend it",
    load: async () => (await import("./doctor.ts")).doctorCommand(),
  },
  {
    name: "migrate",
    summary: "bring the store's schema up to date",
    load: async () => (await import("./migrate.ts")).migrateCommand(),
  },
  {
    name: "copy",
    summary: "move the embedded store to PostgreSQL",
    load: async () => (await import("./copy.ts")).copyCommand(),
  },
  {
    name: "backup",
    summary: "write a backup of the store while services run",
    load: async () => (await import("./backup.ts")).backupCommand(),
  },
  {
    name: "secrets",
    summary: "the key that seals secrets in the store",
    load: async () => (await import("./secrets.ts")).secretsCommand(),
  },
  {
    name: "apply",
    summary: "put a catalogue file in force, after showing what it changes",
    load: async () => (await import("./apply.ts")).applyCommand(),
  },
  {
    name: "export",
    summary: "write the catalogue as a file for apply",
    load: async () => (await import("./export.ts")).exportCommand(),
  },
  {
    name: "account",
    summary: "accounts: clients, resellers, operators",
    load: async () => (await import("./account.ts")).accountCommand(),
  },
  {
    name: "api-key",
    summary: "keys for programs, in place of a password",
    load: async () => (await import("./api-key.ts")).apiKeyCommand(),
  },
  {
    name: "carrier",
    summary: "carriers, one by one",
    load: async () => (await import("./carrier.ts")).carrierCommand(),
  },
  {
    name: "route",
    summary: "which numbers go to which carriers",
    load: async () => (await import("./route.ts")).routeCommand(),
  },
  {
    name: "rate",
    summary: "rate plans, and what a number costs",
    load: async () => (await import("./rate.ts")).rateCommand(),
  },
  {
    name: "exchange",
    summary: "exchange rates",
    load: async () => (await import("./exchange.ts")).exchangeCommand(),
  },
  {
    name: "number",
    summary: "numbers to which phones write",
    load: async () => (await import("./number.ts")).numberCommand(),
  },
  {
    name: "opt-out",
    summary: "numbers that want no messages",
    load: async () => (await import("./opt-out.ts")).optOutCommand(),
  },
  {
    name: "message",
    summary: "messages: listed, and one whole",
    load: async () => (await import("./message.ts")).messageCommand(),
  },
  {
    name: "report",
    summary: "delivery reports that could not be pushed",
    load: async () => (await import("./report.ts")).reportCommand(),
  },
  {
    name: "receipt",
    summary: "receipts from carriers that match no message",
    load: async () => (await import("./receipt.ts")).receiptCommand(),
  },
  {
    name: "quarantine",
    summary: "what the store refused, and messages in doubt for it",
    load: async () => (await import("./quarantine.ts")).quarantineCommand(),
  },
  {
    name: "incoming",
    summary: "messages from phones that no account gets",
    load: async () => (await import("./incoming.ts")).incomingCommand(),
  },
  {
    name: "statement",
    summary: "an account's money over a time",
    load: async () => (await import("./statement.ts")).statementCommand(),
  },
  {
    name: "ledger",
    summary: "check that the books agree",
    load: async () => (await import("./ledger.ts")).ledgerCommand(),
  },
  {
    name: "audit",
    summary: "who changed what, and when",
    load: async () => (await import("./audit.ts")).auditCommand(),
  },
  {
    name: "listen",
    summary: "print what happens to messages, while it happens",
    load: async () => (await import("./listen.ts")).listenCommand(),
  },
  {
    name: "receive",
    summary: "print delivery reports that come in, for trying out",
    load: async () => (await import("./receive.ts")).receiveCommand(),
  },
  {
    name: "smsc",
    summary: "a simulated carrier over SMPP",
    load: async () => (await import("./smsc.ts")).smscCommand(),
  },
  {
    name: "provider",
    summary: "a simulated provider of SMS over HTTP",
    load: async () => (await import("./provider.ts")).providerCommand(),
  },
  {
    name: "completion",
    summary: "print a script for completion by Tab",
    load: async () => (await import("./completion.ts")).completionCommand(() => programWith(() => true)),
  },
];

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
  for (const { name, summary, load } of COMMANDS) {
    const command = wanted(name) ? await load() : new Command(name);
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
