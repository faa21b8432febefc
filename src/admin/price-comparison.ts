/**
 * What the messages of a period would have cost on the price list of each carrier: its rate plan (`ratePlan` of its profile). Counted are the messages that
 * a carrier took, by when they were sent, with the parts that we counted and what their accounts were charged. A message for which a list has no price is
 * counted apart, and never as one that costs nothing; amounts of different currencies are never added up.
 *
 * Messages are read in pages, and what is kept are sums by carrier and country: however long a period is, it needs no more memory.
 */
import type { Snapshot } from "../catalogue/snapshot.ts";
import type { Micros } from "../money/amounts.ts";
import type { SentPosition, SentTraffic } from "../money/postings.ts";
import type { Store } from "../store/port/store.ts";

/** Messages from one command: other commands wait for it. */
const PAGE_MESSAGES = 1_000;

export interface Counts {
  messages: number;
  parts: number;
}

/** By currency. */
export type Amounts = Map<string, Micros>;

/** Of one carrier: what its list says of messages, whoever carried them. */
export interface PricedLine extends Counts {
  costMicros: Micros;
  /** What the accounts were charged for these. */
  readonly sold: Amounts;
  /** Those that the list has no price for; they are in none of the figures above. */
  readonly unpriced: Counts;
}

export interface ComparedCarrier {
  readonly id: string;
  readonly ratePlan: string;
  readonly currency: string;
  readonly total: PricedLine;
  /** By ISO 3166-1, "" for numbers that begin like none. */
  readonly countries: Map<string, PricedLine>;
}

export interface PriceComparison {
  /** All messages of the period, with what they were sold for. */
  readonly all: Counts & { readonly sold: Amounts };
  /** What they cost as they went, each on the list of the carrier that took it; `unpriced` are those for which that has no price. */
  readonly asSent: { readonly cost: Amounts; readonly unpriced: Counts };
  readonly carriers: readonly ComparedCarrier[];
  /** Carriers that name no rate plan. */
  readonly withoutPrices: readonly string[];
}

export interface ComparedTraffic {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Numbers that begin so; "" for all. */
  readonly prefix: string;
}

export async function comparePrices(
  store: Pick<Store, "sentTraffic">,
  snapshot: Snapshot,
  accounts: AsyncIterable<{ readonly id: number }> | Iterable<{ readonly id: number }>,
  period: ComparedTraffic,
): Promise<PriceComparison> {
  const sums = new Sums(snapshot);
  for await (const { id: accountId } of accounts) {
    let after: SentPosition | null = null;
    do {
      const range = { ...period, accountId, after, limit: PAGE_MESSAGES, digits: sums.digits };
      const page: Awaited<ReturnType<Store["sentTraffic"]>> = await store.sentTraffic(range);
      for (const traffic of page.traffic) sums.add(traffic);
      after = page.next;
    } while (after !== null);
  }
  return sums;
}

class Sums implements PriceComparison {
  readonly all = { messages: 0, parts: 0, sold: new Map<string, Micros>() };
  readonly asSent = { cost: new Map<string, Micros>(), unpriced: { messages: 0, parts: 0 } };
  readonly carriers: readonly ComparedCarrier[];
  readonly withoutPrices: readonly string[];
  /** As many digits of a number as any of the lists looks at. */
  readonly digits: number;
  readonly #snapshot: Snapshot;

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    const profiles = snapshot.carriers.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    this.carriers = profiles.flatMap(({ id, ratePlan }) => {
      const currency = ratePlan === undefined ? null : snapshot.currencyOf(ratePlan);
      if (ratePlan === undefined || currency === null) return [];
      return [{ id, ratePlan, currency, total: newLine(), countries: new Map() }];
    });
    const priced = new Set(this.carriers.map(({ id }) => id));
    this.withoutPrices = profiles.map(({ id }) => id).filter((id) => !priced.has(id));
    this.digits = this.carriers.reduce((most, { ratePlan }) => Math.max(most, snapshot.longestPrefix(ratePlan)), 0);
  }

  add(traffic: SentTraffic): void {
    const { begins, country, carrierId, currency, amountMicros } = traffic;
    count(this.all, traffic);
    addTo(this.all.sold, currency, amountMicros);
    let isPricedAsSent = false;
    for (const carrier of this.carriers) {
      const price = this.#snapshot.rateOf(carrier.ratePlan, begins)?.value ?? null;
      const line = carrier.countries.get(country ?? "") ?? newLine();
      carrier.countries.set(country ?? "", line);
      for (const each of [carrier.total, line]) addLine(each, traffic, price);
      if (carrier.id !== carrierId || price === null) continue;
      addTo(this.asSent.cost, carrier.currency, price * BigInt(traffic.parts));
      isPricedAsSent = true;
    }
    if (!isPricedAsSent) count(this.asSent.unpriced, traffic);
  }
}

function newLine(): PricedLine {
  return { messages: 0, parts: 0, costMicros: 0n, sold: new Map(), unpriced: { messages: 0, parts: 0 } };
}

function addLine(line: PricedLine, traffic: SentTraffic, price: Micros | null): void {
  if (price === null) {
    count(line.unpriced, traffic);
    return;
  }
  count(line, traffic);
  line.costMicros += price * BigInt(traffic.parts);
  addTo(line.sold, traffic.currency, traffic.amountMicros);
}

function count(counts: Counts, { messages, parts }: SentTraffic): void {
  counts.messages += messages;
  counts.parts += parts;
}

function addTo(amounts: Amounts, currency: string, amountMicros: Micros): void {
  amounts.set(currency, (amounts.get(currency) ?? 0n) + amountMicros);
}
