/**
 * What would become of a message to a number, and why: the way that it would go, step by step, and what a part of it would cost. It decides
 * as intake and dispatch do (intake/intake.ts, dispatch/carrier-router.ts), and says a sentence about each step.
 */
import type { Snapshot } from "../catalogue/snapshot.ts";
import type { Micros } from "../money/amounts.ts";
import { formatMicros } from "../money/amounts.ts";
import { once } from "../runtime/lazy.ts";
import { chosenSender, isDestination, maySendAs, numberFault, senderFault } from "../sms/addresses.ts";
import { countryOf } from "../sms/countries.ts";
import { STATUS, type Status } from "../sms/statuses.ts";
import { senderFilter } from "../sms/writing.ts";
import type { ManagedAccount } from "../store/port/accounts.ts";
import type { OptedOut } from "../store/port/opt-outs.ts";
import { type QuotedGroup, type QuotedWay, type RouteQuestion, wayOf } from "./quoted-way.ts";

type QuotedAccount = Pick<
  ManagedAccount,
  "key" | "currency" | "ratePlanId" | "defaultSender" | "allowedSenders" | "suspended" | "retiredAtMs"
>;

export interface QuoteQuestion extends Pick<RouteQuestion, "snapshot" | "isUp"> {
  readonly account: QuotedAccount;
  /** Null for the account's default sender. */
  readonly from: string | null;
  /** Where no sender is named and there is no default one: whether the question is about any sender, and not about a message without one. */
  readonly anySender?: boolean;
  readonly number: string;
  /** On which list the number stands, if on any. */
  readonly optedOut: OptedOut["list"] | null;
}

export interface Country {
  /** ISO 3166-1, two letters. */
  readonly code: string;
  /** In English. */
  readonly name: string;
}

export const QUOTE_STEPS = ["number", "account", "sender", "route", "carrier", "price", "optOut"] as const;

/** Why a message would be rejected. */
export type QuoteProblem = keyof typeof STATUSES;

export interface QuoteStep {
  readonly name: (typeof QUOTE_STEPS)[number];
  readonly problem: QuoteProblem | null;
  /** Whether the question left it open, so that it neither helps nor stands in the way. */
  readonly isOpen: boolean;
  /** A sentence. */
  readonly says: string;
}

export interface Quote {
  readonly number: string;
  readonly country: Country | null;
  /** The sender that it would have. */
  readonly from: string;
  readonly steps: readonly QuoteStep[];
  /** The first step that stands in the way, or null. */
  readonly failed: QuoteStep | null;
  /** What the message would be told; null where the account cannot send at all. */
  readonly status: Status | null;
  /** The prefix of the route. */
  readonly route: string | null;
  readonly groups: readonly QuotedGroup[];
  readonly pricePrefix: string | null;
  /** Of one part, in the account's currency. */
  readonly priceMicros: Micros | null;
}

/** Null: the account is not let in. The others in the order in which a message is looked at are told apart by `failed`. */
const STATUSES = {
  "bad number": STATUS.REJECTED_DESTINATION,
  suspended: null,
  retired: null,
  "bad sender": STATUS.REJECTED_SOURCE,
  "sender not allowed": STATUS.REJECTED_SOURCE,
  "no route": STATUS.REJECTED_ROUTE_NOT_AVAILABLE,
  "sender not writable": STATUS.REJECTED_SOURCE,
  "no rate plan": STATUS.REJECTED_ROUTE_NOT_AVAILABLE,
  "other currency": STATUS.REJECTED_ROUTE_NOT_AVAILABLE,
  "no price": STATUS.REJECTED_ROUTE_NOT_AVAILABLE,
  "opted out": STATUS.REJECTED_DESTINATION_BLOCKLISTED,
} as const;

/** Of an account's allowed senders, so many are named. */
const NAMED_SENDERS = 10;

export function quoteFor(question: QuoteQuestion): Quote {
  const { account, snapshot, number } = question;
  const from = chosenSender(question.from, account);
  const country = isDestination(number) ? countryNamed(countryOf(number)) : null;
  const way = wayOf({
    snapshot,
    isUp: question.isUp,
    number,
    canWrite: isSenderOpen(question) ? null : senderFilter(from),
  });
  const price = snapshot.rateOf(account.ratePlanId, number);
  const steps = [
    numberStep(number, country),
    accountStep(account),
    senderStep(question, from),
    routeStep(way),
    ...(way.prefix === null ? [] : [carrierStep(way)]),
    priceStep(account, snapshot, price),
    optOutStep(question),
  ];
  const failed = steps.find(({ problem }) => problem !== null) ?? null;
  const isSold = snapshot.currencyOf(account.ratePlanId) === account.currency;
  return {
    number,
    country,
    from,
    steps,
    failed,
    status: failed === null ? STATUS.PENDING_ENROUTE : STATUSES[failed.problem!],
    route: way.prefix,
    groups: way.groups,
    pricePrefix: isSold ? (price?.prefix ?? null) : null,
    priceMicros: isSold ? (price?.value ?? null) : null,
  };
}

