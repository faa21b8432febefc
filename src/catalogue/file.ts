/** The catalogue as an operator writes it: one TOML file with carriers, routes, rate plans, exchange rates and numbers. */
import { parse, stringify } from "smol-toml";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { OCTETS_PATTERN } from "../carriers/smpp/profile.ts";
import type { NumberRule } from "../message/incoming.ts";
import { parseMicros } from "../money/amounts.ts";
import { isErrorName } from "../simulator/handsets.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { CARRIER_KINDS, type CarrierProfile, carrierSchema } from "./carrier-kinds.ts";
import { faultOf, IncomingNumber } from "./numbers.ts";

const Id = Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" });
const Currency = Type.String({ pattern: "^[A-Z]{3}$" });
const Prefix = Type.String({ pattern: "^[0-9]{0,15}$" });
const Price = Type.String({ pattern: "^[0-9]{1,9}(\\.[0-9]{1,6})?$" });
const PRICE = (Price as { readonly pattern?: string }).pattern;
/** What a text is told that does not match a pattern, where the pattern alone says little. */
const PATTERNS: ReadonlyMap<unknown, string> = new Map([
  [PRICE, "must be a decimal number of 0 or more, below 1,000,000,000, with at most 6 places"],
  [OCTETS_PATTERN, "must have characters of Latin-1 only"],
]);
const strict = { additionalProperties: false };
/** Prices of one plan: the whole world by prefixes has some tens of thousands. */
const MAX_RATES = 100_000;

const Share = Type.Object({ carrier: Id, weight: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })) }, strict);
/** One carrier; or groups in order, each sharing the traffic by weight. The first group with a carrier that is up gets it. */
export const Route = Type.Object(
  {
    prefix: Prefix,
    carrier: Type.Optional(Id),
    groups: Type.Optional(Type.Array(Type.Array(Share, { minItems: 1, maxItems: 100 }), { minItems: 1, maxItems: 8 })),
  },
  strict,
);
export const RatePlan = Type.Object(
  {
    id: Id,
    currency: Currency,
    rate: Type.Array(Type.Object({ prefix: Prefix, price: Price }, strict), { minItems: 1, maxItems: MAX_RATES }),
  },
  strict,
);
export const ExchangeRate = Type.Object({ from: Currency, to: Currency, rate: Price }, strict);
const CatalogueFile = Type.Object(
  {
    carrier: Type.Optional(Type.Array(Type.Object({ kind: Type.String() }))),
    route: Type.Optional(Type.Array(Route)),
    ratePlan: Type.Optional(Type.Array(RatePlan)),
    exchangeRate: Type.Optional(Type.Array(ExchangeRate)),
    number: Type.Optional(Type.Array(IncomingNumber)),
  },
  strict,
);

export type Route = Static<typeof Route>;
export type RatePlan = Static<typeof RatePlan>;
export type ExchangeRate = Static<typeof ExchangeRate>;

/** A route's groups; that of a single carrier is one group of one. */
export function groupsOf({ carrier, groups }: Route): readonly (readonly Static<typeof Share>[])[] {
  return groups ?? [[{ carrier: carrier! }]];
}

/** The carriers that a route names. */
export function carriersOf(route: Route): string[] {
  return groupsOf(route)
    .flat()
    .map(({ carrier }) => carrier);
}

/** The file, or an item, says something that cannot be. The message names the place. */
export class CatalogueFault extends Error {
  /** The place and what is wrong there, where one field is. */
  readonly where: ItemFault | null;

  constructor(message: string, where: ItemFault | null = null) {
    super(message);
    this.where = where;
  }
}

/** What is wrong with one field. `says` goes on after its name. */
export interface ItemFault {
  readonly field: string;
  readonly says: string;
}

/** At this place, which is a path into the file or the item. */
function faultAt(field: string, says: string): CatalogueFault {
  return new CatalogueFault(`${field}: ${says}`, { field, says });
}

/** Throws at the first place where the file is not as it should be. */
function check(schema: TSchema, value: unknown, place: string): void {
  const [fault] = Value.Errors(schema, value);
  if (fault === undefined) return;
  const missing = fault.keyword === "required" ? `.${fault.params.requiredProperties[0]}` : "";
  const path = `${place}${fault.instancePath.replaceAll("/", ".")}${missing}`.replace(/^\./, "") || "the file";
  throw faultAt(path, saidOf(fault));
}

function saidOf({ keyword, message, params }: { keyword: string; message: string; params: object }): string {
  if (keyword === "required") return "is required";
  if (keyword === "pattern" && "pattern" in params) return PATTERNS.get(params.pattern) ?? message;
  return message === "schema is false" ? "is not known here" : message;
}

/** By its kind, so that a fault is told of that kind and not of all there are. `place` is where the profile stands, with a dot. */
function checkedCarrier(profile: { kind: unknown }, place: string): CarrierProfile {
  const schema = carrierSchema(profile.kind);
  if (schema === null) throw faultAt(`${place}kind`, `must be one of ${Object.keys(CARRIER_KINDS).join(", ")}`);
  check(schema, profile, place.replace(/\.$/, ""));
  const checked = profile as CarrierProfile;
  const handsets = checked.kind === "simulator" ? (checked.handset ?? []) : [];
  const unknown = handsets.findIndex(({ error }) => error !== undefined && !isErrorName(error));
  if (unknown >= 0)
    throw faultAt(`${place}handset.${unknown}.error`, "is not the name of an error that a report can have");
  return checked;
}

