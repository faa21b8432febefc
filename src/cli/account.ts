/** `heliograph account`: a new account with its login; what is done with those there are is in the files beside this one. */
import { Command, Option } from "commander";
import { type CreatedAccount, createAccount } from "../admin/accounts.ts";
import { dropOldCallbackSecret, rotateCallbackSecret } from "../admin/callback-secrets.ts";
import { given } from "../runtime/given.ts";
import type { Settings } from "../settings/settings.ts";
import type { AccountKind } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { passwordCommand, secondFactorCommand, sessionsCommand } from "./account-access.ts";
import { changeCommand, readMinutes, standingCommands } from "./account-change.ts";
import { fundsCommands } from "./account-funds.ts";
import { listCommand, showCommand } from "./account-show.ts";
import { accountParts, commandLine } from "./operator.ts";
import { type CommonOptions, onStore, say, storeCommand } from "./support.ts";

interface CreateOptions extends CommonOptions {
  readonly kind: AccountKind;
  readonly key: string;
  readonly username: string;
  readonly parent?: string;
  readonly currency?: string;
  readonly ratePlan: string;
  readonly sender?: string;
  readonly creditLimit: string;
  readonly funds: string;
  readonly retryMinutes?: string;
}

export function accountCommand(): Command {
  const create = storeCommand(
    "create",
    "Make an account. Its password is printed once and kept only as a hash.",
    "heliograph account create --key ACME --username acme --funds 10",
  )
    .addOption(
      new Option("--kind <kind>", "what it may do").choices(["client", "reseller", "operator"]).default("client"),
    )
    .requiredOption("--key <key>", "its public name, as in accountKey: letters and digits, and dashes between them")
    .requiredOption("--username <name>", "for Basic authentication and login")
    .option("--parent <key>", "the reseller whose client it is")
    .option("--currency <code>", "ISO 4217 (default: the rate plan's)")
    .option("--rate-plan <id>", "which prices it pays", "standard")
    .option("--sender <from>", "the sender of messages that name none")
    .option("--credit-limit <amount>", "how far below zero its balance may go", "0")
    .option(
      "--retry-minutes <list>",
      "how long each retry of a report waits, such as 1,5,30 (default: the service's schedule)",
    )
    .option("--funds <amount>", "money that it starts with", "0")
    .action((options: CreateOptions) => onStore(options, (store, settings) => createFrom(options, store, settings)));
  const rotate = storeCommand(
    "rotate-secret",
    "Give an account a new secret for signing reports. Both are good until --finish.",
    "heliograph account rotate-secret ACME",
    "heliograph account rotate-secret ACME --finish",
  )
    .argument("<key>", "the account's")
    .option("--finish", "drop the old secret: the client knows the new one by now")
    .action(async (key: string, options: CommonOptions & { finish?: boolean }) => {
      if (options.finish === true) {
        await onStore(options, (store) => dropOldCallbackSecret(store, commandLine(), key));
        say(`Only the newest secret of ${key} is good now.`);
        return;
      }
      const secret = await onStore(options, (store) => rotateCallbackSecret(store, commandLine(), key));
      say(
        `Reports of ${key} are signed with the old secret and with this new one, which is shown only now:\n${secret}`,
      );
    });
  const account = new Command("account").description(
    "Accounts: clients, resellers, operators. A running service follows a change within a second.",
  );
  for (const command of [
    create,
    listCommand(),
    showCommand(),
    changeCommand(),
    ...fundsCommands(),
    ...standingCommands(),
    passwordCommand(),
    sessionsCommand(),
    secondFactorCommand(),
    rotate,
  ]) {
    account.addCommand(command);
  }
  return account;
}

async function createFrom(options: CreateOptions, store: Store, settings: Settings): Promise<void> {
  const { key, kind, username, parent, currency, ratePlan, sender, creditLimit, funds, retryMinutes } = options;
  const created = await createAccount(accountParts(store, settings), commandLine(), {
    key,
    kind,
    username,
    ratePlan,
    creditLimit,
    openingBalance: funds,
    ...given({ parent, currency, defaultSender: sender }),
    ...(retryMinutes === undefined ? {} : { retryMinutes: readMinutes(retryMinutes) }),
  });
  sayCreated(created, username);
}

/** Prints the password of a new account. */
export function sayCreated({ account: { key, kind }, madeUpPassword }: CreatedAccount, username: string): void {
  say(
    `Account ${key} (${kind}) is made. Log in as ${username} with this password, which is shown only now:\n${madeUpPassword}`,
  );
}
