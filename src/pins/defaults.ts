/** What an application is unless it is told otherwise, and how much there may be of all. */
import type { PinConfiguration } from "./commands.ts";

export const DEFAULT_CONFIGURATION: PinConfiguration = {
  pinAttempts: 10,
  allowMultiplePinVerifications: true,
  pinTimeToLive: "15m",
  verifyPinLimit: "1/3s",
  sendPinPerApplicationLimit: "10000/1d",
  sendPinPerPhoneNumberLimit: "3/1d",
};

export const MAX_PIN_ATTEMPTS = 100;
/** Of an account, and of an application. */
export const MAX_APPLICATIONS = 1_000;
export const MAX_TEMPLATES = 100;
/** PINs of a phone number that are told in one answer: the newest. */
export const MAX_VERIFICATIONS = 1_000;
