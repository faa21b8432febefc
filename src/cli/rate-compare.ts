/** `heliograph rate compare`: what the messages of a period would have cost on the price list of each carrier. */
import type { Command } from "commander";
import { allAccounts } from "../admin/all-accounts.ts";
import {
  type Amounts,
  type Counts,
  comparePrices,
  type PriceComparison,
  type PricedLine,
} from "../admin/price-comparison.ts";
import { Snapshot } from "../catalogue/snapshot.ts";
import { formatMicros, money } from "../money/amounts.ts";
import { systemClock } from "../runtime/clock.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { prefixOf } from "./catalogue-items.ts";
import { type Column, counted, type JsonOption, printable, showJson, showTable } from "./show.ts";
import { periodOf } from "./statement-of-all.ts";
import { accountNamed, CommandFault, type CommonOptions, jsonCommand, onStore, say } from "./support.ts";

interface CompareOptions extends CommonOptions, JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly prefix?: string;
  readonly countries?: boolean;
}

const DAY_MS = 86_400_000;

export function rateCompareCommand(): Command {
  return jsonCommand(
    "compare",
    "Say what the messages of a period would have cost on the price list of each carrier (the rate plan that it names), beside what they were sold for. Counted are those that a carrier took, by when they were sent.",
    "heliograph rate compare --from 2026-10-01 --to 2026-11-01",
    "heliograph rate compare --prefix 41 --account ACME",
  )
    .option("--from <time>", "a day, or a moment with its offset (default: the beginning of this month)")
    .option("--to <time>", "the same (default: now)")
    .option("--account <key>", "of this account alone (default: all)")
    .option("--prefix <digits>", "to numbers that begin so (default: all)")
    .option("--countries", "a row for each country, and not the sums alone")
    .action(compare);
}

async function compare(options: CompareOptions): Promise<void> {
  const nowMs = systemClock.now();
  const { sinceMs, untilMs } = periodOf(options);
  const prefix = options.prefix === undefined ? "" : prefixOf(options.prefix);
  const { comparison, keptMs } = await onStore(options, async (store, { store: { retentionDays } }) => {
    const snapshot = new Snapshot(await store.catalogue());
    const accounts = options.account === undefined ? allAccounts(store) : [await accountNamed(store, options.account)];
    return {
      comparison: await comparePrices(store, snapshot, accounts, { sinceMs, untilMs, prefix }),
      // What was sent after this has not been deleted yet: it counts from the end of a message.
      keptMs: retentionDays === 0 ? null : nowMs - retentionDays * DAY_MS,
    };
  });
  if (comparison.carriers.length === 0)
    throw new CommandFault(
      'no carrier has prices: "heliograph rate set" makes a rate plan of them, and "heliograph carrier set ID ratePlan=PLAN" names it',
    );
  const [from, to] = [formatDateTime(sinceMs), formatDateTime(untilMs)];
  const keptFrom = keptMs === null || keptMs <= sinceMs ? null : formatDateTime(keptMs);
  if (options.json === true) showJson({ from, to, keptFrom, ...shown(comparison) });
  else show(comparison, { title: `From ${from} to ${to}`, keptFrom, byCountry: options.countries === true });
}

function shownAmounts(amounts: Amounts) {
  return [...amounts].sort().map(([currency, micros]) => ({ currency, amount: formatMicros(micros) }));
}

function shownLine({ messages, parts, costMicros, sold, unpriced }: PricedLine) {
  return { messages, parts, cost: formatMicros(costMicros), sold: shownAmounts(sold), unpriced };
}

function shown({ all, asSent, carriers, withoutPrices }: PriceComparison) {
  return {
    messages: all.messages,
    parts: all.parts,
    sold: shownAmounts(all.sold),
    asSent: { cost: shownAmounts(asSent.cost), unpriced: asSent.unpriced },
    carriers: carriers.map(({ id, ratePlan, currency, total, countries }) => ({
      ...{ carrier: id, ratePlan, currency },
      ...shownLine(total),
      countries: inOrder(countries).map(([country, line]) => ({ country: country || null, ...shownLine(line) })),
    })),
    withoutPrices,
  };
}

/** Numbers of no country are the last. */
function inOrder(countries: ReadonlyMap<string, PricedLine>): [country: string, line: PricedLine][] {
  const place = (country: string): string => country || "~";
  return [...countries].sort(([one], [other]) => (place(one) < place(other) ? -1 : 1));
}

interface Row {
  readonly carrier: string;
  readonly ratePlan: string;
  readonly country: string;
  readonly currency: string;
  readonly line: PricedLine;
}

const NAME: readonly Column<Row>[] = [
  { title: "CARRIER", of: ({ carrier }) => carrier },
  { title: "RATE PLAN", of: ({ ratePlan }) => ratePlan },
];
const COUNTRY: Column<Row> = { title: "COUNTRY", of: ({ country }) => country || "none" };
const FIGURES: readonly Column<Row>[] = [
  { title: "MESSAGES", of: ({ line }) => line.messages, right: true },
  { title: "PARTS", of: ({ line }) => line.parts, right: true },
  { title: "WOULD COST", of: ({ line, currency }) => money(line.costMicros, currency), right: true },
  { title: "SOLD FOR", of: ({ line }) => amountWords(line.sold), right: true },
  { title: "NO PRICE", of: ({ line }) => line.unpriced.messages, right: true },
];

/** "4.5 EUR, 2 USD" */
function amountWords(amounts: Amounts): string {
  const words = shownAmounts(amounts).map(({ currency, amount }) => `${amount} ${currency}`);
  return words.join(", ") || "nothing";
}

function countWords({ messages, parts }: Counts): string {
  return `${counted(messages, "message")}, ${counted(parts, "part")}`;
}

interface Heading {
  readonly title: string;
  readonly keptFrom: string | null;
  readonly byCountry: boolean;
}

function show(
  { all, asSent, carriers, withoutPrices }: PriceComparison,
  { title, keptFrom, byCountry }: Heading,
): void {
  say(`${title}: ${countWords(all)}, sold for ${amountWords(all.sold)}.`);
  if (keptFrom !== null) say(`Messages are kept for a time: of those sent before ${keptFrom} some may be deleted.`);
  if (asSent.cost.size > 0) say(`As they went they cost ${amountWords(asSent.cost)}.`);
  if (asSent.unpriced.messages > 0)
    say(`Not in that: ${countWords(asSent.unpriced)}, for which the carrier that took them has no price.`);
  say("");
  const rows = carriers.flatMap(({ id, ratePlan, currency, total, countries }): Row[] => {
    const row = { carrier: id, ratePlan, currency };
    const split = byCountry ? inOrder(countries) : [];
    return [...split.map(([country, line]) => ({ ...row, country, line })), { ...row, country: "all", line: total }];
  });
  showTable([...NAME, ...(byCountry ? [COUNTRY] : []), ...FIGURES], rows);
  if (withoutPrices.length > 0)
    say(printable(`Without a rate plan, and so not compared: ${withoutPrices.join(", ")}.`));
}
