/**
 * References of long messages: the number by which a phone knows that parts belong together.
 *
 * A reference has 16 bits. A header with 8 bits carries its lower octet, and so do networks that make such a header out of 16 bits.
 *
 * It follows from the message's key and from nothing else. So a message that is sent again has the number that it had before, also after a kill or
 * by another node, and a phone that has some of its parts joins the others with them. What a process remembers of other messages may not come into it:
 * after a kill it remembers none. The price is chance: two long messages that are on their way to one phone at the same time have the same lower octet
 * once in 256 times, and the same reference once in 65,536 times.
 */

import type { MessageKey, QueuedMessage } from "../message/message.ts";

/** Of a message of which a carrier has parts, what those went out with. */
export function referenceOf({ key, taken }: Pick<QueuedMessage, "key" | "taken">): number {
  return taken?.reference ?? hashOf(key) & 0xffff;
}

/** FNV-1a, then the last steps of MurmurHash3: keys that follow each other have nothing in common after it. */
function hashOf(key: MessageKey): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
