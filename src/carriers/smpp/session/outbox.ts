/**
 * What a session sends. PDUs are encoded one behind the other into a chunk as they come, and go to the socket together, at the end of
 * the event loop's turn or when there are `PORTION_OCTETS` of them: a hundred submits in a turn are two writes. When the socket is
 * full the outbox is blocked, and keeps what comes until the socket has drained; how much that can be is bounded by whoever sends,
 * not here. Requests of ours are written only if that is allowed at that very moment.
 */
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { boundOf, writePdu } from "../codec/encode.ts";
import { Writer } from "../codec/octets.ts";
import type { PduDraft } from "../codec/pdu.ts";
import type { SessionHandlers } from "./contract.ts";

/**
 * Half a window of 100 submits. With all of a turn in one write, two ends take turns, each waiting for the other's whole window; in
 * portions they work at the same time. Measured: 1.4 times the PDUs a second. Smaller ones cost more CPU than they gain.
 */
const PORTION_OCTETS = 8192;

/** Some hundred submits. */
const CHUNK_OCTETS = 32_768;

export interface OutboxOptions extends Pick<SessionHandlers, "mayAsk" | "onSubmit" | "onWritten"> {
  /** All that was added is with the socket; `taken` says whether it would take more, or is full. */
  readonly onFlush: (taken: boolean) => void;
  /** There are requests to write, from this sequence number on, and they may not go. Nothing is written any more. */
  readonly onForbidden: (firstSequence: number) => void;
}

export class Outbox {
  readonly #socket: Duplex;
  readonly #options: OutboxOptions;
  /** The first of our requests that has not been written to the socket. */
  #firstAsked: number | null = null;
  #forbidden = false;
  #writer: Writer | null = null;
  /** Where in the writer's chunk begins what has not been written to the socket. */
  #start = 0;
  /** Chunks that were filled before it, in their order. */
  #full: Buffer[] = [];
  #blocked = false;
  #scheduled: NodeJS.Immediate | null = null;
  /** Submits that were added since the last write, and all that are not written. */
  #gathered = 0;
  #unwritten = 0;

  constructor(socket: Duplex, options: OutboxOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("drain", () => {
      this.#blocked = false;
      this.flush();
    });
    socket.once("close", () => this.#written(this.#unwritten));
  }

  /** The socket is full: the peer does not read as fast as we send. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /** `asked`: it is a request of ours. Throws a RangeError, and adds nothing, when a value has no place in its field. */
  add(draft: PduDraft, sequence: number, asked = false): void {
    const writer = this.#writerFor(boundOf(draft));
    writePdu(writer, draft, sequence);
    if (asked) this.#firstAsked ??= sequence;
    if (draft.command === "submit_sm") {
      this.#gathered++;
      this.#unwritten++;
      this.#options.onSubmit?.();
    }
    this.#scheduled ??= setImmediate(() => this.flush());
    if (writer.offset - this.#start >= PORTION_OCTETS && !this.#blocked) this.#writePortion();
  }

  /** Now, rather than at the end of the turn. */
  flush(): void {
    this.#unschedule();
    if (!this.#blocked && !this.#socket.destroyed) this.#options.onFlush(this.#write());
  }

  /** Nothing more is written. The first of our requests that the socket never had, if there is one. */
  drop(): number | null {
    this.#unschedule();
    const first = this.#firstAsked;
    this.#firstAsked = null;
    return first;
  }

  /** Writes the rest, whether the socket has room or not, and ends it. */
  end(): void {
    this.#unschedule();
    if (this.#socket.destroyed) return;
    this.#write();
    this.#socket.end();
  }

  /** Only bad news is told at once: who added may be in the middle of something, and hears the rest at the end of the turn. */
  #writePortion(): void {
    if (!this.#write()) this.#options.onFlush(false);
  }

  /** False when the socket is full now. */
  #write(): boolean {
    this.#seal();
    if (!this.#mayWrite()) return false;
    const chunks = this.#full;
    if (chunks.length > 0) {
      this.#full = [];
      this.#blocked = !this.#writeAll(chunks);
      this.#reuse();
    }
    return !this.#blocked;
  }

  #mayWrite(): boolean {
    const first = this.#firstAsked;
    this.#firstAsked = null;
    if (this.#forbidden || first === null || (this.#options.mayAsk?.() ?? true)) return !this.#forbidden;
    this.#forbidden = true;
    this.#options.onForbidden(first);
    return false;
  }

  #writeAll(chunks: readonly Buffer[]): boolean {
    const submits = this.#gathered;
    this.#gathered = 0;
    const written = submits === 0 ? undefined : () => this.#written(submits);
    if (chunks.length === 1) return this.#socket.write(chunks[0], written);
    this.#socket.cork();
    let hasRoom = true;
    for (const [index, chunk] of chunks.entries())
      hasRoom = this.#socket.write(chunk, index === chunks.length - 1 ? written : undefined);
    this.#socket.uncork();
    return hasRoom;
  }

  #written(submits: number): void {
    const count = Math.min(submits, this.#unwritten);
    this.#unwritten -= count;
    if (count > 0) this.#options.onWritten?.(count);
  }

  #writerFor(octets: number): Writer {
    if (this.#writer === null || this.#writer.octets.length - this.#writer.offset < octets) {
      this.#seal();
      this.#writer = new Writer(Math.max(octets, CHUNK_OCTETS));
      this.#start = 0;
    }
    return this.#writer;
  }

  #seal(): void {
    const writer = this.#writer;
    if (writer === null || writer.offset === this.#start) return;
    this.#full.push(writer.octets.subarray(this.#start, writer.offset));
    this.#start = writer.offset;
  }

  /**
   * The kernel has all of it, so the chunk can be filled again from its start: a sixth less CPU for submit, answer and receipt. Only a
   * plain socket says so by its length: another stream may have handed the same octets on.
   */
  #reuse(): void {
    if (this.#writer === null || !(this.#socket instanceof Socket) || this.#socket.writableLength > 0) return;
    this.#writer.offset = 0;
    this.#start = 0;
  }

  #unschedule(): void {
    if (this.#scheduled !== null) clearImmediate(this.#scheduled);
    this.#scheduled = null;
  }
}
