/** `heliograph api-key create|list|revoke`: the secrets that programs use in place of a password. */
import { Command } from "commander";
import { newApiKey, storedForm } from "../accounts/api-keys.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { ApiKey } from "../store/port.ts";
import { CommandFault, type CommonOptions, onStore, say, withStoreOptions } from "./support.ts";

interface KeyOptions extends CommonOptions {
  readonly account?: string;
  readonly name?: string;
}

export function apiKeyCommand(): Command {
  const create = withStoreOptions(
    new Command("create").description("Make a key. It is printed once and kept only as a hash."),
  )
    .requiredOption("--account <key>", "the account that it speaks for")
    .option("--name <name>", "what it is for")
    .action(createKey);
  const list = withStoreOptions(new Command("list").description("Show the keys that there are, without their secret."))
    .option("--account <key>", "those of one account (default: all)")
    .action(listKeys);
  const revoke = withStoreOptions(
    new Command("revoke").description("End a key. A running service refuses it within a second."),
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
    throw new CommandFault("--name must be 1 to 64 characters that can be printed");
  }
  const key = newApiKey();
  const created = await onStore(options, (store) =>
    store.createApiKey({ ...storedForm(key), accountKey: account, name: name ?? null, atMs: systemClock.now() }),
  );
  if (created === "unknown account") throw new CommandFault(`there is no account ${account}`);
  if (created === "taken") throw new CommandFault("a key with the same id was made before: try again");
  say(`A key for ${account} is made. Send it as "Authorization: App KEY". It is shown only now:\n${key}`);
}

async function listKeys(options: KeyOptions): Promise<void> {
  const keys = await onStore(options, (store) => store.apiKeys({ accountKey: options.account ?? null }));
  for (const key of keys) say(line(key));
  say(keys.length === 0 ? "There are no keys." : `${keys.length} ${keys.length === 1 ? "key" : "keys"}.`);
}

function line({ id, accountKey, name, createdAtMs, usedAtMs }: ApiKey): string {
  const used = usedAtMs === null ? "never used" : `last used ${formatDateTime(usedAtMs)}`;
  return [id, accountKey, `made ${formatDateTime(createdAtMs)}`, used, ...(name === null ? [] : [name])].join("  ");
}

async function revokeKey(id: string, options: KeyOptions): Promise<void> {
  const revoked = await onStore(options, (store) => store.revokeApiKey({ id }));
  if (revoked === "unknown key") throw new CommandFault(`there is no key ${id}`);
  say(`The key ${id} is good for nothing any more.`);
}
