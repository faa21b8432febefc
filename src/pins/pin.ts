/**
 * What a PIN is: its kinds, and how it is made. A PIN is not kept. It is worked out of its application's secret and its own id, which came from
 * the system's generator, whenever it is sent or looked at (docs/decisions/pins.md). Pure.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const DIGITS = "0123456789";
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SIGNS = {
  NUMERIC: DIGITS,
  ALPHA: LETTERS,
  HEX: `${DIGITS}ABCDEF`,
  ALPHANUMERIC: LETTERS + DIGITS,
} as const;

export type PinType = keyof typeof SIGNS;
export const PIN_TYPES = Object.keys(SIGNS) as readonly PinType[];

export const DEFAULT_PIN_LENGTH = 4;
/** Of fewer signs there are so few that ten tries find one of a hundred. */
export const MIN_PIN_LENGTH = 4;
export const MAX_PIN_LENGTH = 20;
/** Of what somebody brings as a PIN: longer than any there is. */
export const MAX_PIN_BROUGHT = 100;

export interface PinForm {
  readonly id: string;
  readonly type: PinType;
  readonly length: number;
}

/** The PIN of this id: as good as random to whoever does not have the secret. */
export function pinOf({ id, type, length }: PinForm, secret: string): string {
  const signs = SIGNS[type];
  // An octet from here on would favour the first signs.
  const fair = 256 - (256 % signs.length);
  let pin = "";
  for (let block = 0; pin.length < length; block++) {
    const octets = createHmac("sha256", secret).update(`pin ${id} ${type} ${length} ${block}`).digest();
    for (const octet of octets) if (octet < fair && pin.length < length) pin += signs[octet % signs.length];
  }
  return pin;
}

/** Whether what somebody brings is the PIN. How long that takes does not say how much of it is right. Phones like to begin with a small letter. */
export function isPin(form: PinForm, secret: string, brought: string): boolean {
  const digest = (pin: string): Buffer => createHmac("sha256", secret).update(`compare ${pin}`).digest();
  return timingSafeEqual(digest(pinOf(form, secret)), digest(brought.toUpperCase()));
}

/** What stands in a text in place of a PIN where people read it who are not to know it. */
export function maskOf(pin: string): string {
  return "*".repeat(pin.length);
}
