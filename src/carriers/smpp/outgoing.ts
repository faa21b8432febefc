/** A message becomes submit_sm PDUs, in the way that the carrier's profile wants them. Pure. */
import { DESTINATION_TYPE, senderType } from "../../sms/addresses.ts";
import { HEADER_BIT, readHex } from "../../sms/binary.ts";
import { type Body, encodeBody, isOctets, type OctetEncoding } from "../../sms/body.ts";
import { cutText } from "../../sms/parts.ts";
import type { Encoding, UserData } from "../../sms/text.ts";
import { encodeUserData, type PartsOptions } from "../../sms/userdata.ts";
import type { OutgoingMessage, PartToSubmit } from "../port.ts";
import type { PduDraft } from "./codec/pdu.ts";
import { formatRelativeTime } from "./codec/times.ts";
import { makeTlv, type Tlv } from "./codec/tlvs.ts";
import type { SmppProfile } from "./profile.ts";

/** registered_delivery: a receipt for the final outcome, and an intermediate notification (§5.2.17). */
const FINAL_RECEIPT = 0x01;
const INTERMEDIATE_NOTIFICATION = 0x10;
/** short_message holds this much; more goes into message_payload. */
const SHORT_MESSAGE_OCTETS = 254;
const SHORTEST_VALIDITY_MS = 60_000;

const LATIN1 = /^[\n\r\x20-\x7e\xa0-\xff]*$/;
const ASCII = /^[\n\r\x20-\x7e]*$/;
/** The alphabets that a carrier may take data_coding 0 for in place of GSM, and the texts that they can hold. */
const FOREIGN_ALPHABETS: Readonly<Record<string, RegExp>> = { latin1: LATIN1, ascii: ASCII };

type TextMessage = OutgoingMessage & { readonly encoding: Encoding };

export function partsOf(message: OutgoingMessage, profile: SmppProfile): PartToSubmit[] {
  const { encoding } = message;
  return isOctets(encoding) ? octetParts(message, encoding, profile) : textParts(message as TextMessage, profile);
}

/** Octets go as the client gave them, whatever the carrier's alphabet. Where it wants long messages without a header of ours, ours is taken off. */
function octetParts(message: OutgoingMessage, { dataCoding }: OctetEncoding, profile: SmppProfile): PartToSubmit[] {
  const method = profile.longMessages ?? "udh";
  const parts = withHeaders(message, message, method === "udh" ? profile.referenceBits : 8);
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

function textParts(message: TextMessage, profile: SmppProfile): PartToSubmit[] {
  const method = profile.longMessages ?? "udh";
  if (method === "udh") {
    return udhParts(message, profile).map((userData) => ({ message, userData, place: null }));
  }
  const texts = method === "payload" ? [message.text] : cutText(message.text, message.encoding);
  const total = texts.length;
  return texts.map((text, index) => ({
    message,
    userData: userDataOf(text, message, profile),
    place: total === 1 ? null : { sequence: index + 1, total },
  }));
}

/** A text that is GSM to us goes to such a carrier as it is, an octet a character, or else in UCS-2, which all understand. */
function udhParts(message: TextMessage, profile: SmppProfile): UserData[] {
  const foreign = FOREIGN_ALPHABETS[profile.alphabet ?? "gsm"];
  const options = { reference: message.reference, flash: message.flash, unpacked: profile.alphabet !== "gsm packed" };
  const encode = (body: Body) => withHeaders(body, options, profile.referenceBits);
  if (foreign === undefined || message.encoding === "ucs2") return encode(message);
  if (!foreign.test(message.text) || message.encoding !== "gsm7") {
    return encode({ text: message.text, encoding: "ucs2" });
  }
  // The headers are those of the GSM parts; only the characters are written otherwise.
  return encode(message).map((part) => {
    const header = part.hasHeader ? part.octets.subarray(0, part.octets[0]! + 1) : new Uint8Array();
    const octets = Buffer.concat([header, Buffer.from(part.text, "latin1")]);
    return { ...part, octets, length: octets.length };
  });
}

/** A wider reference takes an octet of each part, and prices are by the narrow one: it is had only where it costs no part. */
function withHeaders(body: Body, options: PartsOptions, referenceBits: SmppProfile["referenceBits"]): UserData[] {
  const narrow = encodeBody(body, options);
  if (referenceBits !== 16 || narrow.length === 1) return narrow;
  const wide = encodeBody(body, { ...options, wideReference: true });
  return wide.length === narrow.length ? wide : narrow;
}

function userDataOf(text: string, message: TextMessage, profile: SmppProfile): UserData {
  const options = { flash: message.flash, unpacked: profile.alphabet !== "gsm packed" };
  const foreign = FOREIGN_ALPHABETS[profile.alphabet ?? "gsm"];
  if (foreign === undefined || message.encoding === "ucs2") return encodeUserData(text, message.encoding, options);
  if (!foreign.test(text) || message.encoding !== "gsm7") return encodeUserData(text, "ucs2", options);
  const octets = Buffer.from(text, "latin1");
  return { ...encodeUserData(text, "gsm7", options), octets, length: octets.length };
}

export function submitOf(
  { message, userData, place }: PartToSubmit,
  profile: SmppProfile,
  nowMs: number,
): PduDraft<"submit_sm"> {
  const source = sourceType(message.from, profile);
  const destination = profile.destinationType ?? DESTINATION_TYPE;
  const payload = userData.octets.length > SHORT_MESSAGE_OCTETS;
  const tlvs: Tlv[] = [];
  if (place !== null) {
    tlvs.push(
      makeTlv("sar_msg_ref_num", message.reference),
      makeTlv("sar_total_segments", place.total),
      makeTlv("sar_segment_seqnum", place.sequence),
    );
  }
  if (payload) tlvs.push(makeTlv("message_payload", userData.octets));
  return {
    command: "submit_sm",
    serviceType: profile.serviceType ?? "",
    sourceAddrTon: source.ton,
    sourceAddrNpi: source.npi,
    sourceAddr: message.from,
    destAddrTon: destination.ton,
    destAddrNpi: destination.npi,
    destinationAddr: message.to,
    esmClass: esmClassOf(message, userData),
    validityPeriod: formatRelativeTime(Math.max(SHORTEST_VALIDITY_MS, message.expiresAtMs - nowMs)),
    registeredDelivery: FINAL_RECEIPT | (message.intermediateReport ? INTERMEDIATE_NOTIFICATION : 0),
    dataCoding: userData.dataCoding,
    ...(payload ? {} : { shortMessage: userData.octets }),
    tlvs,
  };
}

/** The client's own, where there is one; but whether there is a header is as the part has it. */
function esmClassOf({ encoding }: OutgoingMessage, { hasHeader }: UserData): number {
  const own = isOctets(encoding) ? encoding.esmClass & ~HEADER_BIT : 0;
  return own | (hasHeader ? HEADER_BIT : 0);
}

function sourceType(from: string, profile: SmppProfile) {
  const type = senderType(from);
  const overrides = { 1: profile.internationalType, 3: profile.shortCodeType, 5: profile.nameType };
  return overrides[type.ton as keyof typeof overrides] ?? type;
}
