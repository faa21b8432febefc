/** What a phone of the sandbox can be switched to, and what its network says then; docs/sandbox.md shows the same table. */
import { failed, type Handset, type PlannedReceipt, phone } from "./handsets.ts";

export const PHONE_STATES = ["on", "off", "full", "abroad", "unknown"] as const;
export type PhoneState = (typeof PHONE_STATES)[number];

/** Mobile country code 001 of ITU-T E.212 is kept for test networks, and belongs to no country. */
export const HOME_MCC_MNC = "00101";
/** 999 is kept for networks that nobody else knows. */
const ABROAD_MCC_MNC = "99901";
/** A message to a phone abroad goes through another network first. */
const ABROAD_LATER_MS = 3_000;

interface StateRule {
  /** In place of what the number's own handset would say; null leaves it to that. */
  readonly handset: Handset | null;
  readonly mccMnc: string;
  /** After its receipt the message waits for the phone, until its validity ends. */
  readonly waits: boolean;
}

function failing(name: string, outcome: PlannedReceipt["outcome"], error: string): StateRule {
  return { handset: phone(name, [failed(outcome, error)]), mccMnc: HOME_MCC_MNC, waits: false };
}

export const STATE_RULES: Readonly<Record<PhoneState, StateRule>> = {
  on: { handset: null, mccMnc: HOME_MCC_MNC, waits: false },
  off: { ...failing("switched off", "held", "EC_ABSENT_SUBSCRIBER"), waits: true },
  full: failing("full", "undeliverable", "EC_SM_DF_MEMORYCAPACITYEXCEEDED"),
  abroad: {
    handset: phone("abroad", [{ outcome: "delivered", errorId: 0, laterMs: ABROAD_LATER_MS }]),
    mccMnc: ABROAD_MCC_MNC,
    waits: false,
  },
  unknown: failing("unknown", "undeliverable", "EC_UNKNOWN_SUBSCRIBER"),
};
