/** What an answer or a callback says, as data: JSON, XML, or a text by patterns. Pure, and linear in its length. */
import { orElse } from "../../runtime/or-else.ts";

/** Elements within each other: an answer with more is no data. */
const MAX_DEPTH = 50;
/** Tags, attributes and entities of XML cost a microsecond each, on a thread that has more to do. A thousand receipts have some ten thousand. */
const MAX_VALUES = 100_000;
/** What begins and ends otherwise than a tag. */
const SPANS: Readonly<Record<string, string>> = { "<![CDATA[": "]]>", "<!--": "-->" };
/** What ends a tag, and the values in it, which may have a ">" too. */
const TAG_END = />|"[^"]*"|'[^']*'/g;
const ATTRIBUTE = /(?<![\w:.-])([\w:.-]{1,100})\s?=\s?(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** JSON or XML; a text as the first pattern that fits has it, or itself. Before it there may be white space and the mark of its order of octets. */
export function readData(whole: string, patterns: readonly string[] = []): unknown {
  const text = whole.trimStart();
  const data = text.startsWith("<") ? (readXml(text) ?? text) : orElse((): unknown => JSON.parse(text), text);
  if (typeof data === "object" && data !== null) return data;
  for (const pattern of patterns) {
    const found = readPlaces(pattern, text.trim());
    if (found !== null) return found;
  }
  return data;
}

/** The values of a pattern's places: each goes up to what stands behind it. Null where the text is not as the pattern says. */
function readPlaces(pattern: string, text: string): Readonly<Record<string, string>> | null {
  const [before = "", ...pieces] = pattern.split(/\{([A-Za-z][A-Za-z0-9]{0,39})\}/);
  if (!text.startsWith(before)) return null;
  const found: Record<string, string> = {};
  let at = before.length;
  for (let index = 0; index < pieces.length; index += 2) {
    const [name, behind] = [pieces[index]!, pieces[index + 1]!];
    const end = behind === "" && index + 2 === pieces.length ? text.length : text.indexOf(behind, at);
    if (end < 0) return null;
    found[name] = text.slice(at, end);
    at = end + behind.length;
  }
  return at === text.length ? found : null;
}

function endOfTag(text: string, from: number): number {
  TAG_END.lastIndex = from;
  let found = TAG_END.exec(text);
  while (found !== null && found[0] !== ">") found = TAG_END.exec(text);
  return found?.index ?? -1;
}

/** An element by its name without its namespace: its text, or what is in it, attributes as `@name`; several of one name are a list. Null for what is none. */
function readXml(text: string): object | null {
  const stack: { readonly name: string; readonly fields: Map<string, unknown[]>; text: string }[] = [
    { name: "", fields: new Map(), text: "" },
  ];
  if (text.split(/[<=&]/, MAX_VALUES + 1).length > MAX_VALUES) return null;
  let at = 0;
  for (let open = text.indexOf("<"); open >= 0; open = text.indexOf("<", at)) {
    const top = stack.at(-1)!;
    top.text += unescaped(text.slice(at, open));
    const begin = Object.keys(SPANS).find((span) => text.startsWith(span, open)) ?? "<";
    const end = SPANS[begin] ?? ">";
    const from = open + begin.length;
    const close = begin === "<" ? endOfTag(text, from) : text.indexOf(end, from);
    if (close < 0 || stack.length > MAX_DEPTH) return null;
    const inner = text.slice(from, close);
    at = close + end.length;
    if (begin === "<![CDATA[") top.text += inner;
    if (begin !== "<" || /^[!?]/.test(inner)) continue;
    const name = /^\/?(?:[\w.-]{1,100}:)?([\w.-]{1,100})/.exec(inner)?.[1];
    if (name === undefined) return null;
    if (!inner.startsWith("/")) {
      const fields = new Map<string, unknown[]>();
      for (const [, key, one, other] of inner.matchAll(ATTRIBUTE)) fields.set(`@${key}`, [unescaped(one ?? other!)]);
      stack.push({ name, fields, text: "" });
    }
    if (!inner.startsWith("/") && !inner.endsWith("/")) continue;
    const ended = stack.pop()!;
    if (ended.name !== name || stack.length === 0) return null;
    const { fields } = stack.at(-1)!;
    const list = fields.get(name) ?? [];
    list.push(ended.fields.size === 0 ? ended.text.trim() : objectOf(ended.fields, ended.text));
    fields.set(name, list);
  }
  return stack.length === 1 && stack[0]!.fields.size > 0 ? objectOf(stack[0]!.fields, "") : null;
}

/** The text of an element with something else in it stands as `#text`. */
function objectOf(fields: ReadonlyMap<string, readonly unknown[]>, text: string): object {
  const entries = [...fields].map(([name, list]) => [name, list.length === 1 ? list[0] : list]);
  return Object.fromEntries(text.trim() === "" ? entries : [...entries, ["#text", text.trim()]]);
}

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos|#x?[0-9a-fA-F]{1,6});/g, (whole: string, name: string) => {
    const code = Number(name.replace("#", name.startsWith("#x") ? "0" : ""));
    return ENTITIES[name] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : whole);
  });
}
