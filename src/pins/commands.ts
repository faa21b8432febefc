/** The store's commands about PINs: their types, and how each of them runs. The port takes them over (store/port/store.ts, store/modes.ts). */
import type { Regional } from "../message/regional.ts";
import type { PinType } from "./pin.ts";

export interface PinConfiguration {
  /** How many verifications a PIN has, right or wrong. */
  readonly pinAttempts: number;
  /** Whether a PIN may be verified again after it was right. */
  readonly allowMultiplePinVerifications: boolean;
  /** A span; the others are rates (rate.ts). */
  readonly pinTimeToLive: string;
  readonly verifyPinLimit: string;
  readonly sendPinPerApplicationLimit: string;
  readonly sendPinPerPhoneNumberLimit: string;
}

export interface PinApplication {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly configuration: PinConfiguration;
}

export interface PinApplicationChange {
  readonly name: string;
  readonly enabled?: boolean;
  readonly configuration?: Partial<PinConfiguration>;
}

/** Fields that a client keeps with a template, and gets back as they are. */
export type KeptFields = Readonly<Record<string, unknown>>;

export interface PinTemplate {
  readonly id: string;
  readonly applicationId: string;
  readonly text: string;
  readonly pinType: PinType;
  readonly pinLength: number;
  readonly senderId: string | null;
  readonly kept: KeptFields;
}

export type PinTemplateChange = Partial<Omit<PinTemplate, "id" | "applicationId">>;

/** What is to be sent: the text with the PIN in it, and the same for whoever must not read it. */
export interface PinMessage {
  readonly pinId: string;
  readonly to: string;
  /** Null for the account's own. */
  readonly from: string | null;
  readonly text: string;
  readonly shownText: string;
  readonly timeToLiveMs: number;
  readonly regional: Regional | null;
}

/** Sent for the first time, or again. What a resend does not name is as it was the first time. */
export interface PinSending {
  readonly accountId: number;
  readonly pinId: string;
  readonly first: { readonly applicationId: string; readonly templateId: string; readonly to: string } | null;
  readonly from: string | null;
  readonly placeholders: Readonly<Record<string, string>> | null;
  readonly nowMs: number;
}

/** What a sending made of a PIN's times, and what they were before: a sending that comes to nothing leaves them as they were. */
export interface PinTimes {
  /** Null of a PIN that was never sent: it is not looked at. */
  readonly before: { readonly sentAtMs: number | null; readonly expiresAtMs: number };
  readonly expiresAtMs: number;
}

export type PinSendingOutcome =
  /** `unused`: placeholders that the text has not. */
  | {
      readonly kind: "made";
      readonly message: PinMessage;
      readonly times: PinTimes;
      readonly unused: readonly string[];
    }
  /** Of a resend: "pin". */
  | { readonly kind: "unknown"; readonly what: "application" | "template" | "pin" }
  | { readonly kind: "disabled" }
  /** It could not be verified any more, however often it was sent. */
  | { readonly kind: "used up" }
  | { readonly kind: "wrong placeholders"; readonly says: string }
  | { readonly kind: "too many"; readonly of: "application" | "phone number"; readonly waitMs: number };

export type PinError = "WRONG_PIN" | "TTL_EXPIRED" | "NO_MORE_PIN_ATTEMPTS";

export type PinVerdict =
  | {
      readonly kind: "looked at";
      readonly to: string;
      readonly attemptsRemaining: number;
      readonly error: PinError | null;
    }
  | { readonly kind: "unknown" }
  | { readonly kind: "too many"; readonly waitMs: number };

export interface PinVerification {
  readonly to: string;
  readonly sentAtMs: number | null;
  readonly verifiedAtMs: number | null;
}

interface OfAccount {
  readonly accountId: number;
}

export interface PinStore {
  /** Null for one that the account does not have. */
  pinApplication(input: OfAccount & { id: string }): Promise<PinApplication | null>;
  pinApplications(input: OfAccount): Promise<PinApplication[]>;
  /** A new one if `secret` is given, which its PINs are made with; else what is not named stays as it is. */
  putPinApplication(
    input: OfAccount & { id: string; change: PinApplicationChange; secret: string | null; atMs: number },
  ): Promise<PinApplication | "unknown" | "too many">;
  pinTemplate(input: OfAccount & { applicationId: string; id: string }): Promise<PinTemplate | null>;
  /** Null for an application that the account does not have. */
  pinTemplates(input: OfAccount & { applicationId: string }): Promise<PinTemplate[] | null>;
  /** The same; a new one names all but the sender. */
  putPinTemplate(
    input: OfAccount & {
      applicationId: string;
      id: string;
      change: PinTemplateChange;
      isNew: boolean;
      atMs: number;
    },
  ): Promise<PinTemplate | "unknown" | "too many">;
  /** Counts a PIN against the limits, and makes it ready to be sent. */
  sendPin(input: PinSending): Promise<PinSendingOutcome>;
  /**
   * It was not sent after all, and its times are as they were. `uncount`: there is no message either, so it is not counted.
   * `forget`: nobody will hear of it.
   */
  pinNotSent(
    input: OfAccount & { pinId: string; atMs: number; times: PinTimes; uncount: boolean; forget: boolean },
  ): Promise<void>;
  verifyPin(input: OfAccount & { pinId: string; pin: string; nowMs: number }): Promise<PinVerdict>;
  /** The newest PINs of a phone number; null where the account has no such application. */
  pinVerifications(
    input: OfAccount & {
      applicationId: string;
      to: string;
      verified: boolean | null;
      sent: boolean | null;
      limit: number;
    },
  ): Promise<PinVerification[] | null>;
  /** Deletes PINs whose time ended before a time, and counts that count no more, a page at a time. */
  purgePins(input: { beforeMs: number; nowMs: number; limit: number }): Promise<{ more: boolean }>;
}

export const PIN_MODES = {
  pinApplication: "read",
  pinApplications: "read",
  putPinApplication: "concurrent",
  pinTemplate: "read",
  pinTemplates: "read",
  putPinTemplate: "concurrent",
  sendPin: "concurrent",
  pinNotSent: "concurrent",
  verifyPin: "concurrent",
  pinVerifications: "read",
  purgePins: "concurrent",
} as const;
