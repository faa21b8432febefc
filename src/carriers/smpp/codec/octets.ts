/**
 * Reading and writing the octets of a PDU (a protocol data unit: one SMPP request or response). Both sides keep their place
 * in one buffer and make nothing in between.
 *
 * A reader never throws: what is sent to us may be anything. The first fault stays, every read after it gives a blank, and
 * whoever asked looks at the fault in the end. A writer throws: what we send is our own doing.
 */
import type { CommandStatus } from "./statuses.ts";

export const NO_OCTETS: Uint8Array = Buffer.alloc(0);
/** 3.4 §5.2.21: 254, though the length octet could say 255. We read that, and do not write it. */
export const SHORT_MESSAGE_MAX = 254;

/** The longest string that the standard knows has 64 characters. */
export const MAX_STRING_OCTETS = 1_024;

/** The octets with a Buffer's methods: all that is received is one already. */
export function asBuffer(octets: Uint8Array): Buffer {
  return octets instanceof Buffer ? octets : Buffer.from(octets.buffer, octets.byteOffset, octets.length);
}

export class Reader {
  octets: Buffer;
  end: number;
  offset: number;
  /** The first thing that was wrong, as the status that answers it; null while all is well. */
  fault: CommandStatus | null = null;

  constructor(octets: Buffer, offset: number, end: number) {
    this.octets = octets;
    this.offset = offset;
    this.end = end;
  }

  /** Something else, as if it were a new one. */
  begin(octets: Buffer, offset: number, end: number): void {
    this.octets = octets;
    this.offset = offset;
    this.end = end;
    this.fault = null;
  }

  get left(): number {
    return this.end - this.offset;
  }

  fail(status: CommandStatus): void {
    this.fault ??= status;
    this.offset = this.end;
  }

  uint8(): number {
    if (this.offset >= this.end) {
      this.fail("ESME_RINVCMDLEN");
      return 0;
    }
    return this.octets[this.offset++]!;
  }

  uint32(): number {
    if (this.left < 4) {
      this.fail("ESME_RINVCMDLEN");
      return 0;
    }
    const value = this.octets.readUInt32BE(this.offset);
    this.offset += 4;
    return value;
  }

  /**
   * Up to the NUL that ends it, or up to the end of the PDU: carriers forget the last NUL, and with it a last string that
   * is empty. It may also be longer than the standard allows, but not for ever: of a longer one the beginning is given, for a
   * response whose fault nobody looks at.
   */
  cString(): string {
    const { octets, offset: start } = this;
    const end = Math.min(this.end, start + MAX_STRING_OCTETS);
    let at = start;
    while (at < end && octets[at] !== 0) at++;
    this.offset = at < end ? at + 1 : end;
    if (at === end && end < this.end && octets[end] !== 0) this.fail("ESME_RINVPARLEN");
    else if (at === end && end < this.end) this.offset = end + 1;
    return at === start ? "" : octets.toString("latin1", start, at);
  }

  /** sm_length and short_message. */
  shortMessage(): Uint8Array {
    const length = this.uint8();
    return length === 0 ? NO_OCTETS : (this.take(length, "ESME_RINVMSGLEN") ?? NO_OCTETS);
  }

  /** A view, not a copy. */
  take(length: number, fault: CommandStatus): Buffer | null {
    const start = this.offset;
    return this.skip(length, fault) ? this.octets.subarray(start, this.offset) : null;
  }

  /** Goes past them; false when they are not there. */
  skip(length: number, fault: CommandStatus): boolean {
    if (length > this.left) {
      this.fail(fault);
      return false;
    }
    this.offset += length;
    return true;
  }
}

export class Writer {
  octets: Buffer;
  offset = 0;

  constructor(size: number) {
    this.octets = Buffer.allocUnsafeSlow(size);
  }

  uint8(value: number): void {
    if (value !== (value & 0xff)) throw new RangeError(`${value} is no octet`);
    this.octets[this.offset++] = value;
  }

  uint16(value: number): void {
    if (value !== (value & 0xffff)) throw new RangeError(`${value} does not fit two octets`);
    const { octets, offset } = this;
    octets[offset] = value >>> 8;
    octets[offset + 1] = value;
    this.offset = offset + 2;
  }

  uint32(value: number): void {
    if (value !== value >>> 0) throw new RangeError(`${value} does not fit four octets`);
    const { octets, offset } = this;
    octets[offset] = value >>> 24;
    octets[offset + 1] = value >>> 16;
    octets[offset + 2] = value >>> 8;
    octets[offset + 3] = value;
    this.offset = offset + 4;
  }

  /** `maxOctets` counts the NUL, as the standard does. Octet by octet beats the call into the engine for strings this short. */
  cString(value: string, maxOctets: number): void {
    const { length } = value;
    if (length >= maxOctets) throw new RangeError(`a string of ${length} is longer than ${maxOctets - 1}`);
    const { octets } = this;
    let { offset } = this;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code === 0 || code > 0xff) throw new RangeError(`character ${code} has no place in a C-octet string`);
      octets[offset++] = code;
    }
    octets[offset] = 0;
    this.offset = offset + 1;
  }

  shortMessage(value: Uint8Array): void {
    const { length } = value;
    if (length > SHORT_MESSAGE_MAX) throw new RangeError(`${length} octets are no short message`);
    this.octets[this.offset++] = length;
    if (length > 0) this.bytes(value);
  }

  bytes(value: Uint8Array): void {
    this.octets.set(value, this.offset);
    this.offset += value.length;
  }
}
