/** What the commands share: their options, the store for those that work beside the service, and how a failure is told. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { CatalogueFault } from "../catalogue/file.ts";
import { systemClock } from "../runtime/clock.ts";
import { createLog } from "../runtime/log.ts";
import { type PartialSettings, readSettings, type Settings, SettingsFault } from "../runtime/settings.ts";
import { StartFault } from "../service.ts";
import { localStore } from "../store/group.ts";
import { openStore, storeName } from "../store/open.ts";
import type { Store } from "../store/port.ts";

/** Something is wrong that the user can put right; the message says how. */
export class CommandFault extends Error {}

export interface CommonOptions {
  readonly data?: string;
  readonly store?: string;
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly roles?: string;
}

export function withStoreOptions(command: Command): Command {
  return command
    .option("--data <directory>", "where the embedded store is (default: ./data)")
    .option("--store <url>", "a PostgreSQL database in its place: postgres://user:password@host/database")
    .option("--config <file>", "a TOML file with settings; heliograph.default.toml lists them all");
}

export function settingsOf(options: CommonOptions, mode: PartialSettings = {}): Settings {
  const { data, store: url, config, host, port, roles } = options;
  const server = { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port: readPort(port) }) };
  return readSettings({
    configFile: config,
    environment: process.env,
    flags: {
      server,
      store: { ...(data === undefined ? {} : { data }), ...(url === undefined ? {} : { url }) },
      node: roles === undefined ? {} : { roles },
    },
    mode,
  });
}

export function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new CommandFault(`--port must be a number from 0 to 65535, not "${text}"`);
  return Number(text);
}

/** Whether there is a directory to work on. Whether a database was set up is seen when it is looked into. */
export function hasData({ store }: Settings): boolean {
  return store.url !== "" || existsSync(join(store.data, "heliograph.sqlite"));
}

/** Works on the store directly. It may be done while a service runs on it; the service sees the change within a second. */
export async function withStore<Result>(settings: Settings, work: (store: Store) => Promise<Result>): Promise<Result> {
  const log = createLog(settings.log.level, { part: "cli" });
  const opening = openStore({
    settings,
    clock: systemClock,
    log,
    deliver: null,
    name: `heliograph cli ${process.pid}`,
  });
  const { engine, close } = await opening.catch((error: Error) => {
    throw cannotOpen(settings, error);
  });
  try {
    return await work(localStore(engine, () => undefined));
  } finally {
    await close();
  }
}

/** Whatever stands in the way of the store (rights, a full disk, another file, no database) is told in a line. */
export function cannotOpen(settings: Settings, error: Error): CommandFault {
  return new CommandFault(`the data in ${storeName(settings)} cannot be opened: ${error.message}`);
}

/** The number given with --limit. */
export function limitOf({ limit }: { readonly limit: string }): number {
  if (!/^[1-9]\d{0,3}$/.test(limit)) throw new CommandFault("--limit must be a number from 1 to 9999");
  return Number(limit);
}

/** Works on the store of a service that was set up before. */
export function onStore<Result>(options: CommonOptions, work: (store: Store) => Promise<Result>): Promise<Result> {
  const settings = settingsOf(options);
  requireData(settings);
  return withStore(settings, work);
}

/** For commands on a service that was set up before. */
export function requireData(settings: Settings): void {
  if (hasData(settings)) return;
  throw new CommandFault(
    `there is no data in ${settings.store.data}: set it up with "heliograph init", or name its directory with --data`,
  );
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const EXPECTED = [CommandFault, SettingsFault, CatalogueFault, StartFault];

/** What the user can put right is told in a line; a bug is told whole. */
export function fail(error: unknown): void {
  const expected = EXPECTED.some((kind) => error instanceof kind);
  process.stderr.write(
    expected ? `heliograph: ${(error as Error).message}\n` : `heliograph: ${(error as Error).stack ?? error}\n`,
  );
  process.exitCode = 1;
}
