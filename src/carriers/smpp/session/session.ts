/**
 * One SMPP connection, from either end.
 *
 *   open ──bind_… answered with 0──► bound_tx | bound_rx | bound_trx ──unbind, ours or the peer's──► unbinding ──all is answered──► closed
 *
 *   From every state straight to closed: the connection fails or ends, the peer falls silent, framing is lost, a timeout of the
 *   bind or of the goodbye, `close()`. A session that is closed stays closed: to try again is to make a new socket and a new
 *   session.
 *
 * What we ask. `request` puts a request into the window and gives a promise of what becomes of it: answered, unsent or unknown. A
 * timeout and the end of the connection leave it unknown; whether to send it again is the carrier's policy. A request past
 * the window is refused, not queued: whoever sends has a queue already, with an order and a bound of its own, and a second
 * one here would only hide from it how far behind the peer is. `room` says how many would be taken.
 *
 * What we are asked. `onRequest` answers, at once or in its own time. With `maxHandling` requests on their way to an answer the
 * session stops reading, and TCP makes the peer wait. It does not stop for requests of our own that the socket does not take:
 * two ends that each wait for the other to read would wait for ever.
 *
 * Nothing here throws at its user, and no error of a socket escapes: what goes wrong is in a SessionAnswer, in `onProblem` or in
 * `onClose`.
 */
import type { Duplex } from "node:stream";
import type { Timer } from "../../../runtime/clock.ts";
import {
  commandOf,
  isRequest,
  isResponse,
  type RequestName,
  type ResponseName,
  responseTo,
} from "../codec/commands.ts";
import type { Decoded, FramingLost, Malformed } from "../codec/decode.ts";
import type { Pdu, PduBody, PduDraft } from "../codec/pdu.ts";
import { type CommandStatus, statusCode } from "../codec/statuses.ts";
import { answerBind, INTERFACE_VERSION } from "./binding.ts";
import {
  type Closed,
  type CloseReason,
  DEFAULT_SETTINGS,
  type MessageRequestName,
  type SendableName,
  type SessionAnswer,
  type SessionOptions,
  type SessionSettings,
  type Unsent,
} from "./contract.ts";
import { Handling } from "./handling.ts";
import { Inbox } from "./inbox.ts";
import { Outbox } from "./outbox.ts";
import {
  type BindKind,
  type BindName,
  type BoundState,
  boundBy,
  isBind,
  isBound,
  mayArrive,
  maySend,
  type SessionRole,
  type SessionState,
} from "./states.ts";
import { Watchdog } from "./watchdog.ts";
import { type Hears, Window } from "./window.ts";

export class SmppSession {
  /** Settled when the socket is closed, at the same time as `onClose`. */
  readonly closed: Promise<Closed>;
  readonly #options: SessionOptions & SessionSettings;
  readonly #peer: SessionRole;
  readonly #socket: Duplex;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #window: Window;
  readonly #handling: Handling;
  #state: SessionState = "open";
  #watchdog: Watchdog | null = null;
  /** For what must happen in time besides answers: first the bind, then the goodbye, then the end of the socket. */
  #deadline: Timer;
  #deciding = false;
  /** Whoever has seen `room` at 0 waits for `onRoom`. */
  #wanted = true;
  #goodbye: "to say" | "said" | "answered" = "to say";
  /** The sequence number of the peer's own unbind, once there was one. */
  #goodbyeHeard: number | null = null;
  #end: Closed = { why: "peer closed" };

