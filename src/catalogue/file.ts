/** The catalogue as an operator writes it: one TOML file with carriers, routes, rate plans, exchange rates and numbers. */
import { parseMicros } from "../money/amounts.ts";
import { isRight } from "../runtime/check.ts";
import { didYouMean } from "../runtime/near.ts";
import { type SchemaFault, schemaFaults, wrongWord } from "../runtime/schema-faults.ts";
import { readToml, shownPlace, TomlFault, type TomlPath, toml } from "../runtime/toml.ts";
import { type Static, type TSchema, Type } from "../runtime/type.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { CARRIER_KINDS, kindNamed, type Rule } from "./carrier-kinds.ts";
import { CatalogueFault, FileFaults, FORMS, fieldOf, type ItemFault, MAX_FAULTS, WORDS } from "./faults.ts";
import { IncomingNumber, KEYWORDS, keywordFaultsOf, urlFaultsOf } from "./numbers.ts";

const { id: Id, currency: Currency, prefix: Prefix, price: Price } = FORMS;
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

type Kind = CatalogueItem["kind"];
export type ItemFields = Readonly<Record<string, unknown>>;

/** The order of a file: what others refer to stands first. */
export const ITEM_KINDS = ["carrier", "route", "ratePlan", "exchangeRate", "number"] as const;

/** The fields by which an item is called in the store. */
export const NAMED_BY: { readonly [Name in Kind]: readonly string[] } = {
  carrier: ["id"],
  route: ["prefix"],
  ratePlan: ["id"],
  exchangeRate: ["from", "to"],
  number: ["number"],
};

const RULES: { readonly [Name in Exclude<Kind, "carrier">]: readonly Rule<never>[] } = {
  route: [
    {
      reads: ["carrier", "groups"],
      faults: ({ carrier, groups }: Route) =>
        (carrier === undefined) === (groups === undefined)
          ? [{ field: "carrier", says: "or groups must be given, not both" }]
          : [],
    },
  ],
  ratePlan: [{ reads: ["rate"], faults: priceFaults }],
  exchangeRate: [
    {
      reads: ["rate"],
      faults: ({ rate }: ExchangeRate) =>
        (parseMicros(rate) ?? 0n) === 0n ? [{ field: "rate", says: "must be above zero" }] : [],
    },
  ],
  number: [
    { reads: ["forwardUrl"], faults: urlFaultsOf },
    { reads: KEYWORDS, faults: keywordFaultsOf },
  ],
};

function priceFaults({ rate }: RatePlan): ItemFault[] {
  const seen = new Set<string>();
  const faults: ItemFault[] = [];
  for (const [index, { prefix }] of rate.entries()) {
    if (seen.size !== seen.add(prefix).size) continue;
    faults.push({ field: "rate", says: `has two prices for prefix "${prefix}"`, at: ["rate", index] });
    if (faults.length > MAX_FAULTS) break;
  }
  return faults;
}

/** Null for one that lacks such a field. */
function idOf(kind: Kind, item: ItemFields): string | null {
  const names = NAMED_BY[kind].map((field) => item[field]);
  return names.every((name) => typeof name === "string") ? names.join("/") : null;
}

function itemOf(kind: Kind, item: ItemFields): CatalogueItem {
  return { kind, id: idOf(kind, item)!, body: JSON.stringify(item) };
}

export const SHAPES = { route: Route, ratePlan: RatePlan, exchangeRate: ExchangeRate, number: IncomingNumber } as const;

/** A carrier's by its kind, so that a fault is told of that kind and not of all there are. */
function shapeOf(kind: Kind, item: ItemFields): { schema: TSchema; rules: readonly Rule<never>[] } | null {
  return kind === "carrier" ? kindNamed(item.kind) : { schema: SHAPES[kind], rules: RULES[kind] };
}

