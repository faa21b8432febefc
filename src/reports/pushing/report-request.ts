/**
 * The request that carries a batch of reports: where it goes, its body, and the headers by which a receiver knows it for ours.
 *
 * Signatures have the Standard Webhooks form (standardwebhooks.com): HMAC-SHA256 over id, time and body, joined by dots, so that
 * neither can be exchanged. While an account changes its secret there is one signature for each of the two.
 */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { Post } from "../../http/transport.ts";
import type { ReportBatch } from "../../message/message.ts";
import { formRules, isInUrl, toldBy } from "../../message/report-form.ts";
import { orElse } from "../../runtime/or-else.ts";
import { parseHttpUrl } from "../../runtime/urls.ts";
import { dlrPath, incomingPath } from "../rendering/dlr-url.ts";
import { bodyOf } from "../rendering/report-body.ts";

/** The client's URL, taken apart for the request. */
export interface Target {
  /** Scheme, host and port: what one pool of connections serves. */
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  /** For a URL with a name and a password in it. */
  readonly authorization: string | null;
}

/** Null when it is no URL that can be called. */
export function readTarget(url: string): Target | null {
  const parsed = parseHttpUrl(url);
  if (parsed === null) return null;
  return {
    origin: parsed.origin,
    path: parsed.pathname + parsed.search,
    authorization: parsed.username === "" ? null : basic(parsed.username, parsed.password),
  };
}

/** The id stays the same on every try; the time and the signatures are those of this one. */
export function requestFor(batch: ReportBatch, target: Target, keys: readonly KeyObject[], nowMs: number): Post {
  const timestampSeconds = Math.floor(nowMs / 1000);
  const { method, contentType } = formRules(batch.form);
  const body = bodyOf(batch);
  return {
    method,
    origin: target.origin,
    path: pathOf(batch, target),
    headers: {
      ...(contentType === null ? {} : { "content-type": contentType }),
      "user-agent": "Heliograph",
      "webhook-id": batch.id,
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signatures({ id: batch.id, timestampSeconds, body }, keys),
      ...(target.authorization === null ? {} : { authorization: target.authorization }),
    },
    body,
  };
}

/** A client of Kannel's says in its URL what is to be told there. */
function pathOf(batch: ReportBatch, { path }: Target): string {
  if (batch.kind === "incoming" && isInUrl(batch.form)) return incomingPath(batch.url, batch.items[0]!);
  const told = toldBy(batch.form);
  return told === null || batch.kind !== "delivery" ? path : dlrPath(batch.url, told, batch.items[0]!);
}

const SECRET_PREFIX = "whsec_";

/**
 * The key in a secret as clients see it: `whsec_` and base64. To be kept and used again: with a key object a signature costs
 * 3 µs, with the bare bytes 24.
 */
export function signingKey(secret: string): KeyObject {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return createSecretKey(Buffer.from(encoded, "base64"));
}

export interface Signed {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/** The value of the `webhook-signature` header. */
export function signatures({ id, timestampSeconds, body }: Signed, keys: readonly KeyObject[]): string {
  const head = `${id}.${timestampSeconds}.`;
  // In two: put together, a body of a hundred reports would be copied for it.
  const sign = (key: KeyObject): string => createHmac("sha256", key).update(head).update(body).digest("base64");
  return keys.map((key) => `v1,${sign(key)}`).join(" ");
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

/** A stray percent sign stands for itself. */
function decode(text: string): string {
  return orElse(() => decodeURIComponent(text), text);
}
