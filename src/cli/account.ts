/** `heliograph account create`: a new account with its login. */
import { Command, Option } from "commander";
import { hashPassword } from "../accounts/passwords.ts";
import { LARGEST_AMOUNT, parseMicros } from "../ledger/money.ts";
import { systemClock } from "../runtime/clock.ts";
import { secret, webhookSecret } from "../runtime/random.ts";
import { isSender } from "../sms/addresses.ts";
import type { AccountKind, Store } from "../store/port.ts";
import { CommandFault, type CommonOptions, onStore, say, withStoreOptions } from "./support.ts";

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

const PASSWORD_BYTES = 18;

export function accountCommand(): Command {
  const create = withStoreOptions(
    new Command("create").description("Make an account. Its password is printed once and kept only as a hash."),
  )
    .addOption(
      new Option("--kind <kind>", "what it may do").choices(["client", "reseller", "operator"]).default("client"),
    )
    .requiredOption("--key <key>", "its public name, as in accountKey: letters and digits")
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
  const rotate = withStoreOptions(
    new Command("rotate-secret").description(
      "Give an account a new secret for signing reports. Both are good until --finish.",
    ),
  )
    .argument("<key>", "the account's")
    .option("--finish", "drop the old secret: the client knows the new one by now")
    .action(async (key: string, options: CommonOptions & { finish?: boolean }) => {
      const secret = webhookSecret();
      const done = await onStore(options, (store) =>
        options.finish === true
          ? store.dropOldCallbackSecret({ accountKey: key })
          : store.rotateCallbackSecret({ accountKey: key, secret }),
      );
      if (done === "unknown account") throw new CommandFault(`there is no account ${key}`);
      say(
        options.finish === true
          ? `Only the newest secret of ${key} is good now.`
          : `Reports of ${key} are signed with the old secret and with this new one, which is shown only now:\n${secret}`,
      );
    });
  return new Command("account")
    .description("Accounts: clients, resellers, operators.")
    .addCommand(create)
    .addCommand(rotate);
}

function amount(text: string, option: string): bigint {
  const micros = parseMicros(text);
  if (micros === null || micros < 0n || micros > LARGEST_AMOUNT) {
    throw new CommandFault(`${option} must be a decimal number of 0 or more with at most 6 places, not "${text}"`);
  }
  return micros;
}

/** A schedule of at most fifty waits of at most a week. */
function readMinutes(text: string): number[] {
  const minutes = text.split(",").map((piece) => piece.trim());
  if (
    minutes.length > 50 ||
    minutes.some((piece) => !/^\d{1,5}$/.test(piece) || Number(piece) < 1 || Number(piece) > 10_080)
  ) {
    throw new CommandFault(`--retry-minutes must be whole numbers of minutes such as 1,5,30, not "${text}"`);
  }
  return minutes.map(Number);
}

/** Makes the account and prints its password. */
export async function createAccount(store: Store, options: CreateOptions): Promise<void> {
  const { key, kind, username, parent, currency, ratePlan, sender } = options;
  if (!/^[A-Za-z0-9]{1,64}$/.test(key)) throw new CommandFault("--key must be 1 to 64 letters and digits");
  if (!/^[^\s:]{1,64}$/.test(username))
    throw new CommandFault("--username must be 1 to 64 characters without spaces and colons");
  if (!/^[A-Z]{3}$/.test(currency)) throw new CommandFault("--currency must be an ISO 4217 code such as EUR");
  if (sender !== undefined && !isSender(sender))
    throw new CommandFault("--sender must be 3 to 15 digits, or 1 to 11 characters with a letter");
  if (parent !== undefined && kind !== "client")
    throw new CommandFault("--parent is for clients: only they belong to a reseller");
  const password = secret(PASSWORD_BYTES);
  const creation = await store.createAccount({
    key,
    kind,
    parentKey: parent ?? null,
    currency,
    ratePlanId: ratePlan,
    defaultSender: sender ?? null,
    creditLimitMicros: amount(options.creditLimit, "--credit-limit"),
    openingBalanceMicros: amount(options.funds, "--funds"),
    callbackSecret: webhookSecret(),
    ...(options.retryMinutes === undefined ? {} : { retryMinutes: readMinutes(options.retryMinutes) }),
    username,
    passwordHash: await hashPassword(password),
    atMs: systemClock.now(),
  });
  const refusals = {
    "key taken": `there is an account ${key} already`,
    "username taken": `the username ${username} is taken`,
    "unknown parent": `there is no reseller ${parent}`,
  };
  if (creation.kind !== "created") throw new CommandFault(refusals[creation.kind]);
  say(
    `Account ${key} (${kind}) is made. Log in as ${username} with this password, which is shown only now:\n${password}`,
  );
  const plans = (await store.catalogue()).filter((item) => item.kind === "ratePlan").map((item) => item.id);
  if (kind === "client" && !plans.includes(ratePlan)) {
    say(`The rate plan ${ratePlan} does not exist yet, so it cannot send: "heliograph apply FILE" sets rate plans.`);
  }
}
