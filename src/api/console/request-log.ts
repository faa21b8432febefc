/**
 * The last requests of each account on this node, in memory: what the console's page "Requests" shows. To write one down is to put an object into a
 * ring; what it says is made out when somebody looks.
 *
 * A request whose caller was not found is the account's that it named, if there is such an account, and nobody's otherwise. Such requests have
 * rings and budgets of their own, so that strangers cannot push an account's own requests out of sight, and those who name nobody not those who do.
 *
 * A record holds nothing of the request but copies of short texts. An error would hold the request with its body by its stack, and a slice of a
 * text holds the whole text.
 */
import type { FastifyRequest } from "fastify";
import { Allowance } from "../../auth/allowance.ts";
import { storedForm } from "../../auth/api-keys.ts";
import { expiringCache } from "../../runtime/cache.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Store } from "../../store/port/store.ts";
import { readApiKey, readBasic, readToken } from "../auth.ts";
import type { ApiError, ErrorName } from "../errors.ts";
import type { Rejections } from "../operation.ts";
import { isByConsole } from "./cookie.ts";
import { AccountRings, Ring } from "./request-rings.ts";
import { VIEW_ROOT } from "./view.ts";

export const MAX_OWN = 200;
const MAX_OF_STRANGERS = 50;
export const BODY_OCTETS = 2_048;
const MAX_ADDRESS_CHARACTERS = 500;
/** An address of IPv6 with one of IPv4 in it. */
const MAX_IP_CHARACTERS = 45;
/** What a record takes beside its texts, roughly: with why a message was rejected, which is a sentence of ours. */
const RECORD_OCTETS = 600;
/** Of what all records together may take: those of callers who were not let in and name an account, and of those who name nobody. */
const SHARE_OF_STRANGERS = 1 / 8;
const SHARE_OF_NOBODY = 1 / 8;
/** Which account a name is of is asked for so often a minute, and remembered for one. */
const MAX_LOOKUPS = 300;
const MINUTE_MS = 60_000;
const MAX_NAMES = 1_000;
const MAX_NAME_CHARACTERS = 256;
const MAX_REASON_CHARACTERS = 1_001;

export type Door = "basic" | "key" | "session" | "console" | "query" | "none";

export interface RequestRecord {
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  /** The path with its query, as it came; the beginning of a long one. */
  readonly address: string;
  readonly status: number;
  readonly durationMs: number;
  readonly rejections: Rejections | null;
  readonly door: Door;
  /** The id of the API key, or the username. */
  readonly by: string | null;
  readonly from: string;
  readonly refusal: Refusal | null;
  /** The first octets of the body as Latin-1, so that no piece of memory larger than it is held. */
  readonly body: string;
  readonly bodyOctets: number;
  readonly isForm: boolean;
  /** What the record takes of memory, roughly. */
  readonly octets: number;
}

/** What is kept of the error that a request was answered with. */
interface Refusal {
  readonly kindName: ErrorName;
  readonly messageId: string;
  readonly text: string;
  readonly description: string | null;
  readonly variables: readonly string[];
}

export interface RequestLogParts {
  readonly store: Pick<Store, "findLogin" | "apiKeyOwner">;
  readonly clock: Clock;
  /** What all records together may take. */
  readonly maxOctets: number;
}

export class RequestLog {
  readonly #parts: RequestLogParts;
  readonly #own: AccountRings<RequestRecord>;
  readonly #ofStrangers: AccountRings<RequestRecord>;
  readonly #nobodys: Ring<RequestRecord>;
  readonly #lookups: Allowance;
  /** Of which account a name is; 0 for none. */
  readonly #named;
  #count = 0;
  /** Of this start of this node: the same numbers come again after the next. */
  readonly #start: string;

  constructor(parts: RequestLogParts) {
    this.#parts = parts;
    const ofStrangers = parts.maxOctets * SHARE_OF_STRANGERS;
    const ofNobody = parts.maxOctets * SHARE_OF_NOBODY;
    this.#own = new AccountRings({ most: MAX_OWN, maxOctets: parts.maxOctets - ofStrangers - ofNobody });
    this.#ofStrangers = new AccountRings({ most: MAX_OF_STRANGERS, maxOctets: ofStrangers });
    this.#nobodys = new Ring(MAX_OWN, ofNobody);
    this.#lookups = new Allowance({ clock: parts.clock, most: MAX_LOOKUPS, eachMs: MINUTE_MS });
    this.#named = expiringCache<string, number>(MAX_NAMES, MINUTE_MS, parts.clock);
    this.#start = parts.clock.now().toString(36);
  }

  get octets(): number {
    return this.#own.octets + this.#ofStrangers.octets + this.#nobodys.octets;
  }

  idOf({ number }: RequestRecord): string {
    return `${this.#start}-${number}`;
  }

  /** Writes down a request that is answered. What the console reads by itself is none, and neither is what needs no credentials and went well. */
  note(request: FastifyRequest, status: number, durationMs: number): void {
    const { account, url, method } = request;
    if (method === "GET" && (url.startsWith(VIEW_ROOT) || isByConsole(request))) return;
    if (account !== null) {
      this.#own.push(account.id, this.#recordOf(request, status, durationMs));
      return;
    }
    const isRefused =
      request.refusal?.kind.status === 401 || (status >= 400 && request.headers.authorization !== undefined);
    if (isRefused) void this.#attribute(nameOf(request), this.#recordOf(request, status, durationMs));
  }

