/**
 * Schemas with the types of what they describe, as TypeBox makes them. The types are TypeBox's own; the schemas are made here, because TypeBox has
 * seven hundred files, which every thread would load and run at each start, and what we use of it is a few lines. What it hides in a schema, whether a
 * field is optional and what a value must hold beside its shape, is hidden here under the same names, so that TypeBox checks values by these
 * schemas (check.ts). A test compares them with TypeBox's (test/runtime/type.test.ts).
 */
import type { TSchema, Type as TypeBox } from "typebox";

export type { Static, TObject, TProperties, TSchema } from "typebox";

type Fields = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, TSchema>>;

/** What is hidden is not written with the schema, and not taken over by `{ ...schema }`. */
function hide<Schema extends object>(schema: Schema, name: string, value: unknown): Schema {
  return Object.defineProperty(schema, name, { configurable: true, writable: true, enumerable: false, value });
}

/** A schema like this one, with what it hides, and with this hidden too. */
function alsoHiding(schema: object, name: string, value: unknown): object {
  return hide(Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)), name, value);
}

function made(kind: string, fields: Fields, options: Fields = {}): object {
  return hide({ ...fields, ...options }, "~kind", kind);
}

const plain = (kind: string, type: string) => (options?: Fields) => made(kind, { type }, options);
const isOptional = (schema: object): boolean => "~optional" in schema;
const optional = (schema: object): object => alsoHiding(schema, "~optional", true);

function object(properties: Properties, options?: Fields): object {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]!));
  return made("Object", { type: "object", ...(required.length === 0 ? {} : { required }), properties }, options);
}

function partial({ properties }: { readonly properties: Properties }, options: Fields = {}): object {
  const entries = Object.entries(properties).map(([name, schema]) => [name, optional(schema)] as const);
  return Object.assign(object(Object.fromEntries(entries) as Properties), options);
}

/** By any text. */
function record(key: object, value: TSchema, options?: Fields): object {
  if (JSON.stringify(key) !== '{"type":"string"}') throw new Error("a record has texts for keys, whatever they are");
  return made("Record", { type: "object", patternProperties: { "^.*$": value } }, options);
}

function refine(schema: object, check: (value: never) => boolean, error: (value: never) => string): object {
  const { "~refine": before = [] } = schema as { readonly "~refine"?: readonly unknown[] };
  return alsoHiding(schema, "~refine", [...before, { check, error }]);
}

const MAKERS = {
  String: plain("String", "string"),
  Integer: plain("Integer", "integer"),
  Number: plain("Number", "number"),
  Boolean: plain("Boolean", "boolean"),
  Null: plain("Null", "null"),
  Unknown: (options?: Fields) => made("Unknown", {}, options),
  Literal: (value: string | number | boolean, options?: Fields) =>
    made("Literal", { type: typeof value, const: value }, options),
  Array: (items: TSchema, options?: Fields) => made("Array", { type: "array", items }, options),
  Union: (anyOf: readonly TSchema[], options?: Fields) => made("Union", { anyOf }, options),
  Record: record,
  Object: object,
  Partial: partial,
  Optional: optional,
  Refine: refine,
  Unsafe: (schema: object) => alsoHiding(schema, "~unsafe", null),
};

/** One of these words. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return Type.Unsafe<Words[number]>({ type: "string", enum: words });
}

export const Type = MAKERS as unknown as Pick<typeof TypeBox, keyof typeof MAKERS>;