/** What is wrong with an item alone, whatever else there is. */
function faultsOf(kind: Kind, item: ItemFields): (SchemaFault & Pick<ItemFault, "at">)[] {
  const wanted = shapeOf(kind, item);
  if (wanted === null) {
    const kinds = Object.keys(CARRIER_KINDS);
    const { kind: named = "" } = item;
    return [{ path: ["kind"], says: wrongWord(kinds, named) }];
  }
  const { schema } = wanted;
  const isFit = isRight(schema, item);
  const shape = isFit ? [] : schemaFaults(schema, item, WORDS, MAX_FAULTS + 1);
  if (!isFit && shape.length === 0) return [{ path: [], says: "has another form than it must have" }];
  const wrong = new Set(shape.map(({ path }) => path[0]));
  const rules = wanted.rules.filter(({ reads }) => !reads.some((field) => wrong.has(field)));
  const others = rules.flatMap(({ faults }) => faults(item as never));
  return [...shape, ...others.map((fault) => ({ path: fault.field.split("."), ...fault }))];
}

/** One item alone, as it would stand in the file. What it says of other items is not looked at. */
export function readItem(kind: Kind, item: ItemFields): CatalogueItem {
  const [fault] = faultsOf(kind, item);
  if (fault === undefined) return itemOf(kind, item);
  const where = { field: fieldOf(fault), says: fault.says };
  throw new CatalogueFault(`${kind}: ${where.field} ${where.says}`, where);
}

/** Tells what is wrong at a path. */
type Tell = (path: TomlPath, says: string) => void;

/** The items of a file that could be read, each with the place of it. */
interface ReadItem {
  readonly kind: Kind;
  readonly index: number;
  readonly item: ItemFields;
  /** 'route "41"' */
  readonly name: string;
  /** Whether it has the fields that it is called by. */
  readonly isNamed: boolean;
}

/** 'carrier "acme"', or by its place in the file if it has no name. */
function nameIn(kind: Kind, item: ItemFields, index: number): string {
  const id = idOf(kind, item);
  return `${kind} ${id === null ? index + 1 : JSON.stringify(id)}`;
}

/** The lists of the file, and in them whatever is a table. */
function itemsIn(file: ItemFields, faults: FileFaults): ReadItem[] {
  const known: readonly string[] = ITEM_KINDS;
  for (const name of Object.keys(file))
    if (!known.includes(name)) faults.add([name], `${name} is not known here${didYouMean(name, known)}`);
  return ITEM_KINDS.flatMap((kind) => {
    const list = file[kind] ?? [];
    const isList = Array.isArray(list) && list.every((item) => typeof item === "object" && !(item instanceof Date));
    if (!isList) faults.add([kind], `${kind} must be written as [[${kind}]], once for each`);
    const items = isList ? (list as readonly ItemFields[]) : [];
    return items.map((item, index) => {
      const name = nameIn(kind, item, index);
      const wrong = faults.isFull ? [] : faultsOf(kind, item);
      for (const fault of wrong)
        faults.add([kind, index, ...(fault.at ?? fault.path)], `${name}: ${fieldOf(fault)} ${fault.says}`);
      return { kind, index, item, name, isNamed: idOf(kind, item) !== null };
    });
  });
}

function isId(value: unknown): value is string {
  return schemaFaults(Id, value, WORDS, 1).length === 0;
}

interface NamedItem {
  readonly field: string;
  readonly id: string;
  readonly of: "carrier" | "ratePlan";
}

/** The items of the file that one names, each once, as far as they can be read: something else may be wrong with it. */
function namesIn(kind: Kind, { carrier, groups, ratePlan }: ItemFields): NamedItem[] {
  if (kind === "carrier") return isId(ratePlan) ? [{ field: "ratePlan", id: ratePlan, of: "ratePlan" }] : [];
  if (kind !== "route") return [];
  const shares = Array.isArray(groups) ? groups.flatMap((group) => (Array.isArray(group) ? group : [])) : [];
  const named = [
    { field: "carrier", id: carrier },
    ...shares.map((share: { readonly carrier?: unknown } | null) => ({ field: "groups", id: share?.carrier })),
  ].filter((one): one is { field: string; id: string } => isId(one.id));
  return [...new Map(named.map((one) => [one.id, { ...one, of: "carrier" as const }])).values()];
}

