/** What the commands share: their options, the store for those that work beside the service, and who makes a change. */
import { hostname, userInfo } from "node:os";
import { Command, Option } from "commander";
import { type AccountReader, managedAccount } from "../admin/manager.ts";
import { openStore } from "../commands/open.ts";
import { inWords, missingData, storeTrouble } from "../drivers/store-trouble.ts";
import { systemClock } from "../runtime/clock.ts";
import { given } from "../runtime/given.ts";
import { createLog } from "../runtime/log.ts";
import { orElse } from "../runtime/or-else.ts";
import { parseDayOrMoment } from "../schedule/date-time.ts";
import { type PartialSettings, readSettings, type Settings } from "../settings/settings.ts";
import { localStore } from "../store/group.ts";
import { storeName } from "../store/open.ts";
import type { Actor, ManagedAccount } from "../store/port/accounts.ts";
import { StoreUnavailable } from "../store/port/errors.ts";
import type { Store } from "../store/port/store.ts";
import { complain } from "./console.ts";
import { withExample } from "./example.ts";
import { CommandFault, UsageFault } from "./fault.ts";
import { type JsonOption, withJson } from "./show.ts";

export { allAccounts } from "../admin/all-accounts.ts";
export { say } from "./console.ts";
export { CommandFault, UsageFault } from "./fault.ts";

export interface CommonOptions {
  readonly data?: string;
  readonly store?: string;
  readonly storeFile?: string;
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly allowHost?: readonly string[];
  readonly roles?: string;
}

/** A command that works on a store, with examples of its use if there are any. */
export function storeCommand(name: string, description: string, ...examples: readonly string[]): Command {
  const command = new Command(name)
    .description(description)
    .option("--data <directory>", "where the embedded store is (default: ./data)")
    .option("--store <url>", "a PostgreSQL database in its place: postgres://user@host/database")
    .option("--store-file <file>", "a file with that URL: a password on the command line can be seen by others")
    .option("--config <file>", "a TOML file with settings; heliograph.default.toml lists them all");
  return examples.length === 0 ? command : withExample(command, ...examples);
}

/** The same with --json. */
export function jsonCommand(name: string, description: string, ...examples: readonly string[]): Command {
  return withJson(storeCommand(name, description, ...examples));
}

export function settingsOf(options: CommonOptions, mode: PartialSettings = {}): Settings {
  const { data, store: url, storeFile: urlFile, config, host, port, allowHost, roles } = options;
  const server = given({
    host,
    port: port === undefined ? undefined : readPort(port),
    allowHosts: allowHost?.join(","),
  });
  const flags = { server, store: given({ data, url, urlFile }), node: given({ roles }) };
  return readSettings({ configFile: config, environment: process.env, flags, mode });
}

export function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageFault(`--port must be a number from 0 to 65535, not "${text}"`);
  return Number(text);
}

/** Works on the store directly. It may be done while a service runs on it; the service sees the change within a second. */
export async function withStore<Result>(
  settings: Settings,
  work: (store: Store) => Promise<Result>,
  { look = false } = {},
): Promise<Result> {
  const log = createLog(settings.log.level, { part: "cli" });
  const opening = openStore({
    settings,
    clock: systemClock,
    log,
    deliver: null,
    look,
    name: `heliograph cli ${process.pid}`,
  });
  const { engine, close } = await opening.catch((error: Error) => {
    throw cannotOpen(settings, error);
  });
  try {
    return await work(localStore(engine, () => undefined));
  } catch (error) {
    const trouble = error instanceof StoreUnavailable ? storeTrouble(error, settings.store) : null;
    throw trouble === null ? error : new CommandFault(`${trouble.says}: ${trouble.mend}`, { cause: error });
  } finally {
    await close();
  }
}

/** Whatever stands in the way of the store (rights, a full disk, another file, no database) is told in a line, with what to do. */
export function cannotOpen(settings: Settings, error: Error): CommandFault {
  const words = inWords(error, settings.store);
  return new CommandFault(`the data in ${storeName(settings)} cannot be opened: ${words}`, { cause: error });
}

/** Of a list that shows the newest. */
export const LIMIT = new Option("--limit <number>", "how many").default("50");
export interface LimitOptions extends CommonOptions, JsonOption {
  readonly limit: string;
}

export function limitOf({ limit }: { readonly limit: string }): number {
  if (!/^[1-9]\d{0,3}$/.test(limit)) throw new UsageFault("--limit must be a number from 1 to 9999");
  return Number(limit);
}

/** Works on the store of a service that was set up before. */
export function onStore<Result>(
  options: CommonOptions,
  work: (store: Store, settings: Settings) => Promise<Result>,
): Promise<Result> {
  const settings = settingsOf(options);
  requireData(settings);
  return withStore(settings, async (store) => {
    await tellSandbox(options, settings, store);
    return work(store, settings);
  });
}

const DEFAULT_DATA = "./data";

/** Whoever names no data has the sandbox's where one was started, and may have meant the service beside it. */
async function tellSandbox(options: CommonOptions, { store: place }: Settings, store: Store): Promise<void> {
  if (options.data !== undefined || place.url !== "" || place.data !== DEFAULT_DATA) return;
  if ((await store.purpose()) === "sandbox")
    complain(
      `heliograph: this is the sandbox in ${DEFAULT_DATA}; --data or HELIOGRAPH_STORE_DATA names another service\n`,
    );
}

/** For commands on a service that was set up before. Whether a database was is seen when it is looked into. Whoever makes data needs none (`orNone`). */
export function requireData(settings: Settings, { orNone = false } = {}): void {
  const { url, data } = settings.store;
  const trouble = url === "" ? missingData(data) : null;
  if (trouble === null || (orNone && trouble.kind === "absent")) return;
  const before = trouble.kind === "absent" ? "" : `the data in ${data} cannot be opened: `;
  throw new CommandFault(`${before}${trouble.says}: ${trouble.mend}`);
}

/** The whole catalogue's and every account's: the command line is the operator's. */
export const EVERYTHING = { resellerId: null } as const;

/** Who makes a change, and when, for the audit. */
export function byCommandLine(): { by: Actor; atMs: number } {
  // Not all users have an entry in the system's list: in a container one may have none.
  const address = orElse(() => `${userInfo().username}@${hostname()}`, hostname());
  return { by: { name: "command line", address }, atMs: systemClock.now() };
}

/** Any account: the command line may know of them all. */
export function accountNamed(store: AccountReader, key: string): Promise<ManagedAccount> {
  return managedAccount(store, { account: null }, key);
}

/** A day, which begins at midnight UTC, or a moment. */
export function momentOf(text: string, option: string): number {
  const atMs = parseDayOrMoment(text);
  if (atMs === null)
    throw new UsageFault(`${option} must be a day such as 2026-11-01, or a moment such as 2026-11-01T08:30:00Z`);
  return atMs;
}

export function wholeOf(text: string, option: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,12}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageFault(`${option} must be a whole number from ${least} to ${most}, not "${text}"`);
}

/** The numbers of a list's rows, as `list` shows them. */
export function numbersOf(texts: readonly string[], what: string, list: string): number[] {
  const wrong = texts.find((text) => !/^\d{1,15}$/.test(text));
  if (wrong !== undefined) throw new UsageFault(`"${wrong}" is no number of ${what}: "${list}" shows them`);
  return texts.map(Number);
}

/** What stands between commas. */
export function listOf(text: string): string[] {
  return text
    .split(",")
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "");
}
