/**
 * The cookie that keeps a browser signed in to the console. It carries a session token and is taken like one, if a page of this console sent the
 * request: a browser sends a cookie along for any page that asks, and the pages of others must not act in its owner's name. Three things say so,
 * beside SameSite=Strict: a header that only a page of our own origin can add (others would need a preflight, which nobody here grants), and, where
 * the browser sends them, Sec-Fetch-Site and Origin.
 *
 * Sites beside ours (another port, another name below the same domain) can plant a cookie of the same name. Over TLS ours has a name that browsers
 * let nobody else set. Without TLS each of a few is looked at: one that is good counts, and two count for nothing, so that nobody has ours overruled
 * by one of his. Whoever signs in ends the sessions of all that are there, and so is not kept out either.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { MAX_SESSION_MS, type Sessions } from "../../auth/sessions.ts";
import type { Account } from "../../store/port/accounts.ts";
import { readToken } from "../auth.ts";
import { ApiError } from "../errors.ts";

const CONSOLE_HEADER = "x-heliograph-console";
export const ACCOUNT_HEADER = "x-heliograph-account";
const NAME = "heliograph_session";
/** Only this very host can set it, for all its paths and over TLS (RFC 6265bis, 4.1.3.2). */
const SECURE_NAME = `__Host-${NAME}`;
/** Of one name, that are looked at. */
const MAX_COOKIES = 3;
/** As a session's tokens are made: 32 octets in base64url. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Whether it says that the console sent it. Anybody can say so: it decides about no more than how an error is told. */
export function isConsole({ headers }: FastifyRequest): boolean {
  return headers[CONSOLE_HEADER] === "1";
}

/** Whether a page of this console sent it, as far as a browser can be made to tell. */
export function isOwnPage(request: FastifyRequest): boolean {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (!isConsole(request) || (site !== undefined && site !== "same-origin")) return false;
  if (origin === undefined) return true;
  const host = request.host.toLowerCase();
  // A proxy that nobody told us of speaks TLS to the browser and plain HTTP to us.
  return origin === `https://${host}` || (request.protocol === "http" && origin === `http://${host}`);
}

/** Whether the console sent it in the name of whoever is signed in there: how a request came, as it is told. */
export function isByConsole(request: FastifyRequest): boolean {
  return isConsole(request) && readToken(request.headers.authorization) !== null;
}

interface Cookies {
  /** By the name that only we can set. */
  readonly secure: readonly string[];
  readonly plain: readonly string[];
}

/** The tokens in a Cookie header, each once, and at most a few. */
export function readCookies(header: string): Cookies {
  const secure: string[] = [];
  const plain: string[] = [];
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    const name = equals < 0 ? "" : pair.slice(0, equals).trim();
    const tokens = name === NAME ? plain : name === SECURE_NAME ? secure : null;
    if (tokens === null || tokens.length === MAX_COOKIES) continue;
    const token = pair.slice(equals + 1).trim();
    if (TOKEN.test(token) && !tokens.includes(token)) tokens.push(token);
  }
  return { secure, plain };
}

const NO_COOKIES: Cookies = { secure: [], plain: [] };

/** Those that a page of this console sent; none where somebody else did. */
function cookiesOf(request: FastifyRequest): Cookies {
  const { cookie } = request.headers;
  return cookie === undefined || !isOwnPage(request) ? NO_COOKIES : readCookies(cookie);
}

/** All tokens that a page of this console sent, whichever of them counts. */
export function tokensOf(request: FastifyRequest): readonly string[] {
  const { secure, plain } = cookiesOf(request);
  return [...secure, ...plain];
}

/** Puts the token of the cookie where clients put theirs. Where there are several, it has to be found out which is good: then a promise. */
export function takeCookie(request: FastifyRequest, sessions: Pick<Sessions, "look">): Promise<void> | null {
  const { secure, plain } = cookiesOf(request);
  const tokens = secure.length > 0 || request.protocol === "https" ? secure : plain;
  if (tokens.length > 1) return takeOnlyGood(request, tokens, sessions);
  if (tokens.length === 1) setToken(request, tokens[0]!);
  return null;
}

async function takeOnlyGood(
  request: FastifyRequest,
  tokens: readonly string[],
  sessions: Pick<Sessions, "look">,
): Promise<void> {
  const found = await Promise.all(tokens.map((token) => sessions.look(token)));
  const good = tokens.filter((_, index) => found[index] !== null);
  // With none the first is refused as any other, and counted.
  if (good.length < 2) setToken(request, good[0] ?? tokens[0]!);
}

function setToken(request: FastifyRequest, token: string): void {
  request.headers.authorization = `IBSSO ${token}`;
}

/** Gives the browser a token to keep, or with null has it drop what it has. Only for a request of which it is known that our own page sent it. */
export function setCookie(request: FastifyRequest, reply: FastifyReply, token: string | null): void {
  const maxAge = token === null ? 0 : MAX_SESSION_MS / 1_000;
  // A proxy that nobody told us of speaks plain HTTP to us; the page knows better.
  const isSecure = request.protocol === "https" || request.headers.origin?.startsWith("https:") === true;
  const [name, secure] = isSecure ? [SECURE_NAME, "; Secure"] : [NAME, ""];
  reply.header("set-cookie", `${name}=${token ?? ""}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${maxAge}${secure}`);
}

/** A page names the account that it shows. Where somebody else has signed in since, in another tab, nothing is done for him from this one. */
export function checkShownAccount({ headers }: FastifyRequest, { key }: Account): void {
  const shown = headers[ACCOUNT_HEADER];
  if (shown === undefined || shown === key) return;
  throw new ApiError("conflict", {
    variables: [ACCOUNT_HEADER],
    description: `This page shows another account than ${key}, which is signed in now. Nothing was done.`,
  });
}
