/** Values as PostgreSQL reads them: everything is sent as text. */

/** PostgreSQL's text has no U+0000, which means nothing in a message or a name: the sign for what cannot be shown stands for it. */
export function storable<Value>(value: Value): Value | string {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}

/** Null for NULL. */
export function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? arrayText(value, (item) => item) : String(value);
}

/** An array of what each of the items has, as `{1,NULL,"text"}`: the driver's own way takes three times as long. */
export function arrayText<Item>(items: readonly Item[], read: (item: Item) => unknown): string {
  let text = "";
  for (const item of items) {
    const value = elementText(read(item));
    text += text === "" ? value : `,${value}`;
  }
  return `{${text}}`;
}

const SPECIAL = /["\\\0]/;

function elementText(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value !== "string") return String(value);
  return SPECIAL.test(value) ? `"${storable(value).replace(/["\\]/g, "\\$&")}"` : `"${value}"`;
}
