/** `heliograph copy`: moves the embedded store to PostgreSQL, for whoever outgrows one machine. */
import { Command } from "commander";
import { type Comparison, isDifferent } from "../copy/check.ts";
import { CopyRefused } from "../copy/copied-tables.ts";
import { type CopyStep, copyStore } from "../copy/copy.ts";
import { databaseName } from "../drivers/postgres/servers.ts";
import { money } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { given } from "../runtime/given.ts";
import { storeName } from "../store/open.ts";
import { formatDuration, grouped, ProgressBar } from "./copy-progress.ts";
import { type Column, counted, showTable } from "./show.ts";
import { CommandFault, say, settingsOf } from "./support.ts";

export interface CopyCommandOptions {
  readonly from: string;
  readonly to?: string;
  readonly toFile?: string;
  readonly config?: string;
}

const HELP = `
The move, step by step:
  1. Make an empty database:    createdb heliograph
  2. Stop the service.          Clients get no answer from here on; carriers and phones try again.
  3. Write postgres://user:password@host/heliograph into a file of mode 0600, such as /etc/heliograph/store-url
  4. heliograph copy --from sqlite:/var/lib/heliograph --to-file /etc/heliograph/store-url
  5. heliograph serve --store-file /etc/heliograph/store-url

Everything is copied, with its id: accounts, keys, sessions, balances, messages, what waits to be sent or reported. The directory is only read.
If the command is interrupted, run it again: it goes on where it stopped, and until it is done no service starts on the database.
At the end rows and money are compared on both sides. Keep the directory until you are content, but start no service on it again:
from then on the two would send the same messages.

A password on the command line can be seen by others on the machine. Without --to and --to-file the database is that of --config, of
HELIOGRAPH_STORE_URL or of HELIOGRAPH_STORE_URL_FILE.`;

const STEPS: Readonly<Record<CopyStep, string>> = {
  resuming: "An earlier copy was interrupted; going on where it stopped.",
  copying: "Copying.",
  checking: "Comparing both sides.",
};

export function copyCommand(): Command {
  return new Command("copy")
    .description("Move the embedded store to PostgreSQL, while no service runs on either.")
    .requiredOption("--from <sqlite:directory>", "the embedded store's directory, with or without sqlite: before it")
    .option("--to <url>", "an empty database: postgres://user@host/database")
    .option("--to-file <file>", "a file with that URL, and its password")
    .option("--config <file>", "a TOML file with settings, of which [store] url is used")
    .addHelpText("after", HELP)
    .action(copy);
}

function readDirectory(text: string): string {
  if (/^postgres(ql)?:/.test(text))
    throw new CommandFault("--from must be the embedded store's directory: copies go from SQLite to PostgreSQL only");
  const directory = text.replace(/^sqlite:(\/\/(?=\/))?/, "");
  if (directory === "") throw new CommandFault("--from must name a directory, such as sqlite:/var/lib/heliograph");
  return directory;
}

/** Whatever is wrong with the URL, it is not printed: there is a password in it. */
function readTarget({ to, toFile, config }: CopyCommandOptions): { to: string; toName: string } {
  const settings = settingsOf(given({ store: to, storeFile: toFile, config }));
  const { url } = settings.store;
  if (url === "")
    throw new CommandFault("name the database in a file with --to-file, or in [store] url or urlFile of --config");
  if (URL.parse(url) === null && databaseName(url) === null)
    throw new CommandFault("the database's URL cannot be read: postgres://user:password@host/database is its form");
  return { to: url, toName: storeName(settings) };
}

export async function copy(options: CopyCommandOptions): Promise<void> {
  const from = readDirectory(options.from);
  const { to, toName } = readTarget(options);
  const startedAt = systemClock.monotonic();
  let bar = new ProgressBar();
  const outcome = await copyStore({
    from,
    to,
    toName,
    onStep: (step) => {
      bar.end();
      // The pace counts from here, and not from the looks at both sides before.
      bar = new ProgressBar();
      say(STEPS[step]);
    },
    onRows: ({ table, ...progress }) => bar.show({ what: table, ...progress }),
  })
    .catch((error: unknown) => {
      throw error instanceof CopyRefused ? new CommandFault(error.message) : error;
    })
    .finally(() => bar.end());

  showComparisons(outcome.comparisons);
  const next = `Start the service on ${toName}: heliograph serve --store-file FILE, with its URL in the file.`;
  if (outcome.kind === "already there") {
    say(`There is nothing to do: ${toName} holds all of ${from} already. ${next}`);
    return;
  }
  if (outcome.kind === "different") {
    const faults = [...outcome.comparisons.filter(isDifferent).map(({ what }) => what), ...outcome.ledgerFaults];
    throw new CommandFault(
      `the copy in ${toName} differs from ${from}: ${faults.join("; ")}. No service can start on it; begin anew with an empty database`,
    );
  }
  const elapsedMs = systemClock.monotonic() - startedAt;
  const pace = outcome.earlier > 0 ? "" : ` (${grouped(Math.round((outcome.rows / elapsedMs) * 1_000))} rows/s)`;
  say(`${grouped(outcome.rows)} rows are copied and compared, in ${formatDuration(elapsedMs)}${pace}.`);
  say(`${next}\nStart none on ${from} any more: it would send the same messages again.`);
}

/** Accounts may be many: what each was charged is told in one line, unless it differs. */
function showComparisons(comparisons: readonly Comparison[]): void {
  const isOfAccount = ({ what }: Comparison): boolean => what.startsWith("charged to account");
  const others = comparisons.filter((comparison) => !isOfAccount(comparison));
  const ofAccounts = Map.groupBy(comparisons.filter(isOfAccount), ({ currency }) => currency);
  const totals = [...ofAccounts].map(([currency, accounts]): Comparison => {
    const sum = (side: "source" | "target"): bigint => accounts.reduce((sum, row) => sum + (row[side] ?? 0n), 0n);
    const what = `charged, each of ${counted(accounts.length, "account")}`;
    return { what, currency, source: sum("source"), target: sum("target") };
  });
  const different = [...ofAccounts.values()].flat().filter(isDifferent);
  showTable(COLUMNS, [...others, ...totals, ...different]);
}

const COLUMNS: readonly Column<Comparison>[] = [
  { title: "", of: ({ what }) => what },
  { title: "SQLite", of: ({ currency, source }) => formatValue(currency, source), right: true },
  { title: "PostgreSQL", of: ({ currency, target }) => formatValue(currency, target), right: true },
  { title: "", of: (comparison) => (isDifferent(comparison) ? "differs" : "") },
];

function formatValue(currency: string | null, value: bigint | null): string {
  if (value === null) return "none";
  return currency === null ? grouped(value) : money(value, currency);
}
