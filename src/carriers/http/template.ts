/**
 * Templates of requests: values put in places, and nothing that is evaluated. `{name}` stands for a value, `{name?one:other}` for one of two words by whether
 * the value is true, of which one may be left out. A template that is nothing but `{name}` keeps the value's type, so that a number stays a number in JSON; `{name#}` makes a number of a
 * text that is one. A template whose value is missing leaves its field out. How a value is escaped follows from where the template stands: in a path, a query, a form, a header or JSON.
 */
import { boundedCache } from "../../runtime/cache.ts";
import { onceEach } from "../../runtime/lazy.ts";

export type TemplateValue = string | number | boolean;

/** What may be put into places: a name without a value is left out. */
export type Values = Readonly<Record<string, TemplateValue | undefined>>;

/** A template of JSON: texts in it are templates, everything else stands as it is. */
export type JsonTemplate =
  | string
  | number
  | boolean
  | null
  | readonly JsonTemplate[]
  | { readonly [name: string]: JsonTemplate };

const PLACE = /\{([A-Za-z][A-Za-z0-9]{0,39})(?:(#)|\?([^{}:]{0,200}):([^{}:]{0,200}))?\}/g;

/** A place in a template; with two words, of which one is chosen. */
interface Place {
  readonly name: string;
  readonly isNumber: boolean;
  readonly one: string | undefined;
  readonly other: string | undefined;
}

/** A template that was read: texts and places in their order. */
interface Read {
  readonly pieces: readonly (string | Place)[];
  /** The place of one that is nothing else. */
  readonly alone: Place | undefined;
}

/** Each template is read once, and filled with every message. */
const readTemplate = onceEach(boundedCache<string, Read>(2_000), (template) => {
  const pieces: (string | Place)[] = [];
  let end = 0;
  for (const match of template.matchAll(PLACE)) {
    const [whole, name, number, one, other] = match;
    if (match.index > end) pieces.push(template.slice(end, match.index));
    pieces.push({ name: name!, isNumber: number !== undefined, one, other });
    end = match.index + whole.length;
  }
  if (end < template.length) pieces.push(template.slice(end));
  const [first] = pieces;
  const isAlone = pieces.length === 1 && typeof first === "object" && first.one === undefined;
  return { pieces, alone: isAlone ? first : undefined };
});

/** The names that a template has places for. */
export function namesIn(template: JsonTemplate): string[] {
  if (typeof template === "string") return [...template.matchAll(PLACE)].map(([, name]) => name!);
  if (typeof template !== "object" || template === null) return [];
  return Object.values(template).flatMap(namesIn);
}

function placed({ name, one, other }: Place, values: Values): TemplateValue | undefined {
  if (one === undefined) return values[name];
  return (values[name] === true ? one : other) || undefined;
}

/** The text of a template, each value written by `write`; undefined where one of its values is missing. */
export function fillText(
  template: string,
  values: Values,
  write: (text: string) => string = String,
): string | undefined {
  let text = "";
  for (const piece of readTemplate(template).pieces) {
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    const value = placed(piece, values);
    if (value === undefined) return undefined;
    text += write(String(value));
  }
  return text;
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

/** Pairs of a form or a query, without those that have no value, or no template. */
export function fillPairs(templates: Readonly<Record<string, string>>, values: Values): string {
  let pairs = "";
  for (const name in templates) {
    const text = fillText(templates[name]!, values);
    if (text !== undefined && templates[name] !== "")
      pairs += `${pairs === "" ? "" : "&"}${formText(name)}=${formText(text)}`;
  }
  return pairs;
}

/** What encodeURIComponent leaves as it is and a form does not (WHATWG URL, application/x-www-form-urlencoded). */
const FORM_ESCAPES: Readonly<Record<string, string>> = {
  "!": "%21",
  "'": "%27",
  "(": "%28",
  ")": "%29",
  "~": "%7E",
  "%20": "+",
};

/** As URLSearchParams writes it, at a fifth of the cost. */
export function formText(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()~]|%20/g, (found) => FORM_ESCAPES[found]!);
}

const NUMBER = /^-?(?:0|[1-9]\d{0,14})$/;

function valueIn({ name, isNumber }: Place, values: Values): TemplateValue | undefined {
  const value = values[name];
  return isNumber && typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
}

/** A value of JSON, without fields that have no value, or no template. */
export function fillJson(template: JsonTemplate, values: Values): JsonTemplate | undefined {
  if (template === "") return undefined;
  if (typeof template === "string") {
    const { alone } = readTemplate(template);
    return alone === undefined ? fillText(template, values) : valueIn(alone, values);
  }
  if (typeof template !== "object" || template === null) return template;
  if (Array.isArray(template))
    return (template as readonly JsonTemplate[]).map((each) => fillJson(each, values) ?? null);
  const fields = template as { readonly [name: string]: JsonTemplate };
  const filled: { [name: string]: JsonTemplate } = {};
  for (const name in fields) {
    const value = fillJson(fields[name]!, values);
    if (value !== undefined) filled[name] = value;
  }
  return filled;
}
