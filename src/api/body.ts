/** Request bodies: JSON as real clients write it, and forms where the contract leaves the encoding open. */
import { isUtf8 } from "node:buffer";
import { ApiError, badField } from "./errors.ts";

/** The contract's deepest body has five levels. */
const DEEPEST = 32;
const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;

/**
 * Parses JSON. An explicit null means absent, so such fields are taken out; NUL characters and halves of surrogate pairs, which
 * no SMS and no database can hold, are refused with the field that has them.
 */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new ApiError("badRequest", { description: "The body is not valid UTF-8." });
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new ApiError("badRequest", { description: "The body is not valid JSON." });
  }
  refuseBadText(value);
  return value;
}

/** Takes nulls out of objects, and refuses text that cannot be kept. */
export function refuseBadText(value: unknown): void {
  const fault = clean(value, 0);
  if (fault?.says === TOO_DEEP) throw new ApiError("badRequest", { description: `The body ${TOO_DEEP}.` });
  if (fault !== null) throw badField(fault.path.replace(/^\./, "") || "body", fault.says);
}

interface Fault {
  path: string;
  readonly says: string;
}

/** The path is put together only on the way back from a fault: bodies without one pay nothing for it. */
function clean(value: unknown, depth: number): Fault | null {
  if (typeof value === "string") {
    if (value.includes("\0")) return { path: "", says: "has a NUL character" };
    return value.isWellFormed() ? null : { path: "", says: "has half of a surrogate pair" };
  }
  if (typeof value !== "object" || value === null) return null;
  if (depth >= DEEPEST) return { path: "", says: TOO_DEEP };
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const fault = clean(value[index], depth + 1);
      if (fault !== null) return { ...fault, path: `[${index}]${fault.path}` };
    }
    return null;
  }
  const record = value as Record<string, unknown>;
  // Not over Object.keys, which makes a list for each of a hundred destinations: that took twice as long. What JSON made inherits no fields.
  for (const name in record) {
    if (record[name] === null) delete record[name];
    const fault = clean(record[name], depth + 1);
    if (fault !== null) return { ...fault, path: `.${name}${fault.path}` };
  }
  return null;
}

/** A form body as an object; of a name that stands twice, the first counts. */
export function parseForm(body: Buffer): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(body.toString("utf8"))) fields[name] ??= value;
  refuseBadText(fields);
  return fields;
}
