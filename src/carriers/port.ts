/**
 * The port to a carrier: whoever takes parts of messages and later says what became of them. The simulator and SMPP are behind it.
 */
import type { UserData } from "../sms/text.ts";

/** What a network says of a part that it took; the words are events of the message's life. */
export type ReceiptOutcome = "held" | "delivered" | "undeliverable" | "rejected" | "expired" | "lost";

export interface PartToSubmit {
  readonly from: string;
  readonly to: string;
  readonly userData: UserData;
  /** The network need not try after this. */
  readonly expiresAtMs: number;
  readonly flash: boolean;
}

export type Submission =
  | { kind: "accepted"; carrierMessageId: string }
  | { kind: "later"; retryAfterMs: number } // throttled, queue full
  | { kind: "refused"; errorId: number } // will never be taken
  | { kind: "unknown" }; // the link died before the answer

export interface Receipt {
  readonly carrierMessageId: string;
  readonly outcome: ReceiptOutcome;
  /** An id of the table in sms/errors.ts; 0 is no error. */
  readonly errorId: number;
  readonly atMs: number;
  /** Mobile country and network code, where the network tells. */
  readonly mccMnc: string | null;
}

/** A part that the carrier took and has not said the last word about. */
export interface OutstandingPart {
  readonly carrierMessageId: string;
  readonly to: string;
  readonly submittedAtMs: number;
  readonly expiresAtMs: number;
}

export interface Carrier {
  readonly id: string;
  /** How many parts it would take now without making anyone wait. */
  room(): number;
  submit(part: PartToSubmit): Promise<Submission>;
  /** Called when there is room again after there was none. */
  onRoom(listener: () => void): void;
  onReceipt(listener: (receipt: Receipt) => void): void;
  /** A carrier that forgets when the program ends is told what it had taken. A real one remembers, and has no such method. */
  resume?(parts: readonly OutstandingPart[]): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}