  constructor(socket: Duplex, options: SessionOptions) {
    this.#options = { ...DEFAULT_SETTINGS, ...options };
    const { clock, window, requestTimeoutMs, bindTimeoutMs, maxHandling } = this.#options;
    this.#peer = this.#options.role === "esme" ? "smsc" : "esme";
    this.#socket = socket;
    this.#outbox = new Outbox(socket, {
      ...options,
      onFlush: (taken) => this.#flushed(taken),
      onForbidden: (firstSequence) => {
        this.#window.withdraw(firstSequence, "forbidden");
        this.#destroy("forbidden");
      },
    });
    this.#window = new Window(clock, window, requestTimeoutMs, () => {
      this.#advanceGoodbye();
      this.#announceRoom();
    });
    this.#handling = new Handling({
      bound: maxHandling,
      outbox: this.#outbox,
      onProblem: (problem) => this.#options.onProblem?.(problem),
      onDone: () => {
        this.#advanceGoodbye();
        // With an answer to send, reading goes on when it is sent: many that come in one turn are then one write.
        if (this.#handling.answersHeld === 0) this.#inbox.read();
      },
    });
    this.#inbox = new Inbox({
      socket,
      isBehind: () => this.#handling.isBehind(),
      onPdu: (decoded) => this.#take(decoded),
      onHeard: () => this.#watchdog?.heard(),
      onListening: (listening) => this.#watchdog?.listen(listening),
      onRead: () => this.#announceRoom(),
    });
    this.#deadline = clock.after(bindTimeoutMs, () => this.#destroy("bind timeout"));
    this.closed = new Promise((resolve) => {
      const onClose = () => resolve(this.#ended());
      // A socket that closed before it came here says so no more.
      if (socket.closed) queueMicrotask(onClose);
      else socket.once("close", onClose);
    });
    // Without it a small window waits for the peer's delayed acknowledgements: 250 PDUs a second.
    if ("setNoDelay" in socket && typeof socket.setNoDelay === "function") socket.setNoDelay(true);
    socket.on("end", () => this.#finish(this.#goodbye === "answered" ? "unbound" : "peer closed"));
    socket.on("error", (error) => this.#destroy("connection failed", error));
  }

  get state(): SessionState {
    return this.#state;
  }

  /** How many requests it would take now without making anyone wait. */
  get room(): number {
    return isBound(this.#state) && !this.#outbox.blocked ? this.#window.room : 0;
  }

  /** Our requests without an answer. */
  get inFlight(): number {
    return this.#window.inFlight;
  }

  /** The peer's requests whose handlers have not come to their end. */
  get handling(): number {
    return this.#handling.withHandlers;
  }

  /** The ESME's: bound when the answer has status 0. */
  bind(kind: BindKind, fields: Partial<PduBody<BindName>>): Promise<SessionAnswer<BindName>> {
    const draft: PduDraft<BindName> = { command: `bind_${kind}`, interfaceVersion: INTERFACE_VERSION, ...fields };
    return new Promise((hears) => this.ask(draft, hears));
  }

  request<Name extends SendableName>(draft: PduDraft<Name>): Promise<SessionAnswer<Name>> {
    return new Promise((hears) => this.ask(draft, hears));
  }

  /**
   * Any PDU as it is, outside the window, without waiting for an answer: alert_notification, and what a simulated network does
   * wrong. False when the session is closed. Throws a RangeError for a value that has no place in its field.
   */
  send(draft: PduDraft): boolean {
    if (this.#state === "closed") return false;
    this.#outbox.add(draft, draft.sequence ?? this.#window.nextSequence());
    return true;
  }

  /** Waits for what is under way on both sides, says goodbye and closes, within `unbindTimeoutMs`. */
  unbind(): Promise<Closed> {
    if (isBound(this.#state)) this.#beginGoodbye();
    else if (this.#state !== "unbinding") this.#destroy("closed");
    return this.closed;
  }

  /** At once. */
  close(): Promise<Closed> {
    this.#destroy("closed");
    return this.closed;
  }

  /** As `request`, without a promise, for whoever has many under way: `hears` may not use the session there and then. */
  ask<Name extends RequestName>(draft: PduDraft<Name>, hears: Hears<Name>): void {
    const why = this.#put(draft, hears);
    if (why !== null) hears({ kind: "unsent", why });
  }

  /** Gives why it is not sent; null when it is. */
  #put<Name extends RequestName>(draft: PduDraft<Name>, hears: Hears<Name>): Unsent | null {
    if (!maySend(this.#options.role, draft.command, this.#state)) return "state";
    if (this.#window.room <= 0) return "full";
    const sequence = this.#window.nextSequence();
    try {
      this.#outbox.add(draft, sequence, true);
    } catch (error) {
      this.#options.onProblem?.({ kind: "unencodable", draft, error });
      return "unencodable";
    }
    // It may have been the one that filled a portion.
    if (this.#state === "closed") return "forbidden";
    this.#window.add(draft.command as Name, sequence, hears, isBind(draft.command));
    if (this.#window.room === 0) this.#wanted = true;
    return null;
  }

  // What comes in.

  #take(decoded: Decoded | FramingLost): void {
    if (decoded.kind === "lost") {
      if (decoded.answer !== null) this.send(decoded.answer);
      this.#finish("framing lost", new Error(`the peer sent a command_length of ${decoded.claimedOctets}`));
      return;
    }
    if (decoded.kind === "malformed") {
      this.#takeMalformed(decoded);
      return;
    }
    const { pdu } = decoded;
    if (decoded.mended !== undefined && isRequest(pdu.command))
      this.#options.onMended?.({ command: pdu.command, sequence: pdu.sequence }, decoded.mended);
    if (isResponse(pdu.command)) this.#takeResponse(pdu as Pdu<ResponseName | "generic_nack">);
    else if (mayArrive(this.#peer, pdu.command, this.#state)) this.#takeRequest(pdu);
    else this.#refuse(pdu, isBind(pdu.command) ? "ESME_RALYBND" : "ESME_RINVBNDSTS");
  }

  #takeMalformed(malformed: Malformed): void {
    const { onProblem, onUnreadable } = this.#options;
    onProblem?.({ kind: "malformed", malformed });
    const { commandId, sequence, octets, answer } = malformed;
    const command = commandOf(commandId);
    if (
      onUnreadable !== undefined &&
      (command === "deliver_sm" || command === "data_sm") &&
      mayArrive(this.#peer, command, this.#state)
    ) {
      this.#handling.answer({ command, sequence, octets }, onUnreadable);
    } else if (answer !== null) this.#handling.send(answer, sequence);
  }

  #takeResponse(pdu: Pdu<ResponseName | "generic_nack">): void {
    if (this.#window.settle(pdu)) {
      const bound = pdu.status === 0 ? boundBy(pdu.command) : undefined;
      if (bound !== undefined) this.#bound(bound);
      this.#advanceGoodbye();
    } else if (pdu.command === "unbind_resp" && this.#goodbye === "said") {
      this.#goodbye = "answered";
      this.#advanceGoodbye();
    } else if (pdu.command !== "enquire_link_resp") {
      // The watchdog's enquire_link is not in the window: that something came is all it wants to know.
      this.#options.onStrayAnswer?.(pdu);
    }
  }

  #takeRequest(pdu: Pdu): void {
    switch (pdu.command) {
      case "enquire_link":
        this.#handling.send({ command: "enquire_link_resp" }, pdu.sequence);
        break;
      case "unbind":
        this.#beginGoodbye(pdu.sequence);
        break;
      case "bind_transmitter":
      case "bind_receiver":
      case "bind_transceiver":
        this.#takeBind(pdu);
        break;
      case "outbind":
        this.#finish("outbind refused");
        break;
      case "alert_notification":
        // A phone is back: the carrier tries again by itself.
        break;
      default:
        this.#takeMessage(pdu as Pdu<MessageRequestName>);
    }
  }

  #takeMessage(pdu: Pdu<MessageRequestName>): void {
    const { onRequest } = this.#options;
    if (onRequest === undefined) this.#refuse(pdu, "ESME_RINVCMDID");
    else this.#handling.answer(pdu, onRequest);
  }

  #refuse(pdu: Pdu, status: CommandStatus): void {
    if (!isRequest(pdu.command)) return;
    this.#handling.send({ command: responseTo(pdu.command), status: statusCode(status) }, pdu.sequence);
  }

  // Binding.

  #takeBind(pdu: Pdu<BindName>): void {
    if (this.#deciding) {
      this.#refuse(pdu, "ESME_RALYBND");
      return;
    }
    this.#deciding = true;
    this.#handling.run(
      pdu,
      () => answerBind(pdu, this.#options),
      (response) => {
        this.#deciding = false;
        const sent = this.#handling.reply(pdu, response);
        if (sent && (response.status ?? 0) === 0) this.#bound(boundBy(response.command)!);
        else this.#finish("bind refused");
      },
    );
  }

  #bound(state: BoundState): void {
    if (isBound(this.#state)) return;
    this.#state = state;
    this.#deadline.cancel();
    const { clock, idleMs, probeTimeoutMs } = this.#options;
    this.#watchdog = new Watchdog({
      clock,
      idleMs,
      probeTimeoutMs,
      probe: () => this.send({ command: "enquire_link" }),
      dead: () => this.#destroy("silent"),
    });
    this.#options.onBound?.();
  }

  // Room, and the end.

  #flushed(taken: boolean): void {
    if (!taken) {
      this.#wanted = true;
      return;
    }
    this.#handling.flushed();
    if (!this.#inbox.listening) this.#inbox.read();
    this.#announceRoom();
  }

  #announceRoom(): void {
    if (!this.#wanted || this.room === 0) return;
    this.#wanted = false;
    this.#options.onRoom?.();
  }

  #beginGoodbye(heard: number | null = null): void {
    this.#goodbyeHeard = heard;
    if (this.#state !== "unbinding") {
      this.#state = "unbinding";
      this.#deadline.cancel();
      const { clock, unbindTimeoutMs } = this.#options;
      this.#deadline = clock.after(unbindTimeoutMs, () => this.#destroy("unbind timeout"));
    }
    this.#advanceGoodbye();
  }

  /** What the peer has asked is answered first; what we have asked too, if it is we who want to go. */
  #advanceGoodbye(): void {
    if (this.#state !== "unbinding" || this.#handling.withHandlers > 0) return;
    if (this.#goodbyeHeard !== null) {
      this.#handling.send({ command: "unbind_resp" }, this.#goodbyeHeard);
      this.#finish("peer unbound");
    } else if (this.#goodbye === "answered") {
      this.#finish("unbound");
    } else if (this.#goodbye === "to say" && this.#window.inFlight === 0) {
      this.#goodbye = "said";
      this.send({ command: "unbind" });
    }
  }

  /** Closes behind what is still to be sent; if the peer does not let it, then after a while all the same. */
  #finish(why: CloseReason, error?: Error): void {
    if (!this.#retire(error === undefined ? { why } : { why, error })) return;
    this.#outbox.end();
    this.#deadline = this.#options.clock.after(this.#options.unbindTimeoutMs, () => this.#socket.destroy());
  }

  #destroy(why: CloseReason, error?: Error): void {
    // What was gathered in the turn in which the connection ends has not left: nobody need wonder what became of it.
    this.#window.withdraw(this.#outbox.drop(), "state");
    this.#retire(error === undefined ? { why } : { why, error });
    this.#socket.destroy();
  }

  /** False when it was closed already. */
  #retire(end: Closed): boolean {
    if (this.#state === "closed") return false;
    this.#state = "closed";
    this.#end = end;
    this.#deadline.cancel();
    this.#watchdog?.stop();
    this.#inbox.close();
    this.#handling.close();
    this.#window.end();
    return true;
  }

  #ended(): Closed {
    this.#window.withdraw(this.#outbox.drop(), "state");
    this.#retire(this.#end);
    this.#deadline.cancel();
    this.#options.onClose?.(this.#end);
    return this.#end;
  }
}
