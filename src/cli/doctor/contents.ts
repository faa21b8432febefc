/** The doctor on what is in the store: the books, the catalogue, and the accounts that depend on it. */
import { fieldsOf } from "../../admin/items.ts";
import type { CarrierProfile } from "../../catalogue/carrier-kinds.ts";
import { groupsOf, type RatePlan, type Route } from "../../catalogue/file.ts";
import type { IncomingNumber } from "../../catalogue/numbers.ts";
import { readSmallFile } from "../../runtime/files.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { ManagedAccount } from "../../store/port/accounts.ts";
import type { CatalogueItem } from "../../store/port/catalogue.ts";
import type { Store } from "../../store/port/store.ts";
import { shownPrefix } from "../catalogue-items.ts";
import { counted } from "../show.ts";
import { allAccounts } from "../support.ts";
import { type Finding, Findings } from "./finding.ts";

const TOLD = 5;

export async function lookAtBooks(store: Store, found: Findings): Promise<void> {
  if ((await store.purpose()) === "sandbox") found.ok("purpose", "a sandbox's, with passwords that everybody knows");
  else if ((await store.countAccounts({ kind: "operator" })) === 0)
    found.wrong("operator", "there is none", '"heliograph init" makes the first');
  else found.ok("operator", "there is one");
  try {
    const faults = await store.verifyLedger();
    const told = faults.slice(0, TOLD).join("; ");
    if (faults.length === 0) found.ok("ledger", "the books agree");
    else
      found.wrong(
        "ledger",
        `${counted(faults.length, "fault")}: ${told}`,
        "keep a copy of the store as it is, and report them",
      );
  } catch (error) {
    found.warn(
      "ledger",
      `it could not be checked: ${(error as Error).message}`,
      "raise [store] statementTimeoutMs for this command",
    );
  }
}

/** What the store refused, and somebody should look at. What it had promised weighs more: a client relies on it. */
export async function lookAtQuarantine(store: Store, found: Findings): Promise<void> {
  const { count, promised, items } = await store.quarantined({ limit: TOLD });
  if (count === 0) {
    found.ok("quarantine", "the store has refused nothing");
    return;
  }
  const told = items.map(({ atMs, command, subject, reason }) => {
    return `${formatDateTime(atMs)} ${command} ${subject}: ${reason}`;
  });
  const says = `the store has refused ${counted(count, "thing")} that carriers said or that it had promised, the newest: ${told.join("; ")}`;
  if (promised === 0) found.warn("quarantine", says, "look into the table quarantine, and report them");
  else
    found.wrong(
      "quarantine",
      `${says}. ${counted(promised, "is", "are")} of the journal, and in no table`,
      "keep a copy of the data; detail in the table quarantine has each of the journal whole: make up for it (funds, messages), report it, and delete the row",
    );
}

export async function lookAtCatalogue(
  store: Store,
): Promise<{ carriers: CarrierProfile[]; findings: readonly Finding[] }> {
  const found = new Findings("catalogue");
  const items = await store.catalogue();
  const of = <Body>(kind: CatalogueItem["kind"]): Body[] =>
    items.filter((item) => item.kind === kind).map((item) => fieldsOf(item) as Body);
  const carriers = of<CarrierProfile>("carrier");
  const accounts: ManagedAccount[] = [];
  for await (const account of allAccounts(store)) if (account.retiredAtMs === null) accounts.push(account);
  await lookAtRoutes(of<Route>("route"), carriers, found);
  lookAtAccounts(accounts, of<RatePlan>("ratePlan"), found);
  lookAtNumbers(of<IncomingNumber>("number"), accounts, found);
  return { carriers, findings: found.all };
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
      const name = shownPrefix(route.prefix);
      found.wrong(
        "routes",
        `the route ${name} leads to the carrier ${carrier}, which does not exist`,
        `"heliograph carrier set ${carrier}" makes it, "heliograph route set ${name}" leads elsewhere`,
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
    if (carrier.kind !== "smpp" || carrier.tlsCa === undefined) continue;
    try {
      await readSmallFile(carrier.tlsCa);
    } catch (error) {
      found.wrong(
        "carriers",
        `the file ${carrier.tlsCa} of the carrier ${carrier.id} cannot be read: ${(error as Error).message}`,
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
  found.ok("accounts", `${counted(clients.length - wrong, "client")} can send`);
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