const countryNames = once(() => new Intl.DisplayNames("en", { type: "region" }));

function countryNamed(code: string | null): Country | null {
  return code === null ? null : { code, name: countryNames().of(code) ?? code };
}

function good(name: QuoteStep["name"], says: string): QuoteStep {
  return { name, problem: null, isOpen: false, says };
}

function bad(name: QuoteStep["name"], problem: QuoteProblem, says: string): QuoteStep {
  return { name, problem, isOpen: false, says };
}

function numberStep(number: string, country: Country | null): QuoteStep {
  const fault = numberFault(number);
  if (fault !== null) return bad("number", "bad number", `It ${fault}.`);
  return good("number", country === null ? "It is of no country that is known." : `It is of ${country.name}.`);
}

function accountStep({ key, suspended, retiredAtMs, ratePlanId }: QuotedAccount): QuoteStep {
  if (retiredAtMs !== null) return bad("account", "retired", `The account ${key} is retired, so it cannot send.`);
  if (suspended) return bad("account", "suspended", `The account ${key} is suspended, so it cannot send.`);
  return good("account", `The account ${key} pays by the rate plan ${ratePlanId}.`);
}

function isSenderOpen({ account, from, anySender = false }: QuoteQuestion): boolean {
  return anySender && from === null && account.defaultSender === null;
}

function senderStep(question: QuoteQuestion, from: string): QuoteStep {
  const { account, from: given } = question;
  const { allowedSenders, defaultSender } = account;
  if (isSenderOpen(question)) {
    const says = "No sender is named: this holds for any that the account may use and the carrier can write.";
    return { name: "sender", problem: null, isOpen: true, says };
  }
  if (given === null && defaultSender === null)
    return bad("sender", "bad sender", "No sender is named, and the account has no default one.");
  const fault = senderFault(from);
  if (fault !== null) return bad("sender", "bad sender", `It ${fault}.`);
  if (!maySendAs(account, from)) {
    const named = [...(allowedSenders ?? []), ...(defaultSender === null ? [] : [defaultSender])];
    const more = named.length > NAMED_SENDERS ? ", and others" : "";
    const choice = named.length === 0 ? "" : `, but as ${named.slice(0, NAMED_SENDERS).join(", ")}${more}`;
    return bad("sender", "sender not allowed", `The account may not send as ${from}${choice}.`);
  }
  if (from === defaultSender) return good("sender", `${from} is the account's default sender.`);
  return good("sender", allowedSenders === null ? "The account may use any sender." : `The account may use ${from}.`);
}

function routeStep({ prefix }: QuotedWay): QuoteStep {
  if (prefix === null) return bad("route", "no route", "No route fits this number.");
  if (prefix === "") return good("route", "The route of all numbers: none with a longer prefix fits.");
  return good("route", `The route ${prefix}: it is the longest prefix of this number that has one.`);
}

function carrierStep({ groups }: QuotedWay): QuoteStep {
  const index = groups.findIndex(({ used }) => used);
  if (index < 0)
    return bad("carrier", "sender not writable", "No carrier of the route can write the letters of this sender.");
  const possible = groups.flatMap(({ carriers }) => carriers.filter(({ chance }) => chance > 0));
  const [first] = possible;
  const place = groups.length === 1 ? "" : ` of group ${index + 1}`;
  if (possible.length > 1) return good("carrier", `One of ${possible.length} carriers${place} gets it, by weight.`);
  return good(
    "carrier",
    first!.up === false ? `It waits for ${first!.id}, which is down.` : `${first!.id}${place} gets it.`,
  );
}

function priceStep(
  { currency, ratePlanId }: QuotedAccount,
  snapshot: Snapshot,
  price: ReturnType<Snapshot["rateOf"]>,
): QuoteStep {
  const planCurrency = snapshot.currencyOf(ratePlanId);
  if (planCurrency === null) return bad("price", "no rate plan", `There is no rate plan ${ratePlanId}.`);
  if (planCurrency !== currency)
    return bad(
      "price",
      "other currency",
      `The rate plan ${ratePlanId} is in ${planCurrency} and the account in ${currency}.`,
    );
  if (price === null) return bad("price", "no price", `The rate plan ${ratePlanId} has no price for this number.`);
  const why = price.prefix === "" ? "its price for all numbers" : `its longest prefix that fits, ${price.prefix}`;
  return good("price", `${formatMicros(price.value)} ${currency} a part by the rate plan ${ratePlanId}, ${why}.`);
}

function optOutStep({ optedOut }: QuoteQuestion): QuoteStep {
  if (optedOut === null) return good("optOut", "The number has not opted out.");
  const whose = optedOut === "service" ? "the service's list" : "the account's list";
  return bad("optOut", "opted out", `The number has opted out: it is on ${whose}.`);
}
