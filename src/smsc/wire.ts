/**
 * What a session of the network's writes on instead of the socket, so that the socket can do what sockets do at their worst: octets
 * in small pieces, many PDUs in one, PDUs that no encoder would write, and silence behind a connection that looks alive. Without faults
 * it passes everything on.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Clock, Timer } from "../runtime/clock.ts";
import type { ActiveFaults } from "./faults.ts";
import { spoilt } from "./spoiling.ts";

const DEFAULT_GLUE_MS = 50;
const DEFAULT_PIECE_OCTETS = 1;
/** The session is to learn that its peer does not read, but not before every drain of the socket. */
const HIGH_WATER_OCTETS = 262_144;

type Done = (error?: Error | null) => void;

export class Wire extends Duplex {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #faults: () => ActiveFaults;
  #glued: Buffer[] = [];
  #gluing: Timer | null = null;
  #silent = false;

  constructor(socket: Socket, clock: Clock, faults: () => ActiveFaults) {
    super({ highWaterMark: HIGH_WATER_OCTETS });
    this.#socket = socket;
    this.#clock = clock;
    this.#faults = faults;
    // Nothing is read before it is asked for.
    socket.pause();
    socket.on("data", (chunk) => {
      if (!this.#silent && !this.push(chunk)) socket.pause();
    });
    socket.on("end", () => this.#silent || this.push(null));
    // An error of a socket that nobody listens to would end the process.
    socket.on("error", (error) => this.#silent || this.destroy(error));
    socket.on("close", () => this.destroy());
  }

  setNoDelay(noDelay: boolean): void {
    this.#socket.setNoDelay(noDelay);
  }

  /** From now on nothing is answered and nothing is said, but the connection stays. For the session it has ended. */
  fallSilent(): void {
    this.#silent = true;
    this.destroy();
    // What comes is read and goes nowhere: the peer finds its octets acknowledged.
    this.#socket.resume();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(written: Buffer, _encoding: BufferEncoding, done: Done): void {
    const faults = this.#faults();
    const { gluedPdus, tornPdus } = faults;
    const chunk = spoilt(written, faults);
    if (gluedPdus?.strikes()) {
      this.#glued.push(chunk);
      this.#gluing ??= this.#clock.after(gluedPdus.settings.ms ?? DEFAULT_GLUE_MS, () => this.#unglue());
      done();
    } else if (this.#gluing !== null) {
      // Nothing overtakes what waits.
      this.#glued.push(chunk);
      done();
    } else if (tornPdus?.strikes()) {
      this.#tear(chunk, tornPdus.settings.octets ?? DEFAULT_PIECE_OCTETS, done);
    } else {
      this.#socket.write(chunk, done);
    }
  }

  override _final(done: Done): void {
    this.#unglue();
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#gluing?.cancel();
    if (!this.#silent) this.#socket.destroy();
    done(error);
  }

  #unglue(): void {
    this.#gluing?.cancel();
    this.#gluing = null;
    if (this.#glued.length === 0 || this.#socket.destroyed) return;
    this.#socket.write(Buffer.concat(this.#glued));
    this.#glued = [];
  }

  /** A turn of the event loop lies between two pieces, or the system would put them together again. */
  #tear(chunk: Buffer, octets: number, done: Done): void {
    if (chunk.length <= octets) {
      this.#socket.write(chunk, done);
      return;
    }
    this.#socket.write(chunk.subarray(0, octets), (error) => {
      if (error != null) done(error);
      else setImmediate(() => this.#tear(chunk.subarray(octets), octets, done));
    });
  }
}
