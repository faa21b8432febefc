/** An item of the catalogue as the operator's rules see it: its name, its fields, and its fields without secrets. */
import type { ItemFields } from "../catalogue/file.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { CARRIER_SECRETS } from "../store/port/secrets.ts";

export type ItemKind = CatalogueItem["kind"];
export type ItemName = Pick<CatalogueItem, "kind" | "id">;

/** In place of a carrier's secret: keep the one that is in force. So no secret can read so. */
export const KEEP = "(unchanged)";

const NOUNS: Readonly<Record<ItemKind, string>> = {
  carrier: "carrier",
  route: "route",
  ratePlan: "rate plan",
  exchangeRate: "exchange rate",
  number: "number",
};

/** "rate plan gold" */
export function nameOf({ kind, id }: ItemName): string {
  return `${NOUNS[kind]} ${id === "" ? "*" : id}`;
}

export function fieldsOf<Fields = ItemFields>({ body }: Pick<CatalogueItem, "body">): Fields {
  return JSON.parse(body);
}

/** With a word in place of each secret, which `heliograph apply` takes for the one in force. */
export function shownFields(item: Pick<CatalogueItem, "body">): ItemFields {
  const fields = fieldsOf(item);
  const secrets = CARRIER_SECRETS.filter((field) => field in fields).map((field) => [field, KEEP]);
  return { ...fields, ...Object.fromEntries(secrets) };
}
