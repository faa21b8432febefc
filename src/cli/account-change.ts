/** `heliograph account change|suspend|resume|retire`: what an account may do, and whether it may do anything. */

import { BlockList, isIP } from "node:net";
import { Command } from "commander";
import { urlProblem } from "../runtime/urls.ts";
import { isSender } from "../sms/addresses.ts";
import type { AccountChange, AccountLimits, ManagedAccount, Store } from "../store/port.ts";
import { shownAccount } from "./account-show.ts";
import { confirmed, isTerminal } from "./console.ts";
import { withExample } from "./example.ts";
import { differenceLine, differences, type JsonOption, showJson, withJson } from "./show.ts";
import {
  accountNamed,
  amountOf,
  byCommandLine,
  CommandFault,
  type CommonOptions,
  EVERYTHING,
  listOf,
  onStore,
  say,
  UsageFault,
  wholeOf,
  withStoreOptions,
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

const LIMITS = ["requestsPerSecond", "messagesPerSecond", "connections", "destinationsPerRequest"] as const;
const MOST = 1_000_000;

export function changeCommand(): Command {
  const command = new Command("change").description(
    "Change what an account pays and may do. What is not named stays as it is; what changed is printed.",
  );
  return withExample(
    withJson(withStoreOptions(command)),
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
      await onStore(options, async (store) => {
        const before = await accountNamed(store, key);
        const change = changeOf(before, options);
        if (Object.keys(change).length === 0)
          throw new UsageFault("say what to change: heliograph account change --help lists what can be");
        await changeAccount(store, before, change, options);
        if (change.ratePlanId !== undefined) await warnOfPlan(store, before, change.ratePlanId);
      });
    });
}

function changeOf(before: ManagedAccount, options: ChangeOptions): AccountChange {
  const { ratePlan, sender, senders, networks, creditLimit, retryMinutes } = options;
  const limits = limitsOf(before.limits, options);
  const alert = alertOf(before.alert, options);
  return {
    ...(ratePlan === undefined ? {} : { ratePlanId: ratePlan }),
    ...(creditLimit === undefined ? {} : { creditLimitMicros: amountOf(creditLimit, "--credit-limit") }),
    ...(sender === undefined ? {} : { defaultSender: sender === false ? null : senderOf(sender, "--sender") }),
    ...(senders === undefined
      ? {}
      : { allowedSenders: senders === false ? null : someOf(senders, "--senders", senderOf) }),
    ...(networks === undefined
      ? {}
      : { allowedAddresses: networks === false ? null : networksOf(networks, "--networks") }),
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
    return [name, wholeOf(options[name]!, option, name === "destinationsPerRequest" ? 1 : 0, MOST)];
  });
  return { ...(options.limits === false ? {} : before), ...Object.fromEntries(values) };
}

function alertOf(before: ManagedAccount["alert"], options: ChangeOptions): ManagedAccount["alert"] | undefined {
  const { alertBelow, alertUrl, alert } = options;
  if (alert === false) return null;
  if (alertBelow === undefined && alertUrl === undefined) return undefined;
  const url = alertUrl ?? before?.url;
  const belowMicros = alertBelow === undefined ? before?.belowMicros : amountOf(alertBelow, "--alert-below");
  if (url === undefined || belowMicros === undefined)
    throw new UsageFault("an alert needs both --alert-below and --alert-url");
  const says = urlProblem(url);
  if (says !== null) throw new UsageFault(`--alert-url "${url}" ${says}`);
  return { belowMicros, url };
}

function senderOf(text: string, option: string): string {
  if (isSender(text)) return text;
  throw new UsageFault(`${option} must be 3 to 15 digits, or 1 to 11 characters with a letter, not "${text}"`);
}

/** Addresses, or networks with the length of their prefix. */
export function networksOf(text: string, option: string): string[] {
  return someOf(text, option, networkOf);
}

function networkOf(text: string, option: string): string {
  const [address = "", length, ...rest] = text.split("/");
  const version = isIP(address);
  try {
    if (version === 0 || rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) throw new Error();
    const bits = version === 4 ? 32 : 128;
    new BlockList().addSubnet(address, length === undefined ? bits : Number(length), version === 4 ? "ipv4" : "ipv6");
    return text;
  } catch {
    throw new UsageFault(`${option} must be addresses or networks such as 192.0.2.0/24, not "${text}"`);
  }
}

