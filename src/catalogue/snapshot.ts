/** The catalogue as the running service uses it: look-ups by number, ready in memory. Pure; made anew when the store's changes. */
import type { Writing } from "../carriers/smpp/profile.ts";
import { type Micros, parseMicros } from "../money/amounts.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { type CarrierProfile, kindOf } from "./carrier-kinds.ts";
import { type ExchangeRate, groupsOf, type RatePlan, type Route } from "./file.ts";
import type { IncomingNumber } from "./numbers.ts";

export type { Writing } from "../carriers/smpp/profile.ts";

/** The value of the longest prefix of a number. */
class PrefixTable<Value> {
  readonly #values = new Map<string, Value>();
  #longest = 0;
  #sorted: readonly string[] | null = null;

  set(prefix: string, value: Value): void {
    this.#values.set(prefix, value);
    this.#sorted = null;
    this.#longest = Math.max(this.#longest, prefix.length);
  }

  find(number: string): Value | null {
    for (let length = Math.min(this.#longest, number.length); length >= 0; length--) {
      const value = this.#values.get(number.slice(0, length));
      if (value !== undefined) return value;
    }
    return null;
  }

  get longest(): number {
    return this.#longest;
  }

  get size(): number {
    return this.#values.size;
  }

  /** In order. Sorted when they are first asked for: most tables never are. */
  get prefixes(): readonly string[] {
    this.#sorted ??= [...this.#values.keys()].sort();
    return this.#sorted;
  }

  /** The same with the prefix, for whoever asks why. */
  explain(number: string): Fitting<Value> | null {
    for (let length = Math.min(this.#longest, number.length); length >= 0; length--) {
      const prefix = number.slice(0, length);
      const value = this.#values.get(prefix);
      if (value !== undefined) return { prefix, value };
    }
    return null;
  }
}

/** What the longest prefix of a number says of it. */
interface Fitting<Value> {
  readonly prefix: string;
  readonly value: Value;
}

/** Groups of carriers in order; within a group the traffic is shared by weight. */
export type Groups = readonly (readonly { readonly carrier: string; readonly weight?: number }[])[];

export class Snapshot {
  readonly carriers: readonly CarrierProfile[];
  readonly #writings: ReadonlyMap<string, Writing>;
  readonly #routes = new PrefixTable<Groups>();
  readonly #prices = new Map<string, PrefixTable<Micros>>();
  readonly #currencies = new Map<string, string>();
  /** Rate plans by which we buy from carriers. */
  readonly #buying: ReadonlySet<string>;
  /** By account. */
  readonly #numbers: Readonly<Record<string, readonly IncomingNumber[] | undefined>>;
  readonly #exchange = new Map<string, Record<string, Micros>>();
  /** The account's key by its number. */
  readonly #owners: ReadonlyMap<string, string>;

  constructor(items: readonly CatalogueItem[]) {
    const of = <Item>(kind: CatalogueItem["kind"]) =>
      items.filter((item) => item.kind === kind).map((item) => JSON.parse(item.body) as Item);
    this.carriers = of<CarrierProfile>("carrier");
    this.#writings = writingsOf(this.carriers);
    this.#buying = new Set(this.carriers.flatMap(({ ratePlan }) => (ratePlan === undefined ? [] : [ratePlan])));
    for (const route of of<Route>("route")) this.#routes.set(route.prefix, groupsOf(route));
    for (const plan of of<RatePlan>("ratePlan")) {
      const prices = new PrefixTable<Micros>();
      for (const { prefix, price } of plan.rate) prices.set(prefix, parseMicros(price)!);
      this.#prices.set(plan.id, prices);
      this.#currencies.set(plan.id, plan.currency);
    }
    const numbers = of<IncomingNumber>("number");
    this.#numbers = Object.groupBy(numbers, ({ account }) => account);
    this.#owners = new Map(numbers.map(({ number, account }) => [number, account]));
    for (const { from, to, rate } of of<ExchangeRate>("exchangeRate")) {
      this.#exchange.set(from, { ...this.#exchange.get(from), [to]: parseMicros(rate)! });
    }
  }

  /**
   * The carrier that serves a number, or null: one of the first group that has any that is usable, by weight. `chance` is a number
   * from 0 up to 1.
   */
  carrierFor(number: string, chance: number, usable: (carrierId: string) => boolean = () => true): string | null {
    for (const group of this.#routes.find(number) ?? []) {
      const candidates = group.filter(({ carrier }) => usable(carrier));
      let share = chance * candidates.reduce((sum, { weight = 1 }) => sum + weight, 0);
      for (const { carrier, weight = 1 } of candidates) {
        share -= weight;
        if (share < 0) return carrier;
      }
    }
    return null;
  }

  /** The route of a number, or null where it has none. */
  routeOf(number: string): Fitting<Groups> | null {
    return this.#routes.explain(number);
  }

  /** The price of a part to a number on a rate plan, whatever its currency; null where it is not sold. */
  rateOf(ratePlanId: string, number: string): Fitting<Micros> | null {
    return this.#prices.get(ratePlanId)?.explain(number) ?? null;
  }

  /** The prefixes for which a rate plan has prices, in order: the same array each time. */
  pricedPrefixes(ratePlanId: string): readonly string[] {
    return this.#prices.get(ratePlanId)?.prefixes ?? [];
  }

  /** How many those are. */
  priceCount(ratePlanId: string): number {
    return this.#prices.get(ratePlanId)?.size ?? 0;
  }

  /** Digits of the longest of those. */
  longestPrefix(ratePlanId: string): number {
    return this.#prices.get(ratePlanId)?.longest ?? 0;
  }

  /** How texts and senders are written for a carrier: the same object for all that do it alike, and undefined for one that takes any. */
  writingOf(carrierId: string): Writing | undefined {
    return this.#writings.get(carrierId);
  }

  /** What one part to this number costs on a rate plan, or null where it is not sold in that currency. */
  priceFor(ratePlanId: string, currency: string, number: string): Micros | null {
    if (this.#currencies.get(ratePlanId) !== currency) return null;
    return this.#prices.get(ratePlanId)?.find(number) ?? null;
  }

  /** Every rate plan with its currency. */
  get ratePlans(): { readonly id: string; readonly currency: string }[] {
    return [...this.#currencies].map(([id, currency]) => ({ id, currency }));
  }

  /** Whether a rate plan has what a carrier asks of us. */
  isBuying(ratePlanId: string): boolean {
    return this.#buying.has(ratePlanId);
  }

  /** The currency in which a rate plan's prices are, or null where there is no such plan. */
  currencyOf(ratePlanId: string): string | null {
    return this.#currencies.get(ratePlanId) ?? null;
  }

  /** The key of the account that has a number, or null. */
  ownerOf(number: string): string | null {
    return this.#owners.get(number) ?? null;
  }

  /** The numbers to which phones write for an account. */
  numbersOf(accountKey: string): string[] {
    return (this.#numbers[accountKey] ?? []).map(({ number }) => number);
  }

  /** Units of each other currency for one unit of `currency`. */
  exchangeRates(currency: string): Readonly<Record<string, Micros>> {
    return this.#exchange.get(currency) ?? {};
  }
}

function writingsOf(carriers: readonly CarrierProfile[]): Map<string, Writing> {
  const byCarrier = new Map<string, Writing>();
  const alike = new Map<string, Writing>();
  for (const profile of carriers) {
    const own = kindOf(profile).writing(profile);
    if (own === null) continue;
    const name = Object.values(own).join();
    const writing = alike.get(name) ?? own;
    alike.set(name, writing);
    byCarrier.set(profile.id, writing);
  }
  return byCarrier;
}
