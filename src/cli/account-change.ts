/** `heliograph account change|suspend|resume|retire`: what an account may do, and whether it may do anything. */
import type { Command } from "commander";
import type { RetireOrder } from "../admin/account-funds.ts";
import { type AccountSettings, MIN_LIMITS } from "../admin/account-settings.ts";
import { type AccountChangeOrder, changeAccount, retireAccount } from "../admin/accounts.ts";
import { livingAccount } from "../admin/manager.ts";
import { Refused } from "../admin/refusal.ts";
import { reportsPast } from "../admin/retries.ts";
import { formatMicros, money } from "../money/amounts.ts";
import type { AccountLimits, ManagedAccount } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { shownAccount } from "./account-show.ts";
import { linesOf } from "./changes.ts";
import { confirmed, isTerminal } from "./console.ts";
import { accountParts, commandLine } from "./operator.ts";
import { counted, differences, type JsonOption, printable, shownAsJson } from "./show.ts";
import {
  accountNamed,
  CommandFault,
  type CommonOptions,
  jsonCommand,
  listOf,
  onStore,
  say,
  UsageFault,
} from "./support.ts";

interface ChangeOptions extends CommonOptions, JsonOption {
  readonly ratePlan?: string;
  readonly sender?: string | false;
  readonly senders?: string | false;
  readonly networks?: string | false;
  readonly creditLimit?: string;
  readonly alertBelow?: string;
  readonly alertUrl?: string;
  readonly alert?: boolean;
  readonly retryMinutes?: string | false;
  readonly limits?: boolean;
  readonly requestsPerSecond?: string;
  readonly messagesPerSecond?: string;
  readonly connections?: string;
  readonly destinationsPerRequest?: string;
}

const LIMITS = Object.keys(MIN_LIMITS) as (keyof AccountLimits)[];

export function changeCommand(): Command {
  return jsonCommand(
    "change",
    "Change what an account pays and may do. What is not named stays as it is; what changed is printed.",
    "heliograph account change ACME --rate-plan gold --credit-limit 50",
    "heliograph account change ACME --senders Acme,AcmeShop --networks 192.0.2.0/24",
    "heliograph account change ACME --no-senders --no-networks",
  )
    .argument("<key>", "the account's")
    .option("--rate-plan <id>", "which prices it pays")
    .option("--credit-limit <amount>", "how far below zero its balance may go")
    .option("--sender <from>", "the sender of messages that name none")
    .option("--no-sender", "none: every message has to name its own")
    .option("--senders <list>", "the only senders that it may use, with commas between them")
    .option("--no-senders", "any sender")
    .option("--networks <list>", "where it may be used from: addresses or networks such as 192.0.2.0/24")
    .option("--no-networks", "from anywhere")
    .option("--alert-below <amount>", "tell --alert-url when the balance goes below this")
    .option("--alert-url <url>", "who is told")
    .option("--no-alert", "tell nobody")
    .option("--retry-minutes <list>", "how long each retry of a report waits, such as 1,5,30")
    .option("--no-retry-minutes", "the service's schedule")
    .option("--requests-per-second <number>", "its own limit; 0 for none")
    .option("--messages-per-second <number>", "its own limit; 0 for none")
    .option("--connections <number>", "its own limit; 0 for none")
    .option("--destinations-per-request <number>", "its own limit")
    .option("--no-limits", "the service's limits, before those that are named here")
    .action(async (key: string, options: ChangeOptions) => {
      await onStore(options, async (store, settings) => {
        const before = await accountNamed(store, key);
        const order = orderOf(before, options);
        if (Object.keys(order).length === 0)
          throw new UsageFault("say what to change: heliograph account change --help lists what can be");
        sayChanged(before, await changeAccount(accountParts(store, settings), commandLine(), before, order), options);
        if (options.json !== true) await sayEnding(store, key, order);
      });
    });
}

/** Reports that wait go by the new schedule: who makes it shorter should know what that ends. */
async function sayEnding(store: Store, key: string, { retryMinutes }: AccountChangeOrder): Promise<void> {
  // The service's own schedule has as many tries as anybody wants.
  if (retryMinutes === undefined || retryMinutes === null) return;
  const { count, isCut } = await reportsPast(store, key, retryMinutes.length);
  if (count === 0) return;
  const which = `${isCut ? "at least " : ""}${counted(count, "report that waits has", "reports that wait have")}`;
  say(
    `${which} been tried as often as that, or more: the next try of each is its last, and what is not taken then is a dead letter ("heliograph report dead --account ${key}").`,
  );
}

function orderOf(before: ManagedAccount, options: ChangeOptions): AccountChangeOrder {
  const { ratePlan, sender, senders, networks, creditLimit, retryMinutes } = options;
  const limits = limitsOf(before.limits, options);
  const alert = alertOf(before.alert, options);
  return {
    ...(ratePlan === undefined ? {} : { ratePlan }),
    ...(creditLimit === undefined ? {} : { creditLimit }),
    ...(sender === undefined ? {} : { defaultSender: sender === false ? null : sender }),
    ...(senders === undefined ? {} : { allowedSenders: senders === false ? null : listOf(senders) }),
    ...(networks === undefined ? {} : { allowedAddresses: networks === false ? null : listOf(networks) }),
    ...(retryMinutes === undefined ? {} : { retryMinutes: retryMinutes === false ? null : readMinutes(retryMinutes) }),
    ...(limits === undefined ? {} : { limits }),
    ...(alert === undefined ? {} : { alert }),
  };
}

