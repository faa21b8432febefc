/** `heliograph api-key create|list|revoke`: the secrets that programs use in place of a password. */
import { Command } from "commander";
import { type ApiKeyOrder, apiKeysOf, createApiKey, revokeApiKey } from "../admin/api-keys.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { SCOPES, type Scope } from "../store/port/accounts.ts";
import type { ApiKey } from "../store/port/credentials.ts";
import { commandLine } from "./operator.ts";
import { type Column, howMany, type JsonOption, showList } from "./show.ts";
import { type CommonOptions, jsonCommand, listOf, momentOf, onStore, say, storeCommand, wholeOf } from "./support.ts";

interface KeyOptions extends CommonOptions, JsonOption {
  readonly account?: string;
  readonly name?: string;
  readonly scopes?: string;
  readonly expires?: string;
  readonly networks?: string;
}

const DAY_MS = 24 * 60 * 60_000;
/** Ten years: what is to last longer has no end. */
const MAX_DAYS = 3_650;

export function apiKeyCommand(): Command {
  const create = storeCommand(
    "create",
    "Make a key. It is printed once and kept only as a hash.",
    'heliograph api-key create --account ACME --name "the shop" --scopes send,track',
    "heliograph api-key create --account ACME --expires 90d --networks 192.0.2.0/24",
    'heliograph api-key create --account OPERATOR1 --name "password desk" --scopes manage,credentials',
  )
    .requiredOption("--account <key>", "the account that it speaks for")
    .option("--name <name>", "what it is for")
    .option("--scopes <list>", `what it may be used for: some of ${SCOPES.join(",")} (default: all but credentials)`)
    .option("--expires <when>", "when it ends: days from now such as 90d, or a date (default: never)")
    .option(
      "--networks <list>",
      "where it may be used from: addresses or networks such as 192.0.2.0/24 (default: anywhere)",
    )
    .action(createKey);
  const list = jsonCommand(
    "list",
    "Show the keys that there are, without their secret.",
    "heliograph api-key list --account ACME",
  )
    .option("--account <key>", "those of one account (default: all)")
    .action(listKeys);
  const revoke = storeCommand(
    "revoke",
    "End a key. A running service refuses it within a second.",
    "heliograph api-key revoke 1f0c9a7d3b52",
  )
    .argument("<id>", "what stands in the key behind hgk_, as in the list")
    .action(revokeKey);
  return new Command("api-key")
    .description("Keys for programs, in place of a password.")
    .addCommand(create)
    .addCommand(list)
    .addCommand(revoke);
}

async function createKey(options: KeyOptions): Promise<void> {
  const { account = "", name, scopes, expires, networks } = options;
  const manager = commandLine();
  const order: ApiKeyOrder = {
    ...(name === undefined ? {} : { name }),
    ...(scopes === undefined ? {} : { scopes: listOf(scopes) as Scope[] }),
    ...(expires === undefined ? {} : { expiresAt: formatDateTime(expiryOf(expires, manager.atMs)) }),
    ...(networks === undefined ? {} : { allowedAddresses: listOf(networks) }),
  };
  const made = await onStore(options, (store, settings) => createApiKey({ store, settings }, manager, account, order));
  const scope = made.scopes === null ? "" : `, which is good for ${made.scopes.join(", ")} only,`;
  const end = made.expiresAtMs === null ? "" : ` It ends at ${formatDateTime(made.expiresAtMs)}.`;
  say(
    `A key for ${account}${scope} is made.${end} Send it as "Authorization: App KEY". It is shown only now:\n${made.key}`,
  );
}

/** So many days from now, or a day or a moment. */
function expiryOf(text: string, nowMs: number): number {
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  return days === undefined ? momentOf(text, "--expires") : nowMs + wholeOf(days, "--expires", 1, MAX_DAYS) * DAY_MS;
}

function shown({ id, accountKey, name, scopes, expiresAtMs, allowedAddresses, createdAtMs, usedAtMs }: ApiKey) {
  return {
    id,
    account: accountKey,
    name,
    scopes,
    expiresAt: expiresAtMs === null ? null : formatDateTime(expiresAtMs),
    allowedAddresses,
    createdAt: formatDateTime(createdAtMs),
    usedAt: usedAtMs === null ? null : formatDateTime(usedAtMs),
  };
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "KEY", of: ({ id }) => id },
  { title: "ACCOUNT", of: ({ account }) => account },
  { title: "SCOPES", of: ({ scopes }) => scopes?.join(",") ?? "all" },
  { title: "NETWORKS", of: ({ allowedAddresses }) => allowedAddresses?.join(",") ?? "any" },
  { title: "EXPIRES", of: ({ expiresAt }) => expiresAt ?? "never" },
  { title: "MADE", of: ({ createdAt }) => createdAt },
  { title: "LAST USED", of: ({ usedAt }) => usedAt ?? "never" },
  { title: "NAME", of: ({ name }) => name },
];

async function listKeys(options: KeyOptions): Promise<void> {
  const { account } = options;
  const keys = await onStore(options, (store) =>
    account === undefined ? store.apiKeys({ accountKey: null }) : apiKeysOf(store, commandLine(), account),
  );
  showList(options, COLUMNS, keys.map(shown), howMany(keys.length, "key"));
}

async function revokeKey(id: string, options: KeyOptions): Promise<void> {
  const key = { id, accountKey: null };
  await onStore(options, (store, settings) => revokeApiKey({ store, settings }, commandLine(), key));
  say(`The key ${id} is good for nothing any more.`);
}
