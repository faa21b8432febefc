/** The doctor on what is in the store: the books, the catalogue, and the accounts that depend on it. */
import { allAccounts } from "../admin/all-accounts.ts";
import { fieldsOf } from "../admin/items.ts";
import { type CarrierProfile, kindOf } from "../catalogue/carrier-kinds.ts";
import { groupsOf, type RatePlan, type Route } from "../catalogue/file.ts";
import type { IncomingNumber } from "../catalogue/numbers.ts";
import { money, parseMicros } from "../money/amounts.ts";
import { readSmallFile } from "../runtime/files.ts";
import { onceEach } from "../runtime/lazy.ts";
import { counted, shellWord } from "../runtime/text.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import type { ManagedAccount } from "../store/port/accounts.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import type { Examined, Findings } from "./finding.ts";

const TOLD = 5;
/** Some milliseconds of the store's time. */
const MAX_WALLETS = 20_000;

export async function lookAtPurpose({ store }: Examined, found: Findings): Promise<void> {
  if ((await store.purpose()) === "sandbox") found.ok("purpose", "a sandbox's, with passwords that everybody knows");
  else if ((await store.countAccounts({ kind: "operator" })) === 0)
    found.wrong("operator", "there is none", '"heliograph init" makes the first');
  else found.ok("operator", "there is one");
}

/** Reads every posting that there is. */
export async function lookAtBooks({ store, unwritten = 0 }: Examined, found: Findings): Promise<void> {
  if (unwritten > 0) {
    found.warn(
      "ledger",
      `it was not looked at: ${counted(unwritten, "change is", "changes are")} in the journal only, and nothing is written here`,
      'mend what is in the way of the store; then "heliograph ledger verify" looks at it',
    );
    return;
  }
  try {
    const faults = await store.verifyLedger();
    if (faults.length === 0) found.ok("ledger", "the books agree");
    else toldFaults(faults, found);
  } catch (error) {
    found.warn(
      "ledger",
      `it could not be checked: ${(error as Error).message}`,
      "raise [store] statementTimeoutMs for this command",
    );
  }
}

function toldFaults(faults: readonly string[], found: Findings): void {
  found.wrong(
    "ledger",
    `${counted(faults.length, "fault")}: ${faults.slice(0, TOLD).join("; ")}`,
    "keep a copy of the store as it is, and report them",
  );
}

/** What a service that has other things to do can see of its books, in a bounded time. */
export async function lookAtWallets({ store }: Examined, found: Findings): Promise<void> {
  const { faults, wallets, isWhole } = await store.checkWallets({ limit: MAX_WALLETS });
  if (faults.length > 0) toldFaults(faults, found);
  else if (isWhole) found.ok("ledger", "the balances come to nothing together, and all are within their limits");
  else found.ok("ledger", `the first ${wallets} balances are within their limits; there are too many to add up here`);
}

/** What the store refused, and somebody should look at. What it had promised weighs more: a client relies on it. */
export async function lookAtQuarantine({ store }: Examined, found: Findings): Promise<void> {
  const { count, promised, held, items } = await store.quarantined({ limit: TOLD });
  if (count === 0) {
    found.ok("quarantine", "the store has refused nothing");
    return;
  }
  const told = items.map(
    ({ atMs, command, subject, reason }) => `${formatDateTime(atMs)} ${command} ${subject}: ${reason}`,
  );
  const says = `the store has refused ${counted(count, "thing")} that carriers said or that it had promised, the newest: ${told.join("; ")}${held === 0 ? "" : `. ${counted(held, "message is", "messages are")} in doubt, and held`}`;
  if (promised === 0)
    found.warn("quarantine", says, "look at them with heliograph quarantine list, report them, and retry or drop them");
  else
    found.wrong(
      "quarantine",
      `${says}. ${counted(promised, "is", "are")} of the journal, and in no table`,
      "keep a copy of the data; detail in the table quarantine has each of the journal whole: make up for it (funds, messages), report it, and delete the row",
    );
}

/** The items of one kind. */
function bodiesOf<Body>(items: readonly CatalogueItem[], kind: CatalogueItem["kind"]): Body[] {
  return items.filter((item) => item.kind === kind).map((item) => fieldsOf(item) as Body);
}

export async function carriersIn({ store }: Examined): Promise<CarrierProfile[]> {
  return bodiesOf(await store.catalogue(), "carrier");
}

/** Looks at every account that there is. */
export async function lookAtCatalogue({ store }: Examined, found: Findings): Promise<void> {
  const items = await store.catalogue();
  const of = <Body>(kind: CatalogueItem["kind"]): Body[] => bodiesOf(items, kind);
  const carriers = of<CarrierProfile>("carrier");
  const accounts: ManagedAccount[] = [];
  for await (const account of allAccounts(store)) if (account.retiredAtMs === null) accounts.push(account);
  await lookAtRoutes(of<Route>("route"), carriers, found);
  lookAtAccounts(accounts, of<RatePlan>("ratePlan"), found);
  lookAtNumbers(of<IncomingNumber>("number"), accounts, found);
}

