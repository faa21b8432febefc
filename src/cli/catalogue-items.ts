/** What the commands for carriers, routes, prices and the like share: an item is found, checked with all the others, and written over the version that was seen. */
import type { TSchema } from "typebox";
import type { CatalogueItem, Store } from "../store/port.ts";
import { bodyOf, checkedItems, shownBody } from "./catalogue-file.ts";
import { differenceLine, differences, type JsonOption, printable, showJson, written } from "./show.ts";
import { byCommandLine, CommandFault, say, UsageFault } from "./support.ts";

export type Kind = CatalogueItem["kind"];
export type Fields = Readonly<Record<string, unknown>>;

const NOUNS: Readonly<Record<Kind, string>> = {
  carrier: "carrier",
  route: "route",
  ratePlan: "rate plan",
  exchangeRate: "exchange rate",
  number: "number",
};

export function nameOf({ kind, id }: Pick<CatalogueItem, "kind" | "id">): string {
  return printable(`${NOUNS[kind]} ${id === "" ? "*" : id}`);
}

export async function itemsOf<Body>(store: Store, kind: Kind): Promise<Body[]> {
  return (await store.catalogue()).filter((item) => item.kind === kind).map((item) => bodyOf(item) as Body);
}

/** Writes an item as `change` makes it from what is there (null for nothing), and prints what changed. */
export async function putItem(
  store: Store,
  { kind, id }: Pick<CatalogueItem, "kind" | "id">,
  change: (before: Fields | null) => Fields,
  options: JsonOption,
): Promise<void> {
  const items = await store.catalogue();
  const old = items.find((item) => item.kind === kind && item.id === id);
  const before = old === undefined ? null : bodyOf(old);
  const item: CatalogueItem = { kind, id, body: JSON.stringify(change(before)) };
  const others = items.filter((other) => other !== old);
  checkedItems([...others, item]);
  const changes = before === null ? [] : differences(before, bodyOf(item));
  if (before === null || changes.length > 0) {
    const outcome = await store.putItem({ ...item, version: old?.version ?? 0, ...byCommandLine() });
    if (outcome.kind === "outdated") throw outdated(item);
  }
  if (options.json === true) {
    showJson(shownBody(item));
    return;
  }
  if (before === null) say(`The ${nameOf(item)} is made: ${summary(shownBody(item))}`);
  else say(changes.length === 0 ? `Nothing of the ${nameOf(item)} changes.` : `The ${nameOf(item)} is changed:`);
  for (const { field, before, after } of changes) {
    if (field === "password") say("  password: another one");
    else say(`  ${differenceLine({ field, before, after })}`);
  }
}

export async function deleteItem(store: Store, { kind, id }: Pick<CatalogueItem, "kind" | "id">): Promise<void> {
  const items = await store.catalogue();
  const old = items.find((item) => item.kind === kind && item.id === id);
  if (old === undefined) throw unknown({ kind, id });
  checkedItems(items.filter((item) => item !== old));
  const outcome = await store.deleteItem({ kind, id, version: old.version ?? null, ...byCommandLine() });
  if (outcome !== "deleted") throw outdated(old);
  say(`The ${nameOf(old)} is deleted. It was: ${summary(shownBody(old))}`);
}

export function unknown(item: Pick<CatalogueItem, "kind" | "id">): CommandFault {
  return new CommandFault(`there is no ${nameOf(item)}`);
}

function outdated(item: Pick<CatalogueItem, "kind" | "id">): CommandFault {
  return new CommandFault(`somebody else has changed the ${nameOf(item)} at this moment: look at it, and try again`);
}

export function summary(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${written(value)}`)
    .join(", ");
}

interface FieldSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/**
 * Fields as they are named on the command line: name=value, where a list has commas and a type of address is ton/npi. Nothing behind the
 * sign takes the field away.
 */
export function withFields(
  before: Fields,
  pairs: readonly string[],
  schema: TSchema & { properties?: Readonly<Record<string, unknown>> },
): Fields {
  const fields: Record<string, unknown> = { ...before };
  for (const pair of pairs) {
    const sign = pair.indexOf("=");
    if (sign < 1) throw new UsageFault(`"${pair}" is no field: write name=value`);
    const name = pair.slice(0, sign);
    const known = schema.properties?.[name] as FieldSchema | undefined;
    if (known === undefined)
      throw new UsageFault(`there is no field "${name}", only ${Object.keys(schema.properties ?? {}).join(", ")}`);
    const text = pair.slice(sign + 1);
    if (text === "") delete fields[name];
    else fields[name] = readValue(text, known, name);
  }
  return fields;
}

function readValue(text: string, { type, properties }: FieldSchema, name: string): unknown {
  if (type === "integer" || type === "number") {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new UsageFault(`${name} must be a whole number, not "${text}"`);
  }
  if (type === "boolean") {
    if (text === "true" || text === "false") return text === "true";
    throw new UsageFault(`${name} must be true or false, not "${text}"`);
  }
  if (type === "array") return text.split(",").map((piece) => piece.trim());
  if (type === "object" && properties !== undefined) {
    const [ton, npi, ...rest] = text.split("/");
    if (rest.length === 0 && /^\d+$/.test(ton ?? "") && /^\d+$/.test(npi ?? ""))
      return { ton: Number(ton), npi: Number(npi) };
    throw new UsageFault(`${name} must be two numbers such as 1/1, not "${text}"`);
  }
  return text;
}

/** A prefix as it is typed: a star for all numbers, because an empty word is easily lost in a shell. */
export function prefixOf(text: string): string {
  if (text === "*") return "";
  if (/^\d{0,15}$/.test(text)) return text;
  throw new UsageFault(`"${text}" is no prefix: write up to 15 digits, or * for all numbers`);
}

export function shownPrefix(prefix: string): string {
  return prefix === "" ? "*" : prefix;
}
