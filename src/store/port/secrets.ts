/** How far a look through the store's secrets has come, and what it found. */

/** How far a look through all secrets has come. */
export interface SecretCursor {
  readonly kind: number;
  readonly key: string;
}

/** Secrets that are sealed with one key; null for those that are not sealed. */
export interface SecretCount {
  readonly keyId: string | null;
  readonly count: number;
}

/** The fields of a carrier's profile that are secrets: sealed in the store, never shown, and as they were where a change leaves them out. */
export const CARRIER_SECRETS = ["password", "apiKey", "callbackSecret"] as const;
export type CarrierSecret = (typeof CARRIER_SECRETS)[number];

export function isCarrierSecret(field: string): field is CarrierSecret {
  return (CARRIER_SECRETS as readonly string[]).includes(field);
}
