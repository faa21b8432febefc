/**
 * What is wrong with something that a person wrote, by the schema that it should have: every fault with its path, in words and never as a pattern.
 * It knows the schemas that settings and the catalogue are made of: tables, lists, texts, whole numbers, switches, and words of a list.
 */
import { perKey } from "./lazy.ts";
import { didYouMean } from "./near.ts";
import type { TomlPath } from "./toml.ts";

export interface SchemaFault {
  readonly path: TomlPath;
  /** What goes on after the name: "must be a whole number of 1 to 100, not 0". */
  readonly says: string;
}

export interface SchemaWords {
  /** What a text is told that does not match a pattern: "must be …". */
  readonly patterns: ReadonlyMap<string, string>;
  /** Fields whose value is not told. */
  readonly secrets: ReadonlySet<string>;
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The pattern that a schema of texts has. */
export function patternOf(schema: object): string {
  return (schema as Schema).pattern ?? "";
}

/** At most `limit` of them, in the order of the text. */
export function schemaFaults(schema: object, value: unknown, words: SchemaWords, limit: number): SchemaFault[] {
  const found: SchemaFault[] = [];
  const walk = (schema: Schema, value: unknown, path: TomlPath): void => {
    if (found.length >= limit) return;
    const fault = faultOf(schema, value, words);
    if (fault !== null) {
      found.push({ path, says: `${fault}${hidden(path, words) ? "" : notThis(value, fault)}` });
      return;
    }
    if (schema.type === "array" && schema.items !== undefined)
      for (const [index, item] of (value as unknown[]).entries()) walk(schema.items, item, [...path, index]);
    if (schema.type === "object") walkTable(schema, value as Readonly<Record<string, unknown>>, path);
  };
  const walkTable = (schema: Schema, table: Readonly<Record<string, unknown>>, path: TomlPath): void => {
    const known = new Map(Object.entries(schema.properties ?? {}));
    for (const [name, value] of Object.entries(table)) {
      const inner = known.get(name);
      if (inner !== undefined) walk(inner, value, [...path, name]);
      else if (schema.additionalProperties === false && found.length < limit)
        found.push({ path: [...path, name], says: `is not known here${didYouMean(name, known.keys())}` });
    }
    for (const name of schema.required ?? [])
      if (!Object.hasOwn(table, name) && found.length < limit)
        found.push({ path: [...path, name], says: "is required" });
  };
  walk(schema as Schema, value, []);
  return found;
}

/** What is told of a value that is none of these words. */
export function wrongWord(words: readonly string[], value: unknown): string {
  const fault = `must be ${either(words)}`;
  return value === "" ? fault : `${fault}${notThis(value, fault)}`;
}

function hidden(path: TomlPath, { secrets }: SchemaWords): boolean {
  return path.some((step) => typeof step === "string" && secrets.has(step));
}

/** What is wrong with the value itself, whatever is in it; null if nothing is. */
function faultOf(schema: Schema, value: unknown, words: SchemaWords): string | null {
  const choices = choicesOf(schema);
  if (choices !== null) return choices.includes(value) ? null : `must be ${either(choices)}`;
  switch (schema.type) {
    case "object":
      return isTable(value) ? null : "must be a table of fields";
    case "array":
      return Array.isArray(value) ? lengthFault(schema, value) : "must be a list in square brackets";
    case "string":
      return textFault(schema, value, words);
    case "integer":
      return numberFault(schema, value);
    case "boolean":
      return typeof value === "boolean" ? null : "must be true or false, without quotes";
    default:
      return null;
  }
}

/** The values of a schema that has a list of them. */
function choicesOf({ anyOf, enum: listed, const: only }: Schema): readonly unknown[] | null {
  if (listed !== undefined) return listed;
  if (only !== undefined) return [only];
  const constants = anyOf?.map((one) => one.const);
  return constants === undefined || constants.includes(undefined) ? null : constants;
}

function either(choices: readonly unknown[]): string {
  const shown = choices.map((choice) => (typeof choice === "string" ? choice : String(choice)));
  return shown.length === 1 ? shown[0]! : `one of ${shown.join(", ")}`;
}

function textFault({ pattern, minLength, maxLength }: Schema, value: unknown, words: SchemaWords): string | null {
  const form =
    pattern === undefined ? undefined : (words.patterns.get(pattern) ?? "has another form than it must have");
  if (typeof value !== "string") return form ?? "must be a text in quotes";
  if (minLength !== undefined && value.length < minLength) return "must not be empty";
  if (maxLength !== undefined && value.length > maxLength) return `must have at most ${maxLength} characters`;
  return pattern === undefined || expressionOf(pattern).test(value) ? null : form!;
}

/** The patterns are those of our own schemas. */
const expressionOf = perKey((pattern: string) => new RegExp(pattern, "u"));

function numberFault({ minimum, maximum }: Schema, value: unknown): string | null {
  const isWhole = Number.isInteger(value);
  const isWithin = isWhole && (value as number) >= (minimum ?? -Infinity) && (value as number) <= (maximum ?? Infinity);
  if (isWithin) return null;
  if (minimum === undefined || maximum === undefined) return "must be a whole number";
  if (maximum === Number.MAX_SAFE_INTEGER) return `must be a whole number of ${minimum} or more`;
  return `must be a whole number from ${minimum} to ${maximum}`;
}

function lengthFault({ minItems = 0, maxItems = Infinity }: Schema, list: readonly unknown[]): string | null {
  if (list.length < minItems) return `must have at least ${minItems} item${minItems === 1 ? "" : "s"}`;
  return list.length > maxItems ? `must have at most ${maxItems} items` : null;
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A value is shown up to this length. */
const MAX_SHOWN = 60;

/** ', not "abc"' and what may have been meant; of a list or a text that is too long, how long it is. */
function notThis(value: unknown, fault: string): string {
  if (fault === "must not be empty") return "";
  if (Array.isArray(value)) return fault.startsWith("must have") ? `, not ${value.length}` : ", not a list";
  if (value instanceof Date) return ", not a date";
  if (isTable(value)) return ", not a table";
  if (typeof value !== "string") return `, not ${String(value)}`;
  if (fault.startsWith("must have at most")) return `, not ${value.length}`;
  const [, choices] = /^must be one of (.*)$/.exec(fault) ?? [];
  const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  const meant = choices === undefined ? "" : didYouMean(value, choices.split(", "));
  return `, not ${JSON.stringify(shown)}${meant}`;
}
