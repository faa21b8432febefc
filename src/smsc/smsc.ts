/**
 * A carrier that exists only here, served over real SMPP: whoever speaks the protocol binds to it, submits, and gets receipts from
 * phones that behave as the simulator's do. Its faults can be switched on while it runs, and it keeps a record of what the phones
 * got.
 *
 *   socket ── Wire ── SmppSession ── EsmeConnection ──submit──▶ SmscNetwork ──receipts──▶ Deliveries ──▶ EsmeConnection of the same system id
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { SHORT_MESSAGE_MAX } from "../carriers/smpp/codec/octets.ts";
import type { PduDraft } from "../carriers/smpp/codec/pdu.ts";
import { makeTlv } from "../carriers/smpp/codec/tlvs.ts";
import type { SessionProblem, SessionSettings } from "../carriers/smpp/session/contract.ts";
import type { BindKind } from "../carriers/smpp/session/states.ts";
import type { Clock } from "../runtime/clock.ts";
import { ConnectionRoom, listenAt } from "../runtime/connection-room.ts";
import type { Random } from "../runtime/random.ts";
import { Timetable } from "../simulator/timetable.ts";
import { senderType } from "../sms/addresses.ts";
import { HEADER_BIT } from "../sms/binary.ts";
import { encodeParts, prepareText } from "../sms/text.ts";
import { Deliveries, type DeliveryCounters } from "./deliveries.ts";
import { EsmeConnection } from "./esme-connection.ts";
import { activate, type FaultName, type Faults } from "./faults.ts";
import { SmscNetwork } from "./network.ts";
import { type PartRecord, recordOf } from "./part.ts";

export interface SmscSettings {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Who may bind; anyone unless given. */
  readonly systemId?: string;
  readonly password?: string;
  /** How long a handset takes to answer, give or take a fifth. Default 1000. */
  readonly answerAfterMs?: number;
  /** Parts that wait for their handset at most; past it the answer is ESME_RMSGQFUL. Default 100,000. */
  readonly capacity?: number;
  /** How many parts the record holds; 0 keeps none. Default 100,000. */
  readonly record?: number;
  /** Receipts and messages that wait for someone to bind at most; past it the oldest go. Default 100,000. */
  readonly waiting?: number;
  /** After the first time that a customer cannot take a receipt; it doubles with each. Default 1000. */
  readonly retryAfterMs?: number;
  readonly faults?: Faults;
  /** At a time; past it the oldest that has not bound makes room, and where all have the new one is closed. Default 1000. */
  readonly maxConnections?: number;
  /** What its sessions do differently from Session's own defaults. */
  readonly session?: Partial<SessionSettings>;
  /** With each part that is taken. */
  readonly onPart?: (part: PartRecord) => void;
  readonly onProblem?: (problem: SessionProblem) => void;
}

interface FromPhone {
  readonly from: string;
  readonly to: string;
  /** Whose number it is; whoever is bound to receive, unless given. */
  readonly systemId?: string;
}

/** A message that a phone sends to a customer. */
export interface IncomingText extends FromPhone {
  readonly text: string;
}

/** The same, or a part of one, as the octets of one deliver_sm. */
export interface IncomingOctets extends FromPhone {
  readonly octets: Uint8Array;
  /** Default 0, both of them. */
  readonly dataCoding?: number;
  readonly esmClass?: number;
}

export interface SentIncoming {
  readonly parts: number;
  /** Whether all of it was acknowledged; while nobody is bound for it, it waits. */
  readonly acknowledged: Promise<boolean>;
}

/** Which parts of the record: all that is said must fit. */
export interface RecordQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Only those that came after this one. */
  readonly after?: number | undefined;
  /** At most so many: the next ones with `after`, the last ones without. */
  readonly limit?: number | undefined;
}

export interface BoundConnection {
  /** Counts the connections as they come, from 1. */
  readonly id: number;
  readonly systemId: string;
  readonly bind: BindKind;
}

