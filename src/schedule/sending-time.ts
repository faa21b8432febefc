/** From when and until when a message may be sent, from what its request says. */
import { type DeliveryWindow, nextOpening } from "./window.ts";

/** 48 hours: what a message gets that asks for none, and the most that one can get. */
export const MAX_VALIDITY_MINUTES = 2880;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

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
export function expiry(firstSendableMs: number, validityMinutes: number | null): number {
  return firstSendableMs + Math.min(validityMinutes ?? MAX_VALIDITY_MINUTES, MAX_VALIDITY_MINUTES) * MINUTE_MS;
}
