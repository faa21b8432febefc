/**
 * The port to a carrier: whoever takes parts of messages and later says what became of them. The simulator and SMPP are behind it.
 */
import type { Body } from "../sms/body.ts";
import type { ReceivedOctets } from "../sms/received.ts";
import type { UserData } from "../sms/text.ts";
import { plainPhone } from "./phones.ts";

/** What a network says of a part that it took; the words are events of the message's life. */
export type ReceiptOutcome = "held" | "delivered" | "undeliverable" | "rejected" | "expired" | "lost";

export interface OutgoingMessage extends Body {
  readonly from: string;
  readonly to: string;
  readonly flash: boolean;
  /** The client wants to hear of changes that are not final. */
  readonly intermediateReport: boolean;
  /** The network need not try after this. */
  readonly expiresAtMs: number;
  /** Marks the parts of one message as its own: 16 bits, of which a carrier with 8 gets the lower ones. */
  readonly reference: number;
}

export interface PartToSubmit {
  readonly message: OutgoingMessage;
  readonly userData: UserData;
  /** Its place among several parts, where the user data itself does not say it. */
  readonly place: { readonly sequence: number; readonly total: number } | null;
}

export type Submission =
  | { kind: "accepted"; carrierMessageId: string }
  | { kind: "later"; retryAfterMs: number } // the carrier is busy: nothing goes to it for so long; 0 where `room` says when
  | { kind: "not now"; retryAfterMs: number } // this part alone could not be taken; others may be. So long at first, then longer
  | { kind: "refused"; errorId: number } // will never be taken
  | { kind: "unknown" }; // the link died before the answer

export interface Receipt {
  readonly carrierMessageId: string;
  readonly outcome: ReceiptOutcome;
  /** An id of the table in sms/errors.ts; 0 is no error. */
  readonly errorId: number;
  /** When it came, by our clock: a network's own times cannot be relied on. How long the message is kept counts from it. */
  readonly atMs: number;
  /** Mobile country and network code, where the network tells. */
  readonly mccMnc: string | null;
  /** The phone that it is about, where the network tells. It has to be the message's, and finds a part whose id was never learnt. */
  readonly to: string | null;
  /** The other number in it, where there is one: some carriers swap the two. */
  readonly other?: string | null;
  /** When the network says that the part was submitted: with an id that it has used twice, this tells which of the two is meant. By its own clock and zone. */
  readonly submittedAtMs?: number | null;
  /** Of one that could not be read: the whole PDU, or its beginning, in hex, for whoever wants to find out why. It is parked with them. */
  readonly octets?: string | null;
  /** It only looks like a receipt, and may be a message that a phone wrote. Then `to` has to be the message's, and the id its part's. */
  readonly unmarked?: boolean;
}

/** A message, or a part of one, that a phone sent to a number of ours. */
export interface IncomingPart {
  /** Both without a plus sign. */
  readonly from: string;
  readonly to: string;
  /** What it says by itself; the hex of what is no text. */
  readonly text: string;
  /** Its octets, if they are no text, or if a character may go on in another part: then these count, and not the text. */
  readonly octets?: ReceivedOctets;
  /** The reference tells messages of one phone apart, and only that: those of different widths are never the same number here. */
  readonly concatenation: { readonly reference: number; readonly total: number; readonly sequence: number } | null;
  readonly atMs: number;
}

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

/** `asMessage` is what an unmarked receipt is when no part waits for it: a message from a phone. */
export type ReceiptListener = (receipt: Receipt, asMessage?: IncomingPart) => Promise<void>;

export interface Carrier {
  readonly id: string;
  readonly partRule: PartRule;
  readonly unknownPolicy: UnknownPolicy;
  /** Whether it can be reached. One that is down gets nothing, and its routes go elsewhere. */
  isUp(): boolean;
  /** How many parts it would take now without making anyone wait. */
  room(): number;
  /** How many parts may be with it at a time of which the store does not know what became of them. */
  readonly window: number;
  /** The message as this carrier wants it handed over. */
  partsOf(message: OutgoingMessage): readonly PartToSubmit[];
  submit(part: PartToSubmit): Promise<Submission>;
  /** Called when there is room again after there was none, and when it went up or down. */
  onChange(listener: () => void): void;
  /** The listener's promise resolves when the receipt is safe; only then is it acknowledged to the network. */
  onReceipt(listener: ReceiptListener): void;
  onIncoming(listener: (part: IncomingPart) => Promise<void>): void;
  /** A carrier that forgets when the program ends is told what it had taken. A real one remembers, and has no such method. */
  resume?(parts: readonly OutstandingPart[]): void;
  /**
   * For a carrier with connections that the nodes share: those that are this node's, by their numbers; all of them unless told. Resolves
   * when the others that it had are closed, each after the answers to what was handed to it, within a bound.
   */
  setSlots?(slots: readonly number[]): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Under this id a part waits whose own was never learnt: the next receipt for its phone that fits no other part is taken for it. */
export function unknownId(to: string): string {
  return `${UNKNOWN_PREFIX}${plainPhone(to)}`;
}

export const UNKNOWN_PREFIX = "unknown:";

/** Under ids with this in front receipts are parked that could not be read, and have none. */
export const UNREADABLE_PREFIX = "unreadable:";

/** An id that stands for a phone, or for octets: a carrier that writes such a one has no part of that name. */
export function isReservedId(id: string): boolean {
  return id.startsWith(UNKNOWN_PREFIX) || id.startsWith(UNREADABLE_PREFIX);
}