/** What items say of each other. What is wrong with one of them by itself keeps nothing of that from being told. */
function checkTogether(items: readonly ReadItem[], faults: FileFaults): void {
  const first = new Map<string, number>();
  for (const { kind, index, name, isNamed } of items) {
    if (!isNamed) continue;
    const before = first.get(name);
    if (before === undefined) first.set(name, index);
    else faults.add([kind, index], `${name} stands there twice, first in line ${faults.lineOf([kind, before])}`);
  }
  const idsOf = (of: Kind) => new Set(items.filter(({ kind }) => kind === of).map(({ item }) => item.id));
  const known = { carrier: idsOf("carrier"), ratePlan: idsOf("ratePlan") };
  for (const { kind, index, item, name } of items) {
    for (const { field, id, of } of namesIn(kind, item)) {
      if (known[of].has(id)) continue;
      const ids = [...known[of]].filter((one) => typeof one === "string");
      const meant = faults.isFull ? "" : didYouMean(id, ids);
      const what = of === "carrier" ? "a carrier" : "a rate plan";
      faults.add([kind, index, field], `${name}: ${field} names "${id}", which is not ${what} of this file${meant}`);
    }
  }
}

function parsed(text: string, name: string): ItemFields {
  try {
    return readToml(text);
  } catch (error) {
    if (!(error instanceof TomlFault)) throw error;
    throw new CatalogueFault(`${shownPlace(name, error.place)}: ${error.message}`);
  }
}

/** A file that was read, whatever is wrong with it. */
export interface ExaminedFile {
  readonly isRight: boolean;
  /** The rate plans that it has, each with its currency; null where that cannot be read. */
  readonly currencies: ReadonlyMap<string, string | null>;
  /** Something is wrong with the file that can only be seen beside what is in force. */
  tell(says: string): void;
  /** Its items; throws a `CatalogueFault` that tells all that is wrong. */
  items(): CatalogueItem[];
}

/**
 * The items of a file, which go together. `name` is what the file is called where something is wrong in it. `prepare` may put something in place of
 * what stands there, before it is looked at.
 */
export function examineCatalogueFile(
  text: string,
  name = "catalogue",
  prepare: (file: ItemFields, tell: Tell) => ItemFields = (file) => file,
): ExaminedFile {
  const faults = new FileFaults(name, text);
  const file = prepare(parsed(text, name), (path, says) => faults.add(path, says));
  const items = itemsIn(file, faults);
  checkTogether(items, faults);
  const plans = items.filter(({ kind, isNamed }) => kind === "ratePlan" && isNamed).map(({ item }) => item);
  return {
    isRight: !faults.any,
    currencies: new Map(
      plans.map(({ id, currency }) => [id as string, typeof currency === "string" ? currency : null]),
    ),
    tell: (says) => faults.add([], says),
    items() {
      if (faults.any) throw faults.fault();
      return items.map(({ kind, item }) => itemOf(kind, item));
    },
  };
}

/** The same where nothing is known of what is in force. */
export function readCatalogueFile(text: string, name?: string): CatalogueItem[] {
  return examineCatalogueFile(text, name).items();
}

/** The file that `readCatalogueFile` reads as these items; `fieldsOf` says what of each is written. */
export function writeCatalogueFile(
  items: readonly CatalogueItem[],
  fieldsOf: (item: CatalogueItem) => ItemFields,
): string {
  const lists = ITEM_KINDS.map((kind) => [kind, items.filter((item) => item.kind === kind).map(fieldsOf)] as const);
  return toml().stringify(Object.fromEntries(lists.filter(([, list]) => list.length > 0)));
}
