/**
 * Secrets at rest. What the service has to use as it is (secrets for signing reports and of second factors, passwords for carriers) is sealed before it is stored:
 * AES-256-GCM under a key that is not in the store. A sealed value reads
 *
 *   sealed:1:<key's id>:<nonce, tag and text in base64url>
 *
 * The place it is for ("account/ACME/callback_secret") is authenticated with it, so a value that was moved to another row does not open.
 * Without a key values are kept as they are. Values from before there was a key are not sealed and open as they are.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

export interface SecretBox {
  /** The ids of the keys, the one that seals first. */
  readonly keyIds: readonly string[];
  /** The text as it is to be stored at this place. */
  seal(place: string, text: string): string;
  /** What was sealed for this place. Throws a SecretFault if no key opens it. */
  open(place: string, text: string): string;
}

/** A secret cannot be opened; the message says which setting is wrong. */
export class SecretFault extends Error {}

const ALGORITHM = "aes-256-gcm";
const KEY_OCTETS = 32;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const SEALED = /^sealed:1:([0-9a-f]{12}):([A-Za-z0-9_-]{38,})$/;

/** The id of the key that a value was sealed with; null for one that is not sealed. */
export function sealedBy(text: string): string | null {
  return SEALED.exec(text)?.[1] ?? null;
}

/** A new key, as it is written into the setting. */
export function makeSecretKey(): string {
  return randomBytes(KEY_OCTETS).toString("base64");
}

/** The keys of `store.secretKey`, newest first; null if one of them is not 32 octets in base64. Nothing is no key. */
export function parseSecretKeys(text: string): readonly Buffer[] | null {
  const keys = text
    .split(/[\s,]+/)
    .filter((piece) => piece !== "")
    .map((piece) => (/^[A-Za-z0-9+/_-]{43}=?$/.test(piece) ? Buffer.from(piece, "base64") : null));
  return keys.every((key) => key?.length === KEY_OCTETS) ? (keys as Buffer[]) : null;
}

/** The first key seals, and all of them open. */
export function secretBox(keys: readonly Buffer[]): SecretBox {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [newest] = byId;
  return {
    keyIds: [...byId.keys()],

    seal(place, text) {
      if (newest === undefined) return text;
      const [id, key] = newest;
      const nonce = randomBytes(NONCE_OCTETS);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place));
      const hidden = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `sealed:1:${id}:${Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString("base64url")}`;
    },

    open(place, text) {
      const [, id, body] = SEALED.exec(text) ?? [];
      if (id === undefined || body === undefined) return text;
      const key = byId.get(id);
      if (key === undefined) throw new SecretFault(missingKey([id], byId.size > 0));
      const octets = Buffer.from(body, "base64url");
      const nonce = octets.subarray(0, NONCE_OCTETS);
      const tag = octets.subarray(NONCE_OCTETS, NONCE_OCTETS + TAG_OCTETS);
      try {
        const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_OCTETS });
        decipher.setAAD(Buffer.from(place)).setAuthTag(tag);
        const hidden = octets.subarray(NONCE_OCTETS + TAG_OCTETS);
        return Buffer.concat([decipher.update(hidden), decipher.final()]).toString("utf8");
      } catch {
        throw new SecretFault(`the secret at ${place} was changed or moved there: it is not what was sealed for it`);
      }
    },
  };
}

/** Keeps everything as it is. */
export const NO_KEYS = secretBox([]);

/** What to do about sealed values whose keys are not there. */
export function missingKey(ids: readonly string[], hasKeys: boolean): string {
  const keys = ids.length === 1 ? `the key ${ids[0]}` : `the keys ${ids.join(", ")}`;
  const why = hasKeys ? "which is not among those of the setting" : "and no key is set";
  return `secrets in the store are sealed with ${keys}, ${why}: give it in [store] secretKeyFile, or in HELIOGRAPH_STORE_SECRET_KEY`;
}

/** Tells keys apart, and says nothing of them. */
function idOf(key: Buffer): string {
  return createHash("sha256").update("heliograph secret key ").update(key).digest("hex").slice(0, 12);
}
