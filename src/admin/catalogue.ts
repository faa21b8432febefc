/**
 * The rules for one item of the catalogue: a carrier, a route, a rate plan, an exchange rate, a number. An item is written whole, over the version that
 * was seen. A change after which the catalogue would not fit together is refused, and says with what. A whole file has its rules in catalogue-file.ts.
 */
import { type CarrierProfile, kindNamed } from "../catalogue/carrier-kinds.ts";
import { CatalogueFault } from "../catalogue/faults.ts";
import { carriersOf, type ItemFields, type RatePlan, type Route, readItem } from "../catalogue/file.ts";
import type { IncomingNumber } from "../catalogue/numbers.ts";
import { didYouMean } from "../runtime/near.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { CARRIER_SECRETS } from "../store/port/secrets.ts";
import type { Store } from "../store/port/store.ts";
import { allAccounts } from "./all-accounts.ts";
import { fieldsOf, type ItemKind, type ItemName, nameOf } from "./items.ts";
import type { SignedBy } from "./manager.ts";
import { conflict, invalid, outdated, unknown } from "./refusal.ts";

/** Those of one kind, in the order of their ids. */
export async function listItems(store: Pick<Store, "catalogue">, kind: ItemKind): Promise<CatalogueItem[]> {
  const items = (await store.catalogue()).filter((item) => item.kind === kind);
  // By code units on every engine: a database may have an order of its own.
  return items.sort((first, second) => (first.id < second.id ? -1 : 1));
}

function find(items: readonly CatalogueItem[], { kind, id }: ItemName): CatalogueItem | null {
  return items.find((item) => item.kind === kind && item.id === id) ?? null;
}

export async function findItem(store: Pick<Store, "catalogue">, name: ItemName): Promise<CatalogueItem | null> {
  return find(await store.catalogue(), name);
}

/** One that is there. */
export async function itemNamed(store: Pick<Store, "catalogue">, name: ItemName): Promise<CatalogueItem> {
  return (await findItem(store, name)) ?? refuseUnknown(name);
}

export function refuseUnknown(name: ItemName): never {
  throw unknown(`there is no ${nameOf(name)}`);
}

export interface ItemChange extends ItemName, SignedBy {
  /** All of the item, as in the catalogue file. */
  readonly fields: ItemFields;
  /** The version that the caller has seen: 0 for none. */
  readonly version: number | "any";
  /** Whoever could name files over the network could have the service open any of this machine. */
  readonly mayNameFiles: boolean;
}

type PutStore = Pick<Store, "catalogue" | "putItem" | "account" | "accounts">;

/** Writes an item, new or over the version that was seen, and says what is there now. A carrier's secret that is left out stays as it was. */
export async function putItem(store: PutStore, change: ItemChange): Promise<CatalogueItem> {
  const { kind, id, fields, mayNameFiles, by, atMs } = change;
  const items = await store.catalogue();
  const before = find(items, { kind, id });
  const known: ItemFields = before === null ? {} : fieldsOf(before);
  if (!mayNameFiles && kind === "carrier" && fields.tlsCa !== undefined && fields.tlsCa !== known.tlsCa)
    throw invalid(
      "tlsCa",
      'names a file, which only the command line may do ("heliograph carrier set"); give the certificate itself in tlsCaPem',
    );
  const { schema } = (kind === "carrier" ? kindNamed(fields.kind) : null) ?? {};
  const kept = CARRIER_SECRETS.filter(
    (field) =>
      schema !== undefined && Object.hasOwn(schema.properties, field) && fields[field] === undefined && field in known,
  ).map((field) => [field, known[field]]);
  const item = checkedItem(kind, { ...fields, ...Object.fromEntries(kept) });
  const version = change.version === "any" ? (before?.version ?? 0) : change.version;
  if (version !== (before?.version ?? 0)) throw outdated(nameOf(item), before);
  await checkReferences(store, items, item, before);
  const written = await store.putItem({ ...item, version, by, atMs });
  if (written.kind === "outdated") throw outdated(nameOf(item), await findItem(store, item));
  return { ...item, version: written.version };
}

export interface ItemDeletion extends ItemName, SignedBy {
  /** The version that the caller has seen. */
  readonly version: number | "any";
}

type DeleteStore = Pick<Store, "catalogue" | "deleteItem" | "accounts">;

/** Deletes an item that nothing else needs, and says what it was. */
export async function deleteItem(store: DeleteStore, { kind, id, version, by, atMs }: ItemDeletion) {
  const items = await store.catalogue();
  const item = find(items, { kind, id }) ?? refuseUnknown({ kind, id });
  if (version !== "any" && version !== item.version) throw outdated(nameOf(item), item);
  if (kind === "carrier") refuseRouted(items, id);
  if (kind === "ratePlan") {
    refuseBoughtBy(items, id);
    await refuseLostPlans(store, [item], []);
  }
  const seen = version === "any" ? null : version;
  const outcome = await store.deleteItem({ kind, id, version: seen, by, atMs });
  if (outcome === "unknown") refuseUnknown(item);
  if (outcome === "outdated") throw outdated(nameOf(item), await findItem(store, item));
  return item;
}

