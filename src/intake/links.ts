/**
 * Links in texts become short ones. A text that many destinations share has a code in the place of each of its links; when the messages are accepted
 * each gets codes of its own there, of the same length, so that parts are counted once. Found in one pass over the text.
 */
import { CODE_LENGTH, type LinkInText, type NewLinks } from "../message/links.ts";
import { randomCodes } from "../runtime/random.ts";
import { MAX_URL_LENGTH, parseHttpUrl, urlProblem } from "../runtime/urls.ts";
import { STATUS } from "../sms/statuses.ts";
import { MAX_TEXT_LENGTH } from "../sms/text.ts";
import type { LinkWish, Problem, RequestedMessage } from "./request.ts";

/** Links of one text. */
const MAX_LINKS = 5;
/** What the links of a request come to, in characters: each destination keeps its own. */
const MAX_KEPT_LENGTH = 16_000_000;
const DEFAULT_FIELD = "urlOptions";

const SCHEME = /https?:\/\//gi;
/** RFC 3986, 2, and letters of all scripts, as phones find links. One character more than a link may have. */
const LINK = /[-._~:/?#[\]@!$&'()*+,;=%\p{L}\p{M}\p{N}]{1,2049}/uy;
/** What ends a sentence or a quotation, and not the link before it. */
const TRAILING = new Set(".,;:!?'*_~");
/** Before a scheme it makes another word of it. */
const LETTER = /[0-9A-Za-z]/;
/** What looks like a link and is none costs time too. */
const MAX_TRIED = 4 * MAX_LINKS;
/** A text that is longer is too long with its links shortened and transliterated, too. */
const MAX_SEARCHED_LENGTH = 3 * MAX_TEXT_LENGTH + MAX_LINKS * MAX_URL_LENGTH;

interface FoundLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/** The http and https links of a text; null where there are too many. */
export function findLinks(text: string): FoundLink[] | null {
  const found: FoundLink[] = [];
  let searched = 0;
  let tried = 0;
  for (const { index: start, 0: scheme } of text.matchAll(SCHEME)) {
    if (start < searched || (start > 0 && LETTER.test(text[start - 1]!))) continue;
    const end = endOfLink(text, start + scheme.length);
    searched = end;
    const url = text.slice(start, end);
    if (parseHttpUrl(url) !== null) found.push({ start, end, url });
    if (++tried > MAX_TRIED || found.length > MAX_LINKS) return null;
  }
  return found;
}

/** Where a link ends whose name begins at `start`. */
function endOfLink(text: string, start: number): number {
  LINK.lastIndex = start;
  const all = LINK.exec(text)?.[0] ?? "";
  let end = start + closed(all);
  while (end > start && TRAILING.has(text[end - 1]!)) end--;
  return end;
}

/** How much of a link is its own: a bracket that was not opened in it closes what stands around it. */
function closed(link: string): number {
  let round = 0;
  let square = 0;
  for (let at = 0; at < link.length; at++) {
    const character = link[at];
    if (character === "(") round++;
    else if (character === "[") square++;
    else if (character === ")" && --round < 0) return at;
    else if (character === "]" && --square < 0) return at;
  }
  return link.length;
}

/** What becomes of the links of one request. */
export class LinkDraft {
  readonly #prefix: string;
  readonly #trackingUrl: string | null;
  readonly #contents = new Map<number, readonly LinkInText[]>();
  #keptLength = 0;
  /** Set when no message of the request can go: the status that says why. */
  readonly rejectedStatusId: number | null;

  private constructor(wish: LinkWish, domain: string | null) {
    const prefix = `${domain}/l/`;
    this.#prefix = wish.removeProtocol ? prefix.replace(/^https?:\/\//, "") : prefix;
    this.#trackingUrl = wish.trackClicks ? wish.trackingUrl : null;
    this.rejectedStatusId = domain === null ? STATUS.REJECTED_SOURCE.id : null;
  }

  /** `domains` are those of the operator, each with its scheme. */
  static of(wish: LinkWish, domains: readonly string[]): LinkDraft | Problem {
    const { field = DEFAULT_FIELD, customDomain, trackingUrl } = wish;
    const [first] = domains;
    if (first === undefined) return { field, says: NO_DOMAIN };
    const urlSays = trackingUrl === null ? null : urlProblem(trackingUrl);
    if (urlSays !== null) return { field: `${field}.trackingUrl`, says: urlSays };
    if (customDomain === null) return new LinkDraft(wish, first);
    const named = nameOf(customDomain);
    return new LinkDraft(wish, domains.find((domain) => nameOf(domain) === named) ?? null);
  }

  /** The message with codes in place of its links, or what is wrong with them. */
  shorten(message: RequestedMessage): ShortenedMessage | Problem {
    const { path, fields, destinations } = message;
    const links: LinkInText[] = [];
    if (fields.text === undefined || this.rejectedStatusId !== null) return { message, links };
    if (fields.text.length > MAX_SEARCHED_LENGTH) return { message, links };
    const field = path === "" ? "text" : `${path}.text`;
    const found = findLinks(fields.text);
    if (found === null) return { field, says: `has more than ${MAX_LINKS} links, which is the most to be shortened` };
    if (found.length === 0) return { message, links };
    if (found.some(({ url }) => url.length > MAX_URL_LENGTH))
      return { field, says: `has a link of more than ${MAX_URL_LENGTH} characters` };
    const codes = randomCodes(found.length, CODE_LENGTH);
    let text = "";
    let from = 0;
    found.forEach(({ start, end, url }, index) => {
      text += fields.text.slice(from, start) + this.#prefix + codes[index];
      from = end;
      links.push({ code: codes[index]!, target: url });
      this.#keptLength += url.length * destinations.length;
    });
    if (this.#keptLength > MAX_KEPT_LENGTH)
      return { field, says: "has links too long for so many destinations: send them in several requests" };
    return { message: { ...message, fields: { ...fields, text: text + fields.text.slice(from) } }, links };
  }

  /** That this content of the request has them. */
  keep(content: number, links: readonly LinkInText[]): void {
    if (links.length > 0) this.#contents.set(content, links);
  }

  /** A content that says the same in another alphabet has the same links. */
  copy(from: number, to: number): void {
    this.keep(to, this.#contents.get(from) ?? []);
  }

  /** Null where no text has any. */
  get links(): NewLinks | null {
    return this.#contents.size === 0 ? null : { contents: this.#contents, trackingUrl: this.#trackingUrl };
  }
}

interface ShortenedMessage {
  readonly message: RequestedMessage;
  readonly links: readonly LinkInText[];
}

const NO_DOMAIN =
  "asks for short links, and this service has no domain for them: the operator sets one in [links] domains. With shortenUrl false, links stay as they are";

/** A domain without its scheme, as two of them are compared. */
function nameOf(domain: string): string {
  return domain.toLowerCase().replace(/^https?:\/\//, "");
}
