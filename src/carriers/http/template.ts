/**
 * Templates of requests: values put in places, and nothing that is evaluated. `{name}` stands for a value, `{name?one:other}` for one of two words by whether
 * the value is true, of which one may be left out. A template that is nothing but `{name}` keeps the value's type, so that a number stays a number in JSON. One whose value is missing
 * leaves its field out. How a value is escaped follows from where the template stands: in a path, a query, a form, a header or JSON.
 */

export type Value = string | number | boolean;

/** What may be put into places: a name without a value is left out. */
export type Values = Readonly<Record<string, Value | undefined>>;

/** A template of JSON: texts in it are templates, everything else stands as it is. */
export type JsonTemplate =
  | string
  | number
  | boolean
  | null
  | readonly JsonTemplate[]
  | { readonly [name: string]: JsonTemplate };

const PLACE = /\{([A-Za-z][A-Za-z0-9]{0,39})(?:\?([^{}:]{0,200}):([^{}:]{0,200}))?\}/g;
const ALONE = /^\{([A-Za-z][A-Za-z0-9]{0,39})\}$/;

/** The names that a template has places for. */
export function namesIn(template: JsonTemplate): string[] {
  if (typeof template === "string") return [...template.matchAll(PLACE)].map(([, name]) => name!);
  if (typeof template !== "object" || template === null) return [];
  return Object.values(template).flatMap(namesIn);
}

function chosen(value: Value | undefined, one: string | undefined, other: string | undefined): Value | undefined {
  if (one === undefined) return value;
  return (value === true ? one : other) || undefined;
}

/** The text of a template, each value written by `write`; undefined where one of its values is missing. */
export function fillText(
  template: string,
  values: Values,
  write: (text: string) => string = String,
): string | undefined {
  let isMissing = false;
  const text = template.replace(PLACE, (_, name: string, one?: string, other?: string) => {
    const value = chosen(values[name], one, other);
    if (value === undefined) isMissing = true;
    return write(String(value));
  });
  return isMissing ? undefined : text;
}

/** A path: a value can neither end a segment nor leave it by dots. */
export function fillPath(template: string, values: Values): string | undefined {
  return fillText(template, values, (text) =>
    /^\.{1,2}$/.test(text) ? text.replaceAll(".", "%2E") : encodeURIComponent(text),
  );
}

/** The value of a header, in which neither a line can end nor another begin; other letters than those of Latin-1 go as UTF-8. */
export function fillHeader(template: string, values: Values): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  return fillText(template, values)?.replace(/[\u0000-\u0008\u000a-\u001f\u007f]/g, "");
}

/** Pairs of a form or a query, without those that have no value. */
export function fillPairs(templates: Readonly<Record<string, string>>, values: Values): string {
  const pairs = new URLSearchParams();
  for (const [name, template] of Object.entries(templates)) {
    const text = fillText(template, values);
    if (text !== undefined) pairs.append(name, text.toWellFormed());
  }
  return pairs.toString();
}

/** A value of JSON, without fields that have no value. */
export function fillJson(template: JsonTemplate, values: Values): JsonTemplate | undefined {
  if (typeof template === "string") {
    const [, name] = ALONE.exec(template) ?? [];
    return name === undefined ? fillText(template, values) : values[name];
  }
  if (typeof template !== "object" || template === null) return template;
  if (Array.isArray(template))
    return (template as readonly JsonTemplate[]).map((each) => fillJson(each, values) ?? null);
  const filled = Object.entries(template).map(([name, each]) => [name, fillJson(each, values)] as const);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined)) as JsonTemplate;
}
