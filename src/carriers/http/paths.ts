/** What stands at a path of an answer: `messages.0.status.name`. Only what the data has itself is read, never what an object inherits. */
import { boundedCache } from "../../runtime/cache.ts";
import { onceEach } from "../../runtime/lazy.ts";

/** Paths come from descriptions, so there are few, and each is walked with every answer. */
const stepsOf = onceEach(boundedCache<string, readonly string[]>(2_000), (path) =>
  path === "" ? [] : path.split("."),
);

/** Undefined where there is nothing. An empty path is the whole. */
function valueAt(data: unknown, path: string): unknown {
  let value = data;
  for (const name of stepsOf(path)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** A text or a number, as text; undefined for anything else, and for what is empty. Of several paths the first that has something. */
export function textAt(data: unknown, path: string | readonly string[] | undefined): string | undefined {
  if (typeof path === "object") {
    for (const each of path) {
      const text = textAt(data, each);
      if (text !== undefined) return text;
    }
    return undefined;
  }
  const value = path === undefined ? undefined : valueAt(data, path);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The list at a path; one thing alone is a list of it. A step `*` stands for each of a list: `messages.*.id`. */
export function listAt(data: unknown, path = ""): readonly unknown[] {
  const [before, after] = path.includes("*") ? (path.split(/\.?\*\.?/, 2) as [string, string]) : [path];
  const value = valueAt(data, before);
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return after === undefined ? list : list.map((each) => valueAt(each, after));
}

/** Conditions on a thing: each path has one of the words. */
export type Conditions = Readonly<Record<string, string | readonly string[]>>;

export function fulfils(data: unknown, conditions: Conditions = {}): boolean {
  for (const path in conditions) {
    const words = conditions[path]!;
    const text = textAt(data, path);
    if (text === undefined || !(typeof words === "string" ? words === text : words.includes(text))) return false;
  }
  return true;
}
