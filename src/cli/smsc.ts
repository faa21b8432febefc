/** `heliograph smsc`: a simulated carrier for any SMPP client, with faults that can be switched on while it runs. */
import { isIPv6 } from "node:net";
import { Command } from "commander";
import type { SessionProblem } from "../carriers/smpp/session/contract.ts";
import { systemClock } from "../runtime/clock.ts";
import { readGivenFile } from "../runtime/files.ts";
import { given } from "../runtime/given.ts";
import { LogLimiter } from "../runtime/log.ts";
import { LOOPBACK } from "../runtime/networks.ts";
import { readSecretFile } from "../runtime/private-files.ts";
import { systemRandom } from "../runtime/random.ts";
import { type Control, startControl } from "../smsc/control.ts";
import { BadFaults, type Faults, readFault, readFaults } from "../smsc/faults.ts";
import type { PartRecord } from "../smsc/part.ts";
import { Smsc, type SmscSettings } from "../smsc/smsc.ts";
import { complain } from "./console.ts";
import { withExample } from "./example.ts";
import { printable } from "./show.ts";
import { stopOnSignal } from "./signals.ts";
import { CommandFault, say, UsageFault, wholeOf } from "./support.ts";

interface SmscOptions {
  readonly host: string;
  readonly port: string;
  readonly dangerousExpose?: boolean;
  readonly controlPort?: string;
  readonly systemId?: string;
  readonly password?: string;
  readonly passwordFile?: string;
  readonly faults?: string;
  readonly fault: readonly string[];
  readonly answerAfter: string;
  readonly record: string;
  readonly window: string;
  readonly print?: boolean;
}

const MAX_PORTS = 65_535;

export function smscCommand(): Command {
  const command = new Command("smsc").description(
    "A simulated carrier over SMPP, for this service or any SMPP client to try itself on.",
  );
  return withExample(command, "heliograph smsc --port 2775 --control-port 2776 --print")
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <number>", "0 takes any free port", "2775")
    .option("--dangerous-expose", "listen on an address that others can reach, with no password unless one is set")
    .option("--control-port <number>", "faults, messages and the like over HTTP, on this machine only")
    .option("--system-id <name>", "refuse all others (default: anyone may bind)")
    .option("--password <password>", "refuse all others (default: any will do)")
    .option("--password-file <file>", "the same from a file: others can see the command line")
    .option("--faults <file>", "a JSON file with faults to begin with")
    .option("--fault <name=value>", "a fault to begin with; may be said more than once", gather, [])
    .option("--answer-after <ms>", "how long phones take to answer, give or take a fifth", "1000")
    .option("--record <number>", "how many parts to remember for /messages", "100000")
    .option("--window <number>", "receipts and messages on their way at a time, for each connection", "500")
    .option("--print", "print each part that is taken")
    .action(run);
}

function gather(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}

async function run(options: SmscOptions): Promise<void> {
  const { host } = options;
  if (!LOOPBACK.test(host) && options.dangerousExpose !== true) {
    throw new CommandFault(
      `the simulated carrier takes messages from anyone, and ${host} can be reached by others: ` +
        "use 127.0.0.1, or say --dangerous-expose if you mean it",
    );
  }
  const controlPort =
    options.controlPort === undefined ? null : wholeOf(options.controlPort, "--control-port", 0, MAX_PORTS);
  const smsc = new Smsc(settingsOf(options), systemClock, systemRandom);
  const port = await listening(smsc.start(), "--port");
  const control = controlPort === null ? null : await controlled(smsc, controlPort);
  // Whoever read what we say may be gone: it goes on, and stops in order, all the same.
  process.stdout.on("error", () => undefined);
  stopOnSignal(smsc);
  say(`Heliograph SMSC listens on ${isIPv6(host) ? `[${host}]` : host}:${port}`);
  if (control !== null) say(`Its controls are at http://127.0.0.1:${control.port}`);
}

function settingsOf(options: SmscOptions): SmscSettings {
  const { host, systemId } = options;
  const password = passwordOf(options);
  const limiter = new LogLimiter(systemClock);
  return {
    host,
    port: wholeOf(options.port, "--port", 0, MAX_PORTS),
    faults: faultsOf(options),
    answerAfterMs: wholeOf(options.answerAfter, "--answer-after", 0, 86_400_000),
    record: wholeOf(options.record, "--record", 0, 10_000_000),
    session: { window: wholeOf(options.window, "--window", 1, 100_000) },
    ...given({ systemId, password, onPart: options.print === true ? print : undefined }),
    onProblem: (problem) =>
      limiter.write(problem.kind, ({ leftOut }) => {
        const more = leftOut === undefined ? "" : ` (${leftOut} more like it were left out before)`;
        complain(`heliograph: ${explained(problem)}${more}\n`);
      }),
  };
}

function passwordOf({ password, passwordFile }: SmscOptions): string | undefined {
  if (passwordFile === undefined) return password;
  if (password !== undefined) throw new UsageFault("say either --password or --password-file");
  try {
    return readSecretFile(passwordFile);
  } catch (error) {
    throw new CommandFault(`the file of --password-file cannot be used: ${(error as Error).message}`);
  }
}

/** Those of the file, and over them those that were named one by one. */
function faultsOf({ faults: file, fault: named }: SmscOptions): Faults {
  try {
    const fromFile = file === undefined ? {} : readFaults(JSON.parse(readGivenFile(file)));
    return Object.assign({}, fromFile, ...named.map(readFault));
  } catch (error) {
    if (error instanceof BadFaults) throw new CommandFault(error.message);
    throw new CommandFault(`${file} is not readable as faults: ${(error as Error).message}`);
  }
}

async function listening<Result>(start: Promise<Result>, option: string): Promise<Result> {
  try {
    return await start;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandFault(`the port cannot be listened on (${code ?? message}): name another with ${option}`);
  }
}

function explained(problem: SessionProblem): string {
  if (problem.kind !== "malformed") return `a bug: ${(problem.error as Error).stack ?? problem.error}`;
  const { commandId, fault } = problem.malformed;
  return `a PDU could not be read: command 0x${commandId.toString(16).padStart(8, "0")}, ${fault}`;
}

async function controlled(smsc: Smsc, port: number): Promise<Control> {
  try {
    return await listening(startControl(smsc, port), "--control-port");
  } catch (error) {
    await smsc.stop();
    throw error;
  }
}

/** A line for each part: who submitted, from, to, its place, and the text as JSON writes it, so that it stays one line. */
function print({ arrival, systemId, connection, from, to, place, text }: PartRecord): void {
  const part = place === null ? "" : ` (${place.sequence} of ${place.total})`;
  say(printable(`${arrival} ${systemId}#${connection} ${from} → ${to}${part} ${JSON.stringify(text)}`));
}
