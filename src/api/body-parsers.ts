/** Request bodies: JSON as real clients write it, and forms where the contract leaves the encoding open. */
import { isUtf8 } from "node:buffer";
import { orElse } from "../runtime/or-else.ts";
import { systemRandom } from "../runtime/random.ts";
import { textProblem } from "../runtime/text.ts";
import { ApiError, badField } from "./errors.ts";
import { jsonFault } from "./json-fault.ts";
import { decodeText, isWestern } from "./kannel/charsets.ts";

/** The contract's deepest body has five levels. */
const DEEPEST = 32;
const TOO_DEEP = `is nested more than ${DEEPEST} levels deep`;
/** The fullest message has 35 values, and a request has 10,000 of them at most. */
const MAX_VALUES = 500_000;
/** Different names of fields; the contract has 40. Each new one costs the parser as much as ten values. */
const MAX_NAMES = 1_000;
/** Fields whose names the operation does not know: nobody reads them, and some clients send a few with every message. */
const MAX_UNKNOWN = 50_000;
/** No smaller body can cost much, or have more names or values than these: a field takes five octets. */
export const SMALL_BYTES = 4_096;
const MAX_FORM_FIELDS = 100;
/** Providers write some tens of them for a message. */
const MAX_CALLBACK_FIELDS = 1_000;

/**
 * Parses JSON. An explicit null means absent, so such fields are taken out; NUL characters and halves of surrogate pairs, which
 * no SMS and no database can hold, are refused with the field that has them.
 */
export function parseJson(octets: Buffer, known: KnownNames | null = null): unknown {
  // What some editors and languages put before a text to say that it is UTF-8.
  const body = octets.indexOf(BYTE_ORDER_MARK) === 0 ? octets.subarray(BYTE_ORDER_MARK.length) : octets;
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw notUtf8();
  if (body.length > SMALL_BYTES) refuseHeavy(body, known);
  const text = body.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const where = jsonFault(text);
    throw new ApiError("badRequest", `The body is not valid JSON${where === null ? "" : `: ${where}`}.`);
  }
  refuseBadText(value);
  return value;
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const [QUOTE, BACKSLASH, COMMA, COLON, AMPERSAND] = [0x22, 0x5c, 0x2c, 0x3a, 0x26];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Nobody can know which names look the same to `refuseHeavy`. */
const NAME_FACTOR = Math.floor(systemRandom.next() * 2 ** 30) * 4 + 1;

/** The names of fields that an operation takes, by 16 bits of their hashes. */
export type KnownNames = Uint8Array;

export function knownNames(names: Iterable<string>): KnownNames {
  const known = new Uint8Array(0x10000);
  for (const name of names) {
    let hash = 0;
    for (const octet of Buffer.from(name)) hash = Math.imul(hash + octet, NAME_FACTOR);
    known[hash >>> 16] = 1;
  }
  return known;
}

/**
 * A body is refused before it is parsed if that would hold up everybody else: eight megabytes of brackets, of empty objects or of names
 * take JSON.parse up to a second, where an honest body of that size takes 40 milliseconds. One pass over the octets, one or two
 * nanoseconds for each.
 */
function refuseHeavy(body: Buffer, known: KnownNames | null): void {
  /** By 16 bits of a hash: names that share them count as one, which is near enough. */
  const seen = new Uint8Array(0x10000);
  let names = 0;
  let unknown = 0;
  let values = 1;
  let depth = 0;
  let hash = 0;
  for (let at = 0; at < body.length; at++) {
    const octet = body[at]!;
    if (octet === QUOTE) {
      hash = 0;
      for (at++; at < body.length && body[at] !== QUOTE; at++) {
        if (body[at] === BACKSLASH) at++;
        hash = Math.imul(hash + body[at]!, NAME_FACTOR);
      }
    } else if (octet === COLON) {
      if (seen[hash >>> 16] === 0 && ++names > MAX_NAMES)
        throw heavy(`has more than ${MAX_NAMES} different names of fields`);
      seen[hash >>> 16] = 1;
      if (known !== null && known[hash >>> 16] === 0 && ++unknown > MAX_UNKNOWN)
        throw heavy(`has more than ${MAX_UNKNOWN} fields that this operation does not know`);
    } else if (octet === COMMA) {
      if (++values > MAX_VALUES) throw heavy(`has more than ${MAX_VALUES} values`);
    } else if (octet === OPEN_ARRAY || octet === OPEN_OBJECT) {
      values++;
      if (++depth > DEEPEST) throw heavy(TOO_DEEP);
    } else if (octet === CLOSE_ARRAY || octet === CLOSE_OBJECT) {
      depth--;
    }
  }
}

