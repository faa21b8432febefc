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
