/**
 * TOML as people write it: read, and with the line and column of whatever is wrong in it. The parser says where a text is not TOML. Where a value
 * stands it does not say, so a fault in a value is looked up by a walk over the text, which is known to be TOML by then.
 */
import { library } from "./lazy.ts";

/** Names, and places in lists: ["carrier", 0, "window"]. */
export type TomlPath = readonly (string | number)[];

export interface TomlPlace {
  readonly line: number;
  readonly column: number;
}

/** Loaded by the first who has a text to read or write: delivery, as a rule, has none. */
export const toml = library<typeof import("smol-toml")>("smol-toml");

/** The text is not TOML. `says` is the parser's sentence alone, without the piece of text that it draws. */
export class TomlFault extends Error {
  readonly place: TomlPlace;

  constructor(says: string, place: TomlPlace) {
    super(`is not readable as TOML: ${says}`);
    this.place = place;
  }
}

export function readToml(text: string): Readonly<Record<string, unknown>> {
  try {
    return toml().parse(text);
  } catch (error) {
    if (!(error instanceof toml().TomlError)) throw error;
    const [line = ""] = error.message.split("\n", 1);
    throw new TomlFault(line.replace(/^Invalid TOML document: /, ""), { line: error.line, column: error.column });
  }
}

/** "catalogue.toml:12:1" */
export function shownPlace(file: string, { line, column }: TomlPlace): string {
  return `${file}:${line}:${column}`;
}

/** Where things stand in a text that is TOML. The walk is made when the first place is asked for. */
export class TomlPlaces {
  readonly #text: string;
  #offsets: ReadonlyMap<string, number> | null = null;
  #lines: readonly number[] | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** Of the name or the item of a list; of what is missing, where the table begins that should have it. */
  of(path: TomlPath): TomlPlace {
    this.#offsets ??= new Walk(this.#text).offsets();
    for (let length = path.length; length > 0; length--) {
      const offset = this.#offsets.get(keyOf(path.slice(0, length)));
      if (offset !== undefined) return this.#placeAt(offset);
    }
    return { line: 1, column: 1 };
  }

  #placeAt(offset: number): TomlPlace {
    this.#lines ??= lineStarts(this.#text);
    let low = 0;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#lines[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lines[low]! + 1 };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function keyOf(path: TomlPath): string {
  return path.map((step) => `${typeof step === "number" ? "#" : "."}${step}`).join("\0");
}

const SPACE = " \t";
const BLANK = " \t\r\n";
/** Ends a number, a date or a word. */
const ENDS_SCALAR = ",]}#\r\n";
const ENDS_BARE_NAME = " \t.=]";
/** Names of a dotted one whose places are noted: each costs as much as it is deep. What is deeper is told at the place of what it is in. */
const DEEPEST = 32;
/** Texts in quotes. In double ones a backslash hides what follows. Three may have others within, and up to two right before the end. */
const QUOTES = ['"""', "'''", '"', "'"] as const;

/** A walk over a text that is TOML: it notes where each name and each item of a list stands, and decides nothing. */
class Walk {
  readonly #text: string;
  readonly #offsets = new Map<string, number>();
  /** How many tables the lists of tables have so far, by their path. */
  readonly #tables = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  offsets(): ReadonlyMap<string, number> {
    let table: TomlPath = [];
    for (;;) {
      this.#skipBlank();
      if (this.#at >= this.#text.length) return this.#offsets;
      if (this.#text[this.#at] === "[") table = this.#header();
      else this.#pair(table);
    }
  }

  /** `[a.b]` or `[[a.b]]`. */
  #header(): TomlPath {
    const start = this.#at;
    const isList = this.#text.startsWith("[[", start);
    this.#at += isList ? 2 : 1;
    const names = this.#names().slice(0, DEEPEST);
    this.#skipAll(SPACE);
    this.#at += isList ? 2 : 1;
    const path: (string | number)[] = [];
    names.forEach((name, index) => {
      path.push(name);
      this.#note(path, start);
      const key = keyOf(path);
      const isNew = isList && index === names.length - 1;
      const count = this.#tables.get(key) ?? 0;
      if (isNew) this.#tables.set(key, count + 1);
      if (isNew || count > 0) path.push(isNew ? count : count - 1);
    });
    this.#note(path, start);
    return path;
  }

  /** `name = value` or `a.b = value`, within a table. */
  #pair(table: TomlPath): void {
    const start = this.#at;
    let path = table;
    for (const name of this.#names().slice(0, DEEPEST)) {
      path = [...path, name];
      this.#note(path, start);
    }
    this.#skipAll(SPACE);
    this.#at++; // the sign
    this.#skipAll(SPACE);
    this.#value(path);
  }

  #value(path: TomlPath): void {
    const first = this.#text[this.#at];
    if (first === "[") this.#list(path);
    else if (first === "{") this.#inlineTable(path);
    else if (first === '"' || first === "'") this.#string();
    else this.#skipUntil(ENDS_SCALAR);
  }

  #list(path: TomlPath): void {
    this.#at++;
    for (let index = 0; ; ) {
      this.#skipBlank();
      const next = this.#text[this.#at];
      if (next === undefined) return;
      if (next === "]" || next === ",") this.#at++;
      if (next === "]") return;
      if (next === ",") continue;
      const item = [...path, index++];
      this.#note(item, this.#at);
      this.#value(item);
    }
  }

  #inlineTable(path: TomlPath): void {
    this.#at++;
    for (;;) {
      this.#skipBlank();
      const next = this.#text[this.#at];
      if (next === undefined) return;
      if (next === "}" || next === ",") this.#at++;
      if (next === "}") return;
      if (next !== ",") this.#pair(path);
    }
  }

  /** Names with dots between them. */
  #names(): string[] {
    const names: string[] = [];
    for (;;) {
      this.#skipAll(SPACE);
      const start = this.#at;
      const isQuoted = this.#text[start] === '"' || this.#text[start] === "'";
      if (isQuoted) this.#string();
      else this.#skipUntil(ENDS_BARE_NAME);
      const written = this.#text.slice(start, this.#at);
      names.push(isQuoted ? Object.keys(toml().parse(`${written} = 0`))[0]! : written);
      this.#skipAll(SPACE);
      if (this.#text[this.#at] !== ".") return names;
      this.#at++;
    }
  }

  #string(): void {
    const quote = QUOTES.find((one) => this.#text.startsWith(one, this.#at))!;
    this.#at += quote.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(quote, this.#at))
      this.#at += quote[0] === '"' && this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at += quote.length;
    for (let more = 0; quote.length === 3 && more < 2 && this.#text[this.#at] === quote[0]; more++) this.#at++;
  }

  #note(path: TomlPath, offset: number): void {
    const key = keyOf(path);
    if (!this.#offsets.has(key)) this.#offsets.set(key, offset);
  }

  /** Spaces, ends of lines, and comments. */
  #skipBlank(): void {
    for (;;) {
      this.#skipAll(BLANK);
      if (this.#text[this.#at] !== "#") return;
      const end = this.#text.indexOf("\n", this.#at);
      this.#at = end < 0 ? this.#text.length : end;
    }
  }

  #skipAll(characters: string): void {
    while (this.#at < this.#text.length && characters.includes(this.#text[this.#at]!)) this.#at++;
  }

  #skipUntil(characters: string): void {
    while (this.#at < this.#text.length && !characters.includes(this.#text[this.#at]!)) this.#at++;
  }
}
