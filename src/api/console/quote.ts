/** Where messages to some numbers would go, what they would cost, and why: for the page that writes them, and the page of routes. */
import { managedAccount } from "../../admin/manager.ts";
import { QUOTE_STEPS, type Quote, quoteFor } from "../../admin/quote.ts";
import type { QuotedCarrier } from "../../admin/quoted-way.ts";
import type { Snapshot } from "../../catalogue/snapshot.ts";
import { exchange, formatMicros } from "../../money/amounts.ts";
import { Type } from "../../runtime/type.ts";
import { isDestination, plainPhone } from "../../sms/addresses.ts";
import { MAX_PARTS } from "../../sms/prepared-text.ts";
import { MISSING_LETTERS, TEXT_ALPHABETS } from "../../sms/writing.ts";
import type { Account, ManagedAccount } from "../../store/port/accounts.ts";
import { MAX_OPT_OUT_NUMBERS } from "../../store/port/opt-outs.ts";
import { mayLookBeyond } from "../beyond.ts";
import { ApiError, badField } from "../errors.ts";
import type { ApiParts } from "../parts.ts";
import { readFlag, readList, readText, readWhole } from "../query.ts";
import { Flag, OneOf, OptionalText, orNull, Text, TextOrNull, Whole } from "../shapes.ts";
import type { View } from "./view.ts";

/** Numbers that one question may be about. A longer list is asked about by its first ones. */
const MAX_NUMBERS = MAX_OPT_OUT_NUMBERS;
/** Currencies in which the price is told beside the account's own. */
const MAX_CURRENCIES = 20;
/** Carriers that are told of a group, and of each number. */
const MAX_CARRIERS = 20;
/** Longer ones are no numbers, and are not told whole. */
const MAX_NUMBER_LENGTH = 32;

const Open = Flag("Whether the question left it open, as a sender that is not named.");
const Says = Text("A sentence.");
const Chance = Type.Number({ description: "From 0 to 1: how likely it is that this carrier gets the message." });
const Prefix = (of: string) =>
  TextOrNull(`The longest prefix of the number that has a ${of}; empty for that of all numbers.`);

const QuoteQuery = Type.Object({
  to: Text(`Numbers with commas between them, at most ${MAX_NUMBERS}.`),
  from: OptionalText("The sender; the account's default one unless given."),
  anySender: OptionalText("true to ask about any sender where none is named and the account has no default one."),
  parts: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PARTS, default: 1 })),
  account: OptionalText("For operators, and for resellers of their clients: whose message it is."),
});

const QuotedNumber = Type.Object({
  to: Type.String(),
  country: orNull(Type.Object({ code: Text("ISO 3166."), name: Type.String() })),
  sent: Flag("False where the message would be rejected."),
  status: TextOrNull("The status that the message would get; null where the account cannot send."),
  problem: TextOrNull("What stands in the way, as a sentence."),
  route: Prefix("route"),
  pricePrefix: Prefix("price"),
  pricePerPart: TextOrNull("In the account's currency."),
  carriers: Type.Array(Type.Object({ id: Type.String(), chance: Chance })),
});

const QuoteAnswer = Type.Object({
  account: Type.String(),
  ratePlan: Type.String(),
  currency: Type.String(),
  from: Text("The sender that the messages would have."),
  parts: Type.Integer(),
  available: TextOrNull("Balance and credit limit together; null for a caller that may not know it."),
  amount: Text("What all messages that would be sent cost together."),
  rejected: Whole("How many of the messages would be rejected."),
  otherCurrencies: Type.Array(
    Type.Object({
      currency: Type.String(),
      rate: Text("Units of it for one unit of the account's currency."),
      amount: Type.String(),
    }),
  ),
  numbers: Type.Array(QuotedNumber),
  steps: Type.Array(
    Type.Object(
      { name: OneOf(QUOTE_STEPS), good: Type.Boolean(), open: Open, says: Says },
      { description: "Of the first number." },
    ),
  ),
  groups: Type.Array(
    Type.Object({
      used: Type.Boolean(),
      carriers: Type.Array(
        Type.Object({
          id: Type.String(),
          weight: Type.Integer(),
          up: orNull(Type.Boolean()),
          writesSender: Type.Boolean(),
          alphabet: OneOf(TEXT_ALPHABETS),
          missingLetters: OneOf(MISSING_LETTERS),
          chance: Chance,
          says: Says,
        }),
      ),
    }),
    { description: "The carriers of the first number's route, group by group." },
  ),
});

