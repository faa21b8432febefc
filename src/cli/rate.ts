/** `heliograph rate list|set|delete|quote|compare`: rate plans, and what becomes of one number. */
import { Command } from "commander";
import { refuseUnknown } from "../admin/catalogue.ts";
import { type QuoteProblem, quoteFor } from "../admin/quote.ts";
import type { RatePlan } from "../catalogue/file.ts";
import { Snapshot } from "../catalogue/snapshot.ts";
import { formatMicros } from "../money/amounts.ts";
import { isDestination, NUMBER_FORM, plainPhone } from "../sms/addresses.ts";
import { deleteItem, itemsOf, prefixOf, putItem, shownPrefix } from "./catalogue-items.ts";
import { Failed } from "./fault.ts";
import { rateCompareCommand } from "./rate-compare.ts";
import { groupText } from "./route.ts";
import { type Column, howMany, type JsonOption, printable, showFields, showJson, showList } from "./show.ts";
import {
  accountNamed,
  CommandFault,
  type CommonOptions,
  jsonCommand,
  onStore,
  say,
  storeCommand,
  UsageFault,
} from "./support.ts";

function rowsOf({ id, currency, rate }: RatePlan) {
  return rate.map(({ prefix, price }) => ({ ratePlan: id, currency, prefix, price }));
}

const COLUMNS: readonly Column<ReturnType<typeof rowsOf>[number]>[] = [
  { title: "RATE PLAN", of: ({ ratePlan }) => ratePlan },
  { title: "CURRENCY", of: ({ currency }) => currency },
  { title: "PREFIX", of: ({ prefix }) => shownPrefix(prefix) },
  { title: "PRICE A PART", of: ({ price }) => price, right: true },
];

interface SetOptions extends CommonOptions, JsonOption {
  readonly currency?: string;
}

export function rateCommand(): Command {
  const list = jsonCommand("list", "Show prices, by rate plan and prefix.", "heliograph rate list standard")
    .argument("[plan]", "one rate plan (default: all)")
    .action(async (plan: string | undefined, options: CommonOptions & JsonOption) => {
      const plans = await onStore(options, (store) => itemsOf<RatePlan>(store, "ratePlan"));
      if (plan !== undefined && !plans.some(({ id }) => id === plan)) refuseUnknown({ kind: "ratePlan", id: plan });
      const rows = plans.filter(({ id }) => plan === undefined || id === plan).flatMap(rowsOf);
      showList(options, COLUMNS, rows, howMany(rows.length, "price", "There are no rate plans."));
    });

  const set = jsonCommand(
    "set",
    "Set what a part costs to numbers with a prefix; the longest prefix that fits decides. A rate plan that is not there is made, and needs its currency. What was accepted before keeps its price.",
    "heliograph rate set standard 41 0.045",
    "heliograph rate set gold '*' 0.03 --currency EUR",
  )
    .argument("<plan>", "the rate plan's id")
    .argument("<prefix>", "digits, or * for all numbers")
    .argument("<price>", "a decimal number with at most 6 places")
    .option("--currency <code>", "of all its prices, ISO 4217; a plan by which an account pays keeps its own")
    .action(setRate);

  const remove = storeCommand(
    "delete",
    "Delete a price, or a rate plan that no account and no carrier has.",
    "heliograph rate delete standard 41",
    "heliograph rate delete gold",
  )
    .argument("<plan>", "the rate plan's id")
    .argument("[prefix]", "digits, or * for the price of all numbers (default: the whole plan)")
    .action(deleteRate);

  const quote = jsonCommand(
    "quote",
    "Say which route, carriers and price a number gets when an account sends to it, and what stands in the way.",
    "heliograph rate quote 41793026727 --account ACME",
  )
    .argument("<number>", "in international form")
    .requiredOption("--account <key>", "whose prices")
    .action(quoteNumber);

  return new Command("rate")
    .description("Rate plans: what a part costs, by the longest prefix of the number.")
    .addCommand(list)
    .addCommand(set)
    .addCommand(remove)
    .addCommand(quote)
    .addCommand(rateCompareCommand());
}

