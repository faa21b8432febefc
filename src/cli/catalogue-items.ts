/** What the commands for carriers, routes, prices and the like share: they read fields from the command line, and print what has changed. */
import * as admin from "../admin/catalogue.ts";
import { fieldsOf, type ItemKind, type ItemName, nameOf, shownFields } from "../admin/items.ts";
import { Refused } from "../admin/refusal.ts";
import type { ItemFields } from "../catalogue/file.ts";
import { didYouMean } from "../runtime/near.ts";
import type { CatalogueItem } from "../store/port/catalogue.ts";
import { CARRIER_SECRETS } from "../store/port/secrets.ts";
import type { Store } from "../store/port/store.ts";
import { currencyOf, linesOf, summaryOf } from "./changes.ts";
import { type Column, differences, howMany, type JsonOption, printable, showList, shownAsJson } from "./show.ts";
import { byCommandLine, CommandFault, type CommonOptions, onStore, say, UsageFault } from "./support.ts";

export async function itemsOf<Fields>(store: Store, kind: ItemKind): Promise<Fields[]> {
  return (await admin.listItems(store, kind)).map((item) => fieldsOf<Fields>(item));
}

/** Prints all items of a kind. */
export function listing<Fields>(kind: ItemKind, columns: readonly Column<Fields>[], noun: string, none?: string) {
  return async (options: CommonOptions & JsonOption): Promise<void> => {
    const items = await onStore(options, (store) => itemsOf<Fields>(store, kind));
    showList(options, columns, items, howMany(items.length, noun, none));
  };
}

type Change = (before: ItemFields | null) => ItemFields;

/** Writes an item as `change` makes it from what is there (null for nothing), and prints what changed. */
export function putItem(options: CommonOptions & JsonOption, name: ItemName, change: Change): Promise<void> {
  return onStore(options, (store) => putInto(store, name, change, options));
}

async function putInto(store: Store, name: ItemName, change: Change, options: JsonOption): Promise<void> {
  const old = await admin.findItem(store, name);
  const before = old === null ? null : fieldsOf(old);
  const fields = change(before);
  const changes = before === null ? [] : differences(before, fields);
  const isSame = before !== null && changes.length === 0;
  const version = old?.version ?? 0;
  const item: CatalogueItem = isSame
    ? old!
    : await ofItem(name, admin.putItem(store, { ...name, fields, version, mayNameFiles: true, ...byCommandLine() }));
  if (shownAsJson(options, shownFields(item))) return;
  const title = printable(nameOf(name));
  if (before === null) say(`The ${title} is made: ${summary(item)}`);
  else say(isSame ? `Nothing of the ${title} changes.` : `The ${title} is changed:`);
  for (const line of linesOf(changes, currencyOf(fields))) say(`  ${line}`);
}

export function deleteItem(options: CommonOptions, name: ItemName): Promise<void> {
  return onStore(options, async (store) => {
    const version = (await admin.itemNamed(store, name)).version ?? "any";
    const item = await admin.deleteItem(store, { ...name, version, ...byCommandLine() });
    say(`The ${printable(nameOf(item))} is deleted. It was: ${summary(item)}`);
  });
}

/** A field of an item is no option: it is told by the item that has it. */
async function ofItem<Result>({ kind, id }: ItemName, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Refused) || error.refusal.kind !== "invalid") throw error;
    throw new CommandFault(`${kind} "${id || "*"}": ${error.refusal.field} ${error.refusal.says}`);
  }
}

/** All of its fields but secrets, in a line. */
export function summary(item: Pick<CatalogueItem, "body">): string {
  return summaryOf(forPeople(shownFields(item)));
}

/** What scripts get in place of a secret says to "heliograph apply" that it stays. Whoever has set one would read that it was not. */
export function forPeople(fields: ItemFields): ItemFields {
  const secrets = CARRIER_SECRETS.filter((field) => field in fields).map((field) => [field, "(hidden)"]);
  return { ...fields, ...Object.fromEntries(secrets) };
}

interface FieldSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

/**
 * Fields as they are named on the command line: name=value, where a list has commas, a type of address is ton/npi and a table of tags is
 * name:number with commas. Nothing behind the sign takes the field away.
 */
export function withFields(
  before: ItemFields,
  pairs: readonly string[],
  schema: { readonly properties: Readonly<Record<string, unknown>> },
): ItemFields {
  const fields: Record<string, unknown> = { ...before };
  for (const pair of pairs) {
    const sign = pair.indexOf("=");
    if (sign < 1) throw new UsageFault(`"${pair}" is no field: write name=value`);
    const name = pair.slice(0, sign);
    if (!Object.hasOwn(schema.properties, name)) {
      const names = Object.keys(schema.properties);
      throw new UsageFault(`there is no field "${name}"${didYouMean(name, names) || `, only ${names.join(", ")}`}`);
    }
    const known = schema.properties[name] as FieldSchema;
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
    if (!Object.hasOwn(properties, "ton")) return readTable(text, name, Object.keys(properties));
    const [ton, npi, ...rest] = text.split("/");
    if (rest.length === 0 && /^\d+$/.test(ton ?? "") && /^\d+$/.test(npi ?? ""))
      return { ton: Number(ton), npi: Number(npi) };
    throw new UsageFault(`${name} must be two numbers such as 1/1, not "${text}"`);
  }
  return text;
}

const TABLE_ROW = /^([A-Za-z]{1,64}):(0x[0-9a-fA-F]{1,8}|\d{1,10})$/;

/** Names and numbers, as in "one:0x1400,other:5121". */
function readTable(text: string, name: string, known: readonly string[]): Readonly<Record<string, number>> {
  const rows = text.split(",").map((piece) => {
    const [, key, number] = TABLE_ROW.exec(piece.trim()) ?? [];
    if (key === undefined || !known.includes(key))
      throw new UsageFault(
        `${name} must be names and numbers such as ${known[0]}:0x1400, not "${piece}"; the names are ${known.join(", ")}`,
      );
    return [key, Number(number)] as const;
  });
  return Object.fromEntries(rows);
}

/** A prefix as it is typed: a star for all numbers, because an empty word is easily lost in a shell. */
export function prefixOf(text: string): string {
  if (text === "*") return "";
  const [, digits] = /^\+?(\d{0,15})$/.exec(text) ?? [];
  if (digits !== undefined) return digits;
  throw new UsageFault(`"${text}" is no prefix: write up to 15 digits, or * for all numbers`);
}

export function shownPrefix(prefix: string): string {
  return prefix === "" ? "*" : prefix;
}
