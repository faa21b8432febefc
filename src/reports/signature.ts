/**
 * Signatures by the Standard Webhooks form (standardwebhooks.com): HMAC-SHA256 over id, time and body, joined by dots, so that
 * neither can be exchanged. While an account changes its secret there is one signature for each of the two.
 */
import { createHmac } from "node:crypto";

const SECRET_PREFIX = "whsec_";

/** The key in a secret as clients see it: `whsec_` and base64. */
export function signingKey(secret: string): Buffer {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, "base64");
}

export interface Signed {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/** The value of the `webhook-signature` header. */
export function signatures(signed: Signed, keys: readonly Buffer[]): string {
  return keys.map((key) => `v1,${signature(signed, key)}`).join(" ");
}

function signature(signed: Signed, key: Buffer): string {
  return createHmac("sha256", key)
    .update(`${signed.id}.${signed.timestampSeconds}.`)
    .update(signed.body)
    .digest("base64");
}
