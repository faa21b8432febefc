/** A message as delivery gets it, made from its row: of one that was just accepted, and of one that was claimed. */
import type { QueuedMessage } from "../message/message.ts";
import { compiled } from "../runtime/compiled.ts";
import { literalOf, QUEUED_OF_ROW } from "../store/fields-of-rows.ts";
import { parseEncoding } from "../store/rows.ts";
import type { MessageRow, NewMessageRow } from "../store/schema/message.ts";

/** The messages of a bulk are alike: what was just read is not read again, and crosses to the other thread once. */
function lastKept<Value>(read: (text: string) => Value): (text: string | null | undefined) => Value | null {
  let last: string | null = null;
  let value: Value | null = null;
  return (text) => {
    if (text === null || text === undefined) return null;
    if (text !== last) {
      value = read(text);
      last = text;
    }
    return value;
  };
}

const scope = {
  encodingOf: lastKept(parseEncoding),
  windowOf: lastKept(JSON.parse),
  regionalOf: lastKept(JSON.parse),
};

/** A new row has no columns yet that only change later. */
export const queuedMessage = compiled<(row: MessageRow | NewMessageRow) => QueuedMessage>(
  "row",
  literalOf(QUEUED_OF_ROW),
  scope,
);
