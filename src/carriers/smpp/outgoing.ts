/** A message becomes submit_sm PDUs, in the way that the carrier's profile wants them. Pure. */
import { DESTINATION_TYPE, senderType } from "../../sms/addresses.ts";
import { HEADER_BIT, readHex } from "../../sms/binary.ts";
import { type Body, encodeBody, isOctets, type OctetEncoding } from "../../sms/body.ts";
import { cutText } from "../../sms/parts.ts";
import type { Encoding, UserData } from "../../sms/text.ts";
import { encodeUserData, type PartsOptions } from "../../sms/userdata.ts";
import { bodyFor, takesGsm, writtenSender } from "../../sms/writing.ts";
import type { OutgoingMessage, PartToSubmit } from "../port.ts";
import { NO_OCTETS } from "./codec/octets.ts";
import type { PduDraft } from "./codec/pdu.ts";
import { formatRelativeTime, MAX_RELATIVE_MS } from "./codec/times.ts";
import { makeTlv, NO_TLVS, type Tlv } from "./codec/tlvs.ts";
import type { SmppProfile } from "./profile.ts";
import { regionalTlvs } from "./regional-tlvs.ts";

/** registered_delivery: a receipt for the final outcome, and an intermediate notification (§5.2.17). */
const FINAL_RECEIPT = 0x01;
const INTERMEDIATE_NOTIFICATION = 0x10;
/** short_message holds this much; more goes into message_payload. */
const SHORT_MESSAGE_OCTETS = 254;
const MIN_VALIDITY_MS = 60_000;

type TextBody = Body & { readonly encoding: Encoding };

export function partsOf(message: OutgoingMessage, profile: SmppProfile): PartToSubmit[] {
  const { encoding } = message;
  return isOctets(encoding) ? octetParts(message, encoding, profile) : textParts(message, profile);
}

/** Octets go as the client gave them, whatever the carrier's alphabet. Where it wants long messages without a header of ours, ours is taken off. */
function octetParts(message: OutgoingMessage, { dataCoding }: OctetEncoding, profile: SmppProfile): PartToSubmit[] {
  const method = profile.longMessages ?? "udh";
  const { flash = false, reference } = message;
  const options = { flash, reference: reference ?? 0 };
  const parts = withHeaders(message, options, method === "udh" ? profile.referenceBits : 8);
  const total = parts.length;
  if (method === "udh" || total === 1) return parts.map((userData) => ({ message, userData, place: null }));
  const bare = (octets: Uint8Array): UserData => ({
    octets,
    hasHeader: false,
    dataCoding,
    length: octets.length,
    text: "",
  });
  if (method === "payload") return [{ message, userData: bare(readHex(message.text)!), place: null }];
  return parts.map(({ octets }, index) => ({
    message,
    userData: bare(octets.subarray(octets[0]! + 1)),
    place: { sequence: index + 1, total },
  }));
}

/** A text goes as it was counted for this carrier's alphabet; one that was counted for another's becomes what it is in this one only here. */
function textParts(message: OutgoingMessage, profile: SmppProfile): PartToSubmit[] {
  const body = bodyFor(message, profile) as TextBody;
  const method = profile.longMessages ?? "udh";
  const byCharacter = body.encoding === "gsm7" && !takesGsm(profile);
  const { reference, flash = false } = message;
  const options = { reference: reference ?? 0, flash, unpacked: profile.alphabet !== "gsm packed", padded: true };
  if (method === "udh") {
    const parts = withHeaders(body, options, profile.referenceBits);
    const written = byCharacter ? parts.map(inCharacters) : parts;
    return written.map((userData) => ({ message, userData, place: null }));
  }
  const texts = method === "payload" ? [body.text] : cutText(body.text, body.encoding);
  const total = texts.length;
  return texts.map((text, index) => {
    const userData = encodeUserData(text, body.encoding, options);
    const place = total === 1 ? null : { sequence: index + 1, total };
    return { message, userData: byCharacter ? inCharacters(userData) : userData, place };
  });
}

