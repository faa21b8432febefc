/**
 * What TypeBox finds wrong with a value. It is loaded with the first value that has to be looked at by it (type.ts says why): to start a
 * service whose settings are right, none has to.
 */
import type { Validator } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";
import { library, onceEach } from "./lazy.ts";
import type { TSchema } from "./type.ts";

const values = library<typeof import("typebox/value")>("typebox/value");
const compiler = library<typeof import("typebox/compile")>("typebox/compile");

/** All that is wrong with a small value, in TypeBox's words; nothing where it is as the schema says. */
export function faultsIn(schema: TSchema, value: unknown): readonly TLocalizedValidationError[] {
  return values().Errors(schema, value);
}

/** Compiled once for each schema: a plan of 100,000 prices takes milliseconds so, and seconds if the schema is walked for each of them. */
const validatorOf = onceEach(new WeakMap<TSchema, Validator>(), (schema) => compiler().Compile(schema));

/** Whether a value of any size is as its schema says. */
export function isRight(schema: TSchema, value: unknown): boolean {
  return validatorOf(schema).Check(value);
}

interface Refinement {
  readonly check: (value: unknown) => boolean;
  readonly error: (value: unknown) => string;
}

/** What a value does not hold of what its schema asks beside its shape (`Type.Refine`), in the schema's words; null if nothing is wrong. */
export function refusalOf(schema: TSchema, value: unknown): string | null {
  const { "~refine": refinements = [] } = schema as { readonly "~refine"?: readonly Refinement[] };
  return refinements.find(({ check }) => !check(value))?.error(value) ?? null;
}

/** What a schema of one plain value may say for a look at it to be enough. */
const PLAIN = new Set(["type", "minimum", "maximum", "minLength"]);

interface PlainSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
}

/** Whether a text, a whole number or a switch has the right shape for certain. What this cannot tell is for `faultsIn`. */
export function isPlainlyRight(schema: TSchema, value: unknown): boolean {
  if (!Object.keys(schema).every((keyword) => PLAIN.has(keyword))) return false;
  const {
    type,
    minimum = Number.NEGATIVE_INFINITY,
    maximum = Number.POSITIVE_INFINITY,
    minLength = 0,
  } = schema as PlainSchema;
  if (type === "boolean") return typeof value === "boolean";
  if (type === "integer") return Number.isSafeInteger(value) && minimum <= Number(value) && Number(value) <= maximum;
  // Of more than one character it would have to be known what counts as one.
  return type === "string" && typeof value === "string" && minLength <= Math.min(1, value.length);
}
