/** A reseller gives a client money, or takes it with a negative amount. The fields have the names of the API, which has always spelled `ammount` so. */
import { MAX_AMOUNT, type Micros, parseMicros } from "../money/amounts.ts";
import { ACCOUNT_KEY_SAYS, isAccountKey } from "../store/names.ts";
import type { Funding } from "../store/port/money.ts";
import type { Store } from "../store/port/store.ts";
import { invalid, unknownAccount } from "./refusal.ts";

const MAX_DESCRIPTION = 255;

/** Fields as they came: nothing is known of their names or values. */
type FundsFields = Readonly<Record<string, unknown>>;

type Funds = Pick<Funding, "accountKey" | "amountMicros" | "currency" | "description">;

/** Both spellings of the currency are on the wire: the contract's, and that of a client of the older family. */
const CURRENCY_NAMES = ["currencycode", "currencyCode"] as const;
/** Some clients put who they are beside every request. It is not read here. */
const CREDENTIALS = ["username", "password"];
const KNOWN = new Set(["accountKey", "ammount", "description", ...CURRENCY_NAMES, ...CREDENTIALS]);
/** What people write who do not know how the field is spelled. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ["amount", "ammount"],
  ["currency", "currencycode"],
]);

/** A field that nobody reads could have said what the amount is an amount of. So it is refused, and nothing is booked. */
function refuseUnknown(fields: FundsFields): void {
  const name = Object.keys(fields).find((each) => !KNOWN.has(each));
  if (name === undefined) return;
  const meant = MEANT.get(name);
  throw invalid(name, meant === undefined ? "is not known here" : `is not known here: the field is spelled ${meant}`);
}

export function checkFunds(fields: FundsFields): Funds {
  refuseUnknown(fields);
  const { accountKey, ammount, description } = fields;
  if (accountKey === undefined) throw invalid("accountKey", "is required");
  if (typeof accountKey !== "string" || !isAccountKey(accountKey)) throw invalid("accountKey", ACCOUNT_KEY_SAYS);
  if (ammount === undefined || ammount === "") throw invalid("ammount", "is required");
  const amountMicros = amountOf(ammount);
  const currency = currencyOf(fields);
  if (description === undefined) throw invalid("description", "is required");
  if (typeof description !== "string" || description.length === 0 || [...description].length > MAX_DESCRIPTION)
    throw invalid("description", `must be 1 to ${MAX_DESCRIPTION} characters long`);
  return { accountKey, amountMicros, currency, description };
}

/** The currency in which the amount is, or null for the account's own. */
function currencyOf(fields: FundsFields): string | null {
  const codes = CURRENCY_NAMES.filter((name) => fields[name] !== undefined).map((name) => {
    const code = fields[name];
    if (typeof code !== "string" || !/^[A-Za-z]{3}$/.test(code))
      throw invalid(name, "must be an ISO 4217 code of three letters");
    return code.toUpperCase();
  });
  const [first = null, second = first] = codes;
  if (first !== second) throw invalid("currencyCode", "is another one than currencycode: give one of them");
  return first;
}

function amountOf(value: unknown): Micros {
  const micros = typeof value === "number" || typeof value === "string" ? parseMicros(String(value)) : null;
  if (micros === null) throw invalid("ammount", "must be a decimal number with at most 6 places");
  if (micros === 0n) throw invalid("ammount", "must not be zero");
  if (micros > MAX_AMOUNT || micros < -MAX_AMOUNT) throw invalid("ammount", "is too large");
  return micros;
}

/** Posts the money. "key reused" means that the idempotency key came with another request before. */
export async function addFunds(
  store: Pick<Store, "fund">,
  funding: Funding,
): Promise<{ readonly transactionId: number } | "key reused"> {
  const outcome = await store.fund(funding);
  switch (outcome.kind) {
    case "posted":
      return { transactionId: outcome.transactionId };
    case "conflict":
      return "key reused";
    case "unknown account":
      throw unknownAccount(funding.accountKey);
    case "below zero":
      throw invalid("ammount", "would take the balance below zero");
    case "too large":
      throw invalid("ammount", "would make the balance too large");
    case "nothing left":
      throw invalid("ammount", "is nothing in the account's currency");
    case "no rate":
      throw invalid("currencycode", `has no exchange rate: from ${funding.currency} to ${outcome.currency}`);
  }
}
