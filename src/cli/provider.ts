/** `heliograph provider`: a simulated provider of SMS over HTTP, with faults that can be switched on while it runs. */
import { isIPv6 } from "node:net";
import { Command, Option } from "commander";
import { PROVIDERS } from "../provider/apis.ts";
import { BadFaults, readFaults } from "../provider/faults.ts";
import type { TakenMessage } from "../provider/port.ts";
import { Provider } from "../provider/provider.ts";
import { systemClock } from "../runtime/clock.ts";
import { LogLimiter } from "../runtime/log.ts";
import { LOOPBACK } from "../runtime/networks.ts";
import { systemRandom } from "../runtime/random.ts";
import { complain } from "./console.ts";
import { withExample } from "./example.ts";
import { printable } from "./show.ts";
import { stopOnSignal } from "./signals.ts";
import { CommandFault, say, UsageFault } from "./support.ts";

interface ProviderOptions {
  readonly preset: string;
  readonly host: string;
  readonly port: string;
  readonly username: string;
  readonly password: string;
  readonly secret?: string;
  readonly callback?: string;
  readonly answerAfter: string;
  readonly faults?: string;
  readonly print?: boolean;
}

const MAX_PORT = 65_535;
const RECORD = 100_000;

export function providerCommand(): Command {
  const command = new Command("provider").description(
    "A simulated provider of SMS over HTTP, so that a carrier over HTTP can be tried with no account anywhere.",
  );
  return withExample(command, "heliograph provider --preset twilio --port 9100 --print")
    .addOption(
      new Option("--preset <name>", "whose API it speaks").choices(Object.keys(PROVIDERS)).makeOptionMandatory(),
    )
    .option("--host <address>", "where to listen; only this machine can reach the loopback", "127.0.0.1")
    .option("--port <number>", "0 takes any free port", "9100")
    .option("--username <name>", "the account that it knows", "demo")
    .option("--password <password>", "the account's password, key or token", "demo-secret")
    .option("--secret <secret>", "what callbacks are signed with (default: the password)")
    .option("--callback <url>", "where it calls for messages that come without an address, as bandwidth's do")
    .option("--answer-after <ms>", "how long phones take to answer, give or take a fifth", "1000")
    .option("--faults <json>", `faults to begin with, such as '{"tooFast": 0.1}'`)
    .option("--print", "print each message that is taken")
    .action(run);
}

async function run(options: ProviderOptions): Promise<void> {
  const { host, preset, username, password } = options;
  if (!LOOPBACK.test(host))
    throw new CommandFault(`the simulated provider is for this machine: ${host} can be reached by others`);
  if (options.callback !== undefined && !URL.canParse(options.callback))
    throw new UsageFault(`--callback must be a URL, not "${options.callback}"`);
  const limiter = new LogLimiter(systemClock);
  const provider = new Provider(
    {
      preset,
      host,
      port: whole(options.port, "--port", MAX_PORT),
      username,
      password,
      secret: options.secret ?? password,
      callbackUrl: options.callback,
      answerAfterMs: whole(options.answerAfter, "--answer-after", 86_400_000),
      faults: faultsOf(options.faults),
      record: RECORD,
      ...(options.print === true ? { onMessage: print } : {}),
      onProblem: (says) => limiter.write("callback", () => complain(`heliograph: ${says}\n`)),
    },
    systemClock,
    systemRandom,
  );
  const port = await provider.start().catch((error: Error) => {
    throw new CommandFault(`cannot listen at --port ${options.port}: ${error.message}`);
  });
  process.stdout.on("error", () => undefined);
  stopOnSignal(provider);
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  say(`Heliograph plays ${preset} on ${url}`);
  say(`What it took: ${url}/_provider/messages`);
}

function whole(text: string, name: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most)
    throw new UsageFault(`${name} must be a whole number of 0 to ${most}, not "${text}"`);
  return value;
}

function faultsOf(text: string | undefined) {
  if (text === undefined) return {};
  try {
    return readFaults(JSON.parse(text));
  } catch (error) {
    if (error instanceof BadFaults || error instanceof SyntaxError) throw new UsageFault(`--faults: ${error.message}`);
    throw error;
  }
}

function print({ id, from, to, text }: TakenMessage): void {
  say(printable(`${id} from ${from || "-"} to ${to}: ${text}`));
}
