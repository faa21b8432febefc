/**
 * A part of a message as the network took it and what has become of it, and the record of it that a test or an operator reads.
 */
import type { Pdu } from "../carriers/smpp/codec/pdu.ts";
import { NO_TLVS, readTlv, type Tlv } from "../carriers/smpp/codec/tlvs.ts";
import { VENDOR_TAGS } from "../carriers/smpp/profile.ts";
import { readSar } from "../carriers/smpp/sar.ts";
import type { ReceiptOutcome } from "../message/receipt.ts";
import type { PartForHandset } from "../simulator/handsets.ts";
import { beginsWithHeader, HEADER_BIT } from "../sms/binary.ts";
import { type Concatenation, readHeader } from "../sms/header.ts";
import { decodeUserData } from "../sms/text.ts";

/** The requests that hand a message over. */
export type SubmitPdu = Pdu<"submit_sm"> | Pdu<"data_sm"> | Pdu<"submit_multi">;

/** What a receipt says of a part; cancel_sm deletes it. */
export type PartOutcome = ReceiptOutcome | "deleted";

export interface Address {
  /** Type of number and numbering plan. */
  readonly ton: number;
  readonly npi: number;
  readonly address: string;
}

/** What the network takes data_coding 0 for. */
export type PartAlphabet = "gsm" | "gsm packed" | "latin1" | "ascii";

/** Where a part stands in its message. */
export type Place = Readonly<Concatenation>;

export interface TakenPart extends PartForHandset {
  /** Counts the parts as they come, from 1. */
  readonly arrival: number;
  readonly ids: { readonly inAnswer: string; readonly inReceipt: string };
  readonly systemId: string;
  /** Counts the connections as they come, from 1. */
  readonly connection: number;
  readonly source: Address;
  readonly destination: Address;
  readonly esmClass: number;
  readonly dataCoding: number;
  readonly alphabet: PartAlphabet;
  readonly registeredDelivery: number;
  /** Null when there is no record to be kept. */
  readonly octets: Uint8Array | null;
  /** The optional parameters that are the carriers' own, in their order. */
  readonly tlvs: readonly Tlv[];
  readonly place: Place | null;
  readonly takenAtMs: number;
  /** What the monotonic clock was ahead of the wall clock then. */
  readonly monotonicAheadMs: number;
  /** A receipt of it is to come. */
  inHand: boolean;
  outcome: PartOutcome;
  errorId: number;
  /** When the last word about it was spoken; null before. */
  doneAtMs: number | null;
}

/** What a phone got, in one line of the record. */
export interface PartRecord
  extends Pick<
    TakenPart,
    "arrival" | "systemId" | "connection" | "place" | "tlvs" | "dataCoding" | "esmClass" | "registeredDelivery"
  > {
  /** As in the answer to the submit. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Of this part alone. */
  readonly text: string;
  /** With the user data header, where there is one. */
  readonly octets: Uint8Array;
  readonly atMs: number;
  /** "held" until its phone has said something. */
  readonly outcome: PartOutcome;
}

/** data_coding of SMPP 3.4 §5.2.19 that 23.038 does not have: IA5 and Latin-1. */
const BY_OCTET = new Set([1, 3]);

const NOT_ASCII = /[\x80-\xff]/g;

const NO_OCTETS = new Uint8Array();
/** Tag and length of an optional parameter. */
const TLV_OCTETS = 4;

export function octetsOf(pdu: SubmitPdu): Uint8Array {
  const payload = pdu.tlvs.length === 0 ? undefined : readTlv(pdu.tlvs, "message_payload");
  if (payload !== undefined) return payload;
  return pdu.command === "data_sm" ? NO_OCTETS : pdu.shortMessage;
}

/** As many as fit so many octets, copied: those that came are views into what was received. */
export function vendorTlvsOf({ tlvs }: SubmitPdu, maxOctets: number): readonly Tlv[] {
  if (tlvs.length === 0) return NO_TLVS;
  const kept: Tlv[] = [];
  let octets = 0;
  for (const { tag, value } of tlvs) {
    if (tag < VENDOR_TAGS.first || tag > VENDOR_TAGS.last) continue;
    octets += TLV_OCTETS + value.length;
    if (octets > maxOctets) break;
    kept.push({ tag, value: Buffer.from(value) });
  }
  return kept;
}

/** By the user data header, or by the sar_ parameters. */
export function placeOf({ esmClass, tlvs }: SubmitPdu, octets: Uint8Array): Place | null {
  // A header may be there for a shift table alone.
  const inHeader = hasHeader(esmClass, octets) ? readHeader(octets).header.concatenation : undefined;
  return inHeader ?? readSar(tlvs);
}

/** Some customers set the bit over a text that has no header. */
function hasHeader(esmClass: number, octets: Uint8Array): boolean {
  return (esmClass & HEADER_BIT) !== 0 && beginsWithHeader(octets);
}

export function textOf({ octets, esmClass, dataCoding, alphabet }: TakenPart): string {
  if (octets === null) return "";
  const decoded = decodeUserData({
    octets,
    hasHeader: hasHeader(esmClass, octets),
    dataCoding,
    unpacked: alphabet !== "gsm packed",
  });
  const characters = Buffer.from(decoded.payload).toString("latin1");
  if (BY_OCTET.has(dataCoding)) return characters;
  if (decoded.alphabet !== "gsm7" || alphabet.startsWith("gsm")) return decoded.text;
  return alphabet === "ascii" ? characters.replace(NOT_ASCII, "?") : characters;
}

export function recordOf(part: TakenPart): PartRecord {
  return {
    arrival: part.arrival,
    id: part.ids.inAnswer,
    systemId: part.systemId,
    connection: part.connection,
    from: part.source.address,
    to: part.destination.address,
    text: textOf(part),
    place: part.place,
    octets: part.octets ?? NO_OCTETS,
    tlvs: part.tlvs,
    dataCoding: part.dataCoding,
    esmClass: part.esmClass,
    registeredDelivery: part.registeredDelivery,
    atMs: part.takenAtMs,
    outcome: part.outcome,
  };
}
