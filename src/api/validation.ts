/** Turns what the schema validator found into the API's error: which field, and in one sentence what is wrong with it. */
import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import { type ApiError, badField } from "./errors.ts";

type Params = Record<string, unknown>;

const SENTENCES: Readonly<Record<string, (params: Params) => string>> = {
  required: () => "is required",
  additionalProperties: () => "is not known here",
  type: ({ type }) => `must be ${named(String(type))}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as string[]).join(", ")}`,
  minLength: () => "must not be empty",
  minItems: () => "must not be empty",
  maxLength: ({ limit }) => `must be at most ${limit} characters long`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minimum: ({ limit }) => `must be ${limit} or more`,
  maximum: ({ limit }) => `must be ${limit} or less`,
};

/** "string,array" → "a string or an array" */
function named(types: string): string {
  return types
    .split(",")
    .map((type) => `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`)
    .join(" or ");
}

/** A caller may have chosen a step of it, as long as he likes; no more than its beginning is told. */
const MAX_POINTER = 400;

/** "/messages/0/destinations/3/to" → "messages[0].destinations[3].to" */
function fieldName(pointer: string): string {
  return pointer
    .slice(0, MAX_POINTER)
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

export function describe(errors: readonly FastifySchemaValidationError[], part: string): ApiError {
  const { instancePath, keyword, params, message } = errors[0]!;
  const name = keyword === "required" ? params.missingProperty : params.additionalProperty;
  const field = fieldName(name === undefined ? instancePath : `${instancePath}/${name}`) || part;
  return badField(field, SENTENCES[keyword]?.(params) ?? message ?? "is wrong");
}
