/**
 * Chance, in one place: secrets come from the system's generator, behaviour (delays, jitter, the simulated network) from
 * a Random that a test can seed.
 */
import { randomBytes } from "node:crypto";

export interface Random {
  /** A number from 0 up to, but without, 1. */
  next(): number;
}

export const systemRandom: Random = { next: () => Math.random() };

/** The same seed gives the same sequence (mulberry32: small, and good enough for behaviour; never for secrets). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    },
  };
}

/** A secret that nobody can guess, in letters that are safe in a URL and in a shell. */
export function secret(byteCount: number): string {
  return randomBytes(byteCount).toString("base64url");
}

/** A name that hardly comes twice, in digits and letters that a command line cannot take for an option. */
export function publicId(byteCount: number): string {
  return randomBytes(byteCount).toString("hex");
}

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Octets from here on would make some letters more likely than others. */
const FAIR_OCTETS = 256 - (256 % LETTERS.length);

/** So many names that nobody can guess, for URLs in texts: letters and digits, 5.95 bits each. */
export function randomCodes(count: number, length: number): string[] {
  const wanted = count * length;
  let letters = "";
  while (letters.length < wanted)
    for (const octet of randomBytes(wanted - letters.length))
      if (octet < FAIR_OCTETS) letters += LETTERS[octet % LETTERS.length];
  return Array.from({ length: count }, (_, index) => letters.slice(index * length, (index + 1) * length));
}

/** A key for signing callbacks, in the form of the Standard Webhooks. */
export function webhookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** Of what the PINs of an application are made with. */
export const PIN_SECRET_OCTETS = 32;

/** Of the secret of a second factor: 160 bits, as long as SHA-1's output (RFC 4226, 4). */
export const FACTOR_LETTERS = 32;
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** A secret that a person types, in the letters of RFC 4648: five bits each. */
export function base32Secret(letters: number): string {
  return Array.from(randomBytes(letters), (octet) => BASE32[octet & 31]).join("");
}
