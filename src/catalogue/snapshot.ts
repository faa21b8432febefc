/** The catalogue as the running service uses it: look-ups by number, ready in memory. Pure; made anew when the store's changes. */
import type { Writing } from "../carriers/smpp/profile.ts";
import { type Micros, parseMicros } from "../money/amounts.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import type { CarrierProfile } from "./carrier-kinds.ts";
import { type ExchangeRate, groupsOf, type RatePlan, type Route } from "./file.ts";

export type { Writing } from "../carriers/smpp/profile.ts";

/** The value of the longest prefix of a number. */
class PrefixTable<Value> {
  readonly #values = new Map<string, Value>();
  #longest = 0;

  set(prefix: string, value: Value): void {
    this.#values.set(prefix, value);
    this.#longest = Math.max(this.#longest, prefix.length);
  }

  find(number: string): Value | null {
    for (let length = Math.min(this.#longest, number.length); length >= 0; length--) {
      const value = this.#values.get(number.slice(0, length));
      if (value !== undefined) return value;
    }
    return null;
  }
}

/** Groups of carriers in order; within a group the traffic is shared by weight. */
type Groups = readonly (readonly { readonly carrier: string; readonly weight?: number }[])[];

export class Snapshot {
  readonly carriers: readonly CarrierProfile[];
  readonly #writings: ReadonlyMap<string, Writing>;
  readonly #routes = new PrefixTable<Groups>();
  readonly #prices = new Map<string, PrefixTable<Micros>>();
  readonly #currencies = new Map<string, string>();
  readonly #exchange = new Map<string, Record<string, Micros>>();

  constructor(items: readonly CatalogueItem[]) {
    const of = <Item>(kind: CatalogueItem["kind"]) =>
      items.filter((item) => item.kind === kind).map((item) => JSON.parse(item.body) as Item);
    this.carriers = of<CarrierProfile>("carrier");
    this.#writings = writingsOf(this.carriers);
    for (const route of of<Route>("route")) this.#routes.set(route.prefix, groupsOf(route));
    for (const plan of of<RatePlan>("ratePlan")) {
      const prices = new PrefixTable<Micros>();
      for (const { prefix, price } of plan.rate) prices.set(prefix, parseMicros(price)!);
      this.#prices.set(plan.id, prices);
      this.#currencies.set(plan.id, plan.currency);
    }
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

  /** How texts and senders are written for a carrier: the same object for all that do it alike, and undefined for one that takes any. */
  writingOf(carrierId: string): Writing | undefined {
    return this.#writings.get(carrierId);
  }

  /** What one part to this number costs on a rate plan, or null where it is not sold in that currency. */
  priceFor(ratePlanId: string, currency: string, number: string): Micros | null {
    if (this.#currencies.get(ratePlanId) !== currency) return null;
    return this.#prices.get(ratePlanId)?.find(number) ?? null;
  }

  /** The currency in which a rate plan's prices are, or null where there is no such plan. */
  currencyOf(ratePlanId: string): string | null {
    return this.#currencies.get(ratePlanId) ?? null;
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
    if (profile.kind !== "smpp") continue;
    const { alphabet = "gsm", missingLetters = "transliterate", nameAlphabet = "latin1" } = profile;
    const name = `${alphabet}, ${missingLetters}, ${nameAlphabet}`;
    const writing = alike.get(name) ?? { alphabet, missingLetters, nameAlphabet };
    alike.set(name, writing);
    byCarrier.set(profile.id, writing);
  }
  return byCarrier;
}
