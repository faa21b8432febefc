/** `heliograph sandbox` and `heliograph serve`: run the service until a signal stops it. */
import type { Command } from "commander";
import { createLog } from "../runtime/log.ts";
import { LOOPBACK } from "../runtime/networks.ts";
import { shellWord } from "../runtime/text.ts";
import { Fenced, LeftInDoubt, type Service, StoreLost, startService } from "../service.ts";
import type { Settings } from "../settings/settings.ts";
import { storeName } from "../store/open.ts";
import type { Store } from "../store/port/store.ts";
import { complain } from "./console.ts";
import { demoSecret, emptySandbox, prepareSandbox, SANDBOX_SETTINGS, welcome } from "./sandbox.ts";
import { SandboxLife } from "./sandbox-life.ts";
import { stopOnSignal, stoppedBadly } from "./signals.ts";
import { CommandFault, type CommonOptions, requireData, say, settingsOf, storeCommand, withStore } from "./support.ts";

interface RunOptions extends CommonOptions {
  readonly dangerousExposeSandbox?: boolean;
  readonly fresh?: boolean;
  readonly quiet?: boolean;
}

function runCommand(name: string, description: string, ...examples: readonly string[]): Command {
  return storeCommand(name, description, ...examples)
    .option("--host <address>", "where to listen (default: 127.0.0.1)")
    .option("--port <number>", "0 takes any free port (default: 8080)");
}

/** What the sandbox was told of where it is, as it would be typed again. */
function givenOptions(options: CommonOptions): string {
  const given = (["config", "data", "host", "port"] as const).filter((name) => options[name] !== undefined);
  const allowed = (options.allowHost ?? []).map((name) => ` --allow-host ${shellWord(name)}`);
  return [...given.map((name) => ` --${name} ${shellWord(options[name]!)}`), ...allowed].join("");
}

export function sandboxCommand(): Command {
  return runCommand(
    "sandbox",
    "Try it out: demo accounts and a simulated phone network, on this machine only.",
    "heliograph sandbox --port 8080",
  )
    .option(
      "--dangerous-expose-sandbox",
      "listen on an address that others can reach, with passwords that everybody knows",
    )
    .option(
      "--allow-host <name>",
      "a name under which it is reached, and whose pages may ask it; can be given several times",
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option(
      "--fresh",
      "begin anew: what the sandbox kept in its data directory is deleted, and reports are signed with a new secret",
    )
    .option("--quiet", "print no line for each message")
    .action(async (options: RunOptions) => {
      const settings = settingsOf(options, SANDBOX_SETTINGS);
      if (!LOOPBACK.test(settings.server.host) && options.dangerousExposeSandbox !== true) {
        throw new CommandFault(
          `the sandbox has passwords that everybody knows, and ${settings.server.host} can be reached by others: ` +
            "use 127.0.0.1, or say --dangerous-expose-sandbox if you mean it",
        );
      }
      requireData(settings, { orNone: true });
      if (options.fresh === true) await emptySandbox(settings);
      let secret = "";
      const prepare = async (store: Store): Promise<void> => {
        await prepareSandbox(store);
        secret = await demoSecret(store);
      };
      const { live } = await run(settings, {
        sandbox: true,
        prepare,
        greeting: (url) => welcome(url, secret, { again: givenOptions(options), isFresh: options.fresh === true }),
      });
      if (options.quiet !== true) new SandboxLife({ live, say });
    });
}

export function serveCommand(): Command {
  return runCommand(
    "serve",
    "Run the service for real. Set it up with `heliograph init` first.",
    "heliograph serve --data /var/lib/heliograph",
    "heliograph serve --store-file /etc/heliograph/store-url --roles api,reports",
  )
    .option("--roles <names>", "what this node does, with PostgreSQL: some of api,dispatch,reports (default: all)")
    .action(async (options: RunOptions) => {
      const settings = settingsOf(options);
      requireData(settings);
      await run(settings, { sandbox: false, prepare: (store) => requireService(settings, store), greeting: () => "" });
    });
}

/** A service that was set up, and not as a sandbox. */
async function requireService(settings: Settings, store: Store): Promise<void> {
  if ((await store.purpose()) === "sandbox") {
    throw new CommandFault(
      `${storeName(settings)} is a sandbox's, with passwords that everybody knows: name another directory with --data, and set it up with "heliograph init"`,
    );
  }
  if ((await store.countAccounts({ kind: "operator" })) === 0) {
    throw new CommandFault('there is no operator yet: run "heliograph init"');
  }
  const catalogue = await store.catalogue();
  if (!catalogue.some((item) => item.kind === "route")) {
    say(
      'No route is set, so every message will be rejected: "heliograph apply FILE" sets carriers, routes and prices.',
    );
  }
}

interface Running {
  readonly sandbox: boolean;
  readonly prepare: (store: Store) => Promise<void>;
  readonly greeting: (url: string) => string;
}

async function run(settings: Settings, { sandbox, prepare, greeting }: Running): Promise<Service> {
  const log = createLog(settings.log.level, { part: "main" });
  // A database may have nodes that work: before it is known that this one belongs to them it does not join them. The embedded store has none, and
  // is opened once, by the service itself.
  const hasNodes = settings.store.url !== "";
  if (hasNodes) await withStore(settings, prepare);
  const service = await startService({
    settings,
    sandbox,
    prepare: hasNodes ? async () => undefined : prepare,
    onFailure(error) {
      // Whatever was accepted is on disk: the next start goes on from there.
      if (!(error instanceof Fenced || error instanceof StoreLost))
        log.error({ err: error }, "a part of the service died; ending");
      process.exit(endedBy(error));
    },
  });
  stopOnSignal(service, (error) => (error instanceof LeftInDoubt ? endedBy(error) : stoppedBadly(error)));
  // Whoever read what we say may be gone: a service goes on, and stops in order, all the same.
  process.stdout.on("error", () => undefined);
  say(`Heliograph listens on ${service.url}`);
  const more = greeting(service.url);
  if (more !== "") say(more);
  return service;
}

/** EX_TEMPFAIL of sysexits.h: nothing is wrong that a new start would not put right. */
const TRY_AGAIN = 75;
/** EX_IOERR: what was known could not be written. */
const NOT_WRITTEN = 74;

/** Says what there is to say of the end, and gives the exit code. */
export function endedBy(error: Error): number {
  if (error instanceof LeftInDoubt) {
    complain(
      `heliograph: ${error.message}, because the carrier did not answer or the store could not be told; they will be sent again with the next start\n`,
    );
    return NOT_WRITTEN;
  }
  const says = whyItEnds(error);
  if (says === null) return 1;
  complain(`heliograph: ${says}, so it ends; a supervisor should start it again\n`);
  return TRY_AGAIN;
}

function whyItEnds(error: Error): string | null {
  if (error instanceof Fenced) return `nothing may be done in this node's name any more (${error.message})`;
  if (!(error instanceof StoreLost)) return null;
  const doubt =
    error.inDoubt === 0
      ? ""
      : `, and it is not known what became of ${error.inDoubt ?? "some"} messages that were handed to carriers: they will be sent again with the next start`;
  return `the store can keep nothing more (${error.message})${doubt}`;
}
