/**
 * What a session receives: the chunks of the socket made into PDUs, one at a time, and no more of them than can be answered. While we are
 * behind with our answers nothing is read, and TCP makes the peer wait.
 */
import type { Duplex } from "node:stream";
import type { Decoded, FramingLost } from "../codec/decode.ts";
import { StreamDecoder } from "../codec/stream.ts";

export interface InboxOptions {
  readonly socket: Duplex;
  /** Asked before each PDU: whether to leave it where it is for now. */
  readonly isBehind: () => boolean;
  readonly onPdu: (decoded: Decoded | FramingLost) => void;
  /** The peer is there: it said something, if perhaps not yet a whole PDU. */
  readonly onHeard: () => void;
  /** Reading stops, or goes on. */
  readonly onListening: (listening: boolean) => void;
  /** All that could be read for now is read. */
  readonly onRead: () => void;
}

export class Inbox {
  readonly #options: InboxOptions;
  readonly #decoder = new StreamDecoder();
  #listening = true;
  #reading = false;
  #closed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
    options.socket.on("data", (chunk: Buffer) => {
      // What comes after the end of the session is let through to nowhere, so that the socket comes to its own end.
      if (this.#closed) return;
      options.onHeard();
      this.#decoder.push(chunk);
      this.read();
    });
  }

  /** Goes on where it stopped, as far as there is something to read and we are not behind. */
  read(): void {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    const { isBehind, onPdu, onRead } = this.#options;
    while (!this.#closed && !isBehind()) {
      const decoded = this.#decoder.next();
      if (decoded === null) break;
      onPdu(decoded);
    }
    if (!this.#closed) this.#listen(!isBehind());
    this.#reading = false;
    onRead();
  }

  get listening(): boolean {
    return this.#listening;
  }

  close(): void {
    this.#closed = true;
    this.#options.socket.resume();
  }

  #listen(listening: boolean): void {
    if (listening === this.#listening) return;
    this.#listening = listening;
    if (listening) this.#options.socket.resume();
    else this.#options.socket.pause();
    this.#options.onListening(listening);
  }
}
