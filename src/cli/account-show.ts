/** `heliograph account list` and `show`: accounts as the operator sees them. */
import { type Command, Option } from "commander";
import { formatMicros } from "../money/amounts.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { AccountKind, ManagedAccount } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { type Cell, type Column, counted, type JsonOption, showFields, showJson, showList } from "./show.ts";
import { accountNamed, allAccounts, type CommonOptions, jsonCommand, onStore } from "./support.ts";

/** What scripts get of an account, with amounts as strings and times as the API writes them. */
export function shownAccount(account: ManagedAccount) {
  const { alert } = account;
  return {
    key: account.key,
    kind: account.kind,
    parent: account.parentKey,
    state: stateOf(account),
    usernames: account.usernames,
    currency: account.currency,
    balance: formatMicros(account.balanceMicros),
    creditLimit: formatMicros(account.creditLimitMicros),
    ratePlan: account.ratePlanId,
    sender: account.defaultSender,
    senders: account.allowedSenders,
    networks: account.allowedAddresses,
    limits: account.limits,
    alert: alert === null ? null : { below: formatMicros(alert.belowMicros), url: alert.url },
    retryMinutes: account.retryMinutes,
    createdAt: formatDateTime(account.createdAtMs),
    retiredAt: account.retiredAtMs === null ? null : formatDateTime(account.retiredAtMs),
    version: account.version,
  };
}

export type ShownAccount = ReturnType<typeof shownAccount>;

function stateOf({ retiredAtMs, suspended }: ManagedAccount): "active" | "suspended" | "retired" {
  if (retiredAtMs !== null) return "retired";
  return suspended ? "suspended" : "active";
}

const COLUMNS: readonly Column<ShownAccount>[] = [
  { title: "ACCOUNT", of: ({ key }) => key },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "OF", of: ({ parent }) => parent },
  { title: "STATE", of: ({ state }) => state },
  { title: "BALANCE", of: ({ balance }) => balance, right: true },
  { title: "CURRENCY", of: ({ currency }) => currency },
  { title: "RATE PLAN", of: ({ ratePlan }) => ratePlan },
  { title: "USERNAMES", of: ({ usernames }) => usernames.join(", ") },
];

interface ListOptions extends CommonOptions, JsonOption {
  readonly kind?: AccountKind;
  readonly suspended?: boolean;
}

export function listCommand(): Command {
  return jsonCommand(
    "list",
    "Show the accounts there are, with their balances.",
    "heliograph account list --kind client",
    "heliograph account list --json | jq '.[] | select(.balance | tonumber < 5) | .key'",
  )
    .addOption(new Option("--kind <kind>", "only these").choices(["client", "reseller", "operator"]))
    .option("--suspended", "only those that are suspended or retired")
    .action(async (options: ListOptions) => {
      const accounts = await onStore(options, async (store) => {
        const filter = { kind: options.kind ?? null, suspended: options.suspended === true ? true : null };
        const found: ShownAccount[] = [];
        for await (const account of allAccounts(store, filter)) found.push(shownAccount(account));
        return found;
      });
      showList(options, COLUMNS, accounts, `${counted(accounts.length, "account")}.`);
    });
}

export function showCommand(): Command {
  return jsonCommand("show", "Show one account whole: its money, limits and rules.", "heliograph account show ACME")
    .argument("<key>", "the account's")
    .action(async (key: string, options: CommonOptions & JsonOption) => {
      const account = await onStore(options, async (store) => {
        const found = await accountNamed(store, key);
        return { ...shownAccount(found), secondFactor: await usersWithFactor(store, found) };
      });
      if (options.json === true) showJson(account);
      else showFields(fieldsOf(account));
    });
}

/** Those of its users for whom a second factor is in force. */
async function usersWithFactor(store: Store, { usernames }: ManagedAccount): Promise<string[]> {
  const found: string[] = [];
  for (const username of usernames) {
    const factor = await store.secondFactor({ username });
    if (factor !== null && factor.confirmedAtMs !== null) found.push(username);
  }
  return found;
}

function fieldsOf(account: ShownAccount & { readonly secondFactor: readonly string[] }): Record<string, Cell> {
  const { limits, alert } = account;
  const list = (values: readonly (string | number)[] | null, otherwise: string): string =>
    values === null ? otherwise : values.join(", ");
  return {
    Account: account.key,
    Kind: account.kind,
    "Client of": account.parent,
    State: account.retiredAt === null ? account.state : `retired ${account.retiredAt}`,
    Usernames: account.usernames.join(", "),
    "Second factor": account.secondFactor.length === 0 ? "off" : `on for ${account.secondFactor.join(", ")}`,
    Balance: `${account.balance} ${account.currency}`,
    "Credit limit": account.creditLimit,
    "Rate plan": account.ratePlan,
    Sender: account.sender,
    Senders: list(account.senders, "any"),
    Networks: list(account.networks, "any"),
    Limits:
      Object.entries(limits)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ") || "the service's",
    Alert: alert === null ? null : `below ${alert.below} to ${alert.url}`,
    "Retry minutes": list(account.retryMinutes, "the service's"),
    Made: account.createdAt,
    Version: account.version,
  };
}
