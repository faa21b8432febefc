/**
 * References of long messages: the number by which a phone knows that parts belong together. Two messages to one phone with the same
 * number are spliced into each other when their parts mix, so a number must not come back to a phone soon.
 *
 * A long message gets it when it is accepted and has it in its row, so it is the same when the message is sent again, after a crash or by another
 * node. A phone's next is one more than its last (`NextReferences`): whatever one client sends to one phone, it takes no longer. What is long only in the
 * alphabet of its carrier gets it when it is first sent (`References`): a hash of the message's key, moved on to the next number that is free, and so
 * nearly always the same again.
 *
 * A reference has 16 bits. A header with 8 bits carries its lower octet, and so do networks that make such a header out of 16 bits: therefore the
 * lower octets of a phone's last references differ too.
 */
import type { MessageKey, QueuedMessage } from "../message/message.ts";
import { boundedCache, sizedCache } from "../runtime/cache.ts";
import { plainPhone } from "../sms/addresses.ts";

/** Of the 256 lower octets, so many are not free: the next free one is never far from the hash. */
const MAX_OCTETS = 224;
/** A lower octet has 256 references, and at most five of these have the same. */
const MAX_OF_PHONE = 1_024;
/** References of all phones; past it the phone that was written to longest ago is forgotten. */
const MAX_REFERENCES = 50_000;

/** Of messages as they are accepted: the last 256 of a phone differ in their lower octets, and the last 65,536 as a whole. */
export class NextReferences {
  readonly #last = boundedCache<string, number>(MAX_REFERENCES);

  of({ key, to }: Pick<QueuedMessage, "key" | "to">): number {
    const phone = plainPhone(to);
    const reference = ((this.#last.get(phone) ?? hashOf(key)) + 1) & 0xffff;
    this.#last.set(phone, reference);
    return reference;
  }
}

interface Used {
  readonly key: MessageKey;
  readonly reference: number;
}

export class References {
  /** By phone; of each the newest at the end. */
  readonly #phones = sizedCache<string, readonly Used[]>(MAX_REFERENCES, (used) => used.length);

  /** How many are remembered. */
  get size(): number {
    return this.#phones.calculatedSize;
  }

  /** Only for a message of several parts. The same one gets the same again, also if the first was given by another process. */
  of({ key, to, reference, taken }: Pick<QueuedMessage, "key" | "to"> & Partial<QueuedMessage>): number {
    const phone = plainPhone(to);
    const used = this.#phones.get(phone) ?? [];
    const before = used.findLast((one) => one.key === key);
    // What went out counts, whatever was meant for it.
    const given = taken?.reference ?? reference ?? before?.reference ?? freeReference(hashOf(key), used);
    const others = before === undefined ? used : used.filter((other) => other !== before);
    this.#phones.set(phone, [...others.slice(1 - MAX_OF_PHONE), { key, reference: given }]);
    return given;
  }
}

function freeReference(hash: number, used: readonly Used[]): number {
  const octets = new Set(used.slice(-MAX_OCTETS).map(({ reference }) => reference & 0xff));
  let low = hash & 0xff;
  while (octets.has(low)) low = (low + 1) & 0xff;
  let high = (hash >>> 8) & 0xff;
  const isUsed = () => used.some(({ reference }) => reference === ((high << 8) | low));
  while (isUsed()) high = (high + 1) & 0xff;
  return (high << 8) | low;
}

/** FNV-1a, then the last steps of MurmurHash3: keys that follow each other have nothing in common after it. */
function hashOf(key: MessageKey): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
