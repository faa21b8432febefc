/** Schemas that the views of the console share. */
import { Type } from "../../runtime/type.ts";

/** As the pages read it: ISO 8601 with milliseconds, in UTC. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

export function isoTimeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : isoTime(atMs);
}

export const NumberOrNull = Type.Unsafe<number | null>({ type: ["number", "null"] });
export const StringOrNull = Type.Unsafe<string | null>({ type: ["string", "null"] });

/** Lines of a chart: a time for each place, and for each line the numbers at these times. */
export const Times = Type.Unsafe<{ medianMs: number; slowMs: number } | null>({
  type: ["object", "null"],
  properties: { medianMs: { type: "number" }, slowMs: { type: "number" } },
  required: ["medianMs", "slowMs"],
  description: "The middle one of the last few hundred, and what 95 of 100 do not pass; null where there were none.",
});

export const Reasons = Type.Array(
  Type.Object({
    errorId: Type.Integer(),
    name: Type.String(),
    description: Type.String(),
    count: Type.Integer(),
  }),
  { description: "Why carriers and phones said no since the start, the most frequent first." },
);