function limitsOf(before: AccountLimits, options: ChangeOptions): AccountLimits | undefined {
  const named = LIMITS.filter((name) => options[name] !== undefined);
  // Commander has it true where it was not said.
  if (named.length === 0 && options.limits !== false) return undefined;
  const values = named.map((name) => {
    const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const text = options[name]!;
    if (!/^-?\d{1,15}$/.test(text)) throw new UsageFault(`${option} must be a whole number, not "${text}"`);
    return [name, Number(text)];
  });
  return { ...(options.limits === false ? {} : before), ...Object.fromEntries(values) };
}

/** What is not named of an alert stays as it is. */
function alertOf(before: ManagedAccount["alert"], options: ChangeOptions): AccountSettings["alert"] {
  const { alertBelow, alertUrl, alert } = options;
  if (alert === false) return null;
  if (alertBelow === undefined && alertUrl === undefined) return undefined;
  const url = alertUrl ?? before?.url;
  const below = alertBelow ?? (before === null ? undefined : formatMicros(before.belowMicros));
  if (url === undefined || below === undefined)
    throw new UsageFault("an alert needs both --alert-below and --alert-url");
  return { below, url };
}

/** Whole numbers with commas between them. */
export function readMinutes(text: string): number[] {
  const minutes = text.split(",").map((piece) => piece.trim());
  if (minutes.some((piece) => !/^\d{1,9}$/.test(piece)))
    throw new UsageFault(`--retry-minutes must be whole numbers of minutes such as 1,5,30, not "${text}"`);
  return minutes.map(Number);
}

/** Prints what a change has changed. */
function sayChanged(before: ManagedAccount, account: ManagedAccount, options: JsonOption): void {
  const after = shownAccount(account);
  if (shownAsJson(options, after)) return;
  const { version: _, ...shownBefore } = shownAccount(before);
  const { version: __, ...shownAfter } = after;
  // What it spends meanwhile is no part of the change.
  const changes = differences({ ...shownBefore, balance: null }, { ...shownAfter, balance: null });
  say(changes.length === 0 ? `Nothing of the account ${before.key} changes.` : `The account ${before.key} is changed:`);
  for (const line of linesOf(changes, account.currency)) say(`  ${line}`);
}

/** The ways that the rule speaks of, as they are typed here. */
const WAYS: Readonly<Record<string, string>> = {
  balanceTo: '--balance-to KEY, --paid-out, or --write-off "REASON"',
  writeOff: '"heliograph account top-up KEY AMOUNT", or --write-off "REASON"',
};

function withOptions(error: unknown): never {
  const refusal = error instanceof Refused ? error.refusal : null;
  const ways =
    refusal?.kind === "conflict" && refusal.says.startsWith("the account ") ? WAYS[refusal.field ?? ""] : undefined;
  throw ways === undefined ? error : new CommandFault(`${(error as Refused).message}: ${ways}`);
}

/** What became of the money of an account that is retired now. */
function whereItWent({ key, balanceMicros, currency }: ManagedAccount, { balanceTo, writeOff }: RetireOrder): string {
  if (balanceMicros === 0n) return `${key} had no money.`;
  const had = money(balanceMicros < 0n ? -balanceMicros : balanceMicros, currency);
  if (balanceTo !== undefined) return `What it had, ${had}, is ${balanceTo}'s now.`;
  const what = balanceMicros < 0n ? "What it owed" : "What it had";
  if (writeOff !== undefined) return `${what}, ${had}, is written off: ${printable(writeOff)}`;
  return `What it had, ${had}, is booked as paid out.`;
}

interface RetireOptions extends CommonOptions, JsonOption, RetireOrder {
  readonly yes?: boolean;
}

export function standingCommands(): Command[] {
  const standing = (name: string, description: string, ...examples: string[]): Command =>
    jsonCommand(name, description, ...examples).argument("<key>", "the account's");
  const set = (suspended: boolean) => (key: string, options: CommonOptions & JsonOption) =>
    onStore(options, async (store, settings) => {
      const before = await accountNamed(store, key);
      const order = { suspended };
      sayChanged(before, await changeAccount(accountParts(store, settings), commandLine(), before, order), options);
    });
  return [
    standing(
      "suspend",
      "Let an account do nothing until it is resumed: its sessions end, and its requests are refused. What it has sent already goes on.",
      "heliograph account suspend ACME",
    ).action(set(true)),
    standing("resume", "Let a suspended account work again.", "heliograph account resume ACME").action(set(false)),
    standing(
      "retire",
      "End an account for good: its keys and sessions end, and nobody can use it any more. Its messages and its postings stay. If it has money, say where that goes. On a terminal it asks.",
      "heliograph account retire ACME --yes",
      "heliograph account retire ACME --balance-to SHOP --yes",
      'heliograph account retire ACME --write-off "nobody answers any more" --yes',
    )
      .option("--balance-to <key>", "the account, in the same currency, that has its balance from then on")
      .option("--paid-out", "its balance was given back outside of Heliograph")
      .option("--write-off <reason>", "its balance, or what it owes, is given up: why")
      .option("--yes", "do not ask")
      .action(async (key: string, options: RetireOptions) => {
        await onStore(options, async (store) => {
          const account = await livingAccount(store, commandLine(), key);
          if (options.yes !== true) {
            if (!isTerminal()) throw new UsageFault("retiring is for good: say --yes if you mean it");
            const { balanceMicros, currency } = account;
            const has = balanceMicros === 0n ? "" : `${key} has ${money(balanceMicros, currency)}. `;
            if (!(await confirmed(`${has}Retire ${key} for good?`))) throw new CommandFault("nothing is changed");
          }
          const after = await retireAccount({ store }, commandLine(), account, options).catch(withOptions);
          sayChanged(account, after, options);
          if (options.json !== true) say(whereItWent(account, options));
        });
      }),
  ];
}
