/** Whether what came to a receiver was signed with a secret: Standard Webhooks, as docs/reports.md describes it, from the receiver's side. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** A receiver takes nothing that is older, or newer: it could be what somebody has recorded. */
const MAX_AGE_SECONDS = 5 * 60;
/** While a secret is changed there are two. */
const MAX_SIGNATURES = 10;

/** As Standard Webhooks has it: 24 to 64 octets in base64 behind a prefix. Ours have 32. */
const SECRET = /^whsec_([A-Za-z0-9+/]{32,86}={0,2})$/;

export function isWebhookSecret(text: string): boolean {
  const [, key] = SECRET.exec(text) ?? [];
  if (key === undefined) return false;
  const octets = Buffer.from(key, "base64");
  return octets.length >= 24 && octets.length <= 64 && octets.toString("base64") === key;
}

const headerOf = (value: string | string[] | undefined): string => (typeof value === "string" ? value : "");

/** "valid", or what is wrong in words. `body` is as it came, to the octet. */
export function signatureVerdict(
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): { readonly isValid: boolean; readonly says: string } {
  const [id, time, given] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers[name]),
  ) as [string, string, string];
  if (given === "") return { isValid: false, says: "missing: there is no webhook-signature" };
  if (id === "" || !/^\d{1,12}$/.test(time))
    return { isValid: false, says: "invalid: webhook-id or webhook-timestamp is missing" };
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const wanted = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  const isSigned = given
    .split(" ", MAX_SIGNATURES)
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => Buffer.from(signature.slice(3), "base64"))
    .some((signature) => signature.length === wanted.length && timingSafeEqual(signature, wanted));
  if (!isSigned) return { isValid: false, says: "invalid: it was signed with another secret, or changed on its way" };
  const apart = Math.abs(nowMs / 1_000 - Number(time));
  if (apart > MAX_AGE_SECONDS)
    return { isValid: false, says: `invalid: its webhook-timestamp is ${Math.round(apart)} seconds from now` };
  return { isValid: true, says: "valid" };
}
