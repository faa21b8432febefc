/** What a session asks of whoever uses it, and what it gives back. */
import type { Clock } from "../../../runtime/clock.ts";
import type { RequestName, ResponseName } from "../codec/commands.ts";
import type { Malformed } from "../codec/decode.ts";
import type { Mending } from "../codec/mend.ts";
import type { Pdu, PduDraft, ResponseTo } from "../codec/pdu.ts";
import type { Tlv } from "../codec/tlvs.ts";
import type { BindName, SessionRole } from "./states.ts";

/** What became of a request. It always becomes something: the promise of it never rejects and never stays open. */
export type SessionAnswer<Name extends RequestName> =
  /** The peer's response, whatever its status, or its generic_nack. */
  | { readonly kind: "answered"; readonly pdu: ResponseTo<Name> }
  /** It did not leave this program. */
  | { readonly kind: "unsent"; readonly why: Unsent }
  /** It was sent, perhaps, and no answer came in time or before the connection ended. */
  | { readonly kind: "unknown"; readonly sequence: number };

export type Unsent =
  | "state" // not bound, bound in another way, unbinding or closed
  | "full" // the window is: see `room`
  | "unencodable" // a value has no place in its field: told to onProblem
  | "forbidden"; // `mayAsk` said no before it was written

/** What `request` sends. */
export type SendableName = MessageRequestName | "enquire_link";

/** The requests that the session passes on; the others (bind, unbind, enquire_link) it sees to itself. */
export type MessageRequestName = Exclude<RequestName, BindName | "unbind" | "enquire_link">;

/** A response to send, whose sequence number the session fills in; null for none at all, as only a simulated network should want. */
export type Reply = PduDraft<ResponseName | "generic_nack"> | null;

export type BindDecision =
  | { readonly kind: "accept"; readonly systemId: string; readonly tlvs?: readonly Tlv[] }
  /** The response carries the status, and the connection closes behind it. */
  | { readonly kind: "refuse"; readonly status: number };

export type CloseReason =
  | "unbound" // we said goodbye, and it was answered
  | "peer unbound" // the peer did
  | "closed" // by `close()`
  | "peer closed" // without a word
  | "connection failed" // reset, timed out, broken: `error` says
  | "silent" // no word from the peer, not even to enquire_link
  | "bind timeout" // not bound in time
  | "bind refused" // by us
  | "unbind timeout" // our goodbye, or its own, took too long
  | "outbind refused" // nobody here asked for one
  | "framing lost" // a length that cannot be, as `error` says: where the next PDU starts is not known
  | "forbidden"; // `mayAsk` said no

export interface Closed {
  readonly why: CloseReason;
  readonly error?: Error;
}

/** What an answer needs to know of its request. */
export interface AnsweredRequest {
  readonly command: RequestName;
  readonly sequence: number;
}

/** A message or a receipt of which nothing but its header can be read. */
export interface Unreadable extends AnsweredRequest {
  readonly command: "deliver_sm" | "data_sm";
  /** All of it: a view into what was received. */
  readonly octets: Buffer;
}

/** What is worth a line in the log; the session has dealt with it. Log no request as it is: a bind holds a password. */
export type SessionProblem =
  | { readonly kind: "malformed"; readonly malformed: Malformed }
  /** `onRequest` or `onBind` threw, or what it returned cannot be encoded: the peer was told ESME_RSYSERR. */
  | { readonly kind: "handler"; readonly request: AnsweredRequest; readonly error: unknown }
  | { readonly kind: "unencodable"; readonly draft: PduDraft; readonly error: unknown };

export interface SessionSettings {
  /** Requests that may be without an answer at a time. */
  readonly window: number;
  /** How long a request that is no bind waits for its answer. */
  readonly requestTimeoutMs: number;
  /** From the connection to the end of the bind, for both ends. */
  readonly bindTimeoutMs: number;
  /** After so long without a word from the peer it is asked, by enquire_link, whether it is there. */
  readonly idleMs: number;
  /** After so long without a word after that, it is not. */
  readonly probeTimeoutMs: number;
  /** For the whole goodbye: answers that are under way, unbind, its answer, the end of the connection. */
  readonly unbindTimeoutMs: number;
  /** The peer's requests that may be without an answer from us at a time; past it the session stops reading. */
  readonly maxHandling: number;
}

export const DEFAULT_SETTINGS: SessionSettings = {
  window: 10,
  requestTimeoutMs: 30_000,
  bindTimeoutMs: 10_000,
  idleMs: 30_000,
  probeTimeoutMs: 10_000,
  unbindTimeoutMs: 5_000,
  maxHandling: 100,
};

export interface SessionHandlers {
  /**
   * The answer goes out when it is there: a receipt is answered once it is stored. Without a handler: ESME_RINVCMDID. Octets in the
   * PDU are views into what was received: copy (`Buffer.from`) what is to be kept. A handler must not wait for the answer to a request
   * of its own on the same session: when all of `maxHandling` do, nobody reads that answer.
   */
  onRequest?(pdu: Pdu<MessageRequestName>): Reply | Promise<Reply>;
  /**
   * The ESME's: a deliver_sm or data_sm that cannot be read. To refuse it may be to lose it for good, so whoever can keep it answers it as
   * if it had been read. Without a handler its fault is the answer, as it is for every other request.
   */
  onUnreadable?(request: Unreadable): Reply | Promise<Reply>;
  /** The peer's request was wrong by an octet, and has been read as it was meant. */
  onMended?(request: AnsweredRequest, how: Mending): void;
  /** The SMSC's. Without it nobody may bind. */
  onBind?(pdu: Pdu<BindName>): BindDecision | Promise<BindDecision>;
  /** Now bound, at either end. */
  onBound?(): void;
  /**
   * Whether our requests may still go, asked when they are about to be written: they are gathered for a turn of the event loop, and a
   * process can be stopped in the middle of one for any time. A no ends the connection, and what was gathered is unsent.
   */
  mayAsk?(): boolean;
  /** A submit of ours was taken in, and goes with the others of this turn. */
  onSubmit?(): void;
  /** So many of those were handed on by the socket, or were lost with it. Between the two is when they go over the wire. */
  onWritten?(submits: number): void;
  /** There is room again in the window after there was none. */
  onRoom?(): void;
  /** A response that nobody waits for (any more): an answer after its time, or a double one. */
  onStrayAnswer?(pdu: Pdu<ResponseName | "generic_nack">): void;
  /** Once, as the last thing, when the socket is closed. */
  onClose?(closed: Closed): void;
  onProblem?(problem: SessionProblem): void;
}

export interface SessionOptions extends Partial<SessionSettings>, SessionHandlers {
  readonly role: SessionRole;
  readonly clock: Clock;
}