function checkedItem(kind: ItemKind, fields: ItemFields): CatalogueItem {
  try {
    return readItem(kind, fields);
  } catch (error) {
    if (!(error instanceof CatalogueFault) || error.where === null) throw error;
    throw invalid(error.where.field, error.where.says);
  }
}

/** Whether what it says of other things is so. */
async function checkReferences(
  store: Pick<Store, "account" | "accounts">,
  items: readonly CatalogueItem[],
  item: CatalogueItem,
  before: CatalogueItem | null,
): Promise<void> {
  if (item.kind === "route") {
    const route = fieldsOf<Route>(item);
    const missing = carriersOf(route).find((id) => find(items, { kind: "carrier", id }) === null);
    const field = route.groups === undefined ? "carrier" : "groups";
    const known = items.filter(({ kind }) => kind === "carrier").map(({ id }) => id);
    if (missing !== undefined)
      throw invalid(field, `names "${missing}", which is not there${didYouMean(missing, known)}`);
  }
  if (item.kind === "carrier") {
    const { ratePlan } = fieldsOf<CarrierProfile>(item);
    const plans = items.filter(({ kind }) => kind === "ratePlan").map(({ id }) => id);
    if (ratePlan !== undefined && !plans.includes(ratePlan))
      throw invalid("ratePlan", `names "${ratePlan}", which is not there${didYouMean(ratePlan, plans)}`);
  }
  if (item.kind === "number") {
    const { account: key } = fieldsOf<IncomingNumber>(item);
    const owner = await store.account({ resellerId: null, key });
    if (owner === null || owner.retiredAtMs !== null) throw invalid("account", `names no account: "${key}"`);
  }
  if (item.kind === "ratePlan" && before !== null) await refuseLostPlans(store, [before], [item]);
}

function refuseRouted(items: readonly CatalogueItem[], carrierId: string): void {
  const routes = items.filter(({ kind }) => kind === "route").map((item) => fieldsOf<Route>(item));
  const user = routes.find((route) => carriersOf(route).includes(carrierId));
  if (user !== undefined) throw conflict(`route "${user.prefix || "*"}" goes to carrier "${carrierId}"`);
}

function refuseBoughtBy(items: readonly CatalogueItem[], ratePlanId: string): void {
  const carriers = items.filter(({ kind }) => kind === "carrier").map((item) => fieldsOf<CarrierProfile>(item));
  const user = carriers.find(({ ratePlan }) => ratePlan === ratePlanId);
  if (user !== undefined) throw conflict(`rate plan "${ratePlanId}" has the prices of carrier "${user.id}"`);
}

/**
 * Refuses that a rate plan by which an account pays goes, or changes its currency: the account could not send any more. `before` and `after` may have
 * items of other kinds too. Every kind of account counts: operators and resellers can send as clients do.
 */
export async function refuseLostPlans(
  store: Pick<Store, "accounts">,
  before: readonly CatalogueItem[],
  after: readonly CatalogueItem[],
): Promise<void> {
  const lost = await lostPlans(store, before, currenciesOf(after));
  if (lost.length > 0) throw conflict(lost.join("; "));
}

/** The same as sentences, one for each such plan, with an account that pays by it. `wanted` has the plans that there are to be, with their currencies; null for one that is not known. */
export async function lostPlans(
  store: Pick<Store, "accounts">,
  before: readonly CatalogueItem[],
  wanted: ReadonlyMap<string, string | null>,
): Promise<string[]> {
  const lost = new Map(
    [...currenciesOf(before)].filter(([id, currency]) => wanted.get(id) !== null && wanted.get(id) !== currency),
  );
  const told: string[] = [];
  if (lost.size === 0) return told;
  for await (const { key, ratePlanId, retiredAtMs } of allAccounts(store)) {
    const currency = retiredAtMs === null ? lost.get(ratePlanId) : undefined;
    if (currency === undefined) continue;
    lost.delete(ratePlanId);
    told.push(
      wanted.has(ratePlanId)
        ? `rate plan "${ratePlanId}" is paid in ${currency} by account ${key}`
        : `account ${key} pays by rate plan "${ratePlanId}": give it another one first`,
    );
    if (lost.size === 0) break;
  }
  return told;
}

function currenciesOf(items: readonly CatalogueItem[]): Map<string, string> {
  const plans = items.filter(({ kind }) => kind === "ratePlan");
  return new Map(plans.map((item) => [item.id, fieldsOf<RatePlan>(item).currency]));
}
