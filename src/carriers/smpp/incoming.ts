/** What a carrier sends us, read: a receipt, or a message from a phone. Pure. */
import type { IncomingPart } from "../../message/incoming.ts";
import { phoneOf } from "../../message/phones.ts";
import type { Receipt } from "../../message/receipt.ts";
import { boundedText } from "../../runtime/text.ts";
import { HEADER_BIT } from "../../sms/binary.ts";
import type { Concatenation } from "../../sms/header.ts";
import { readReceived, textOfReceived } from "../../sms/received.ts";
import { isUsableId } from "../usable-id.ts";
import { encodePdu } from "./codec/encode.ts";
import { NO_OCTETS, Writer } from "./codec/octets.ts";
import type { Pdu } from "./codec/pdu.ts";
import { readTlv, tlvOctets, writeTlvs } from "./codec/tlvs.ts";
import { charsetOf, isPacked } from "./data-coding.ts";
import { idInReceipt } from "./message-id.ts";
import type { SmppProfile } from "./profile.ts";
import { type DeliveredFacts, isMarked, looksLikeReceipt, type ReadReceipt, readReceipt } from "./receipt.ts";
import { otherTexts, receiptText } from "./receipt-text.ts";
import { readSar } from "./sar.ts";

/** An 8-bit reference of 5, a 16-bit one and a sar_ one are three messages: each kind is numbered from here on. */
const WIDE_REFERENCES = 0x10000;
const SAR_REFERENCES = 0x20000;

export type Delivered = Pdu<"deliver_sm"> | Pdu<"data_sm">;

/** What only looks like a receipt comes with what it is if it is none. */
export type Incoming =
  | { kind: "receipt"; receipt: Receipt; asMessage?: IncomingPart; raw: string }
  | { kind: "message"; part: IncomingPart };

/** The standard's longest address has 64 characters (data_sm). */
const MAX_ADDRESS_LENGTH = 64;
const CONTROLS = /\p{Cc}/gu;

export function readDelivered(pdu: Delivered, profile: SmppProfile, nowMs: number): Incoming {
  const octets = octetsOf(pdu);
  const hasHeader = (pdu.esmClass & HEADER_BIT) !== 0;
  const isGsm = charsetOf(pdu.dataCoding, profile) === "gsm";
  const facts: DeliveredFacts = {
    esmClass: pdu.esmClass,
    text: receiptText({ octets, hasHeader, isGsm }),
    receiptedMessageId: readTlv(pdu.tlvs, "receipted_message_id") ?? null,
    messageState: readTlv(pdu.tlvs, "message_state") ?? null,
    networkErrorCode: readTlv(pdu.tlvs, "network_error_code") ?? null,
  };
  if (isMarked(facts)) {
    const receipt = receiptOf(pdu, readMarked(pdu, facts), profile, nowMs);
    return { kind: "receipt", receipt, raw: facts.text };
  }
  const part = messageOf(pdu, octets, profile, nowMs);
  if (profile.unmarkedReceipts !== true) return { kind: "message", part };
  const text = [facts.text, ...otherTexts({ octets, hasHeader })].find(looksLikeReceipt);
  if (text === undefined) return { kind: "message", part };
  const read = readReceipt({ ...facts, text });
  return {
    kind: "receipt",
    receipt: { ...receiptOf(pdu, read, { ...profile, receiptAddresses: "message" }, nowMs), unmarked: true },
    asMessage: part,
    raw: text,
  };
}

/** A text in which nothing is found may be meant in another way, or stand in the other of its two places. */
function readMarked(pdu: Delivered, facts: DeliveredFacts): ReadReceipt {
  const read = readReceipt(facts);
  if (read.isWhole || read.isReadable) return read;
  const hasHeader = (pdu.esmClass & HEADER_BIT) !== 0;
  for (const octets of new Set([octetsOf(pdu), shortMessageOf(pdu)])) {
    if (octets.length === 0) continue;
    for (const text of otherTexts({ octets, hasHeader })) {
      const again = readReceipt({ ...facts, text });
      if (again.isReadable) return again;
    }
  }
  return read;
}

function receiptOf(pdu: Delivered, read: ReadReceipt, profile: SmppProfile, nowMs: number): Receipt {
  const { id, outcome, errorId, submittedAtMs, isWhole } = read;
  const spelt = idInReceipt(id ?? "", profile.receiptIds ?? "same");
  const hasUsableId = isUsableId(spelt);
  const hasPhone = profile.receiptAddresses !== "carrier";
  const receipt: Receipt = {
    // One without an id that can be used is kept too: its phone may have a part whose id was never learnt.
    carrierMessageId: hasUsableId ? spelt : "",
    outcome,
    errorId,
    // The receipt's own dates have no time zone and are at times impossible: what counts is when we heard.
    atMs: nowMs,
    mccMnc: null,
    // A receipt comes from the phone that the message went to. Some carriers swap the two.
    to: hasPhone ? phoneOf(pdu.sourceAddr) : null,
    other: hasPhone ? phoneOf(pdu.destinationAddr) : null,
    submittedAtMs,
  };
  return isWhole && hasUsableId ? receipt : { ...receipt, octets: wireOf(pdu).toString("hex", 0, MAX_SHOWN_OCTETS) };
}

/** So much of a receipt that cannot be read is shown to people. */
const MAX_SHOWN_OCTETS = 1_024;

/** The PDU as it came; what we read leniently and cannot write (an address that is too long) is left out. */
function wireOf(pdu: Delivered): Buffer {
  try {
    return encodePdu(pdu);
  } catch {
    const writer = new Writer(tlvOctets(pdu.tlvs));
    writeTlvs(writer, pdu.tlvs);
    return Buffer.concat([shortMessageOf(pdu), writer.octets]);
  }
}

function addressOf(address: string): string {
  return boundedText(address.replace(/^\+/, "").replace(CONTROLS, ""), MAX_ADDRESS_LENGTH);
}

function shortMessageOf(pdu: Delivered): Uint8Array {
  return pdu.command === "deliver_sm" ? pdu.shortMessage : NO_OCTETS;
}

/** Whichever of the two has something in it. */
function octetsOf(pdu: Delivered): Uint8Array {
  const payload = readTlv(pdu.tlvs, "message_payload");
  return payload === undefined || payload.length === 0 ? shortMessageOf(pdu) : payload;
}

function messageOf(pdu: Delivered, octets: Uint8Array, profile: SmppProfile, nowMs: number): IncomingPart {
  const { dataCoding } = pdu;
  const received = readReceived({
    octets,
    hasHeader: (pdu.esmClass & HEADER_BIT) !== 0,
    dataCoding,
    charset: charsetOf(dataCoding, profile),
    packed: isPacked(dataCoding, profile),
  });
  const { content, wideReference } = received;
  const concatenation =
    received.concatenation === null
      ? numbered(readSar(pdu.tlvs), SAR_REFERENCES)
      : numbered(received.concatenation, wideReference ? WIDE_REFERENCES : 0);
  const part: IncomingPart = {
    from: addressOf(pdu.sourceAddr),
    to: addressOf(pdu.destinationAddr),
    text: textOfReceived(content),
    concatenation,
    atMs: nowMs,
  };
  return concatenation === null && content.charset !== "binary" ? part : { ...part, octets: content };
}

function numbered(place: Concatenation | null, from: number): Concatenation | null {
  return place === null || from === 0 ? place : { ...place, reference: from + place.reference };
}
