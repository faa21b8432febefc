/** One SMPP connection, from either end. */
import type { Duplex } from "node:stream";
import type { RequestName } from "../codec/commands.ts";
import type { Body, PduDraft } from "../codec/pdu.ts";
import type { Answer, Closed, SessionCounters, SessionOptions } from "./contract.ts";
import type { BindKind, BindName, SessionState } from "./states.ts";

export declare class Session {
  constructor(socket: Duplex, options: SessionOptions);
  get state(): SessionState;
  /** How many requests it would take now. */
  get room(): number;
  get inFlight(): number;
  /** The peer's requests that we have not answered. */
  get handling(): number;
  get counters(): Readonly<SessionCounters>;
  readonly closed: Promise<Closed>;
  /** The ESME's. Bound when it is answered with status 0. */
  bind(kind: BindKind, fields: Partial<Body<BindName>>): Promise<Answer<BindName>>;
  /** A request past the window is refused ("full"), not queued: whoever sends has a queue already. */
  request<Name extends RequestName>(draft: PduDraft<Name>): Promise<Answer<Name>>;
  /** Any PDU as it is, outside the window; no answer is waited for. False when the connection has ended. */
  send(draft: PduDraft): boolean;
  /** Finishes what is under way, says goodbye, closes. */
  unbind(): Promise<Closed>;
  /** Closes at once. */
  close(): Promise<Closed>;
}
