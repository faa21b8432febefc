/** Messages from phones, as the client reads them: the same in a push, in JSON and in XML, and when they are fetched. */
import { withoutKeyword } from "../../message/incoming.ts";
import type { IncomingFacts } from "../../message/message.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import type { OctetEncoding } from "../../sms/body.ts";

/** A field that has no value is left out: strict clients die of a null. So there is no callbackData, which belongs to the form and is never known here. */
export interface IncomingItem {
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** The text without its keyword; all of it where there is none. */
  readonly cleanText: string;
  readonly keyword?: string | undefined;
  readonly receivedAt: string;
  readonly smsCount: number;
  readonly price: { readonly pricePerMessage: number; readonly currency: string };
  /** Only of a message that is no text: its octets, as a client would send them. */
  readonly binary?: IncomingBinary;
}

export interface IncomingBinary extends OctetEncoding {
  readonly hex: string;
}

export interface IncomingResults {
  readonly results: readonly IncomingItem[];
  readonly messageCount: number;
  /** How many more could be fetched. */
  readonly pendingMessageCount: number;
}

export function incomingResults(messages: readonly IncomingFacts[], pending: number): IncomingResults {
  return { results: messages.map(incomingItem), messageCount: messages.length, pendingMessageCount: pending };
}

/** The order of the fields is the order on the wire. */
function incomingItem(facts: IncomingFacts): IncomingItem {
  const { messageId, from, to, text, keyword, smsCount, currency } = facts;
  const binary = binaryOf(facts);
  return {
    messageId,
    from,
    to,
    text,
    cleanText: keyword === null ? text : withoutKeyword(text),
    keyword: keyword ?? undefined,
    receivedAt: formatDateTime(facts.receivedAtMs),
    smsCount,
    price: { pricePerMessage: 0, currency },
    ...(binary === undefined ? {} : { binary }),
  };
}

export function binaryOf({ text, binary }: Pick<IncomingFacts, "text" | "binary">): IncomingBinary | undefined {
  return binary === undefined ? undefined : { hex: text, ...binary };
}
