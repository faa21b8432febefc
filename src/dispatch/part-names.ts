/**
 * Which message a part belongs to, by its carrier and the carrier's id, for the parts that were last handed over. In tables of numbers: as texts in a map they
 * would outlive collections of the young generation, thousands a second, and cost more than all else that is noted of a message that goes well.
 *
 * A name is told by 64 bits made of it, and its phone by 32 more. Its place follows from them: whatever comes to the same place later takes it.
 */
import type { MessageKey } from "../message/message.ts";
import { plainPhone } from "../sms/addresses.ts";

const PLACES = 32_768;
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
const OTHER_PRIME = 0x85ebca6b;

/** The bits of the last name that was read: two numbers, and no object is made for them. */
let first = 0;
let second = 0;

function read(text: string): void {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, PRIME);
    second = Math.imul(second ^ code, OTHER_PRIME) + 1;
    second ^= second >>> 15;
  }
}

function readName(carrierId: string, id: string): number {
  first = OFFSET;
  second = PLACES;
  read(carrierId);
  // No id has it, so that what is before it cannot be taken for a part of what follows.
  read("\n");
  read(id);
  first |= 0;
  second |= 0;
  return (first ^ (first >>> 16)) & (PLACES - 1);
}

function bitsOf(phone: string): number {
  first = OFFSET;
  second = PLACES;
  read(plainPhone(phone));
  return first | 0;
}

export class PartNames {
  readonly #firsts = new Int32Array(PLACES);
  readonly #seconds = new Int32Array(PLACES);
  readonly #phones = new Int32Array(PLACES);
  readonly #keys = new BigInt64Array(PLACES);

  remember(carrierId: string, id: string, to: string, key: MessageKey): void {
    const phone = bitsOf(to);
    const place = readName(carrierId, id);
    this.#firsts[place] = first;
    this.#seconds[place] = second;
    this.#phones[place] = phone;
    this.#keys[place] = BigInt(key);
  }

  /** The message, if it is remembered and, where a phone is said, was to that. */
  find(carrierId: string, id: string, to: string | null): MessageKey | null {
    const phone = to === null ? null : bitsOf(to);
    const place = readName(carrierId, id);
    if (this.#firsts[place] !== first || this.#seconds[place] !== second) return null;
    const key = this.#keys[place]!;
    return key === 0n || (phone !== null && this.#phones[place] !== phone) ? null : String(key);
  }
}