type Kind = CatalogueItem["kind"];
export type ItemFields = Readonly<Record<string, unknown>>;

/** The order of a file: what others refer to stands first. */
export const ITEM_KINDS = ["carrier", "route", "ratePlan", "exchangeRate", "number"] as const;

/** What an item is called in the store. */
const NAMED: { readonly [Name in Kind]: (item: never) => string } = {
  carrier: ({ id }: CarrierProfile) => id,
  route: ({ prefix }: Route) => prefix,
  ratePlan: ({ id }: RatePlan) => id,
  exchangeRate: ({ from, to }: ExchangeRate) => `${from}/${to}`,
  number: ({ number }: NumberRule) => number,
};

/** What is wrong with an item of the right shape, whatever else there is; or null. */
const FAULTS: { readonly [Name in Kind]: (item: never) => ItemFault | null } = {
  carrier: (profile: CarrierProfile) =>
    profile.kind === "smpp" && profile.tlsCa !== undefined && profile.tlsCaPem !== undefined
      ? { field: "tlsCa", says: "or tlsCaPem may be given, not both" }
      : null,
  route: ({ carrier, groups }: Route) =>
    (carrier === undefined) === (groups === undefined)
      ? { field: "carrier", says: "or groups must be given, not both" }
      : null,
  ratePlan: ({ rate }: RatePlan) => {
    const seen = new Set<string>();
    const twice = rate.find(({ prefix }) => seen.size === seen.add(prefix).size);
    return twice === undefined ? null : { field: "rate", says: `has two prices for prefix "${twice.prefix}"` };
  },
  exchangeRate: ({ rate }: ExchangeRate) =>
    (parseMicros(rate) ?? 0n) === 0n ? { field: "rate", says: "must be above zero" } : null,
  number: faultOf,
};

function itemOf(kind: Kind, item: object): CatalogueItem {
  return { kind, id: NAMED[kind](item as never), body: JSON.stringify(item) };
}

function checkItem(kind: Kind, item: object): void {
  const fault = FAULTS[kind](item as never);
  if (fault === null) return;
  throw new CatalogueFault(`${kind} "${NAMED[kind](item as never)}": ${fault.field} ${fault.says}`, fault);
}

const SHAPES = { route: Route, ratePlan: RatePlan, exchangeRate: ExchangeRate, number: IncomingNumber } as const;

/** One item alone, as it would stand in the file. What it says of other items is not looked at. */
export function readItem(kind: Kind, item: object): CatalogueItem {
  if (kind === "carrier") checkedCarrier({ kind: "", ...item }, "");
  else check(SHAPES[kind], item, "");
  checkItem(kind, item);
  return itemOf(kind, item);
}

function checkedFile(file: ItemFields): Static<typeof CatalogueFile> {
  check(CatalogueFile, file, "");
  const lists = file as Static<typeof CatalogueFile>;
  lists.carrier?.forEach((profile, index) => void checkedCarrier(profile, `carrier.${index}.`));
  return lists;
}

/** The items of a file, which go together. `prepare` may put something in place of what stands there, before it is looked at. */
export function readCatalogueFile(
  text: string,
  prepare: (file: ItemFields) => ItemFields = (file) => file,
): CatalogueItem[] {
  let file: ItemFields;
  try {
    file = parse(text);
  } catch (error) {
    throw new CatalogueFault(`not readable as TOML: ${(error as Error).message}`);
  }
  const lists = checkedFile(prepare(file));
  const items = ITEM_KINDS.flatMap((kind) => (lists[kind] ?? []).map((item) => itemOf(kind, item)));
  const seen = new Set<string>();
  for (const { kind, id } of items) {
    if (seen.has(`${kind} ${id}`)) throw new CatalogueFault(`${kind} "${id}" stands there twice`);
    seen.add(`${kind} ${id}`);
  }
  for (const kind of ITEM_KINDS) for (const item of lists[kind] ?? []) checkItem(kind, item);
  for (const route of lists.route ?? []) {
    const missing = carriersOf(route).find((id) => !seen.has(`carrier ${id}`));
    if (missing !== undefined)
      throw new CatalogueFault(`route "${route.prefix}" goes to carrier "${missing}", which is not in the file`);
  }
  return items;
}

/** The file that `readCatalogueFile` reads as these items; `fieldsOf` says what of each is written. */
export function writeCatalogueFile(
  items: readonly CatalogueItem[],
  fieldsOf: (item: CatalogueItem) => ItemFields,
): string {
  const lists = ITEM_KINDS.map((kind) => [kind, items.filter((item) => item.kind === kind).map(fieldsOf)] as const);
  return stringify(Object.fromEntries(lists.filter(([, list]) => list.length > 0)));
}
