/**
 * The rate plans that somebody may give to accounts, and what they cost: each price beside the price that whoever asks pays itself, by its own plan.
 * Both plans have prices by prefix, and a number has the price of its longest prefix. So a row stands for each prefix at which either price may change.
 */
import type { Snapshot } from "../catalogue/snapshot.ts";
import type { Micros } from "../money/amounts.ts";
import { countryOf } from "../sms/countries.ts";
import type { Account } from "../store/port/accounts.ts";
import { unknown } from "./refusal.ts";

/** Who asks, as far as it matters for what things cost it. */
export type PlanReader = Pick<Account, "kind" | "ratePlanId" | "currency">;

/** What we buy at is the operator's to know: a reseller sees no plan of a carrier, unless it pays by the same one, and gives none to anybody. */
export function isOffered(
  snapshot: Snapshot,
  reader: Omit<PlanReader, "currency"> | null,
  ratePlanId: string,
): boolean {
  return reader?.kind !== "reseller" || reader.ratePlanId === ratePlanId || !snapshot.isBuying(ratePlanId);
}

export interface OfferedPlan {
  readonly id: string;
  readonly currency: string;
  /** By which whoever asks pays itself. */
  readonly isOwn: boolean;
  readonly prices: number;
  /** Of a number for which no other prefix has a price; null where such numbers are not sold. */
  readonly defaultPriceMicros: Micros | null;
}

export interface OfferedPrice {
  readonly prefix: string;
  /** ISO 3166-1, two letters; null for a prefix that is not of one country. */
  readonly country: string | null;
  /** Of one part; null where the plan does not sell numbers that begin so. */
  readonly priceMicros: Micros | null;
  /** What whoever asks pays itself, in the currency of its account. */
  readonly ownPriceMicros: Micros | null;
}

/** All plans, in the order of their ids. */
export function offeredPlans(snapshot: Snapshot, reader: PlanReader): OfferedPlan[] {
  return snapshot.ratePlans
    .filter(({ id }) => isOffered(snapshot, reader, id))
    .map(({ id, currency }) => planOf(snapshot, reader, id, currency))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
}

export function offeredPlan(snapshot: Snapshot, reader: PlanReader, id: string): OfferedPlan {
  const currency = snapshot.currencyOf(id);
  if (currency === null || !isOffered(snapshot, reader, id)) throw unknown(`there is no rate plan ${id}`);
  return planOf(snapshot, reader, id, currency);
}

function planOf(snapshot: Snapshot, reader: PlanReader, id: string, currency: string): OfferedPlan {
  return {
    id,
    currency,
    isOwn: id === reader.ratePlanId,
    prices: snapshot.priceCount(id),
    defaultPriceMicros: snapshot.rateOf(id, "")?.value ?? null,
  };
}

export interface PricePage {
  /** The last prefix of the page before. */
  readonly after: string | null;
  readonly limit: number;
}

/** The prices of a plan in the order of their prefixes. */
export function offeredPrices(
  snapshot: Snapshot,
  reader: PlanReader,
  { id }: Pick<OfferedPlan, "id">,
  { after, limit }: PricePage,
): OfferedPrice[] {
  const plans = [...new Set([id, reader.ratePlanId])].map((plan) => snapshot.pricedPrefixes(plan));
  return firstPrefixes(plans, after, limit).map((prefix) => ({
    prefix,
    country: countryOf(prefix),
    priceMicros: snapshot.rateOf(id, prefix)?.value ?? null,
    ownPriceMicros: snapshot.priceFor(reader.ratePlanId, reader.currency, prefix),
  }));
}

/** Out of arrays that are in order, the first so many together: no more of each is looked at, however large a catalogue is. */
function firstPrefixes(plans: readonly (readonly string[])[], after: string | null, limit: number): string[] {
  const candidates = plans.flatMap((prefixes) => {
    const from = after === null ? 0 : firstBeyond(prefixes, after);
    return prefixes.slice(from, from + limit);
  });
  return [...new Set(candidates.sort())].slice(0, limit);
}

/** Where those begin that come after it. */
function firstBeyond(prefixes: readonly string[], after: string): number {
  let low = 0;
  let high = prefixes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (prefixes[middle]! > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
