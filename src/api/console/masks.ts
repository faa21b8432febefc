/**
 * Requests as they may be shown: passwords, codes, keys and secrets are masked always, also those within URLs, and what messages say where the
 * settings want it so. The end of a body may be cut off, so it is read octet by octet and not parsed as a whole.
 */
import { orElse } from "../../runtime/or-else.ts";
import { decoded, looksSecret, MASK, shownUrl } from "../../runtime/shown-url.ts";

/** In lower case, as names are compared. */
const SECRETS: ReadonlySet<string> = new Set([
  "password",
  "pass",
  "currentpassword",
  "newpassword",
  "code",
  "pin",
  "token",
  "secret",
  "callbacksecret",
  "apikey",
  "authorization",
  "tlskey",
]);
/** What a message says. */
const TEXTS: ReadonlySet<string> = new Set(["text", "hex"]);

function isMasked(name: string, withTexts: boolean): boolean {
  const lower = name.toLowerCase();
  return SECRETS.has(lower) || looksSecret(lower) || (!withTexts && TEXTS.has(lower));
}

/** "a=1&password=x" → "a=1&password=***" */
function maskPairs(pairs: string, withTexts: boolean): string {
  return pairs
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      const name = pair.slice(0, Math.max(0, equals));
      if (equals >= 0 && isMasked(decoded(name), withTexts)) return `${name}=${MASK}`;
      const value = decoded(pair.slice(equals + 1));
      const shown = shownUrl(value);
      return shown === value ? pair : `${pair.slice(0, equals + 1)}${encodeURIComponent(shown)}`;
    })
    .join("&");
}

/** A request's path with its query. */
export function maskAddress(address: string, withTexts: boolean): string {
  const mark = address.indexOf("?");
  if (mark < 0) return maskPath(address);
  return `${maskPath(address.slice(0, mark))}?${maskPairs(address.slice(mark + 1), withTexts)}`;
}

/** Some clients name a thing by its whole URL within the path, escaped or not. */
function maskPath(path: string): string {
  const start = path.search(/https?:\/\//i);
  if (start > 0) return `${path.slice(0, start)}${shownUrl(path.slice(start))}`;
  if (!path.includes("%")) return path;
  const steps = path.split("/").map((step) => {
    const plain = decoded(step);
    const shown = shownUrl(plain);
    return shown === plain ? step : encodeURIComponent(shown);
  });
  return steps.join("/");
}

/** A body, or its beginning. What does not look like what it says that it is, is read as both. */
export function maskBody(body: string, isForm: boolean, withTexts: boolean): string {
  const looksLikeJson = /^[[{"]/.test(body.trimStart());
  const masked = isForm || !looksLikeJson ? maskPairs(body, withTexts) : body;
  if (isForm && !looksLikeJson) return masked;
  const shown = maskJson(masked, withTexts);
  return isJson(body) ? shown : shown.replace(SECRET_WORDS, `$1$2${MASK}`);
}

/** Where quotes are missing, nobody knows what is a name and what is not: whatever follows such a word. */
const SECRET_WORDS = /(password|secret|token|authorization|apikey)(["'\s:=\\]{1,20})[^"',}&\s:=\\*][^"',}&\s]{0,200}/gi;

function isJson(body: string): boolean {
  return orElse(() => JSON.parse(body) !== undefined, false);
}

/** A string of JSON, or what there is of it before the end; what is between quotes of either kind, because people write both. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^\s{}[\],:"']+|[{}[\],:]|\s+/gs;

/** One pass over the tokens: the value of a masked name is replaced, whatever it is, and all that is within it. */
function maskJson(body: string, withTexts: boolean): string {
  let name = "";
  let depth = 0;
  /** The depth of the value that is masked; Infinity for none. */
  let maskedFrom = Number.POSITIVE_INFINITY;
  let isValue = false;
  let shown = "";
  for (const [token] of body.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      if (isValue && isMasked(name, withTexts)) maskedFrom = Math.min(maskedFrom, depth);
      depth++;
      isValue = token === "[" && isValue;
    } else if (token === "}" || token === "]") {
      depth--;
      if (depth <= maskedFrom) maskedFrom = Number.POSITIVE_INFINITY;
      isValue = false;
    } else if (token === ":") isValue = true;
    else if (token === ",") isValue = false;
    else if (token.trim() !== "") {
      if (isHidden(token)) continue;
      if (!isValue) name = nameOf(token);
    }
    shown += withShownUrl(token);
  }
  return shown;

  function isHidden(token: string): boolean {
    const isScalar = isValue || depth > maskedFrom;
    const hidden = depth > maskedFrom || (isValue && isMasked(name, withTexts));
    if (!isScalar || !hidden) return false;
    shown += token.startsWith('"') ? `"${MASK}"` : MASK;
    return true;
  }
}

/** A name may be written with escapes: "p\u0061ssword". */
function nameOf(token: string): string {
  if (token.startsWith("'")) return token.slice(1, token.endsWith("'") ? -1 : undefined);
  try {
    return String(JSON.parse(token));
  } catch {
    return token.replaceAll('"', "").replaceAll("\\/", "/");
  }
}

/** A string whose URL is shown otherwise is written anew. It may be written with escapes: "https:\\/\\/". */
function withShownUrl(token: string): string {
  if (token.length < 4) return token;
  const quote = /^["']/.exec(token)?.[0] ?? "";
  const text = quote === "" ? token : nameOf(token);
  const shown = shownUrl(text);
  if (shown === text) return token;
  return quote === '"' ? JSON.stringify(shown) : `${quote}${shown}${quote}`;
}
