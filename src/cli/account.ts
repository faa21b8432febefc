/** `heliograph account`: a new account with its login; what is done with those there are is in the files beside this one. */
import { Command, Option } from "commander";
import { hashPassword } from "../auth/passwords.ts";
import { secret, webhookSecret } from "../runtime/random.ts";
import { isSender } from "../sms/addresses.ts";
import { ACCOUNT_KEY_SAYS, isAccountKey, isUsername, MAX_RESELLER_KEY } from "../store/names.ts";
import type { AccountCreation, AccountKind, Store } from "../store/port.ts";
import { PASSWORD_BYTES, passwordCommand, secondFactorCommand, sessionsCommand } from "./account-access.ts";
import { changeCommand, readMinutes, standingCommands } from "./account-change.ts";
import { listCommand, showCommand } from "./account-show.ts";
import { withExample } from "./example.ts";
import {
  amountOf,
  byCommandLine,
  CommandFault,
  type CommonOptions,
  onStore,
  say,
  UsageFault,
  withStoreOptions,
} from "./support.ts";

export interface CreateOptions extends CommonOptions {
  readonly kind: AccountKind;
  readonly key: string;
  readonly username: string;
  readonly parent?: string;
  readonly currency: string;
  readonly ratePlan: string;
  readonly sender?: string;
  readonly creditLimit: string;
  readonly funds: string;
  readonly retryMinutes?: string;
}

export function accountCommand(): Command {
  const create = withExample(
    withStoreOptions(
      new Command("create").description("Make an account. Its password is printed once and kept only as a hash."),
    ),
    "heliograph account create --key ACME --username acme --funds 10",
  )
    .addOption(
      new Option("--kind <kind>", "what it may do").choices(["client", "reseller", "operator"]).default("client"),
    )
    .requiredOption("--key <key>", "its public name, as in accountKey: letters and digits, and dashes between them")
    .requiredOption("--username <name>", "for Basic authentication and login")
    .option("--parent <key>", "the reseller whose client it is")
    .option("--currency <code>", "ISO 4217", "EUR")
    .option("--rate-plan <id>", "which prices it pays", "standard")
    .option("--sender <from>", "the sender of messages that name none")
    .option("--credit-limit <amount>", "how far below zero its balance may go", "0")
    .option(
      "--retry-minutes <list>",
      "how long each retry of a report waits, such as 1,5,30 (default: the service's schedule)",
    )
    .option("--funds <amount>", "money that it starts with", "0")
    .action(async (options: CreateOptions) => {
      await onStore(options, (store) => createAccount(store, options));
    });
  const rotate = withExample(
    withStoreOptions(
      new Command("rotate-secret").description(
        "Give an account a new secret for signing reports. Both are good until --finish.",
      ),
    ),
    "heliograph account rotate-secret ACME",
    "heliograph account rotate-secret ACME --finish",
  )
    .argument("<key>", "the account's")
    .option("--finish", "drop the old secret: the client knows the new one by now")
    .action(async (key: string, options: CommonOptions & { finish?: boolean }) => {
      const secret = webhookSecret();
      const done = await onStore(options, (store) =>
        options.finish === true
          ? store.dropOldCallbackSecret({ accountKey: key, ...byCommandLine() })
          : store.rotateCallbackSecret({ accountKey: key, secret, ...byCommandLine() }),
      );
      if (done === "unknown account") throw new CommandFault(`there is no account ${key}`);
      say(
        options.finish === true
          ? `Only the newest secret of ${key} is good now.`
          : `Reports of ${key} are signed with the old secret and with this new one, which is shown only now:\n${secret}`,
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

function refusalOf(creation: Exclude<AccountCreation, { kind: "created" }>, options: CreateOptions): string {
  const { key, username, parent } = options;
  switch (creation.kind) {
    case "key taken":
      return `there is an account ${key} already`;
    case "username taken":
      return `the username ${username} is taken`;
    case "unknown parent":
      return `there is no reseller ${parent}`;
    case "name reserved":
      return `the ${creation.field} begins as only those of the clients of the reseller ${creation.resellerKey} do`;
    case "namespace taken":
      return `the account ${creation.accountKey} has a name that only clients of such a reseller can have: choose another key`;
  }
}

/** Makes the account and prints its password. */
export async function createAccount(store: Store, options: CreateOptions): Promise<void> {
  const { key, kind, username, parent, currency, ratePlan, sender } = options;
  if (!isAccountKey(key)) throw new UsageFault(`--key ${ACCOUNT_KEY_SAYS}`);
  if (kind === "reseller" && key.length > MAX_RESELLER_KEY)
    throw new UsageFault(`--key must be at most ${MAX_RESELLER_KEY} characters long for a reseller`);
  if (!isUsername(username)) throw new UsageFault("--username must be 1 to 64 characters without spaces and colons");
  if (!/^[A-Z]{3}$/.test(currency)) throw new UsageFault("--currency must be an ISO 4217 code such as EUR");
  if (sender !== undefined && !isSender(sender))
    throw new UsageFault("--sender must be 3 to 15 digits, or 1 to 11 characters with a letter");
  if (parent !== undefined && kind !== "client")
    throw new UsageFault("--parent is for clients: only they belong to a reseller");
  const password = secret(PASSWORD_BYTES);
  const creation = await store.createAccount({
    key,
    kind,
    parentKey: parent ?? null,
    currency,
    ratePlanId: ratePlan,
    defaultSender: sender ?? null,
    creditLimitMicros: amountOf(options.creditLimit, "--credit-limit"),
    openingBalanceMicros: amountOf(options.funds, "--funds"),
    callbackSecret: webhookSecret(),
    ...(options.retryMinutes === undefined ? {} : { retryMinutes: readMinutes(options.retryMinutes) }),
    username,
    passwordHash: await hashPassword(password),
    ...byCommandLine(),
  });
  if (creation.kind !== "created") throw new CommandFault(refusalOf(creation, options));
  say(
    `Account ${key} (${kind}) is made. Log in as ${username} with this password, which is shown only now:\n${password}`,
  );
  const plans = (await store.catalogue()).filter((item) => item.kind === "ratePlan").map((item) => item.id);
  if (kind === "client" && !plans.includes(ratePlan)) {
    say(`The rate plan ${ratePlan} does not exist yet, so it cannot send: "heliograph apply FILE" sets rate plans.`);
  }
}