export interface SmscCounters extends Readonly<DeliveryCounters> {
  /** Connections so far, bound or not. */
  readonly connections: number;
  /** Parts taken so far. */
  readonly taken: number;
  /** Parts that the last word has not been spoken about. */
  readonly inHand: number;
  /** Receipts and messages that nobody has been sent, or that must be sent again. */
  readonly waiting: number;
  /** How often each fault that is on has struck since it was set. */
  readonly hits: Readonly<Partial<Record<FaultName, number>>>;
}

const DEFAULT_ANSWER_AFTER_MS = 1000;
const DEFAULT_CAPACITY = 100_000;
const DEFAULT_RECORD = 100_000;
const DEFAULT_WAITING = 100_000;
const DEFAULT_RETRY_AFTER_MS = 1000;
const DEFAULT_MAX_CONNECTIONS = 1000;

/** Wide, so that what limits a customer is the customer. */
const SESSION: Partial<SessionSettings> = { window: 500, maxHandling: 1000 };

export class Smsc {
  readonly #settings: SmscSettings;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #timetable: Timetable<() => void>;
  readonly #deliveries: Deliveries;
  readonly #network: SmscNetwork;
  readonly #connections = new Set<EsmeConnection>();
  /** All of them, those that fell silent too. */
  readonly #sockets = new Set<Socket>();
  readonly #room: ConnectionRoom;
  #server: Server | null = null;
  #connectionCount = 0;
  /** Of the last long message from a phone: a count from a chance number, so that a network started anew does not repeat the first ones. */
  #reference: number;
  #faults: Faults;

