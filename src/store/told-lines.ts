/**
 * What delivery tells of messages is written in several lines beside each other, where the engine has them (postgres/engine.ts). All that is told under
 * one id of a carrier goes in one line, so that a receipt stays behind what was told of its message. What has no such id goes in the first, and all of it while
 * it is little (threads/store.ts): at such a turn a receipt may miss its message, as on another node.
 */
import type { Call } from "./group.ts";
import type { CommandInput } from "./port/store.ts";

/** Where the engine has lines for it. */
export const TOLD_LINES = 2;

/** Ids that carriers count up differ in their last signs. */
const SIGNS = 8;

export function lineOfId(carrierMessageId: string, lines: number): number {
  let hash = 0;
  for (let at = Math.max(0, carrierMessageId.length - SIGNS); at < carrierMessageId.length; at++)
    hash = Math.imul(hash, 31) + carrierMessageId.charCodeAt(at);
  return ((hash ^ (hash >>> 3)) >>> 0) % lines;
}

/** That of the first item of a call: whoever tells of several sorts them. */
export function lineOfCall({ command, input }: Call, lines: number): number {
  let id: string | undefined;
  if (command === "submitted") id = (input as CommandInput<"submitted">).messages[0]?.parts[0]?.carrierMessageId;
  if (command === "received") id = (input as CommandInput<"received">).receipts[0]?.carrierMessageId;
  return id === undefined ? 0 : lineOfId(id, lines);
}
