/** `heliograph backup DIRECTORY`: what the store holds at this moment, as a data directory, made while services run. */
import type { Command } from "commander";
import { backupStore } from "../copy/backup.ts";
import { CopyRefused } from "../copy/copied-tables.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { storeName } from "../store/open.ts";
import { StoreUnavailable } from "../store/port/errors.ts";
import { formatDuration, grouped, ProgressBar } from "./copy-progress.ts";
import { Failed } from "./fault.ts";
import { printable } from "./show.ts";
import { CommandFault, type CommonOptions, cannotOpen, requireData, say, settingsOf, storeCommand } from "./support.ts";

const HELP = `
The backup is a data directory of the embedded store, also when it is made from PostgreSQL. Whatever was acknowledged before it began is in it; at
the end its ledger is checked. A backup that is interrupted leaves no data: run it again.

To restore, with every service stopped:
  heliograph serve --data DIRECTORY                                         or move it to where the data was
  heliograph copy --from sqlite:DIRECTORY --to-file FILE                    a file with the database's URL

A restored service sends again what was sent since the backup: docs/backup.md says what to do about that. Passwords of carriers and secrets of
accounts are in it, so keep it as safe as the data itself.`;

/** What is worth a line at the end. */
const COUNTED = ["account", "message", "posting", "report", "incoming_message", "audit"] as const;

export function backupCommand(): Command {
  return storeCommand(
    "backup",
    "Write a backup of the store into an empty directory, while services run on it.",
    "heliograph backup /backup/2026-11-15 --data /var/lib/heliograph",
    "heliograph backup /backup/2026-11-15 --config /etc/heliograph.toml",
  )
    .argument("<directory>", "empty, or not there yet")
    .addHelpText("after", HELP)
    .action(backup);
}

export async function backup(directory: string, options: CommonOptions): Promise<void> {
  const settings = settingsOf(options);
  requireData(settings);
  const { url, data } = settings.store;
  const fromName = storeName(settings);
  const startedAt = systemClock.monotonic();
  const bar = new ProgressBar();
  const outcome = await backupStore({
    from: url === "" ? { data } : { url },
    fromName,
    to: directory,
    onStep(step) {
      bar.end();
      say(step === "reading" ? `Backing up ${fromName}.` : "Checking the backup.");
    },
    onProgress: ({ table, done, total }) =>
      bar.show({ what: table ?? "file", rows: done, total, earlier: 0, ...(table === null ? { unit: "pages" } : {}) }),
  })
    .catch((error: Error & { code?: string }) => {
      if (error instanceof CopyRefused) throw new CommandFault(error.message);
      if (error instanceof StoreUnavailable) throw cannotOpen(settings, error);
      if (error.code === "ENOSPC" || error.code === "SQLITE_FULL")
        throw new CommandFault(`there is no room for the backup in ${directory}: nothing is left of it`);
      throw error;
    })
    .finally(() => bar.end());

  for (const table of COUNTED) say(`${table.padEnd(16)}  ${grouped(outcome.rows.get(table)!).padStart(13)}`);
  const rows = [...outcome.rows.values()].reduce((sum, count) => sum + count, 0);
  const elapsedMs = systemClock.monotonic() - startedAt;
  say(
    `The backup in ${directory} is whole: ${grouped(rows)} rows, in ${formatDuration(elapsedMs)}. It holds all that was acknowledged before ${formatDateTime(outcome.atMs)}.`,
  );
  if (outcome.ledgerFaults.length === 0) {
    say("Its books agree.");
    return;
  }
  for (const fault of outcome.ledgerFaults) say(printable(fault));
  say(`Its books do not agree, because those of ${fromName} do not: keep this backup, and report the faults.`);
  throw new Failed();
}
