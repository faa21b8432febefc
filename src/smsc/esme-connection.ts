/**
 * One customer's connection to the network: an SMPP session in which submits are answered, on time and once, or as the faults want.
 * What it does not answer it may still have taken; a fault says which.
 */
import type { Socket } from "node:net";
import { responseTo } from "../carriers/smpp/codec/commands.ts";
import { encodePdu } from "../carriers/smpp/codec/encode.ts";
import type { PduDestination, UnsuccessfulDestination } from "../carriers/smpp/codec/fields.ts";
import type { Pdu, PduDraft } from "../carriers/smpp/codec/pdu.ts";
import { statusCode } from "../carriers/smpp/codec/statuses.ts";
import { makeTlv } from "../carriers/smpp/codec/tlvs.ts";
import type {
  BindDecision,
  MessageRequestName,
  Reply,
  SessionAnswer,
  SessionProblem,
  SessionSettings,
} from "../carriers/smpp/session/contract.ts";
import { SmppSession } from "../carriers/smpp/session/session.ts";
import type { BindKind, BindName } from "../carriers/smpp/session/states.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Timetable } from "../simulator/timetable.ts";
import type { Deliveries, Receiver } from "./deliveries.ts";
import { type LostLength, statusOf } from "./faults.ts";
import type { SmscNetwork, Taking } from "./network.ts";
import type { Address, SubmitPdu, TakenPart } from "./part.ts";
import { Wire } from "./wire.ts";

/** What a connection is told by the network's end of it. */
export interface EsmeConnectionOptions {
  readonly id: number;
  readonly clock: Clock;
  readonly timetable: Timetable<() => void>;
  readonly network: SmscNetwork;
  readonly session: Partial<SessionSettings>;
  /** Who may bind; null for anyone. */
  readonly systemId: string | null;
  readonly password: string | null;
  readonly deliveries: Deliveries;
  onBound(): void;
  onClose(connection: EsmeConnection): void;
  onProblem(problem: SessionProblem): void;
}

type SubmitResponse = PduDraft<"submit_sm_resp" | "data_sm_resp" | "submit_multi_resp">;

/** The faults that end a connection, each with what it does. */
const CUTS = {
  halfOpen: (connection) => connection.fallSilent(),
  dropConnection: (connection) => connection.drop(),
  unbind: (connection) => connection.sayGoodbye(),
  lostFraming: (connection) => connection.loseFraming(),
} as const satisfies Record<string, (connection: EsmeConnection) => void>;

type CutName = keyof typeof CUTS;
const CUT_NAMES = Object.keys(CUTS) as CutName[];

const DEFAULT_DELAY_MS = 1000;
const DEFAULT_RECEIPT_FIRST_MS = 1000;
const DEFAULT_CONGESTION = 90;
/** command_length of a PDU that cannot be: less than its own header, more than any PDU has. */
const LOST_OCTETS: Readonly<Record<LostLength, number>> = { "too short": 5, "too long": 0x7fffffff };
/** For a peer that does not answer our goodbye. */
const GOODBYE_MS = 5000;

const BIND_KINDS: Readonly<Record<BindName, BindKind>> = {
  bind_transmitter: "transmitter",
  bind_receiver: "receiver",
  bind_transceiver: "transceiver",
};

const SMSC_SYSTEM_ID = "heliograph";

export class EsmeConnection implements Receiver {
  readonly id: number;
  readonly #options: EsmeConnectionOptions;
  readonly #wire: Wire;
  readonly session: SmppSession;
  #systemId = "";
  #kind: BindKind | null = null;
  /** It has been cut: what comes is neither taken nor answered. */
  #isCut = false;

  constructor(socket: Socket, options: EsmeConnectionOptions) {
    const { clock, network, deliveries } = options;
    this.id = options.id;
    this.#options = options;
    this.#wire = new Wire(socket, clock, () => network.faults);
    this.session = new SmppSession(this.#wire, {
      ...options.session,
      role: "smsc",
      clock,
      onBind: (pdu) => this.#decide(pdu),
      onBound: () => {
        options.onBound();
        if (this.#kind !== "transmitter") deliveries.join(this);
      },
      onRequest: (pdu) => this.#answer(pdu),
      onRoom: () => deliveries.hasRoom(this),
      onStrayAnswer: (pdu) => {
        if (pdu.command === "unbind_resp") void this.session.close();
      },
      onClose: () => {
        deliveries.leave(this);
        options.onClose(this);
      },
      onProblem: (problem) => options.onProblem(problem),
    });
  }