export function quoteViews({ store, catalogue, carriers }: ApiParts): View[] {
  const read: View["read"] = async (caller, fields) => {
    const numbers = readList(fields, "to")?.map((number) => plainPhone(number.trim()));
    if (numbers === undefined) throw badField("to", "is required: numbers with commas between them");
    if (numbers.length > MAX_NUMBERS) throw badField("to", `must have at most ${MAX_NUMBERS} numbers`);
    const from = readText(fields, "from");
    const anySender = readFlag(fields, "anySender") === true;
    const parts = readWhole(fields, "parts", MAX_PARTS, 1);
    const account = await accountFor(store, caller, readText(fields, "account"));
    const [facts, optedOut] = await Promise.all([
      carriers.facts(),
      store.optedOut({ accountId: account.id, numbers: numbers.filter(isDestination) }),
    ]);
    const up = new Map(facts.map(({ id, isUp }) => [id, isUp]));
    const snapshot = catalogue.current;
    const quotes = numbers.map((number) =>
      quoteFor({
        snapshot,
        account,
        from,
        anySender,
        number: number.slice(0, MAX_NUMBER_LENGTH),
        isUp: (id) => up.get(id) ?? null,
        optedOut: optedOut.find((found) => found.number === number)?.list ?? null,
      }),
    );
    const sent = quotes.filter(({ failed }) => failed === null);
    const amount = sent.reduce((sum, { priceMicros }) => sum + (priceMicros ?? 0n) * BigInt(parts), 0n);
    const [first] = quotes as [Quote];
    return {
      account: account.key,
      ratePlan: account.ratePlanId,
      currency: account.currency,
      from: first.from.slice(0, MAX_NUMBER_LENGTH),
      parts,
      available: mayKnowBalance(caller) ? formatMicros(account.balanceMicros + account.creditLimitMicros) : null,
      amount: formatMicros(amount),
      rejected: quotes.length - sent.length,
      otherCurrencies: Object.entries(snapshot.exchangeRates(account.currency))
        .slice(0, MAX_CURRENCIES)
        .map(([currency, rate]) => ({
          currency,
          rate: formatMicros(rate),
          amount: formatMicros(exchange(amount, rate)),
        })),
      numbers: quotes.map(shownNumber),
      steps: first.steps.map(({ name, problem, isOpen, says }) => ({
        name,
        good: problem === null,
        open: isOpen,
        says,
      })),
      groups: first.groups.map(({ used, carriers }) => ({
        used,
        carriers: carriers.slice(0, MAX_CARRIERS).map((carrier) => shownCarrier(snapshot, carrier)),
      })),
    };
  };
  return [
    {
      name: "quote",
      summary: "See where messages would go, what they would cost, and why",
      auth: "account",
      scope: "send",
      query: QuoteQuery,
      answer: QuoteAnswer,
      read,
    },
  ];
}

function mayKnowBalance({ scopes }: Account): boolean {
  return scopes === null || scopes.includes("balance") || scopes.includes("manage");
}

/** The caller's own account; or, for whoever manages others, one of these. To everybody else there are no others. */
async function accountFor(store: ApiParts["store"], caller: Account, key: string | null): Promise<ManagedAccount> {
  if (key !== null && key !== caller.key) {
    if (!mayLookBeyond(caller)) throw new ApiError("accountNotFound");
    return managedAccount(store, { account: caller }, key);
  }
  const own = await store.account({ resellerId: null, key: caller.key });
  if (own === null) throw new ApiError("accountNotFound");
  return own;
}

function shownNumber({ number, country, failed, status, route, pricePrefix, priceMicros, groups }: Quote) {
  return {
    to: number,
    country,
    sent: failed === null,
    status: status?.name ?? null,
    problem: failed?.says ?? null,
    route,
    pricePrefix,
    pricePerPart: priceMicros === null ? null : formatMicros(priceMicros),
    carriers: groups
      .flatMap(({ carriers }) => carriers)
      .filter(({ chance }) => chance > 0)
      .slice(0, MAX_CARRIERS)
      .map(({ id, chance }) => ({ id, chance })),
  };
}

function shownCarrier(snapshot: Snapshot, carrier: QuotedCarrier) {
  const { alphabet = "gsm", missingLetters = "transliterate" } = snapshot.writingOf(carrier.id) ?? {};
  return { ...carrier, alphabet, missingLetters };
}
