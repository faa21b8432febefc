/** Requests to a provider, made from their descriptions, with what proves who we are. A token that ends is had anew. */
import { createHmac } from "node:crypto";
import type { AnswerHeaders, Post, Transport } from "../../http/transport.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ReadAnswer } from "./answer.ts";
import { readData } from "./data.ts";
import type { AuthDescription, RequestDescription } from "./description.ts";
import { textAt } from "./paths.ts";
import { fillHeader, fillJson, fillPairs, fillPath, fillText, type JsonTemplate, type Values } from "./template.ts";

export type Called =
  | ({ readonly kind: "answered"; readonly headers: AnswerHeaders } & ReadAnswer)
  | { readonly kind: "unsent"; readonly reason: string } // it never left us
  | { readonly kind: "unknown"; readonly reason: string }; // it was written, and nobody knows what became of it

export interface CallsParts {
  readonly url: string;
  readonly auth: AuthDescription | undefined;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly values: Values;
}

interface Token {
  readonly text: string;
  readonly untilMs: number;
}

const SECOND_MS = 1_000;
/** A token is had anew so long before it ends, and after so long where nobody says when that is. */
const EARLY_MS = 30_000;
const TOKEN_SECONDS = 600;
const MAX_RETRY_AFTER_MS = 3_600_000;

export class Calls {
  readonly #parts: CallsParts;
  readonly #base: URL;
  /** The same, taken apart: to ask a URL for its parts costs a microsecond each. */
  readonly #origin: string;
  readonly #path: string;
  /** The header by which we are known, where it is the same with every request: its template has values of the carrier alone. */
  readonly #proof: readonly [name: string, value: string] | null;
  #token: Promise<Token | Called> | null = null;

  constructor(parts: CallsParts) {
    this.#parts = parts;
    this.#base = new URL(parts.url);
    this.#origin = this.#base.origin;
    this.#path = this.#base.pathname.replace(/\/$/, "");
    this.#proof = proofOf(parts);
  }

