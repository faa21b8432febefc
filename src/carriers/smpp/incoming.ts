/** What a carrier sends us, read: a receipt, or a message from a phone. Pure. */
import { decodeUserData } from "../../sms/text.ts";
import type { IncomingPart, Receipt } from "../port.ts";
import type { Pdu } from "./codec/pdu.ts";
import { readTlv } from "./codec/tlvs.ts";
import { idInReceipt } from "./message-id.ts";
import type { SmppProfile } from "./profile.ts";
import { type DeliveredFacts, isReceipt, readReceipt } from "./receipt.ts";

const HAS_HEADER = 0x40;
/** data_coding of SMPP 3.4 §5.2.19 that 23.038 does not have: IA5 and Latin-1. */
const IA5 = 1;
const LATIN1 = 3;

export type Delivered = Pdu<"deliver_sm"> | Pdu<"data_sm">;

export type Incoming = { kind: "receipt"; receipt: Receipt } | { kind: "message"; part: IncomingPart };

export function readDelivered(pdu: Delivered, profile: SmppProfile, nowMs: number): Incoming {
  const octets = octetsOf(pdu);
  const facts: DeliveredFacts = {
    esmClass: pdu.esmClass,
    text: Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString("latin1"),
    receiptedMessageId: readTlv(pdu.tlvs, "receipted_message_id") ?? null,
    messageState: readTlv(pdu.tlvs, "message_state") ?? null,
    networkErrorCode: readTlv(pdu.tlvs, "network_error_code") ?? null,
  };
  if (!isReceipt(facts)) return { kind: "message", part: messageOf(pdu, octets, profile, nowMs) };
  const { id, outcome, errorId } = readReceipt(facts);
  return {
    kind: "receipt",
    receipt: {
      // One without an id is kept too, and matches nothing.
      carrierMessageId: idInReceipt(id ?? "", profile.receiptIds ?? "same"),
      outcome,
      errorId,
      // The receipt's own dates have no time zone and are at times impossible: what counts is when we heard.
      atMs: nowMs,
      mccMnc: null,
      // A receipt comes from the phone that the message went to.
      to: pdu.sourceAddr === "" ? null : pdu.sourceAddr.replace(/^\+/, ""),
    },
  };
}

function octetsOf(pdu: Delivered): Uint8Array {
  const payload = readTlv(pdu.tlvs, "message_payload");
  if (payload !== undefined) return payload;
  return pdu.command === "deliver_sm" ? pdu.shortMessage : new Uint8Array();
}

function messageOf(pdu: Delivered, octets: Uint8Array, profile: SmppProfile, nowMs: number): IncomingPart {
  const { text, concatenation } = textOf(pdu, octets, profile);
  const total = readTlv(pdu.tlvs, "sar_total_segments");
  const sequence = readTlv(pdu.tlvs, "sar_segment_seqnum");
  const reference = readTlv(pdu.tlvs, "sar_msg_ref_num");
  const sar =
    total !== undefined &&
    sequence !== undefined &&
    reference !== undefined &&
    total > 1 &&
    sequence >= 1 &&
    sequence <= total;
  return {
    from: pdu.sourceAddr.replace(/^\+/, ""),
    to: pdu.destinationAddr.replace(/^\+/, ""),
    text,
    concatenation: concatenation ?? (sar ? { reference, total, sequence } : null),
    atMs: nowMs,
  };
}

function textOf(pdu: Delivered, octets: Uint8Array, profile: SmppProfile) {
  const hasHeader = (pdu.esmClass & HAS_HEADER) !== 0;
  const byOctet =
    pdu.dataCoding === IA5 ||
    pdu.dataCoding === LATIN1 ||
    (pdu.dataCoding === 0 && (profile.alphabet === "latin1" || profile.alphabet === "ascii"));
  const decoded = decodeUserData({
    octets,
    hasHeader,
    dataCoding: pdu.dataCoding,
    unpacked: profile.alphabet !== "gsm packed",
  });
  if (!byOctet) return decoded;
  const text = Buffer.from(decoded.payload).toString("latin1");
  return { ...decoded, text };
}
