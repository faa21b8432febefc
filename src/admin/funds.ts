/** A reseller gives a client money, or takes it with a negative amount. The fields have the names of the API, which has always spelled `ammount` so. */
import { MAX_AMOUNT, type Micros, parseMicros } from "../money/amounts.ts";
import { ACCOUNT_KEY_SAYS, isAccountKey } from "../store/names.ts";
import type { Funding } from "../store/port/money.ts";
import type { Store } from "../store/port/store.ts";
import { invalid, unknownAccount } from "./refusal.ts";

const MAX_DESCRIPTION = 255;

/** Fields as they came: nothing is known of their values. */
interface FundsFields {
  readonly accountKey?: unknown;
  readonly ammount?: unknown;
  readonly currencycode?: unknown;
  readonly description?: unknown;
}

type Funds = Pick<Funding, "accountKey" | "amountMicros" | "currency" | "description">;

export function checkFunds({ accountKey, ammount, currencycode, description }: FundsFields): Funds {
  if (accountKey === undefined) throw invalid("accountKey", "is required");
  if (typeof accountKey !== "string" || !isAccountKey(accountKey)) throw invalid("accountKey", ACCOUNT_KEY_SAYS);
  if (ammount === undefined || ammount === "") throw invalid("ammount", "is required");
  const amountMicros = amountOf(ammount);
  if (currencycode !== undefined && (typeof currencycode !== "string" || !/^[A-Za-z]{3}$/.test(currencycode)))
    throw invalid("currencycode", "must be an ISO 4217 code of three letters");
  if (description === undefined) throw invalid("description", "is required");
  if (typeof description !== "string" || description.length === 0 || [...description].length > MAX_DESCRIPTION)
    throw invalid("description", `must be 1 to ${MAX_DESCRIPTION} characters long`);
  return { accountKey, amountMicros, currency: currencycode?.toUpperCase() ?? null, description };
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
