/** Accounts: made, changed, suspended and retired, by an operator or by the reseller whose clients they are. */
import { given } from "../runtime/given.ts";
import { Networks, parseNetwork } from "../runtime/networks.ts";
import { publicId, webhookSecret } from "../runtime/random.ts";
import { ACCOUNT_KEY_SAYS, isAccountKey, isUsername, MAX_RESELLER_KEY } from "../store/names.ts";
import type { AccountChange, AccountKind, ManagedAccount, NewAccount } from "../store/port/accounts.ts";
import type { Store } from "../store/port/store.ts";
import { checkedSettlement, type RetireOrder, settlementRefused } from "./account-funds.ts";
import { type AccountSettings, checkedSettings } from "./account-settings.ts";
import { boundedCaller, checkGivesCredentials, checkNoWider, givesCredentials } from "./bounds.ts";
import { amountIn, checkText, livingAccount, type Manager, managedAccount, signed, tenantOf } from "./manager.ts";
import { passwordFrom } from "./passwords.ts";
import { conflict, forbidden, invalid, outdated, unknownAccount } from "./refusal.ts";
import { checkLimits, checkMayResell, checkNames, creationRefused, type ResellerSettings } from "./reselling.ts";

export interface AccountParts {
  readonly store: Pick<Store, "account" | "findLogin" | "createAccount" | "changeAccount" | "catalogue">;
  /** The currency of a rate plan; null for one that does not exist. */
  /** Null where there is no such plan, as far as whoever asks may know. */
  readonly currencyOf: (ratePlan: string, manager: Manager) => Promise<string | null>;
  readonly hashPassword: (password: string) => Promise<string>;
  readonly settings: ResellerSettings;
}

export interface AccountOrder extends AccountSettings {
  /** Made up unless given. */
  readonly key?: string;
  readonly kind?: AccountKind;
  /** The key of the reseller whose client it is. */
  readonly parent?: string;
  /** That of the rate plan unless given. */
  readonly currency?: string;
  readonly ratePlan: string;
  readonly openingBalance?: number | string;
  readonly username: string;
  /** Made up unless given. */
  readonly password?: string;
}

export interface CreatedAccount {
  readonly account: ManagedAccount;
  /** Null where it was given, and where whoever made the account may not know it. */
  readonly madeUpPassword: string | null;
  readonly callbackSecret: string;
}

export interface AccountChangeOrder extends AccountSettings {
  readonly ratePlan?: string;
  readonly suspended?: boolean;
}

const KEY_BYTES = 8;
const FIRST_OPERATOR = { key: "OPERATOR1", kind: "operator", ratePlan: "standard", currency: "EUR" } as const;

// --- Making ------------------------------------------------------------------------------------------------------------------

export async function createAccount(
  parts: AccountParts,
  manager: Manager,
  order: AccountOrder,
): Promise<CreatedAccount> {
  const { kind = "client", currency = null, ratePlan } = order;
  checkKey(order.key, kind);
  checkUsername(order.username);
  checkNames(manager, order.key, order.username);
  if (currency !== null && !/^[A-Z]{3}$/.test(currency))
    throw invalid("currency", "must be an ISO 4217 code such as EUR");
  const { limits } = checkedSettings(order);
  checkLimits(manager, parts.settings, limits);
  if (kind === "operator") checkNotByKey(manager);
  if (order.password !== undefined) {
    checkMayResell(manager, parts.settings, "clientPasswords");
    checkGivesCredentials(manager, "password");
  }
  const parentKey = await parentOf(parts.store, manager, kind, order.parent ?? null);
  const planCurrency = await checkedPlan(parts, manager, ratePlan, currency);
  return made(parts, manager, order, { parentKey, currency: planCurrency });
}

/** The first operator comes before the catalogue, and so before the rate plan. */
export function createFirstOperator(parts: AccountParts, manager: Manager, username: string): Promise<CreatedAccount> {
  checkUsername(username);
  const { currency } = FIRST_OPERATOR;
  return made(parts, manager, { ...FIRST_OPERATOR, username }, { parentKey: null, currency });
}

