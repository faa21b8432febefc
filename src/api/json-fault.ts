/**
 * Where a body stops being JSON (RFC 8259), in words with a line and a column: V8 says where for some faults only, and tells what the caller wrote beside it.
 * Nothing is looked at but bodies that could not be parsed. It is one pass over them.
 */

const [QUOTE, BACKSLASH, FIRST_PRINTABLE] = [0x22, 0x5c, 0x20];
const SPACE = /[ \t\r\n]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/** Goes on as long as there is JSON. */
class Reader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** What stands next, behind spaces; nothing at the end. */
  get next(): string {
    this.#take(SPACE);
    return this.#text.charAt(this.at);
  }

  take(sign: string): boolean {
    if (this.next !== sign) return false;
    this.at++;
    return true;
  }

  /** Not by one regular expression: that would take memory for each character of a long text. */
  takeText(): boolean {
    if (this.next !== '"') return false;
    for (this.at++; this.at < this.#text.length; ) {
      const code = this.#text.charCodeAt(this.at);
      if (code === QUOTE) return this.take('"');
      if (code < FIRST_PRINTABLE || (code === BACKSLASH && !this.#take(ESCAPE))) return false;
      if (code !== BACKSLASH) this.at++;
    }
    return false;
  }

  /** A value that has no others in it. */
  takePlain(): boolean {
    return this.next === '"' ? this.takeText() : this.#take(NUMBER) || this.#take(WORD);
  }

  #take(form: RegExp): boolean {
    form.lastIndex = this.at;
    if (!form.test(this.#text)) return false;
    this.at = form.lastIndex;
    return true;
  }
}

const TEXT_GOES_ON = "a character that a text can have, or the quote that ends it";

/** A field's name and its colon: what is missing of them. */
function nameMissing(reader: Reader): string | null {
  const isText = reader.next === '"';
  if (!reader.takeText()) return isText ? TEXT_GOES_ON : "a name in double quotes";
  return reader.take(":") ? null : "a colon";
}

/** What should stand where the reader stops; null where all of it is JSON. */
function missingAt(reader: Reader): string | null {
  /** Of each list or object that is open: whether it is an object. */
  const open: boolean[] = [];
  let wantsValue = true;
  for (;;) {
    if (wantsValue) {
      const sign = reader.next;
      const isObject = sign === "{";
      if (!isObject && sign !== "[") {
        if (!reader.takePlain()) return sign === '"' ? TEXT_GOES_ON : "a value";
        wantsValue = false;
        continue;
      }
      reader.take(sign);
      if (reader.take(isObject ? "}" : "]")) wantsValue = false;
      else if (isObject) {
        const missing = nameMissing(reader);
        if (missing !== null) return missing;
        open.push(true);
      } else open.push(false);
      continue;
    }
    const isObject = open.at(-1);
    if (isObject === undefined) return reader.next === "" ? null : "nothing more";
    const close = isObject ? "}" : "]";
    if (reader.take(close)) {
      open.pop();
      continue;
    }
    if (!reader.take(",")) return `a comma or ${close}`;
    const missing = isObject ? nameMissing(reader) : null;
    if (missing !== null) return missing;
    wantsValue = true;
  }
}

/** "line 2, column 14 should have a value"; null for JSON. Lines and columns are counted from 1. */
export function jsonFault(text: string): string | null {
  const reader = new Reader(text);
  const missing = missingAt(reader);
  if (missing === null) return null;
  let line = 1;
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0 && end < reader.at; end = text.indexOf("\n", start)) {
    line++;
    start = end + 1;
  }
  const end = reader.at >= text.length ? ", and the body ends there" : "";
  return `line ${line}, column ${reader.at - start + 1} should have ${missing}${end}`;
}
