/** The rate plans that a reseller may choose from for its clients, and what they cost. An operator sees the same. */
import { type OfferedPlan, type OfferedPrice, offeredPlan, offeredPlans, offeredPrices } from "../../admin/plans.ts";
import { type Micros, microsToNumber } from "../../money/amounts.ts";
import { Type } from "../../runtime/type.ts";
import { badField } from "../errors.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { fieldsOf, readLimit, readText } from "../query.ts";
import { Flag, Text, TextOrNull, Whole } from "../shapes.ts";
import { MANAGER, named, Page, pageOf, pageParameters } from "./managing.ts";

const AmountOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });
const amountOf = (micros: Micros | null): number | null => (micros === null ? null : microsToNumber(micros));

const Plan = {
  id: Type.String(),
  currency: Text("An account that pays by it has this currency."),
  own: Flag("Whether you pay by it yourself."),
  prices: Whole("For how many prefixes it has a price."),
  defaultPrice: AmountOrNull(
    "A part to a number for which no prefix has a price; null where such numbers are not sold.",
  ),
};
const PlanAnswer = Type.Object(Plan, { title: "OfferedPlan" });
const PriceAnswer = Type.Object(
  {
    prefix: Text("Numbers that begin so, and for which no longer prefix has a price."),
    country: TextOrNull("ISO 3166-1; null for a prefix that is not of one country."),
    price: AmountOrNull("Of one part, in the plan's currency; null where it is not sold."),
    ownPrice: AmountOrNull("What you pay for a part to the same number, in your own currency."),
  },
  { title: "OfferedPrice" },
);
const PricesAnswer = Type.Object(
  { ...Plan, ownCurrency: Text("Of ownPrice."), ...Page(PriceAnswer).properties },
  { title: "OfferedPrices" },
);

/** No number begins with anything else, and an empty place would be no place: the price of every number has a name of its own. */
const EVERY_NUMBER = "default";
const PREFIX = /^(?:default|\d{1,15})$/;

function planAnswer({ id, currency, isOwn, prices, defaultPriceMicros }: OfferedPlan) {
  return { id, currency, own: isOwn, prices, defaultPrice: amountOf(defaultPriceMicros) };
}

function priceAnswer({ prefix, country, priceMicros, ownPriceMicros }: OfferedPrice) {
  return { prefix, country, price: amountOf(priceMicros), ownPrice: amountOf(ownPriceMicros) };
}

export function planOperations(api: Api, { catalogue }: ApiParts): void {
  api.get(
    "/operator/1/plans",
    operation({
      ...MANAGER,
      id: "listPlans",
      summary: "List the rate plans that you may give to accounts",
      query: Type.Object(pageParameters),
      answer: Page(PlanAnswer),
    }),
    async (request) => {
      const limit = readLimit(request.query);
      const after = readText(fieldsOf(request.query), "after");
      await catalogue.look();
      const plans = offeredPlans(catalogue.current, accountOf(request));
      const rest = plans.filter(({ id }) => after === null || id > after);
      return pageOf(rest, limit, ({ id }) => id, planAnswer);
    },
  );

  api.get(
    "/operator/1/plans/:id",
    operation({
      ...MANAGER,
      id: "readPlan",
      summary: "Read the prices of a rate plan by prefix, each beside what you pay yourself",
      query: Type.Object(pageParameters),
      answer: PricesAnswer,
    }),
    async (request) => {
      const limit = readLimit(request.query);
      const after = readText(fieldsOf(request.query), "after");
      if (after !== null && !PREFIX.test(after)) throw badField("after", "must be what the page before gave as next");
      await catalogue.look();
      const reader = accountOf(request);
      const plan = offeredPlan(catalogue.current, reader, named(request, "id"));
      const range = { after: after === EVERY_NUMBER ? "" : after, limit: limit + 1 };
      const prices = offeredPrices(catalogue.current, reader, plan, range);
      return {
        ...planAnswer(plan),
        ownCurrency: reader.currency,
        ...pageOf(prices, limit, ({ prefix }) => prefix || EVERY_NUMBER, priceAnswer),
      };
    },
  );
}
