/** What the sandbox's views answer, and what its pages do. */
import { api } from "../../api.ts";

export const PHONE_STATES = ["on", "off", "full", "abroad", "unknown"] as const;
export type PhoneState = (typeof PHONE_STATES)[number];

export interface PhoneMessage {
  readonly place: number;
  readonly direction: "received" | "written";
  readonly peer: string;
  readonly text: string;
  readonly clipped: boolean;
  readonly binary: boolean;
  readonly dataCoding: number | null;
  readonly flash: boolean;
  readonly parts: number;
  readonly at: string;
  readonly messageKey: string | null;
}

export interface PhoneList {
  readonly phones: readonly {
    readonly number: string;
    readonly state: PhoneState;
    readonly messageCount: number;
    readonly last: PhoneMessage | null;
  }[];
  readonly more: boolean;
}

export interface PhoneAnswer {
  readonly number: string;
  readonly state: PhoneState;
  readonly messages: readonly PhoneMessage[];
}

export interface NetworkFaults {
  readonly throttling: boolean;
  readonly refusing: boolean;
  readonly connectionLost: boolean;
  readonly slowAnswersMs: number;
  readonly noReceipts: boolean;
  readonly duplicatedReceipts: boolean;
  readonly lateReceiptsMs: number;
}

export interface SandboxAnswer {
  readonly network: NetworkFaults;
  /** To which phones can write. */
  readonly numbers: readonly string[];
  /** Null where it cannot be moved. */
  readonly clock: { readonly offsetMs: number; readonly nextMessageAt: string | null } | null;
}

/** The one that the docs and the first page begin with. */
export const FIRST_PHONE = "41793026727";

export const setPhone = (number: string, state?: PhoneState) =>
  api.put(`/sandbox/1/phones/${number}`, state === undefined ? {} : { state });

export const writeBack = (from: string, to: string, text: string) =>
  api.post("/sandbox/1/incoming", { from, to, text });

export const setNetwork = (faults: Partial<NetworkFaults>) => api.put("/sandbox/1/network", faults);

export const isNumber = (text: string): boolean => /^\d{4,15}$/.test(text);

/** As a person types it: with a plus, spaces, brackets or dashes. */
export const plainNumber = (text: string): string => text.replace(/[\s()+./-]/g, "");
