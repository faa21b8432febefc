/**
 * A connection on which requests may go the short way (short-way.ts). It sees every octet before Node's parser does, and so knows where each request
 * begins and ends:
 *
 *      octets ──▶ Node's parser has a request under way, or the next one is not to go the short way ──▶ Node's parser
 *         │
 *         └─────▶ a whole request for the short way ──▶ under way; what comes meanwhile waits ──▶ its answer, and the next look
 *
 * Of a request for the short way the rest of the body is awaited, for a second or so. Where something comes that cannot be read for certain, the
 * connection is Node's from there on.
 */
import type { Socket } from "node:net";
import type { ClientConnection } from "./client-connection.ts";
import { headText } from "./request-head.ts";

/** What may wait while a request is under way: beyond that nothing more is read. */
const MAX_WAITING_OCTETS = 65_536;
const MAX_WAITING_CHUNKS = 64;
/** Node's listener for the end of what a client says. */
const NODES_END = "bound socketOnEnd";

type TakeOctets = (octets: Buffer) => void;
type TakeEnd = () => void;

export interface SeenHead<Wanted> {
  readonly octets: number;
  readonly bodyOctets: number;
  /** What it asks for; null where the request goes the long way. */
  readonly wanted: Wanted | null;
}

/** What takes requests that can go the short way. */
export interface Taker<Wanted> {
  nowMs(): number;
  /** Whether any may go that way just now. */
  isOpen(): boolean;
  /** Null for a head that cannot be read for certain. */
  read(text: string, isKnown: boolean): SeenHead<Wanted> | null;
  /** False for a request that has to go the long way after all. Of another `over` tells when it is answered. */
  take(on: ShortConnection<Wanted>, wanted: Wanted, octets: Buffer): boolean;
}

export class ShortConnection<Wanted = unknown> {
  readonly socket: Socket;
  readonly connection: ClientConnection;
  readonly address: string;
  readonly #way: Taker<Wanted>;
  readonly #toNode: TakeOctets;
  readonly #endToNode: TakeEnd;
  /** What came and is nobody's yet. */
  #waiting: Buffer[] = [];
  #waitingOctets = 0;
  /** How much has to be there for another look. */
  #wantedOctets = 0;
  #isUnderWay = false;
  #isPaused = false;
  /** The client ended its side while a request was under way. */
  #isEnded = false;
  #isLeft = false;
  /** Of the body of the request that Node has, so much is still to come. */
  #bodyLeft = 0;

  /** On a connection that Node's server has taken, before anything has come on it. */
  static watch<Wanted>(way: Taker<Wanted>, connection: ClientConnection, socket: Socket): void {
    const listeners = socket.listeners("data") as TakeOctets[];
    const end = socket.listeners("end").find(({ name }) => name === NODES_END) as TakeEnd | undefined;
    // Node's own, alone. In a Node that listens in another way all requests go the long one.
    if (listeners.length === 1 && end !== undefined) new ShortConnection(way, connection, socket, listeners[0]!, end);
  }

