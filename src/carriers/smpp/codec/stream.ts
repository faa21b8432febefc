/**
 * PDUs out of a stream of chunks that are cut anywhere: in the middle of a PDU, of its header, or after a hundred of them.
 *
 * A PDU that lies whole in its chunk is decoded where it lies. Only one that was torn is put together, once, in a buffer of
 * its own size. Never more than one chunk and one PDU are held, and a PDU is never longer than `maxPduOctets`.
 */
import { type Decoded, decodePdu, type FramingLost, HEADER_OCTETS } from "./decode.ts";
import { statusCode } from "./statuses.ts";

/** The longest message_payload there can be (65,535 octets) and room for the rest. */
const DEFAULT_MAX_PDU_OCTETS = 65_536 + 1024;

const NOTHING = Buffer.alloc(0);

export class StreamDecoder {
  readonly #maxPduOctets: number;
  #chunk: Buffer = NOTHING;
  #offset = 0;
  /** Where a torn PDU is put together: first its header, then, when its length is known, all of it. */
  readonly #tornHeader = Buffer.alloc(HEADER_OCTETS);
  #torn: Buffer | null = null;
  #tornOctets = 0;
  #lost: FramingLost | null = null;

  constructor(maxPduOctets = DEFAULT_MAX_PDU_OCTETS) {
    this.#maxPduOctets = maxPduOctets;
  }

  /** The next chunk, once `next` has given null for those before. */
  push(chunk: Buffer): void {
    if (this.#offset < this.#chunk.length) throw new Error("the chunk before is not read to its end");
    this.#chunk = chunk;
    this.#offset = 0;
  }

  /** The next PDU, or null when the rest of it is still to come. When framing is lost it stays lost. */
  next(): Decoded | FramingLost | null {
    if (this.#lost !== null) return this.#lost;
    const decoded = this.#torn === null ? this.#nextWhole() : this.#nextTorn();
    if (decoded?.kind === "lost") {
      this.#lost = decoded;
      this.#drop();
    } else if (decoded === null) {
      this.#drop();
    }
    return decoded;
  }

  /** Octets of a PDU whose rest has not come. */
  get pendingOctets(): number {
    return this.#tornOctets;
  }

  #nextWhole(): Decoded | FramingLost | null {
    const chunk = this.#chunk;
    const start = this.#offset;
    const left = chunk.length - start;
    if (left === 0) return null;
    if (left < HEADER_OCTETS) return this.#tear(this.#tornHeader, left);
    const length = chunk.readUInt32BE(start);
    if (length < HEADER_OCTETS || length > this.#maxPduOctets) return framingLost(chunk, start);
    if (left < length) return this.#tear(Buffer.allocUnsafeSlow(length), left);
    this.#offset = start + length;
    return decodePdu(chunk, start, start + length);
  }

  #nextTorn(): Decoded | FramingLost | null {
    if (this.#torn === this.#tornHeader) {
      if (!this.#fill(this.#tornHeader)) return null;
      const length = this.#tornHeader.readUInt32BE(0);
      if (length < HEADER_OCTETS || length > this.#maxPduOctets) return framingLost(this.#tornHeader, 0);
      this.#torn = Buffer.allocUnsafeSlow(length);
      this.#tornHeader.copy(this.#torn);
    }
    const torn = this.#torn!;
    if (!this.#fill(torn)) return null;
    this.#torn = null;
    this.#tornOctets = 0;
    return decodePdu(torn);
  }

  /** The rest of the chunk is the beginning of a PDU. */
  #tear(into: Buffer, left: number): null {
    this.#chunk.copy(into, 0, this.#offset);
    this.#torn = into;
    this.#tornOctets = left;
    return null;
  }

  /** Takes from the chunk what the torn one still lacks. True when it is full. */
  #fill(torn: Buffer): boolean {
    const copied = this.#chunk.copy(torn, this.#tornOctets, this.#offset);
    this.#tornOctets += copied;
    this.#offset += copied;
    return this.#tornOctets === torn.length;
  }

  /** The chunk is read to its end: hold on to it no longer. */
  #drop(): void {
    this.#chunk = NOTHING;
    this.#offset = 0;
  }
}

function framingLost(octets: Buffer, start: number): FramingLost {
  return {
    kind: "lost",
    claimedOctets: octets.readUInt32BE(start),
    answer: {
      command: "generic_nack",
      status: statusCode("ESME_RINVCMDLEN"),
      sequence: octets.readUInt32BE(start + 12),
    },
  };
}