/** A schedule of at most fifty waits of at most a week. */
export function readMinutes(text: string): number[] {
  const minutes = text.split(",").map((piece) => piece.trim());
  if (
    minutes.length > 50 ||
    minutes.some((piece) => !/^\d{1,5}$/.test(piece) || Number(piece) < 1 || Number(piece) > 10_080)
  ) {
    throw new UsageFault(`--retry-minutes must be whole numbers of minutes such as 1,5,30, not "${text}"`);
  }
  return minutes.map(Number);
}

function someOf(text: string, option: string, read: (text: string, option: string) => string): string[] {
  const values = listOf(text).map((value) => read(value, option));
  if (values.length === 0) throw new UsageFault(`${option} must name at least one`);
  return [...new Set(values)];
}

/** Makes the change and prints what it changed. */
async function changeAccount(
  store: Store,
  before: ManagedAccount,
  change: AccountChange,
  options: JsonOption,
): Promise<void> {
  const { key, version } = before;
  const outcome = await store.changeAccount({ ...EVERYTHING, key, version, change, ...byCommandLine() });
  if (outcome.kind === "unknown") throw new CommandFault(`the account ${key} is retired, and stays as it is`);
  if (outcome.kind === "outdated")
    throw new CommandFault(`somebody else has changed the account ${key} at this moment: look at it, and try again`);
  if (outcome.kind === "owes more")
    throw new CommandFault(`the account ${key} owes more than that credit limit allows: give it funds first`);
  const after = shownAccount(outcome.account);
  if (options.json === true) {
    showJson(after);
    return;
  }
  const { version: _, ...shownBefore } = shownAccount(before);
  const { version: __, ...shownAfter } = after;
  // What it spends meanwhile is no part of the change.
  const changes = differences({ ...shownBefore, balance: null }, { ...shownAfter, balance: null });
  say(changes.length === 0 ? `Nothing of the account ${key} changes.` : `The account ${key} is changed:`);
  for (const one of changes) say(`  ${differenceLine(one)}`);
}

async function warnOfPlan(store: Store, { currency, kind }: ManagedAccount, ratePlanId: string): Promise<void> {
  const plan = (await store.catalogue()).find((item) => item.kind === "ratePlan" && item.id === ratePlanId);
  if (kind !== "client") return;
  if (plan === undefined) say(`The rate plan ${ratePlanId} does not exist yet, so it cannot send.`);
  else if (JSON.parse(plan.body).currency !== currency)
    say(
      `The rate plan ${ratePlanId} is in ${JSON.parse(plan.body).currency}, and the account in ${currency}, so it cannot send.`,
    );
}

interface RetireOptions extends CommonOptions, JsonOption {
  readonly yes?: boolean;
}

export function standingCommands(): Command[] {
  const standing = (name: string, description: string, example: string): Command =>
    withExample(withJson(withStoreOptions(new Command(name).description(description))), example).argument(
      "<key>",
      "the account's",
    );
  const set = (change: AccountChange) => (key: string, options: CommonOptions & JsonOption) =>
    onStore(options, async (store) => changeAccount(store, await accountNamed(store, key), change, options));
  return [
    standing(
      "suspend",
      "Let an account do nothing until it is resumed: its sessions end, and its requests are refused. What it has sent already goes on.",
      "heliograph account suspend ACME",
    ).action(set({ suspended: true })),
    standing("resume", "Let a suspended account work again.", "heliograph account resume ACME").action(
      set({ suspended: false }),
    ),
    standing(
      "retire",
      "End an account for good: its keys and sessions end, and nobody can use it any more. Its messages and its postings stay. On a terminal it asks.",
      "heliograph account retire ACME --yes",
    )
      .option("--yes", "do not ask")
      .action(async (key: string, options: RetireOptions) => {
        await onStore(options, async (store) => {
          const account = await accountNamed(store, key);
          if (account.retiredAtMs !== null) throw new CommandFault(`the account ${key} is retired already`);
          if (options.yes !== true) {
            if (!isTerminal()) throw new UsageFault("retiring is for good: say --yes if you mean it");
            if (!(await confirmed(`Retire ${key} for good?`))) throw new CommandFault("nothing is changed");
          }
          await changeAccount(store, account, { retired: true }, options);
        });
      }),
  ];
}
