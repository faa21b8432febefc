/** Messages from phones, as the client reads them: the same in a push, in JSON and in XML, and when they are fetched. */
import { type Carried, carriedFields, carriedOf } from "../../message/fields.ts";
import { withoutKeyword } from "../../message/incoming.ts";
import type { IncomingFacts } from "../../message/message.ts";
import { formatDateTime } from "../../schedule/date-time.ts";

export function incomingResults(messages: readonly IncomingFacts[], pending: number) {
  return { results: messages.map(incomingItem), messageCount: messages.length, pendingMessageCount: pending };
}

/**
 * The order of the fields is the order on the wire. A field that has no value is left out: strict clients die of a null. What a number carries is the
 * operator's to set.
 */
function incomingItem(facts: IncomingFacts) {
  const { messageId, from, to, text, keyword, smsCount, currency } = facts;
  const binary = binaryOf(facts);
  return {
    messageId,
    from,
    to,
    text,
    // Without the keyword; all of it where there is none.
    cleanText: keyword === null ? text : withoutKeyword(text),
    keyword: keyword ?? undefined,
    receivedAt: formatDateTime(facts.receivedAtMs),
    smsCount,
    price: { pricePerMessage: 0, currency },
    ...carriedFields(carriedOf(facts as Carried)),
    ...(binary === undefined ? {} : { binary }),
  };
}

/** Only of a message that is no text: its octets, as a client would send them. */
export function binaryOf({ text, binary }: Pick<IncomingFacts, "text" | "binary">) {
  return binary === undefined ? undefined : { hex: text, ...binary };
}