const notUtf8 = (): ApiError => new ApiError("badRequest", "The body is not valid UTF-8.");
const heavy = (says: string): ApiError => new ApiError("badRequest", `The body ${says}.`);

/** Takes nulls out of objects, and refuses text that cannot be kept. */
export function refuseBadText(value: unknown): void {
  const fault = clean(value, 0);
  if (fault?.says === TOO_DEEP) throw heavy(TOO_DEEP);
  if (fault !== null) throw badField(fault.path.replace(/^\./, "") || "body", fault.says);
}

interface Fault {
  path: string;
  readonly says: string;
}

/** The path is put together only on the way back from a fault: bodies without one pay nothing for it. */
function clean(value: unknown, depth: number): Fault | null {
  if (typeof value === "string") {
    const says = textProblem(value);
    return says === null ? null : { path: "", says };
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

/** Where a name may stand again and again: as often as a request has recipients, and some more. */
const MAX_LIST_FIELDS = 20_000;

/** Whether every escape in it, "%C3%BC", stands for octets that are UTF-8. */
export function isDecodable(text: string): boolean {
  return !text.includes("%") || orElse(() => decodeURIComponent(text), null) !== null;
}

/** A form's text in UTF-8, whatever charset it came in. */
function formText(body: Buffer, contentType: string): string {
  const charset = /;\s*charset\s*=\s*"?([^\s";]{1,40})/i.exec(contentType)?.[1]?.toLowerCase() ?? "utf-8";
  const text = isWestern(charset) ? fromWestern(body, charset) : body.toString("utf8");
  if (!isWestern(charset) && !UNICODE.has(charset))
    throw new ApiError("unsupportedMediaType", "The charset of a form must be UTF-8 or ISO-8859-1.");
  if ((!isWestern(charset) && !isUtf8(body)) || !isDecodable(text)) throw notUtf8();
  return text;
}

const UNICODE: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", "ascii"]);

/** Each octet above ASCII, as it is or as an escape, becomes the escape of its character. */
function fromWestern(body: Buffer, charset: string): string {
  const escaped = Array.from({ length: 0x80 }, (_, index) =>
    encodeURIComponent(decodeText(Buffer.of(0x80 + index), charset) ?? ""),
  );
  return body.toString("latin1").replace(/%([89a-f][\da-f])|[\x80-\xff]/gi, (found, digits?: string) => {
    const octet = digits === undefined ? found.charCodeAt(0) : Number.parseInt(digits, 16);
    return escaped[octet - 0x80]!;
  });
}

/** A list as PHP and others write it, "to[]=1&to[]=2" or "to[0]=1&to[1]=2". */
const LISTED = /(^|[?&])(\w{1,64})(?:\[|%5b)\d{0,5}(?:\]|%5d)=/gi;

/** The same with the name of the field alone. */
export function plainNames(fields: string): string {
  return /\[|%5b/i.test(fields) ? fields.replace(LISTED, "$1$2=") : fields;
}

function refuseFields(body: Buffer, most: number): void {
  let pairs = 1;
  for (const octet of body) if (octet === AMPERSAND) pairs++;
  if (pairs > most) throw heavy(`has more than ${most} fields`);
}

/** For whoever takes a body apart in another way: what would hold up everybody else is refused before. */
export function refuseHeavyBody(body: Buffer, isForm: boolean): void {
  if (isForm) refuseFields(body, MAX_CALLBACK_FIELDS);
  else if (body.length > SMALL_BYTES) refuseHeavy(body, null);
}

/** A form body as an object; of a name that stands twice, the first counts, unless it may be a list. */
export function parseForm(body: Buffer, lists = false, contentType = ""): Record<string, string | string[]> {
  const most = lists ? MAX_LIST_FIELDS : MAX_FORM_FIELDS;
  // Before they are taken apart: what takes time is the number of pairs, which a million times "&" would make a million.
  refuseFields(body, most);
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(plainNames(formText(body, contentType)))) {
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (lists && typeof before === "string") fields.set(name, [before, value]);
    else if (lists) (before as string[]).push(value);
  }
  // Every name is a field of its own, "__proto__" too.
  const form = Object.fromEntries(fields);
  refuseBadText(form);
  return form;
}