  constructor(settings: SmscSettings, clock: Clock, random: Random) {
    const { onPart, record = DEFAULT_RECORD } = settings;
    this.#settings = settings;
    this.#room = new ConnectionRoom(settings.maxConnections ?? DEFAULT_MAX_CONNECTIONS);
    this.#clock = clock;
    this.#random = random;
    this.#faults = settings.faults ?? {};
    this.#reference = Math.floor(random.next() * 256);
    this.#timetable = new Timetable({ clock, run: (happen) => happen() });
    this.#deliveries = new Deliveries({
      clock,
      timetable: this.#timetable,
      bound: settings.waiting ?? DEFAULT_WAITING,
      retryAfterMs: settings.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS,
    });
    this.#network = new SmscNetwork(
      {
        clock,
        random,
        timetable: this.#timetable,
        deliveries: this.#deliveries,
        answerAfterMs: settings.answerAfterMs ?? DEFAULT_ANSWER_AFTER_MS,
        capacity: settings.capacity ?? DEFAULT_CAPACITY,
        record,
        onPart: (part) => onPart?.(recordOf(part)),
      },
      activate(this.#faults, random),
    );
  }

  /** What goes wrong from now on. Setting it sets all of it anew, and begins counting anew. */
  get faults(): Faults {
    return this.#faults;
  }

  set faults(faults: Faults) {
    this.#network.faults = activate(faults, this.#random);
    this.#faults = faults;
  }

  /** The port that it listens on; 0 when it does not. */
  get port(): number {
    return (this.#server?.address() as AddressInfo | null)?.port ?? 0;
  }

  /** What the phones got: the last parts that were taken, oldest first. */
  get parts(): PartRecord[] {
    return this.find({});
  }

  /** Those of the record that fit. */
  find({ from, to, after, limit = Number.POSITIVE_INFINITY }: RecordQuery): PartRecord[] {
    const fitting = this.#network
      .record()
      .filter(
        ({ source, destination, arrival }) =>
          (from === undefined || source.address === from) &&
          (to === undefined || destination.address === to) &&
          arrival > (after ?? 0),
      );
    const first = after === undefined ? Math.max(0, fitting.length - limit) : 0;
    return fitting.slice(first, first + limit).map(recordOf);
  }

  /** Those that are bound. */
  get connections(): BoundConnection[] {
    return [...this.#connections].flatMap(({ id, systemId, kind }) =>
      kind === null ? [] : [{ id, systemId, bind: kind }],
    );
  }

  get counters(): SmscCounters {
    const hits = Object.entries(this.#network.faults).flatMap(([name, fault]) =>
      fault === null ? [] : [[name, fault.hits]],
    );
    return {
      ...this.#deliveries.counters,
      connections: this.#connectionCount,
      taken: this.#network.taken,
      inHand: this.#network.inHand,
      waiting: this.#deliveries.waiting,
      hits: Object.fromEntries(hits),
    };
  }

  /** Listens, and gives the port. Rejects when the address cannot be had. */
  async start(): Promise<number> {
    const { host = "127.0.0.1", port = 0 } = this.#settings;
    const server = createServer({ noDelay: true }, (socket) => this.#connected(socket));
    const listensAt = await listenAt(server, port, host);
    this.#server = server;
    this.#timetable.start();
    return listensAt;
  }

  /** Says goodbye to everyone, and forgets what is in hand. The record stays. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    const closed = new Promise((resolve) => server.close(resolve));
    const leaving = [...this.#connections];
    for (const connection of leaving) this.#deliveries.leave(connection);
    await Promise.all(leaving.map((connection) => connection.session.unbind()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    this.#server = null;
    this.#timetable.stop();
    this.#deliveries.clear();
    this.#network.forget();
  }

  /** Ends all connections without a word, as a power cut of the network's would, but goes on listening and remembering. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** A phone sends a message, in parts if it is long; octets go as they are. Throws a RangeError for what no message holds. */
  incoming(message: IncomingText | IncomingOctets): SentIncoming {
    const pdus = this.#pdusOf(message);
    const ends = pdus.map(
      (pdu) =>
        new Promise<boolean>((onEnd) =>
          this.#deliveries.add({ systemId: message.systemId ?? null, pdu: () => pdu, onEnd }),
        ),
    );
    return { parts: pdus.length, acknowledged: Promise.all(ends).then((all) => all.every((one) => one)) };
  }

  #pdusOf(message: IncomingText | IncomingOctets): PduDraft<"deliver_sm">[] {
    if ("octets" in message) return [octetsPdu(message)];
    const prepared = prepareText(message.text, {});
    if (prepared.partCount > 1) this.#reference = (this.#reference + 1) % 256;
    return encodeParts(prepared, { reference: this.#reference, flash: false, unpacked: true }).map(
      ({ octets, hasHeader, dataCoding }) =>
        octetsPdu({ ...message, octets, dataCoding, esmClass: hasHeader ? HEADER_BIT : 0 }),
    );
  }

  #connected(socket: Socket): void {
    const { systemId = null, password = null, session, onProblem } = this.#settings;
    if (!this.#room.enter(socket)) return;
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    this.#connections.add(
      new EsmeConnection(socket, {
        id: ++this.#connectionCount,
        clock: this.#clock,
        timetable: this.#timetable,
        network: this.#network,
        deliveries: this.#deliveries,
        session: { ...SESSION, ...session },
        systemId,
        password,
        onBound: () => this.#room.settle(socket),
        onClose: (connection) => this.#connections.delete(connection),
        onProblem: (problem) => onProblem?.(problem),
      }),
    );
  }
}

function octetsPdu({ from, to, octets, dataCoding = 0, esmClass = 0 }: IncomingOctets): PduDraft<"deliver_sm"> {
  const source = senderType(from);
  const destination = senderType(to);
  return {
    command: "deliver_sm",
    sourceAddrTon: source.ton,
    sourceAddrNpi: source.npi,
    sourceAddr: from,
    destAddrTon: destination.ton,
    destAddrNpi: destination.npi,
    destinationAddr: to,
    esmClass,
    dataCoding,
    // What is too long for the one field has the other.
    ...(octets.length > SHORT_MESSAGE_MAX ? { tlvs: [makeTlv("message_payload", octets)] } : { shortMessage: octets }),
  };
}
