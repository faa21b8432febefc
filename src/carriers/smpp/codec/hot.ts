/**
 * The few shapes that nearly all traffic has, written out field by field: the bodies of submit_sm and deliver_sm, and the responses
 * that hold a message id. They do what the table of commands.ts would have done, and a test holds them to it; written out they
 * cost half (measured for a submit_sm: read in 0.6 µs instead of 1.4, written in 0.4 instead of 0.9).
 */
import type { PduName } from "./commands.ts";
import { NO_OCTETS, type Reader, type Writer } from "./octets.ts";
import type { Pdu, PduDraft } from "./pdu.ts";
import { readTlvs } from "./tlvs.ts";

/** Makes a PDU of what lies behind its header. */
export type ReadBody = (reader: Reader, status: number, sequence: number) => Pdu;
/** Writes the mandatory fields. What has no place throws, perhaps without the name of the field. */
export type WriteBody = (writer: Writer, draft: PduDraft) => void;

type MessageName = "submit_sm" | "deliver_sm";
type MessageIdName = "submit_sm_resp" | "deliver_sm_resp" | "data_sm_resp";

function readMessage(command: MessageName): ReadBody {
  return (reader, status, sequence) => ({
    command,
    status,
    sequence,
    serviceType: reader.cString(),
    sourceAddrTon: reader.uint8(),
    sourceAddrNpi: reader.uint8(),
    sourceAddr: reader.cString(),
    destAddrTon: reader.uint8(),
    destAddrNpi: reader.uint8(),
    destinationAddr: reader.cString(),
    esmClass: reader.uint8(),
    protocolId: reader.uint8(),
    priorityFlag: reader.uint8(),
    scheduleDeliveryTime: reader.cString(),
    validityPeriod: reader.cString(),
    registeredDelivery: reader.uint8(),
    replaceIfPresentFlag: reader.uint8(),
    dataCoding: reader.uint8(),
    smDefaultMsgId: reader.uint8(),
    shortMessage: reader.shortMessage(),
    tlvs: readTlvs(reader),
  });
}

function writeMessage(writer: Writer, draft: PduDraft<MessageName>): void {
  writer.cString(draft.serviceType ?? "", 6);
  writer.uint8(draft.sourceAddrTon ?? 0);
  writer.uint8(draft.sourceAddrNpi ?? 0);
  writer.cString(draft.sourceAddr ?? "", 21);
  writer.uint8(draft.destAddrTon ?? 0);
  writer.uint8(draft.destAddrNpi ?? 0);
  writer.cString(draft.destinationAddr ?? "", 21);
  writer.uint8(draft.esmClass ?? 0);
  writer.uint8(draft.protocolId ?? 0);
  writer.uint8(draft.priorityFlag ?? 0);
  writer.cString(draft.scheduleDeliveryTime ?? "", 17);
  writer.cString(draft.validityPeriod ?? "", 17);
  writer.uint8(draft.registeredDelivery ?? 0);
  writer.uint8(draft.replaceIfPresentFlag ?? 0);
  writer.uint8(draft.dataCoding ?? 0);
  writer.uint8(draft.smDefaultMsgId ?? 0);
  writer.shortMessage(draft.shortMessage ?? NO_OCTETS);
}

function readMessageId(command: MessageIdName): ReadBody {
  return (reader, status, sequence) => ({
    command,
    status,
    sequence,
    messageId: reader.cString(),
    tlvs: readTlvs(reader),
  });
}

function writeMessageId(writer: Writer, draft: PduDraft<MessageIdName>): void {
  writer.cString(draft.messageId ?? "", 65);
}

const message = (command: MessageName) => ({ read: readMessage(command), write: writeMessage as WriteBody });
const messageId = (command: MessageIdName) => ({ read: readMessageId(command), write: writeMessageId as WriteBody });

export const HOT: Partial<Record<PduName, { readonly read: ReadBody; readonly write: WriteBody }>> = {
  submit_sm: message("submit_sm"),
  deliver_sm: message("deliver_sm"),
  submit_sm_resp: messageId("submit_sm_resp"),
  deliver_sm_resp: messageId("deliver_sm_resp"),
  data_sm_resp: messageId("data_sm_resp"),
};