async function made(
  { store, hashPassword }: AccountParts,
  manager: Manager,
  order: AccountOrder,
  place: Pick<NewAccount, "parentKey" | "currency">,
): Promise<CreatedAccount> {
  const { key = publicId(KEY_BYTES).toUpperCase(), kind = "client", username, ratePlan, openingBalance = 0 } = order;
  const { creditLimitMicros = 0n, defaultSender = null, retryMinutes, ...settings } = checkedSettings(order);
  const openingBalanceMicros = amountIn(openingBalance, "openingBalance");
  const password = passwordFrom(order.password);
  const callbackSecret = webhookSecret();
  const creation = await store.createAccount({
    ...settings,
    ...(retryMinutes === undefined || retryMinutes === null ? {} : { retryMinutes }),
    ...place,
    key,
    kind,
    ratePlanId: ratePlan,
    defaultSender,
    creditLimitMicros,
    openingBalanceMicros,
    callbackSecret,
    username,
    passwordHash: await hashPassword(password.text),
    byReseller: tenantOf(manager).resellerId !== null,
    ...signed(manager),
  });
  if (creation.kind !== "created") throw await creationRefused(store, manager, creation, { key, username });
  const account = await managedAccount(store, manager, key);
  // Whoever may give nobody a password is not told this one either: nobody is, and another one is set when it is needed.
  const isTold = password.madeUp && givesCredentials(manager);
  return { account, madeUpPassword: isTold ? password.text : null, callbackSecret };
}

function checkKey(key: string | undefined, kind: AccountKind): void {
  if (key === undefined) return;
  if (!isAccountKey(key)) throw invalid("key", ACCOUNT_KEY_SAYS);
  if (kind === "reseller" && key.length > MAX_RESELLER_KEY)
    throw invalid("key", `must be at most ${MAX_RESELLER_KEY} characters long for a reseller`);
}

function checkUsername(username: string): void {
  if (!isUsername(username)) throw invalid("username", "must be 1 to 64 characters without spaces and colons");
  checkText("username", username);
}

/** Whoever has an operator's password may do more than any API key, and for longer. */
function checkNotByKey(manager: Manager): void {
  const caller = boundedCaller(manager);
  if (caller !== null) throw forbidden(`${caller} makes no operators`);
}

/** Under whom a new account stands. A reseller makes clients, of its own. */
async function parentOf(
  store: AccountParts["store"],
  { account: caller }: Manager,
  kind: AccountKind,
  parent: string | null,
): Promise<string | null> {
  if (caller?.kind === "reseller") {
    if (kind !== "client") throw forbidden("a reseller makes clients only");
    if (parent !== null && parent !== caller.key) throw invalid("parent", "must be your own key, or left out");
    return caller.key;
  }
  if (parent === null) return null;
  if (kind !== "client") throw invalid("parent", "is for clients: only they belong to a reseller");
  const reseller = await store.account({ resellerId: null, key: parent });
  if (reseller === null) throw invalid("parent", `names no reseller: there is no "${parent}"`);
  if (reseller.kind !== "reseller") throw invalid("parent", `names "${parent}", which is no reseller`);
  if (reseller.retiredAtMs !== null) throw invalid("parent", `names no reseller: "${parent}" is retired`);
  return parent;
}

/** The plan's currency. A plan in another one than the account's has no price for it. */
async function checkedPlan(
  { store, currencyOf }: Pick<AccountParts, "store" | "currencyOf">,
  manager: Manager,
  ratePlan: string,
  currency: string | null,
): Promise<string> {
  const known = await currencyOf(ratePlan, manager);
  // Whoever has set up no prices yet has named no plan either: what is missing is the step before.
  if (known === null && !(await store.catalogue()).some(({ kind }) => kind === "ratePlan"))
    throw conflict(
      'there is no rate plan yet: "heliograph apply FILE" sets carriers, routes and prices, and comes first',
    );
  if (known === null) throw invalid("ratePlan", `names no rate plan: there is no "${ratePlan}"`);
  if (currency !== null && known !== currency)
    throw invalid("ratePlan", `has prices in ${known}, and the account is in ${currency}`);
  return known;
}

// --- Seeing ------------------------------------------------------------------------------------------------------------------

