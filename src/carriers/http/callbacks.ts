/**
 * Callbacks of a provider: what they say, once it is sure that they are the provider's. Their address has a secret in it, which follows from the secrets of
 * the profile, so every node knows it and nobody has to keep it; a description may ask for a signature beside it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingPart } from "../../message/incoming.ts";
import type { Receipt } from "../../message/receipt.ts";
import { onceEach } from "../../runtime/lazy.ts";
import { Networks, parseNetworks } from "../../runtime/networks.ts";
import { readData } from "./data.ts";
import type { CallbackCheck, Description, ReplyDescription } from "./description.ts";
import { describe } from "./presets.ts";
import type { HttpProfile } from "./profile.ts";
import { readIncoming, readReceipts } from "./reading.ts";
import { fillText, type Values } from "./template.ts";
import { carrierValues } from "./values.ts";

/** What of a provider's an address of ours is for; "events" where it has one address for all. */
export const CALLBACK_KINDS = ["receipts", "incoming", "events"] as const;
export type CallbackKind = (typeof CALLBACK_KINDS)[number];

export interface Callback {
  readonly method: string;
  /** As the provider called it: the service's public address, path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  readonly address: string;
}

/** What a callback says. */
export interface CalledBack {
  readonly receipts: readonly Receipt[];
  readonly incoming: readonly IncomingPart[];
}

const TOKEN_CHARACTERS = 32;

/** What follows from a profile, made once: a provider may call for thousands of messages a second. */
interface Door {
  /** Null where the profile has no secret, so that anybody could guess the address. */
  readonly token: string | null;
  /** Null: callbacks may come from anywhere. */
  readonly networks: Networks | null;
  readonly values: Values;
  /** What callbacks are signed with; undefined where the profile does not have it. */
  readonly secret: string | undefined;
}

const doorOf = onceEach(new WeakMap<HttpProfile, Door>(), (profile) => {
  const values = carrierValues(profile);
  const { check } = describe(profile).description;
  const { callbackNetworks } = profile;
  return {
    token: tokenOf(profile),
    networks: callbackNetworks === undefined ? null : new Networks(parseNetworks(callbackNetworks.join(",")) ?? []),
    values,
    secret: check === undefined ? undefined : fillText(check.secret, values),
  };
});

/** The secret of the addresses at which the provider calls us. */
export function tokenOf({ id, callbackSecret, password, apiKey }: HttpProfile): string | null {
  const secret = callbackSecret ?? password ?? apiKey;
  if (secret === undefined) return null;
  return createHmac("sha256", secret).update(`callbacks of ${id}`).digest("base64url").slice(0, TOKEN_CHARACTERS);
}

/** Where the provider may call us, as values for templates; none without a public address or a secret. */
export function callbackUrls(profile: HttpProfile, publicUrl: string): Values {
  const { token } = doorOf(profile);
  if (publicUrl === "" || token === null) return {};
  const base = `${publicUrl.replace(/\/$/, "")}/carriers/${profile.id}/${token}`;
  return { receiptsUrl: `${base}/receipts`, incomingUrl: `${base}/incoming`, eventsUrl: `${base}/events` };
}

export function isToken(profile: HttpProfile, token: string): boolean {
  const right = doorOf(profile).token;
  return right !== null && isSame(right, token);
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** Whether a callback may come from there. */
export function isFromProvider(profile: HttpProfile, address: string): boolean {
  const { networks } = doorOf(profile);
  return networks === null || networks.has(address);
}

/** The fields of a callback: its query, its form, or its JSON. */
export function fieldsIn({ method, url, headers, body }: Callback): unknown {
  // Most have none, and then the URL need not be taken apart.
  const query = url.includes("?") ? Object.fromEntries(new URL(url).searchParams) : {};
  if (method === "GET" || body.length === 0) return query;
  const type = String(headers["content-type"] ?? "");
  if (type.startsWith("application/x-www-form-urlencoded")) return { ...query, ...Object.fromEntries(formOf(body)) };
  const data = readData(body.toString("utf8"));
  return typeof data === "object" && data !== null && !Array.isArray(data) ? { ...query, ...data } : data;
}

function formOf(body: Buffer): URLSearchParams {
  return new URLSearchParams(body.toString("utf8"));
}

/** Whether it is signed as the description says. */
export function isSigned(profile: HttpProfile, callback: Callback): boolean {
  const { check } = describe(profile).description;
  if (check === undefined) return true;
  const { secret, values } = doorOf(profile);
  // A provider that signs with what the profile does not have: the secret in the address has to do.
  if (secret === undefined) return true;
  const shown = shownIn(check, callback);
  if (shown === undefined) return false;
  switch (check.kind) {
    case "header":
      return isSame(secret, shown);
    case "basic": {
      const username = fillText(check.username ?? "{username}", values) ?? "";
      return isSame(`Basic ${Buffer.from(`${username}:${secret}`).toString("base64")}`, shown);
    }
    case "hmac": {
      const { algorithm = "sha256", encoding = "hex" } = check;
      const inOneCase = (text: string): string => (encoding === "hex" ? text.toLowerCase() : text);
      return spellingsOf(callback.url).some((url) => {
        const digest = createHmac(algorithm, secret).update(signedText(check, { ...callback, url }));
        return isSame(inOneCase(digest.digest(encoding)), inOneCase(shown));
      });
    }
  }
}

/** An address as it was called, without its port, and with the usual one: Twilio signs one or the other, and its own library takes either. */
function spellingsOf(url: string): readonly string[] {
  const [, scheme, host, rest] = /^(https?):\/\/([^/?#:]+|\[[^\]/?#]*\])(?::\d+)?([/?#].*)?$/.exec(url) ?? [];
  if (scheme === undefined) return [url];
  const port = scheme === "https" ? 443 : 80;
  return [...new Set([url, `${scheme}://${host}${rest ?? ""}`, `${scheme}://${host}:${port}${rest ?? ""}`])];
}

/** The signature as it came: in a header, or as a parameter. */
function shownIn({ name = "authorization" }: CallbackCheck, callback: Callback): string | undefined {
  if (!name.startsWith("?")) return headerOf(callback, name);
  const fields = fieldsIn(callback) as Readonly<Record<string, unknown>>;
  const shown = Object.hasOwn(fields, name.slice(1)) ? fields[name.slice(1)] : undefined;
  return typeof shown === "string" ? shown : undefined;
}

function headerOf({ headers }: Callback, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" ? value : value?.[0];
}

/** What a signature is over: values in places, as in any template. */
function signedText({ over = "{body}", name = "" }: CallbackCheck, callback: Callback): string {
  const { url, body, headers } = callback;
  const isForm = String(headers["content-type"] ?? "").startsWith("application/x-www-form-urlencoded");
  const pairs = () =>
    pairsOf(callback, isForm)
      .filter(([field]) => `?${field}` !== name)
      .sort(([one], [other]) => (one < other ? -1 : Number(one > other)));
  const values: Readonly<Record<string, () => string>> = {
    url: () => url,
    body: () => body.toString("utf8"),
    fields: () => (isForm ? pairs().flat().join("") : ""),
    // As Vonage has it: what would end a pair is written as an underscore.
    pairs: () =>
      pairs()
        .map(([field, value]) => `&${field}=${value.replace(/[&=]/g, "_")}`)
        .join(""),
  };
  return over.replace(/\{(?:header:([A-Za-z0-9-]{1,100})|([a-z]{1,20}))\}/g, (_, header?: string, place?: string) =>
    header === undefined ? (values[place!]?.() ?? "") : (headerOf(callback, header) ?? ""),
  );
}

/** Of a form, of JSON with each field as its text, or of the query. */
function pairsOf({ url, body }: Callback, isForm: boolean): [name: string, value: string][] {
  if (isForm) return [...formOf(body)];
  const data = body.length === 0 ? null : readData(body.toString("utf8"));
  if (typeof data !== "object" || data === null) return [...new URL(url).searchParams];
  return Object.entries(data).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
}

export function readCallback(profile: HttpProfile, kind: CallbackKind, fields: unknown, nowMs: number): CalledBack {
  const { receipts, incoming }: Description = describe(profile).description;
  return {
    receipts: receipts === undefined || kind === "incoming" ? [] : readReceipts(receipts, fields, nowMs),
    incoming: incoming === undefined || kind === "receipts" ? [] : readIncoming(incoming, fields, nowMs),
  };
}

/** What the provider wants to hear. */
export function replyOf(profile: HttpProfile): Required<ReplyDescription> {
  return { status: 200, type: "application/json", body: "{}", ...describe(profile).description.reply };
}
