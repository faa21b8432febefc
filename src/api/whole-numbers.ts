/** Numbers of phones and ids that a client has written as numbers of JSON: they are taken as their digits. */

/** Where a text of digits is meant. */
const NAMES: ReadonlySet<string> = new Set([
  "to",
  "from",
  "sender",
  "senderId",
  "msisdn",
  "messageId",
  "bulkId",
  "ids",
]);

interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
}

/**
 * Writes them out where such a number is what a schema found wrong; false if there is none. All of the body at once: what the schema finds is one at a time, and
 * a body may have thousands.
 */
export function writtenOut(value: unknown, faults: readonly Fault[] | null | undefined): boolean {
  const isOfOne = faults?.some(({ keyword, instancePath }) => keyword === "type" && NAMES.has(nameAt(instancePath)));
  return isOfOne === true && writeOut(value, false);
}

/** "/messages/0/to/3" → "to" */
function nameAt(pointer: string): string {
  return pointer.split("/").findLast((part) => !/^\d+$/.test(part)) ?? "";
}

function writeOut(value: unknown, isNamed: boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  let isChanged = false;
  for (const [name, inner] of Object.entries(value)) {
    const isOne = Array.isArray(value) ? isNamed : NAMES.has(name);
    if (isOne && Number.isSafeInteger(inner) && inner >= 0) {
      (value as Record<string, unknown>)[name] = String(inner);
      isChanged = true;
    } else if (writeOut(inner, isOne)) isChanged = true;
  }
  return isChanged;
}
