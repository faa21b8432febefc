/** How a change is printed: field by field, amounts with their currency, and of a price list the prices that change. */
import { isCarrierSecret } from "../store/port/secrets.ts";
import { type Difference, differenceLine, differences, printable, written } from "./show.ts";

type Fields = Readonly<Record<string, unknown>>;
interface Rate {
  readonly prefix: string;
  readonly price: string;
}

/** Fields of accounts that are amounts, in the account's currency. */
const AMOUNTS: ReadonlySet<string> = new Set(["creditLimit", "openingBalance", "balance"]);

/** Lines that say what is different. */
export function changeLines(before: Fields, after: Fields): string[] {
  return linesOf(differences(before, after), currencyOf(after) ?? currencyOf(before));
}

/** The same of differences that are known. */
export function linesOf(changes: readonly Difference[], currency: string | null): string[] {
  return changes.flatMap((one) => {
    if (isCarrierSecret(one.field)) return [`${one.field}: ${one.after === undefined ? "none" : "another one"}`];
    if (isRates(one.before) && isRates(one.after)) return priceLines(one.before, one.after, currency);
    return [
      differenceLine({ ...one, before: worded(one, one.before, currency), after: worded(one, one.after, currency) }),
    ];
  });
}

export function currencyOf({ currency }: Fields): string | null {
  return typeof currency === "string" ? currency : null;
}

/** "0.01 EUR" */
function withCurrency(amount: unknown, currency: string | null): string {
  return `${String(amount)}${currency === null ? "" : ` ${currency}`}`;
}

function worded({ field }: Difference, value: unknown, currency: string | null): unknown {
  if (value === undefined || value === null) return value;
  if (AMOUNTS.has(field)) return withCurrency(value, currency);
  if (field !== "alert" || typeof value !== "object") return value;
  const { below, url } = value as Fields;
  return `below ${withCurrency(below, currency)} to ${String(url)}`;
}

function isRates(value: unknown): value is readonly Rate[] {
  return (
    Array.isArray(value) && value.every((rate) => typeof rate?.prefix === "string" && typeof rate.price === "string")
  );
}

/** A plan may have thousands of prices: those that change are told one by one. */
function priceLines(before: readonly Rate[], after: readonly Rate[], currency: string | null): string[] {
  const byPrefix = (rates: readonly Rate[]) =>
    Object.fromEntries(rates.map(({ prefix, price }) => [`price of ${prefix || "*"}`, withCurrency(price, currency)]));
  const lines = differences(byPrefix(before), byPrefix(after)).map(differenceLine);
  return lines.length === 0 ? ["the order of its prices"] : lines;
}

/** Prices that the summary of a plan has. */
const MAX_PRICES = 10;

/** All fields in a line: "id gold, currency EUR, price of * 0.01 EUR". */
export function summaryOf(fields: Fields): string {
  const currency = currencyOf(fields);
  return Object.entries(fields)
    .map(([name, value]) => (name === "rate" && isRates(value) ? prices(value, currency) : `${name} ${written(value)}`))
    .join(", ");
}

function prices(rates: readonly Rate[], currency: string | null): string {
  const shown = rates
    .slice(0, MAX_PRICES)
    .map(({ prefix, price }) => `price of ${prefix || "*"} ${withCurrency(price, currency)}`);
  const more = rates.length - shown.length;
  return printable([...shown, ...(more > 0 ? [`and ${more} more prices`] : [])].join(", "));
}
