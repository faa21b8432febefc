/** From when and until when a message may be sent, from what its request says. */
import { type DeliveryWindow, nextOpening } from "./window.ts";

/** 48 hours: what a message gets that asks for none, and the most that one can get. */
const MAX_VALIDITY_MS = 2880 * 60_000;

/** The units that a client may give a validity in. */
export const VALIDITY_UNITS_MS = { SECONDS: 1_000, MINUTES: 60_000, HOURS: 3_600_000 } as const;

const DAY_MS = 24 * 60 * 60_000;

/** Whether a sendAt is further away than sending is planned. */
export function tooFarAhead(sendAtMs: number, nowMs: number, days: number): boolean {
  return sendAtMs > nowMs + days * DAY_MS;
}

export interface SendingWish {
  readonly nowMs: number;
  /** Null, like a time in the past, is now. */
  readonly sendAtMs: number | null;
  readonly window: DeliveryWindow | null;
}

/** The first moment at which the message may be sent: `nowMs` if that is at once. */
export function firstSendable({ nowMs, sendAtMs, window }: SendingWish): number {
  const wantedMs = sendAtMs === null ? nowMs : Math.max(nowMs, sendAtMs);
  return window === null ? wantedMs : nextOpening(window, wantedMs);
}

/** The moment from which the message may no longer be sent. Validity counts from when it could first have been, not from its acceptance. */
export function expiry(firstSendableMs: number, validityMs: number | null): number {
  return firstSendableMs + Math.min(validityMs ?? MAX_VALIDITY_MS, MAX_VALIDITY_MS);
}
