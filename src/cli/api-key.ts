/** `heliograph api-key create|list|revoke`: the secrets that programs use in place of a password. */
import { Command } from "commander";
import { newApiKey, storedForm } from "../accounts/api-keys.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { type ApiKey, SCOPES, type Scope } from "../store/port.ts";
import { withExample } from "./example.ts";
import { type Column, counted, type JsonOption, showList, withJson } from "./show.ts";
import {
  byCommandLine,
  CommandFault,
  type CommonOptions,
  listOf,
  onStore,
  say,
  UsageFault,
  withStoreOptions,
} from "./support.ts";

interface KeyOptions extends CommonOptions, JsonOption {
  readonly account?: string;
  readonly name?: string;
  readonly scopes?: string;
}

export function apiKeyCommand(): Command {
  const create = withExample(
    withStoreOptions(new Command("create").description("Make a key. It is printed once and kept only as a hash.")),
    'heliograph api-key create --account ACME --name "the shop" --scopes send,track',
  )
    .requiredOption("--account <key>", "the account that it speaks for")
    .option("--name <name>", "what it is for")
    .option("--scopes <list>", `what it may be used for: some of ${SCOPES.join(",")} (default: all)`)
    .action(createKey);
  const list = withExample(
    withJson(withStoreOptions(new Command("list").description("Show the keys that there are, without their secret."))),
    "heliograph api-key list --account ACME",
  )
    .option("--account <key>", "those of one account (default: all)")
    .action(listKeys);
  const revoke = withExample(
    withStoreOptions(new Command("revoke").description("End a key. A running service refuses it within a second.")),
    "heliograph api-key revoke 1f0c9a7d3b52",
  )
    .argument("<id>", "what stands before the dash in the key, as in the list")
    .action(revokeKey);
  return new Command("api-key")
    .description("Keys for programs, in place of a password.")
    .addCommand(create)
    .addCommand(list)
    .addCommand(revoke);
}

async function createKey(options: KeyOptions): Promise<void> {
  const { account = "", name } = options;
  if (name !== undefined && !/^[\p{L}\p{N}\p{P}\p{S} ]{1,64}$/u.test(name)) {
    throw new UsageFault("--name must be 1 to 64 characters that can be printed");
  }
  const scopes = scopesOf(options.scopes);
  const key = newApiKey();
  const created = await onStore(options, (store) =>
    store.createApiKey({
      ...storedForm(key),
      accountKey: account,
      name: name ?? null,
      scopes,
      ...byCommandLine(),
    }),
  );
  if (created === "unknown account") throw new CommandFault(`there is no account ${account}`);
  if (created === "taken") throw new CommandFault("a key with the same id was made before: try again");
  const scope = scopes === null ? "" : `, which is good for ${scopes.join(", ")} only,`;
  say(`A key for ${account}${scope} is made. Send it as "Authorization: App KEY". It is shown only now:\n${key}`);
}

function scopesOf(text: string | undefined): Scope[] | null {
  if (text === undefined) return null;
  const scopes = [...new Set(listOf(text))];
  if (scopes.length === 0 || !scopes.every((scope): scope is Scope => SCOPES.includes(scope as Scope)))
    throw new UsageFault(`--scopes must be some of ${SCOPES.join(",")}, not "${text}"`);
  return scopes;
}

function shown({ id, accountKey, name, scopes, createdAtMs, usedAtMs }: ApiKey) {
  return {
    id,
    account: accountKey,
    name,
    scopes,
    createdAt: formatDateTime(createdAtMs),
    usedAt: usedAtMs === null ? null : formatDateTime(usedAtMs),
  };
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: "KEY", of: ({ id }) => id },
  { title: "ACCOUNT", of: ({ account }) => account },
  { title: "SCOPES", of: ({ scopes }) => scopes?.join(",") ?? "all" },
  { title: "MADE", of: ({ createdAt }) => createdAt },
  { title: "LAST USED", of: ({ usedAt }) => usedAt ?? "never" },
  { title: "NAME", of: ({ name }) => name },
];

async function listKeys(options: KeyOptions): Promise<void> {
  const keys = await onStore(options, (store) => store.apiKeys({ accountKey: options.account ?? null }));
  const lastLine = keys.length === 0 ? "There are no keys." : `${counted(keys.length, "key")}.`;
  showList(options, COLUMNS, keys.map(shown), lastLine);
}

async function revokeKey(id: string, options: KeyOptions): Promise<void> {
  const revoked = await onStore(options, (store) => store.revokeApiKey({ id, ...byCommandLine() }));
  if (revoked === "unknown key") throw new CommandFault(`there is no key ${id}`);
  say(`The key ${id} is good for nothing any more.`);
}
