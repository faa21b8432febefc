/** The small shapes of which schemas are made, each with what the description says of it. */
import { given } from "../runtime/given.ts";
import { type TSchema, Type } from "../runtime/type.ts";

export const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const Text = (description: string) => Type.String({ description });
export const Whole = (description: string) => Type.Integer({ description });
export const Flag = (description: string) => Type.Boolean({ description });
export const OptionalText = (description: string) => optional(Text(description));
export const OptionalWhole = (description: string) => optional(Whole(description));
export const OptionalFlag = (description: string) => optional(Flag(description));
export const TextOrNull = (description: string) =>
  Type.Unsafe<string | null>({ type: ["string", "null"], description });

/** One of a list of words: as `enum`, which gives a clear error and a readable page. */
export function OneOf<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>({ type: "string", enum: words, ...given({ description }) });
}