  /** Empty before it is bound. */
  get systemId(): string {
    return this.#systemId;
  }

  /** Null before it is bound. */
  get kind(): BindKind | null {
    return this.#kind;
  }

  get isClosed(): boolean {
    return this.session.state === "closed";
  }

  room(): number {
    return this.#isCut ? 0 : this.session.room;
  }

  deliver(pdu: PduDraft<"deliver_sm">): Promise<SessionAnswer<"deliver_sm">> {
    return this.session.request(pdu);
  }

  /** Without a word, and without an answer to what is under way. */
  drop(): void {
    this.#isCut = true;
    // What was answered before goes out first, so that it is exact which parts are left in doubt.
    setImmediate(() => void this.session.close());
  }

  fallSilent(): void {
    this.#isCut = true;
    setImmediate(() => this.#wire.fallSilent());
  }

  /** A header in which all but the length is right; what was answered before goes out first. */
  loseFraming(): void {
    this.#isCut = true;
    const as = this.#options.network.faults.lostFraming?.settings.as ?? "too short";
    const header = encodePdu({ command: "enquire_link", sequence: 1 });
    header.writeUInt32BE(LOST_OCTETS[as], 0);
    setImmediate(() => this.#wire.write(header));
  }

  /** In the middle of everything; `session.unbind` would wait for what is under way. */
  sayGoodbye(): void {
    this.#isCut = true;
    this.session.send({ command: "unbind" });
    const { clock, timetable } = this.#options;
    timetable.note(clock.monotonic() + GOODBYE_MS, () => void this.session.close());
  }

  #decide(pdu: Pdu<BindName>): BindDecision {
    const { systemId, password, network } = this.#options;
    const { refuseBind } = network.faults;
    if (refuseBind?.strikes()) {
      return { kind: "refuse", status: statusOf(refuseBind.settings.status ?? "ESME_RBINDFAIL") };
    }
    if (systemId !== null && pdu.systemId !== systemId) return { kind: "refuse", status: statusCode("ESME_RINVSYSID") };
    if (password !== null && pdu.password !== password) return { kind: "refuse", status: statusCode("ESME_RINVPASWD") };
    this.#systemId = pdu.systemId;
    this.#kind = BIND_KINDS[pdu.command];
    return { kind: "accept", systemId: SMSC_SYSTEM_ID };
  }

  #answer(pdu: Pdu<MessageRequestName>): Reply {
    if (this.#isCut) return null;
    const { network } = this.#options;
    switch (pdu.command) {
      case "submit_sm":
      case "data_sm":
        return this.#submitOne(pdu);
      case "submit_multi":
        return this.#submitMany(pdu);
      case "query_sm":
        return network.query(this, pdu);
      case "cancel_sm":
        return network.cancel(this, pdu);
      case "replace_sm":
        return { command: "replace_sm_resp", status: statusCode("ESME_RREPLACEFAIL") };
      default:
        // deliver_sm and its like are for us to send.
        return { command: responseTo(pdu.command), status: statusCode("ESME_RINVCMDID") };
    }
  }

  #submitOne(pdu: Pdu<"submit_sm"> | Pdu<"data_sm">): Reply {
    const { destAddrTon, destAddrNpi, destinationAddr } = pdu;
    const taking = this.#take(pdu, { ton: destAddrTon, npi: destAddrNpi, address: destinationAddr });
    if (taking.kind === "cut") return null;
    const command = responseTo(pdu.command);
    if (taking.kind === "refused") return { command, status: taking.status };
    return this.#reply({ command, messageId: taking.part.ids.inAnswer }, taking.part, pdu.sequence);
  }