  /** `body` stands in the place of the description's own, where several messages go in a call. */
  async call(request: RequestDescription, own: Values, body?: JsonTemplate): Promise<Called> {
    const values = { ...this.#parts.values, ...own };
    const post = this.#postOf(request, values, body);
    if (post === null) return { kind: "unsent", reason: "a value of its address is missing" };
    if (!this.#needsSigning) return this.#send(post, request.patterns);
    const signed = await this.#signed(post, values);
    if ("kind" in signed) return signed;
    const token = this.#token;
    const called = await this.#send(signed, request.patterns);
    if (token === null || called.kind !== "answered" || called.status !== 401) return called;
    // The token ended before its time: another one is had, once for all who hear that.
    if (this.#token === token) this.#token = null;
    const again = await this.#signed(post, values);
    return "kind" in again ? again : this.#send(again, request.patterns);
  }

  /** Calls an address that an answer named, if it is the provider's own. */
  async follow(address: string): Promise<Called> {
    const url = URL.canParse(address, this.#base.href) ? new URL(address, this.#base) : null;
    if (url === null || url.origin !== this.#base.origin)
      return { kind: "unsent", reason: "the answer names another host as the next" };
    const post: Post = {
      method: "GET",
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      headers: this.#proof === null ? HEADERS : { ...HEADERS, [this.#proof[0]]: this.#proof[1] },
      body: "",
    };
    const signed = await this.#signed(post, this.#parts.values);
    return "kind" in signed ? signed : this.#send(signed);
  }

  #postOf(request: RequestDescription, values: Values, body?: JsonTemplate): Post | null {
    const path = fillPath(request.path, values);
    if (path === undefined) return null;
    const query = request.query === undefined ? "" : fillPairs(request.query, values);
    const whole = `${this.#path}${path}` || "/";
    const headers: Record<string, string> = { ...HEADERS };
    for (const name in request.headers) {
      const text = fillHeader(request.headers[name]!, values);
      if (text !== undefined) headers[name.toLowerCase()] = text;
    }
    if (this.#proof !== null) headers[this.#proof[0]] = this.#proof[1];
    const json = body ?? (request.json === undefined ? undefined : fillJson(request.json, values));
    const form = request.form === undefined ? undefined : fillPairs(request.form, values);
    if (json !== undefined) headers["content-type"] = "application/json";
    else if (form !== undefined) headers["content-type"] = "application/x-www-form-urlencoded";
    return {
      method: request.method ?? "POST",
      origin: this.#origin,
      path: query === "" ? whole : `${whole}${whole.includes("?") ? "&" : "?"}${query}`,
      headers,
      body: json === undefined ? (form ?? "") : JSON.stringify(json),
    };
  }

  /** Whether each request has a proof of its own. */
  get #needsSigning(): boolean {
    return this.#parts.auth !== undefined && this.#proof === null;
  }

  /** The request with our proof; what is said in place of its answer where there is none to be had. */
  async #signed(post: Post, values: Values): Promise<Post | Called> {
    const { auth, clock } = this.#parts;
    if (auth === undefined || this.#proof !== null) return post;
    const secret = fillText(auth.secret, values);
    // A profile may leave out what its provider does not ask for.
    if (secret === undefined) return post;
    const withHeader = (name: string, value: string): Post => ({
      ...post,
      headers: { ...post.headers, [name.toLowerCase()]: value },
    });
    switch (auth.kind) {
      case "query": {
        const pair = new URLSearchParams({ [auth.name ?? "key"]: secret }).toString();
        return { ...post, path: `${post.path}${post.path.includes("?") ? "&" : "?"}${pair}` };
      }
      case "hmac": {
        const timestamp = String(Math.floor(clock.now() / SECOND_MS));
        const { method, path, body } = post;
        const over = fillText(auth.over ?? "{body}", { method, path, body, timestamp })!;
        const digest = createHmac(auth.algorithm ?? "sha256", secret)
          .update(over)
          .digest(auth.encoding ?? "hex");
        const signed = withHeader(auth.name ?? "x-signature", digest);
        if (auth.timestampName === undefined) return signed;
        return { ...signed, headers: { ...signed.headers, [auth.timestampName.toLowerCase()]: timestamp } };
      }
      case "oauth2": {
        const token = await this.#tokenOf(auth, secret, values);
        return "kind" in token ? token : withHeader("authorization", `Bearer ${token.text}`);
      }
      default:
        // It has been made already.
        return post;
    }
  }

  /** One token for all who ask at a time. */
  async #tokenOf(auth: AuthDescription, secret: string, values: Values): Promise<Token | Called> {
    const { clock } = this.#parts;
    this.#token ??= this.#fetchToken(auth, secret, values);
    const asked = this.#token;
    const known = await asked;
    if ("kind" in known || clock.monotonic() < known.untilMs) return known;
    // Of all that find it ended the first has another fetched.
    if (this.#token === asked || this.#token === null) this.#token = this.#fetchToken(auth, secret, values);
    return this.#token;
  }

  /** By client credentials (RFC 6749 §4.4), with the client's name and secret in the form. */
  async #fetchToken(auth: AuthDescription, secret: string, values: Values): Promise<Token | Called> {
    const { clock } = this.#parts;
    const url = new URL(auth.tokenUrl ?? "/oauth2/token", this.#base);
    const form = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: fillText(auth.username ?? "{username}", values) ?? "",
      client_secret: secret,
      ...(auth.scope === undefined ? {} : { scope: auth.scope }),
    });
    const headers = { ...HEADERS, "content-type": "application/x-www-form-urlencoded" };
    const path = `${url.pathname}${url.search}`;
    const called = await this.#send({ method: "POST", origin: url.origin, path, headers, body: form.toString() });
    const text = called.kind === "answered" && called.status === 200 ? textAt(called.data, "access_token") : undefined;
    if (text === undefined) {
      this.#token = null;
      // RFC 6749 §5.2: a wrong name or secret. So would the request for a message be answered.
      if (called.kind === "answered" && [400, 401, 403].includes(called.status)) return { ...called, status: 401 };
      return {
        kind: "unsent",
        reason: `no token: ${called.kind === "answered" ? `HTTP ${called.status}` : called.reason}`,
      };
    }
    const seconds = Number(textAt((called as { data: unknown }).data, "expires_in") ?? TOKEN_SECONDS);
    const lifeMs = Number.isFinite(seconds) ? seconds * SECOND_MS : TOKEN_SECONDS * SECOND_MS;
    return { text, untilMs: clock.monotonic() + Math.max(lifeMs - EARLY_MS, lifeMs / 2) };
  }

  async #send(post: Post, patterns?: readonly string[]): Promise<Called> {
    let headers: AnswerHeaders = {};
    const answer = await this.#parts.transport.post(post, (head) => {
      headers = head;
    });
    if (answer.kind === "unreachable") return { kind: "unsent", reason: answer.reason };
    if (answer.kind === "broken") return { kind: "unknown", reason: answer.reason };
    const data = readData(answer.excerpt, patterns);
    // Half an answer says what its status says, but not which id the message has.
    if (!answer.isWhole && answer.status < 300) return { kind: "unknown", reason: "the answer ended in its middle" };
    const retryAfterMs = this.#retryAfterMs(answer.retryAfter);
    return { kind: "answered", status: answer.status, headers, data, retryAfterMs };
  }

  /** Seconds, or a date (RFC 9110 §10.2.3). */
  #retryAfterMs(written: string | null): number | null {
    if (written === null) return null;
    const waitMs = /^\d{1,9}$/.test(written)
      ? Number(written) * SECOND_MS
      : Date.parse(written) - this.#parts.clock.now();
    return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), MAX_RETRY_AFTER_MS) : null;
  }
}

/** The proof of those who show the same secret with every request; null where each has one of its own. */
function proofOf({ auth, values }: CallsParts): readonly [name: string, value: string] | null {
  const secret = auth === undefined ? undefined : fillText(auth.secret, values);
  // A profile may leave out what its provider does not ask for.
  if (auth === undefined || secret === undefined) return null;
  switch (auth.kind) {
    case "basic": {
      const username = fillText(auth.username ?? "{username}", values) ?? "";
      return ["authorization", `Basic ${Buffer.from(`${username}:${secret}`).toString("base64")}`];
    }
    case "bearer":
      return ["authorization", `Bearer ${secret}`];
    case "header":
      return [(auth.name ?? "authorization").toLowerCase(), secret];
    default:
      return null;
  }
}

const HEADERS = { accept: "application/json", "user-agent": "Heliograph" } as const;