  /** An account's, the newest first. */
  of(accountId: number): RequestRecord[] {
    return newestFirst(this.#own.of(accountId), this.#ofStrangers.of(accountId));
  }

  nobodys(): RequestRecord[] {
    return newestFirst(this.#nobodys.items);
  }

  #recordOf(request: FastifyRequest, status: number, durationMs: number): RequestRecord {
    const { account, rawBody, headers, url, ip } = request;
    const by =
      account === null ? nameIn(headers.authorization) : (account.apiKey?.id ?? account.user?.username ?? null);
    const refusal = request.refusal === null ? null : refusalOf(request.refusal);
    const address = url.length > MAX_ADDRESS_CHARACTERS ? copied(url, MAX_ADDRESS_CHARACTERS) : url;
    const body = rawBody === null ? "" : rawBody.toString("latin1", 0, BODY_OCTETS);
    return {
      number: ++this.#count,
      atMs: this.#parts.clock.now() - durationMs,
      method: request.method,
      address,
      status,
      durationMs,
      rejections: request.rejections,
      door: doorOf(request),
      by,
      // A proxy's header is what else it may be a piece of.
      from: ip === request.socket.remoteAddress ? ip : copied(ip, MAX_IP_CHARACTERS),
      refusal,
      body,
      bodyOctets: rawBody === null ? 0 : rawBody.length,
      isForm: rawBody !== null && FORM.test(headers["content-type"] ?? ""),
      octets: RECORD_OCTETS + address.length + body.length + (by?.length ?? 0) * 2 + octetsOf(refusal),
    };
  }

  async #attribute(name: string | null, record: RequestRecord): Promise<void> {
    const accountId = name === null ? 0 : await this.#ownerOf(name).catch(() => 0);
    if (accountId === 0) this.#nobodys.push(record);
    else this.#ofStrangers.push(accountId, record);
  }

  /** 0 for nobody, also where too many names were asked for. */
  async #ownerOf(name: string): Promise<number> {
    const { store } = this.#parts;
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    if (!this.#lookups.take()) return 0;
    const found = name.startsWith(KEY)
      ? (await store.apiKeyOwner({ id: name.slice(KEY.length) }))?.accountId
      : (await store.findLogin({ username: name.slice(USER.length) }))?.account.id;
    this.#named.set(name, found ?? 0);
    return found ?? 0;
  }
}

/** A text that is no piece of a larger one, and holds none. */
function copied(text: string, most: number): string {
  return Buffer.from(text.slice(0, most)).toString();
}

function refusalOf(error: ApiError): Refusal {
  // The texts of its answer have a bound already.
  const { messageId, text, additionalDescription, variables } = error.body().requestError.serviceException;
  return {
    kindName: error.kindName,
    messageId,
    text,
    description: additionalDescription === null ? null : copied(additionalDescription, MAX_REASON_CHARACTERS),
    variables: (variables ?? []).map((name) => copied(name, MAX_NAME_CHARACTERS)),
  };
}

/** A character may take two octets. */
function octetsOf(refusal: Refusal | null): number {
  if (refusal === null) return 0;
  const { description, variables } = refusal;
  return variables.reduce((sum, name) => sum + RECORD_OCTETS / 10 + name.length * 2, (description?.length ?? 0) * 2);
}

const FORM = /^application\/x-www-form-urlencoded\b/i;
const KEY = "key ";
const USER = "user ";

/** Whom a request names by a key or a username: null for nobody, or for a name that nobody has. */
function nameOf({ headers, query }: FastifyRequest): string | null {
  const key = readApiKey(headers.authorization);
  const { username: inQuery } = (query ?? {}) as { username?: unknown };
  const username = readBasic(headers.authorization)?.username ?? (typeof inQuery === "string" ? inQuery : "");
  const keyId = key === null ? "" : storedForm(key).id;
  const name = keyId === "" ? username : keyId;
  if (name === "" || name.length > MAX_NAME_CHARACTERS) return null;
  return copied(`${keyId === "" ? USER : KEY}${name}`, MAX_NAME_CHARACTERS + USER.length);
}

function newestFirst(...lists: readonly (readonly RequestRecord[])[]): RequestRecord[] {
  return lists.flat().sort((one, other) => other.number - one.number);
}

function doorOf(request: FastifyRequest): Door {
  const { account } = request;
  const { authorization: header } = request.headers;
  if (account !== null && account.apiKey !== null) return "key";
  if (header === undefined) return account === null ? "none" : "query";
  // Basic needs no more than its first letter, and is the most frequent.
  if (header.startsWith("B")) return "basic";
  if (readToken(header) !== null) return isByConsole(request) ? "console" : "session";
  return readApiKey(header) === null ? "basic" : "key";
}

/** Whom somebody names who was not let in: a username, or the id of what looks like a key, never more of it. */
function nameIn(header: string | undefined): string | null {
  const key = readApiKey(header);
  if (key !== null) {
    const { id } = storedForm(key);
    return id.length * 2 < key.length ? copied(id, MAX_NAME_CHARACTERS) : null;
  }
  const username = readBasic(header)?.username;
  return username === undefined ? null : copied(username, MAX_NAME_CHARACTERS);
}