  /** Each recipient has a part of its own under the one id; the answer names those that were refused. */
  #submitMany(pdu: Pdu<"submit_multi">): Reply {
    const parts: TakenPart[] = [];
    const unsuccessful: UnsuccessfulDestination[] = [];
    for (const destination of pdu.destinations) {
      const { ton, npi, address } = addressOf(destination);
      const taking: Taking =
        destination.kind === "list" ? NO_LISTS : this.#take(pdu, { ton, npi, address }, parts[0]?.ids);
      if (taking.kind === "cut") return null;
      if (taking.kind === "taken") parts.push(taking.part);
      else unsuccessful.push({ ton, npi, address, status: taking.status });
    }
    const [first, ...others] = parts;
    for (const part of others) this.#options.network.expect(part);
    const command = "submit_multi_resp";
    if (first === undefined) return { command, status: unsuccessful[0]?.status ?? statusCode("ESME_RINVNUMDESTS") };
    return this.#reply({ command, messageId: first.ids.inAnswer, unsuccessful }, first, pdu.sequence);
  }

  #take(pdu: SubmitPdu, destination: Address, ids?: TakenPart["ids"]): Taking {
    const { network } = this.#options;
    const cut = this.#cutAt(destination.address);
    if (cut !== null && !network.faults[cut]!.settings.taken) {
      CUTS[cut](this);
      return NOT_TAKEN;
    }
    const taking = network.submit(this, pdu, destination, ids);
    if (cut === null && taking.kind !== "cut") return taking;
    if (taking.kind === "taken") network.expect(taking.part);
    CUTS[cut ?? "dropConnection"](this);
    return NOT_TAKEN;
  }

  #cutAt(to: string): CutName | null {
    for (const name of CUT_NAMES) if (this.#options.network.faults[name]?.strikes(to)) return name;
    return null;
  }

  /** The answer to a submit that was taken, if it is to be given now. */
  #reply(response: SubmitResponse, part: TakenPart, sequence: number): Reply {
    const { network } = this.#options;
    const { congestion, dropAnswer, doubleAnswer, delayAnswer, receiptFirst } = network.faults;
    const to = part.destination.address;
    const state = congestion?.strikes(to) ? (congestion.settings.state ?? DEFAULT_CONGESTION) : null;
    const answer = state === null ? response : { ...response, tlvs: [makeTlv("congestion_state", state)] };
    const times = dropAnswer?.strikes(to) ? 0 : doubleAnswer?.strikes(to) ? 2 : 1;
    if (receiptFirst?.strikes(to)) {
      this.#tellFirst(part, receiptFirst.settings.ms ?? DEFAULT_RECEIPT_FIRST_MS, () =>
        this.#send(answer, sequence, times),
      );
      return null;
    }
    network.expect(part);
    if (delayAnswer?.strikes(to)) {
      this.#later(delayAnswer.settings.ms ?? DEFAULT_DELAY_MS, () => this.#send(answer, sequence, times));
      return null;
    }
    if (times === 1) return answer;
    this.#send(answer, sequence, times);
    return null;
  }

  #send(answer: SubmitResponse, sequence: number, times: number): void {
    for (let sent = 0; sent < times; sent++) this.session.send({ ...answer, sequence });
  }

  /** The receipt, then the answer: when the receipt is acknowledged, or after so long. */
  #tellFirst(part: TakenPart, longestMs: number, answer: () => void): void {
    let answered = false;
    const answerOnce = () => {
      if (!answered) answer();
      answered = true;
    };
    this.#later(longestMs, answerOnce);
    this.#options.network.tellNow(part, answerOnce);
  }

  #later(ms: number, run: () => void): void {
    const { clock, timetable } = this.#options;
    timetable.note(clock.monotonic() + ms, run);
  }
}

const NOT_TAKEN: Taking = { kind: "cut" };
const NO_LISTS: Taking = { kind: "refused", status: statusCode("ESME_RINVDLNAME") };

/** A distribution list has a name where others have a number. */
function addressOf(destination: PduDestination): Address {
  return destination.kind === "address" ? destination : { ton: 0, npi: 0, address: destination.name };
}