  private constructor(
    way: Taker<Wanted>,
    connection: ClientConnection,
    socket: Socket,
    toNode: TakeOctets,
    endToNode: TakeEnd,
  ) {
    this.#way = way;
    this.connection = connection;
    this.socket = socket;
    this.address = socket.remoteAddress ?? "";
    this.#toNode = toNode;
    this.#endToNode = endToNode;
    socket.off("data", toNode).off("end", endToNode);
    socket.on("data", this.#came).on("end", this.#end);
  }

  /** Node ends our side too once it has nothing under way, and tells of a request that is not whole. */
  readonly #end = (): void => {
    this.#isEnded = this.#isUnderWay;
    if (this.#isEnded || this.socket.destroyed) return;
    this.#giveUp();
    // A connection that is Node's alone may have been let go by it.
    if (!this.#isLeft || this.socket.listeners("end").includes(this.#endToNode)) this.#endToNode();
  };

  readonly #came = (octets: Buffer): void => {
    if (!this.#isUnderWay && this.#waiting.length === 0) {
      this.#look(octets);
      return;
    }
    // The answer that is under way is the last one.
    if (this.connection.overrun) return;
    this.#waiting.push(octets);
    this.#waitingOctets += octets.length;
    const isMuch = this.#waitingOctets > MAX_WAITING_OCTETS || this.#waiting.length > MAX_WAITING_CHUNKS;
    if (this.#isUnderWay) {
      if (!isMuch || this.#isPaused) return;
      this.#isPaused = true;
      this.socket.pause();
    } else if (this.#waitingOctets >= this.#wantedOctets) this.#look(this.#takeWaiting());
    else if (isMuch) this.#giveUp();
  };

  #takeWaiting(): Buffer {
    const octets = this.#waiting.length === 1 ? this.#waiting[0]! : Buffer.concat(this.#waiting, this.#waitingOctets);
    this.#waiting = [];
    this.#waitingOctets = 0;
    this.connection.awaited = null;
    return octets;
  }

  #await(octets: Buffer): void {
    this.#waiting.push(octets);
    this.#waitingOctets = octets.length;
  }

  /** Nobody has any of these. */
  #look(octets: Buffer): void {
    const head = this.#isQuiet() ? this.#headAt(octets, 0) : null;
    if (head === null || head.wanted === null) {
      this.#leaveToNode(octets);
      return;
    }
    const end = head.octets + head.bodyOctets;
    if (octets.length < end) {
      this.#await(octets);
      this.#wantedOctets = end;
      this.connection.awaited = { sinceMs: this.#way.nowMs(), giveUp: () => this.#giveUp() };
      return;
    }
    this.#isUnderWay = this.#way.take(this, head.wanted, octets.subarray(head.octets, end));
    if (!this.#isUnderWay) {
      this.#leaveToNode(octets);
      this.connection.forgetAdmitted();
    } else if (octets.length > end) this.#await(octets.subarray(end));
  }

  /** The request that went the short way is answered. */
  over(): void {
    this.#isUnderWay = false;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.socket.resume();
    }
    if (this.#waiting.length > 0) this.#look(this.#takeWaiting());
    if (this.#isEnded) this.#end();
  }

  /** Whether Node has nothing of it, and the next request may go the short way. */
  #isQuiet(): boolean {
    const { underWay, overrun, caller, doomedAtMs } = this.connection;
    if (caller === null || overrun || underWay.length > 0 || this.#bodyLeft > 0) return false;
    return doomedAtMs === Number.POSITIVE_INFINITY && this.socket.writable && this.#way.isOpen();
  }

  #headAt(octets: Buffer, at: number): SeenHead<Wanted> | null {
    const text = headText(octets, at);
    return text === null ? null : this.#way.read(text, this.connection.caller !== null);
  }

  #leaveToNode(octets: Buffer): void {
    // Node's parser may read another connection by then.
    if (this.socket.destroyed) return;
    if (!this.#isLeft && !this.#canFollow(octets)) this.#leave();
    this.#toNode(octets);
  }

  /** Whether it is certain where the last request in them ends. */
  #canFollow(octets: Buffer): boolean {
    let at = Math.min(this.#bodyLeft, octets.length);
    this.#bodyLeft -= at;
    while (at < octets.length) {
      const head = this.#headAt(octets, at);
      if (head === null) return false;
      const end = at + head.octets + head.bodyOctets;
      at = Math.min(end, octets.length);
      this.#bodyLeft = end - at;
    }
    return true;
  }

  /** What waits for its rest is Node's, with its deadlines. */
  #giveUp(): void {
    if (!this.#isUnderWay && this.#waiting.length > 0) this.#leaveToNode(this.#takeWaiting());
  }

  /** From here on Node reads the connection alone. */
  #leave(): void {
    this.#isLeft = true;
    this.socket.off("data", this.#came).off("end", this.#end);
    this.socket.on("data", this.#toNode).on("end", this.#endToNode);
  }
}
