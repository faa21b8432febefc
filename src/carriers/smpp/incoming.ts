/** What a carrier sends us, read: a receipt, or a message from a phone. Pure. */
import { boundedText } from "../../runtime/text.ts";
import type { Concatenation } from "../../sms/header.ts";
import { decodeUserData } from "../../sms/text.ts";
import { phoneOf } from "../phones.ts";
import type { IncomingPart, Receipt } from "../port.ts";
import type { Pdu } from "./codec/pdu.ts";
import { readTlv } from "./codec/tlvs.ts";
import { idInReceipt, isUsableId } from "./message-id.ts";
import type { SmppProfile } from "./profile.ts";
import { type DeliveredFacts, isMarked, looksLikeReceipt, MAX_RECEIPT_OCTETS, readReceipt } from "./receipt.ts";
import { readSar } from "./sar.ts";

const HAS_HEADER = 0x40;
/** data_coding of SMPP 3.4 §5.2.19 that 23.038 does not have: IA5 and Latin-1. */
const IA5 = 1;
const LATIN1 = 3;

/** An 8-bit reference of 5, a 16-bit one and a sar_ one are three messages: each kind is numbered from here on. */
const WIDE_REFERENCES = 0x10000;
const SAR_REFERENCES = 0x20000;

export type Delivered = Pdu<"deliver_sm"> | Pdu<"data_sm">;

/** What only looks like a receipt comes with what it is if it is none. */
export type Incoming =
  | { kind: "receipt"; receipt: Receipt; asMessage?: IncomingPart }
  | { kind: "message"; part: IncomingPart };

/** The standard's longest address has 64 characters (data_sm). */
const MAX_ADDRESS_LENGTH = 64;
const CONTROLS = /\p{Cc}/gu;

export function readDelivered(pdu: Delivered, profile: SmppProfile, nowMs: number): Incoming {
  const octets = octetsOf(pdu);
  const facts: DeliveredFacts = {
    esmClass: pdu.esmClass,
    text: Buffer.from(octets.buffer, octets.byteOffset, Math.min(octets.length, MAX_RECEIPT_OCTETS)).toString("latin1"),
    receiptedMessageId: readTlv(pdu.tlvs, "receipted_message_id") ?? null,
    messageState: readTlv(pdu.tlvs, "message_state") ?? null,
    networkErrorCode: readTlv(pdu.tlvs, "network_error_code") ?? null,
  };
  if (isMarked(facts)) return { kind: "receipt", receipt: receiptOf(pdu, facts, profile, nowMs) };
  const part = messageOf(pdu, octets, profile, nowMs);
  if (profile.unmarkedReceipts !== true || !looksLikeReceipt(facts)) return { kind: "message", part };
  return {
    kind: "receipt",
    receipt: { ...receiptOf(pdu, facts, { ...profile, receiptAddresses: "message" }, nowMs), unmarked: true },
    asMessage: part,
  };
}

function receiptOf(pdu: Delivered, facts: DeliveredFacts, profile: SmppProfile, nowMs: number): Receipt {
  const { id, outcome, errorId } = readReceipt(facts);
  const spelt = idInReceipt(id ?? "", profile.receiptIds ?? "same");
  const hasPhone = profile.receiptAddresses !== "carrier";
  return {
    // One without an id that can be used is kept too: its phone may have a part whose id was never learnt.
    carrierMessageId: isUsableId(spelt) ? spelt : "",
    outcome,
    errorId,
    // The receipt's own dates have no time zone and are at times impossible: what counts is when we heard.
    atMs: nowMs,
    mccMnc: null,
    // A receipt comes from the phone that the message went to. Some carriers swap the two.
    to: hasPhone ? phoneOf(pdu.sourceAddr) : null,
    other: hasPhone ? phoneOf(pdu.destinationAddr) : null,
  };
}

function addressOf(address: string): string {
  return boundedText(address.replace(/^\+/, "").replace(CONTROLS, ""), MAX_ADDRESS_LENGTH);
}

function octetsOf(pdu: Delivered): Uint8Array {
  const payload = readTlv(pdu.tlvs, "message_payload");
  if (payload !== undefined) return payload;
  return pdu.command === "deliver_sm" ? pdu.shortMessage : new Uint8Array();
}

function messageOf(pdu: Delivered, octets: Uint8Array, profile: SmppProfile, nowMs: number): IncomingPart {
  const { text, concatenation, wideReference } = textOf(pdu, octets, profile);
  return {
    from: addressOf(pdu.sourceAddr),
    to: addressOf(pdu.destinationAddr),
    text,
    concatenation:
      concatenation === undefined
        ? numbered(readSar(pdu.tlvs), SAR_REFERENCES)
        : numbered(concatenation, wideReference ? WIDE_REFERENCES : 0),
    atMs: nowMs,
  };
}

function numbered(place: Concatenation | null, from: number): Concatenation | null {
  return place === null || from === 0 ? place : { ...place, reference: from + place.reference };
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
