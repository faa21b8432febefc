/**
 * The second factor: six digits that an app on the user's phone makes of a shared secret and the time (TOTP, RFC 6238: SHA-1, steps of 30
 * seconds), and recovery codes for whoever has lost the phone. What is here decides nothing but whether a code fits; that a code is used
 * once is the store's to say, which knows the last step that was taken.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { base32Secret, FACTOR_LETTERS } from "../runtime/random.ts";
import type { FactorProof, SecondFactor } from "../store/port/credentials.ts";

const STEP_MS = 30_000;
const DIGITS = 6;
/** Clocks differ, and typing takes a while: the code before and the one after are good too (RFC 6238, 5.2). */
const STEPS_AROUND = 1;
const RECOVERY_CODES = 10;
/** 70 bits: too many to try out, so a plain hash is as good to keep as a slow one. */
const RECOVERY_LETTERS = 14;
/** Of a code as somebody writes it, with spaces or dashes. */
export const MAX_CODE_CHARACTERS = 16;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// --- Base32 (RFC 4648), which apps read secrets in ---------------------------------------------------------------------------

export function fromBase32(text: string): Buffer {
  const octets: number[] = [];
  let bits = 0;
  let held = 0;
  for (const letter of text) {
    held = ((held << 5) | ALPHABET.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    octets.push((held >> bits) & 255);
  }
  return Buffer.from(octets);
}

// --- Codes -------------------------------------------------------------------------------------------------------------------

export function newFactorSecret(): string {
  return base32Secret(FACTOR_LETTERS);
}

/** For an app, as a link or in a picture. */
export function factorUri(username: string, secret: string): string {
  const issuer = "Heliograph";
  const label = `${issuer}:${encodeURIComponent(username)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${issuer}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1_000}`;
}

export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS);
}

/** The code of one step (RFC 4226, 5.3). */
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const offset = mac[mac.length - 1]! & 15;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** The step that a code of six digits belongs to, if that was not taken before; null for a wrong code. */
function stepOf(code: string, { secret, lastStep }: Pick<SecondFactor, "secret" | "lastStep">, nowMs: number) {
  let found: number | null = null;
  const given = Buffer.from(code);
  for (let step = stepAt(nowMs) - STEPS_AROUND; step <= stepAt(nowMs) + STEPS_AROUND; step++) {
    const isRight = timingSafeEqual(given, Buffer.from(codeAt(secret, step)));
    if (isRight && step > lastStep && found === null) found = step;
  }
  return found;
}

/** What the store has to take for a code: a step, or the hash of a recovery code; null for one that is wrong already. */
export function proofOf(code: string, factor: SecondFactor, nowMs: number): FactorProof | null {
  if (code.length > MAX_CODE_CHARACTERS) return null;
  const letters = code.replace(/[ -]/g, "").toUpperCase();
  if (/^\d{6}$/.test(letters)) {
    const step = stepOf(letters, factor, nowMs);
    return step === null ? null : { kind: "code", begunAtMs: factor.begunAtMs, step };
  }
  return /^[A-Z2-7]{14}$/.test(letters) ? { kind: "recovery code", codeHash: hashOf(letters) } : null;
}

/** Recovery codes as they are shown, once, and what is kept of them. */
export function newRecoveryCodes(): { readonly shown: string[]; readonly hashes: string[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => base32Secret(RECOVERY_LETTERS));
  const shown = codes.map((code) => code.toLowerCase().replace(/^(.{5})(.{5})(.{4})$/, "$1-$2-$3"));
  return { shown, hashes: codes.map(hashOf) };
}

function hashOf(letters: string): string {
  return hash("sha256", letters, "base64url");
}