async function lookAtRoutes(
  routes: readonly Route[],
  carriers: readonly CarrierProfile[],
  found: Findings,
): Promise<void> {
  if (routes.length === 0) {
    found.wrong(
      "routes",
      "there are none, so every message is rejected",
      '"heliograph apply FILE" or "heliograph route set" sets them',
    );
    return;
  }
  const known = new Set(carriers.map(({ id }) => id));
  const used = new Set<string>();
  for (const route of routes) {
    for (const { carrier } of groupsOf(route).flat()) {
      used.add(carrier);
      if (known.has(carrier)) continue;
      const name = route.prefix === "" ? "*" : route.prefix;
      found.wrong(
        "routes",
        `the route ${name} leads to the carrier ${carrier}, which does not exist`,
        `"heliograph carrier set ${carrier}" makes it, "heliograph route set ${shellWord(name)}" leads elsewhere`,
      );
    }
  }
  found.ok("routes", `${counted(routes.length, "route")} to ${counted(used.size, "carrier")}`);
  for (const { id } of carriers) {
    if (used.has(id)) continue;
    found.warn(
      "carriers",
      `no route leads to the carrier ${id}`,
      `"heliograph route set PREFIX ${id}", or "heliograph carrier delete ${id}"`,
    );
  }
  for (const carrier of carriers) {
    const file = kindOf(carrier).authorityFile(carrier);
    if (file === null) continue;
    try {
      await readSmallFile(file);
    } catch (error) {
      found.wrong(
        "carriers",
        `the file ${file} of the carrier ${carrier.id} cannot be read: ${(error as Error).message}`,
        "put the carrier's authority there, in PEM",
      );
    }
  }
}

function lookAtAccounts(accounts: readonly ManagedAccount[], plans: readonly RatePlan[], found: Findings): void {
  const currencies = new Map(plans.map(({ id, currency }) => [id, currency]));
  const clients = accounts.filter(({ kind }) => kind === "client");
  let wrong = 0;
  for (const { key, ratePlanId, currency } of clients) {
    const planned = currencies.get(ratePlanId);
    if (planned === currency) continue;
    wrong++;
    if (wrong > TOLD) continue;
    const why = planned === undefined ? "which does not exist" : `which is in ${planned} and not in ${currency}`;
    found.wrong(
      "accounts",
      `${key} cannot send: it has the rate plan ${ratePlanId}, ${why}`,
      `"heliograph account change ${key} --rate-plan ID", or "heliograph rate set ${ratePlanId} '*' PRICE --currency ${currency}"`,
    );
  }
  if (wrong > TOLD)
    found.wrong(
      "accounts",
      `${wrong - TOLD} more accounts cannot send for the same reason`,
      '"heliograph account list" shows their rate plans',
    );
  const broke = clients.filter((client) => !canPay(client, plans));
  if (broke.length > 0) toldBroke(broke, found);
  const able = clients.filter(({ ratePlanId, currency }) => currencies.get(ratePlanId) === currency);
  found.ok("accounts", `${counted(able.length - broke.length, "client")} can send`);
}

/** Whether it has enough for a message at the lowest price of its plan. One that is suspended, or whose plan is wrong, sends none for another reason. */
function canPay(client: ManagedAccount, plans: readonly RatePlan[]): boolean {
  const { balanceMicros, creditLimitMicros, ratePlanId, currency, suspended } = client;
  const plan = plans.find(({ id }) => id === ratePlanId);
  if (suspended || plan === undefined || plan.currency !== currency) return true;
  return balanceMicros + creditLimitMicros >= cheapestOf(plan);
}

/** A plan may have thousands of prices, and thousands of accounts may pay by it. */
const cheapestOf = onceEach(new WeakMap<RatePlan, bigint>(), (plan) => {
  let cheapest = parseMicros(plan.rate[0]!.price) ?? 0n;
  for (const { price } of plan.rate) {
    const micros = parseMicros(price) ?? 0n;
    if (micros < cheapest) cheapest = micros;
  }
  return cheapest;
});

function toldBroke(broke: readonly ManagedAccount[], found: Findings): void {
  const named = broke
    .slice(0, TOLD)
    .map(({ key, balanceMicros, currency }) => `${key} (${money(balanceMicros, currency)})`);
  const more = broke.length > TOLD ? ` and ${broke.length - TOLD} more` : "";
  const key = broke.length === 1 ? broke[0]!.key : "KEY";
  found.warn(
    "balances",
    `${counted(broke.length, "client has", "clients have")} too little money for a message, and what they send is rejected: ${named.join(", ")}${more}`,
    `"heliograph account top-up ${key} AMOUNT" gives money that was paid, "heliograph account change ${key} --credit-limit AMOUNT" gives credit`,
  );
}

function lookAtNumbers(numbers: readonly IncomingNumber[], accounts: readonly ManagedAccount[], found: Findings): void {
  const keys = new Set(accounts.map(({ key }) => key));
  for (const { number, account } of numbers) {
    if (keys.has(account)) continue;
    found.wrong(
      "numbers",
      `the number ${number} is of the account ${account}, which does not exist or is retired`,
      `"heliograph number set ${number} account=KEY", or "heliograph account create --key ${account}"`,
    );
  }
  if (numbers.length > 0) found.ok("numbers", counted(numbers.length, "number"));
}