export interface AccountFilter extends Omit<Parameters<Store["accounts"]>[0], "resellerId"> {
  /** Clients of this reseller. */
  readonly parent: string | null;
}

export async function listAccounts(
  store: Pick<Store, "account" | "accounts">,
  manager: Manager,
  { parent, ...filter }: AccountFilter,
): Promise<ManagedAccount[]> {
  const tenant = tenantOf(manager);
  if (parent === null || (tenant.resellerId !== null && parent === manager.account?.key))
    return store.accounts({ ...tenant, ...filter });
  const reseller = tenant.resellerId === null ? await store.account({ ...tenant, key: parent }) : null;
  return reseller === null ? [] : store.accounts({ resellerId: reseller.id, ...filter });
}

// --- Changing ----------------------------------------------------------------------------------------------------------------

/** Changes the version that was seen; null for any. What is not named stays as it is. */
export async function changeAccount(
  parts: AccountParts,
  manager: Manager,
  { key, version }: SeenAccount,
  order: AccountChangeOrder,
): Promise<ManagedAccount> {
  const { ratePlan, suspended, allowedAddresses = null } = order;
  const settings = checkedSettings(order);
  checkNotOwnKey(manager, key);
  const { currency, limits, allowedAddresses: networks } = await livingAccount(parts.store, manager, key);
  if (settings.allowedAddresses !== undefined) checkNoWider(manager, networks, settings.allowedAddresses);
  checkLimits(manager, parts.settings, settings.limits, limits);
  if (ratePlan !== undefined) await checkedPlan(parts, manager, ratePlan, currency);
  if (suspended === true) checkNotSelf(manager, key);
  if (allowedAddresses !== null) checkStillHere(manager, key, allowedAddresses);
  const change = { ...settings, ...given({ ratePlanId: ratePlan, suspended }) };
  return changed(parts, manager, { key, version }, change);
}

/** For good: nobody can use it any more, and what it did stays on record. If it has money, `order` says where that goes. */
export async function retireAccount(
  parts: Pick<AccountParts, "store">,
  manager: Manager,
  { key, version }: SeenAccount,
  order: RetireOrder = {},
): Promise<ManagedAccount> {
  const settlement = checkedSettlement(order);
  checkNotOwnKey(manager, key);
  await livingAccount(parts.store, manager, key);
  checkNotSelf(manager, key);
  return changed(parts, manager, { key, version }, { retired: true, ...(settlement === null ? {} : { settlement }) });
}

export interface SeenAccount {
  readonly key: string;
  readonly version: number | null;
}

async function changed(
  { store }: Pick<AccountParts, "store">,
  manager: Manager,
  seen: SeenAccount,
  change: AccountChange,
): Promise<ManagedAccount> {
  const outcome = await store.changeAccount({ ...tenantOf(manager), ...seen, change, ...signed(manager) });
  switch (outcome.kind) {
    case "changed":
      return outcome.account;
    case "unknown":
      throw unknownAccount(seen.key);
    case "outdated":
      throw outdated(`account ${seen.key}`, outcome.account);
    case "owes more":
      throw conflict("the account owes more than this credit limit allows", "creditLimit");
    case "holds money":
    case "no heir":
      throw settlementRefused(outcome, change.settlement ?? null, await managedAccount(store, manager, seen.key));
  }
}

/** Whoever shuts itself out cannot undo it. */
function checkNotSelf({ account }: Manager, key: string): void {
  if (account?.key === key) throw conflict("you cannot suspend or retire yourself");
}

/** What an API key may do ends with it, and with its scopes. What it did to its own account would not. */
function checkNotOwnKey(manager: Manager, key: string): void {
  const caller = boundedCaller(manager);
  if (caller !== null && manager.account!.key === key)
    throw forbidden(`${caller} does not change the account that it is of`);
}

function checkStillHere({ account, by: { address } }: Manager, key: string, addresses: readonly string[]): void {
  if (account?.key !== key || address === null) return;
  const networks = new Networks(addresses.map((text) => parseNetwork(text)!));
  if (!networks.has(address))
    throw conflict(`you would shut yourself out: ${address} is not among them`, "allowedAddresses");
}
