/**
 * Messages as clients of the OneAPI read them: what became of one that was sent, and one that a phone sent. The family has two lists of words for
 * what became of a message: five for its delivery, and a longer one for lists of reports and the answer to a request.
 */
import type { IncomingFacts, ReportFacts } from "../../message/message.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { STATUS, statusById } from "../../sms/statuses.ts";
import { unitsOf } from "./report-item.ts";

type Words = readonly [delivery: string, message: string];

/** By status, where it is not as its group. */
const BY_STATUS: Readonly<Record<number, Words>> = {
  [STATUS.PENDING_WAITING_DELIVERY.id]: ["DeliveredToNetwork", "MessageWaitingForDelivery"],
  [STATUS.DELIVERED_TO_OPERATOR.id]: ["DeliveredToNetwork", "MessageSent"],
  [STATUS.EXPIRED_DLR_UNKNOWN.id]: ["DeliveryUncertain", "MessageDeliveryUnknown"],
  [STATUS.REJECTED_NETWORK.id]: ["DeliveryImpossible", "NetworkNotAllowed"],
  [STATUS.REJECTED_DESTINATION.id]: ["DeliveryImpossible", "InvalidDestinationAddress"],
  [STATUS.REJECTED_SOURCE.id]: ["DeliveryImpossible", "InvalidSourceAddress"],
  [STATUS.REJECTED_NOT_ENOUGH_CREDITS.id]: ["DeliveryImpossible", "NotEnoughCredits"],
  [STATUS.REJECTED_ROUTE_NOT_AVAILABLE.id]: ["DeliveryImpossible", "RouteNotAvailable"],
};
const BY_GROUP: Readonly<Record<string, Words>> = {
  ACCEPTED: ["MessageWaiting", "MessageAccepted"],
  PENDING: ["MessageWaiting", "MessageAccepted"],
  DELIVERED: ["DeliveredToTerminal", "MessageDelivered"],
  UNDELIVERABLE: ["DeliveryImpossible", "MessageNotDelivered"],
  REJECTED: ["DeliveryImpossible", "MessageRejected"],
  EXPIRED: ["DeliveryImpossible", "MessageExpired"],
};

function wordsOf(statusId: number): Words {
  return BY_STATUS[statusId] ?? BY_GROUP[statusById(statusId).groupName]!;
}

/** Of the longer list. */
export function messageStatusOf(statusId: number): string {
  return wordsOf(statusId)[1];
}

type InfoFacts = Omit<ReportFacts, "doneAtMs">;

/** What the whole message costs: the family knows no price of a part. */
function priceOf({ pricePerPartMicros, smsCount }: Pick<ReportFacts, "pricePerPartMicros" | "smsCount">): number {
  return unitsOf(pricePerPartMicros * BigInt(smsCount));
}

export function deliveryInfo(facts: InfoFacts) {
  return {
    address: facts.to,
    messageId: facts.messageId,
    deliveryStatus: wordsOf(facts.statusId)[0],
    clientCorrelator: facts.bulkId,
    price: priceOf(facts),
  };
}

export function deliveryReport(facts: ReportFacts) {
  return {
    messageId: facts.messageId,
    sentDate: formatDateTime(facts.sentAtMs),
    doneDate: formatDateTime(facts.doneAtMs),
    status: messageStatusOf(facts.statusId),
    price: priceOf(facts),
  };
}

/** The body of a push: one message. */
export function deliveryNotification([facts]: readonly ReportFacts[]): object {
  return { deliveryInfoNotification: { deliveryInfo: deliveryInfo(facts!), callbackData: facts!.callbackData } };
}

/** moSessionId and price are numbers for clients that cannot read a null there. */
function inboundMessage(facts: IncomingFacts) {
  return {
    dateTime: formatDateTime(facts.receivedAtMs),
    destinationAddress: facts.to,
    messageId: facts.messageId,
    message: facts.text,
    resourceURL: null,
    senderAddress: facts.from,
    moSessionId: 0,
    moResponseKey: null,
    callbackData: facts.callbackData ?? null,
    price: 0,
  };
}

export function inboundList(messages: readonly IncomingFacts[], pending: number, resourceURL: string | null) {
  return {
    inboundSMSMessage: messages.map(inboundMessage),
    numberOfMessagesInThisBatch: messages.length,
    totalNumberOfPendingMessages: pending,
    resourceURL,
    callbackData: messages[0]?.callbackData ?? null,
  };
}

/** The body of a push: some clients read the list by itself, and some what stands around it when it is fetched. */
export function inboundNotification(messages: readonly IncomingFacts[]): object {
  const list = inboundList(messages, 0, null);
  return { inboundSMSMessageList: list, ...list };
}