async function setRate(plan: string, prefixText: string, price: string, options: SetOptions): Promise<void> {
  const prefix = prefixOf(prefixText);
  await putItem(options, { kind: "ratePlan", id: plan }, (before) => {
    const old = before as RatePlan | null;
    if (old === null && options.currency === undefined)
      throw new UsageFault(`there is no rate plan ${plan}: name its currency with --currency to make it`);
    const known = old?.rate.some((rate) => rate.prefix === prefix) === true;
    const rate = known
      ? old!.rate.map((one) => (one.prefix === prefix ? { prefix, price } : one))
      : [...(old?.rate ?? []), { prefix, price }];
    return { id: plan, currency: options.currency ?? old?.currency, rate };
  });
}

async function deleteRate(plan: string, prefixText: string | undefined, options: CommonOptions): Promise<void> {
  const item = { kind: "ratePlan", id: plan } as const;
  if (prefixText === undefined) return deleteItem(options, item);
  const prefix = prefixOf(prefixText);
  await putItem(options, item, (before) => {
    if (before === null) refuseUnknown(item);
    const { rate: prices } = before as RatePlan;
    const rate = prices.filter((one) => one.prefix !== prefix);
    if (rate.length === prices.length)
      throw new CommandFault(`the rate plan ${plan} has no price for ${shownPrefix(prefix)}`);
    if (rate.length === 0)
      throw new CommandFault(`it is the last price of ${plan}: "heliograph rate delete ${plan}" deletes the plan`);
    return { ...before, rate };
  });
}

/** A sender that every carrier can write. */
const ANY_SENDER = "000";

/** What goes on after the sentence about a problem: what comes of it, and the command that mends it. */
const ADVICE: Readonly<Partial<Record<QuoteProblem, string>>> = {
  "no route": ', so the message is rejected: "heliograph route set" makes one',
  "no rate plan": ', so the message is rejected: "heliograph rate set" makes it',
  "other currency": ", so the message is rejected: give the account another plan",
  "no price": ', so the message is rejected: "heliograph rate set" sets one',
  "opted out": ', so the message is rejected: "heliograph opt-out remove" takes it off',
};

async function quoteNumber(written: string, options: CommonOptions & JsonOption & { account: string }): Promise<void> {
  const number = plainPhone(written);
  if (!isDestination(number)) throw new UsageFault(`"${written}" is not a phone number of ${NUMBER_FORM}`);
  const { account, items, optedOut } = await onStore(options, async (store) => {
    const account = await accountNamed(store, options.account);
    const [items, optedOut] = await Promise.all([
      store.catalogue(),
      store.optedOut({ accountId: account.id, numbers: [number] }),
    ]);
    return { account, items, optedOut };
  });
  const snapshot = new Snapshot(items);
  // A sender is not asked for, and what carriers do the running service knows.
  const { steps, route, pricePrefix, priceMicros } = quoteFor({
    snapshot,
    account,
    from: ANY_SENDER,
    number,
    isUp: () => null,
    optedOut: optedOut[0]?.list ?? null,
  });
  const failed = steps.find(({ name, problem }) => problem !== null && name !== "sender");
  const problem = failed === undefined ? null : `${failed.says.slice(0, -1)}${ADVICE[failed.problem!] ?? ""}`;
  const quote = {
    number,
    account: account.key,
    route,
    groups: snapshot.routeOf(number)?.value ?? [],
    ratePlan: account.ratePlanId,
    pricePrefix,
    price: priceMicros === null ? null : formatMicros(priceMicros),
    currency: account.currency,
    problem,
  };
  if (options.json === true) showJson(quote);
  else {
    showFields({
      Number: number,
      Route: route === null ? "none" : shownPrefix(route),
      Carriers: quote.groups.map(groupText).join(", then ") || "none",
      "Rate plan": account.ratePlanId,
      Price:
        quote.price === null
          ? "none"
          : `${quote.price} ${account.currency} a part (prefix ${shownPrefix(quote.pricePrefix ?? "")})`,
    });
    if (problem !== null) say(printable(`${problem}.`));
  }
  if (problem !== null) throw new Failed();
}