/** The header is that of the GSM part; only the characters are written otherwise, an octet each. */
function inCharacters(part: UserData): UserData {
  const header = part.hasHeader ? part.octets.subarray(0, part.octets[0]! + 1) : new Uint8Array();
  const octets = Buffer.concat([header, Buffer.from(part.text, "latin1")]);
  return { ...part, octets, length: octets.length };
}

/** A wider reference takes an octet of each part, and prices are by the narrow one: it is had only where it costs no part. */
function withHeaders(body: Body, options: PartsOptions, referenceBits: SmppProfile["referenceBits"]): UserData[] {
  const narrow = encodeBody(body, options);
  if (referenceBits !== 16 || narrow.length === 1) return narrow;
  const wide = encodeBody(body, { ...options, wideReference: true });
  return wide.length === narrow.length ? wide : narrow;
}

/** Null for a sender that the carrier has no letters for: its profile has changed since the message was accepted. */
export function submitOf(
  { message, userData, place }: PartToSubmit,
  profile: SmppProfile,
  nowMs: number,
): PduDraft<"submit_sm"> | null {
  const sourceAddr = writtenSender(message.from, profile);
  if (sourceAddr === null) return null;
  const source = sourceType(message.from, profile);
  const destination = profile.destinationType ?? DESTINATION_TYPE;
  // A clock that was set back makes any time long.
  const validityMs = Math.min(Math.max(MIN_VALIDITY_MS, message.expiresAtMs - nowMs), MAX_RELATIVE_MS);
  const payload = userData.octets.length > SHORT_MESSAGE_OCTETS;
  return {
    command: "submit_sm",
    serviceType: profile.serviceType ?? "",
    sourceAddrTon: source.ton,
    sourceAddrNpi: source.npi,
    sourceAddr,
    destAddrTon: destination.ton,
    destAddrNpi: destination.npi,
    destinationAddr: message.to,
    esmClass: esmClassOf(message, userData),
    validityPeriod: formatRelativeTime(validityMs),
    registeredDelivery: FINAL_RECEIPT | (message.intermediateReport ? INTERMEDIATE_NOTIFICATION : 0),
    dataCoding: userData.dataCoding,
    shortMessage: payload ? NO_OCTETS : userData.octets,
    // Nearly all have none.
    tlvs: payload || place !== null || message.regional != null ? tlvsOf(message, userData, place, profile) : NO_TLVS,
  };
}

function tlvsOf(
  { reference, regional }: OutgoingMessage,
  { octets }: UserData,
  place: PartToSubmit["place"],
  profile: SmppProfile,
): Tlv[] {
  const tlvs: Tlv[] = [];
  if (place !== null) {
    tlvs.push(
      makeTlv("sar_msg_ref_num", reference ?? 0),
      makeTlv("sar_total_segments", place.total),
      makeTlv("sar_segment_seqnum", place.sequence),
    );
  }
  if (octets.length > SHORT_MESSAGE_OCTETS) tlvs.push(makeTlv("message_payload", octets));
  // In every part: a carrier checks each submit by itself.
  if (regional != null) tlvs.push(...regionalTlvs(regional, profile));
  return tlvs;
}

/** The client's own, where there is one; but whether there is a header is as the part has it. */
function esmClassOf({ encoding }: OutgoingMessage, { hasHeader }: UserData): number {
  const own = isOctets(encoding) ? encoding.esmClass & ~HEADER_BIT : 0;
  return own | (hasHeader ? HEADER_BIT : 0);
}

/** By the type of number that a sender has: where the profile may name another. */
const SENDER_TYPES = { 1: "internationalType", 3: "shortCodeType", 5: "nameType" } as const;

function sourceType(from: string, profile: SmppProfile) {
  const type = senderType(from);
  return profile[SENDER_TYPES[type.ton as keyof typeof SENDER_TYPES]] ?? type;
}
