/**
 * The port to a carrier: whoever takes parts of messages and later says what became of them. The simulator and SMPP are behind it.
 */
import type { Used } from "../message/fields.ts";
import type { IncomingPart } from "../message/incoming.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Regional } from "../message/regional.ts";
import type { Body } from "../sms/body.ts";
import type { UserData } from "../sms/text.ts";
import type { ConnectionFacts } from "./facts.ts";

export interface OutgoingMessage extends Body, Partial<Used> {
  readonly from: string;
  readonly to: string;
  /** The client wants to hear of changes that are not final. */
  readonly intermediateReport: boolean;
  /** The network need not try after this. */
  readonly expiresAtMs: number;
  /** Marks the parts of one message as its own: 16 bits, of which a carrier with 8 gets the lower ones. Null of what is one part. */
  readonly reference: number | null;
  /** What the rules of its country ask for, for a carrier that has a place for it. */
  readonly regional?: Regional | null;
  /** Whose message it is, and our own key of it: for a network of ours, which shows it to its sender. */
  readonly accountId?: number;
  readonly key?: string;
}

export interface PartToSubmit {
  readonly message: OutgoingMessage;
  readonly userData: UserData;
  /** Its place among several parts, where the user data itself does not say it. */
  readonly place: { readonly sequence: number; readonly total: number } | null;
}

export type Submission =
  | { kind: "accepted"; carrierMessageId: string; others?: readonly string[] } // `others`: the ids of further parts, where the carrier cut the message
  | { kind: "later"; retryAfterMs: number; status?: string } // the carrier is busy: nothing goes to it for so long; 0 where `room` says when. With a status if it said so itself
  | { kind: "not now"; retryAfterMs: number; status?: string } // this part alone could not be taken; others may be. So long at first, then longer
  | { kind: "refused"; errorId: number; status?: string } // will never be taken. `status` is the carrier's own word, for people
  | { kind: "unknown" }; // the link died before the answer

/** A part that the carrier took and has not said the last word about. */
export interface OutstandingPart {
  readonly carrierMessageId: string;
  readonly to: string;
  readonly submittedAtMs: number;
  readonly expiresAtMs: number;
}

/** Which parts of a long message get a receipt of their own that counts. */
export type PartRule = "every" | "first" | "last";

/** What to do with a part when the link died before its answer: send it again, or wait for a receipt that may come. */
export type UnknownPolicy = "resend" | "hold";

/** What is heard from a carrier. */
export interface CarrierListener {
  /** There is room again after there was none, or it went up or down. */
  onChange(): void;
  /**
   * Resolves when the receipt is safe; only then is it acknowledged to the network. `asMessage` is what an unmarked receipt is when no part waits for
   * it: a message from a phone. `raw` is its text as it came, for people. `mayWait`: the network goes on without our acknowledgement, so it need not
   * come at once.
   */
  onReceipt(receipt: Receipt, asMessage?: IncomingPart, raw?: string, mayWait?: boolean): Promise<void>;
  onIncoming(part: IncomingPart): Promise<void>;
}

export const NOBODY: CarrierListener = {
  onChange: () => undefined,
  onReceipt: async () => undefined,
  onIncoming: async () => undefined,
};

export interface Carrier {
  readonly id: string;
  readonly partRule: PartRule;
  readonly unknownPolicy: UnknownPolicy;
  /** It knows a message by our key: one that is handed over again is no second message. */
  readonly isRepeatable?: boolean;
  /** Whether it can be reached. One that is down gets nothing, and its routes go elsewhere. */
  isUp(): boolean;
  /** How many parts it would take now without making anyone wait. */
  room(): number;
  /** How many parts may be with it at a time of which the store does not know what became of them. */
  readonly window: number;
  /** The message as this carrier wants it handed over. */
  partsOf(message: OutgoingMessage): readonly PartToSubmit[];
  submit(part: PartToSubmit): Promise<Submission>;
  /** What is not given stays with whoever heard it before. */
  listen(listener: Partial<CarrierListener>): void;
  /** A carrier that forgets when the program ends is told what it had taken. A real one remembers, and has no such method. */
  resume?(parts: readonly OutstandingPart[]): void;
  /**
   * For a carrier with connections that the nodes share: those that are this node's, by their numbers; all of them unless told. Resolves
   * when the others that it had are closed, each after the answers to what was handed to it, within a bound.
   */
  setSlots?(slots: readonly number[]): Promise<void>;
  /** For whoever watches it; a carrier without connections has no such method. */
  connections?(): ConnectionFacts;
  /** Connections that wait for their next try are tried at once. */
  connectNow?(): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}
