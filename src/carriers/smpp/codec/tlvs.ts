/**
 * Optional parameters, called TLVs for their tag, length and value. They are kept as they came, known or not, in their order and
 * as often as they came, up to `MAX_TLVS`; behind these only the first of each that is known. The known ones can be read and made by their
 * names of SMPP 3.4 §5.3.2 and 5.0 §4.8.4.
 */
import { asBuffer, type Reader, type Writer } from "./octets.ts";

export interface Tlv {
  readonly tag: number;
  /** In a received PDU a view into what was received: copy it (`Buffer.from`) to keep it. */
  readonly value: Uint8Array;
}

/** How the octets of a value are read: a number of so many octets, a string, or nothing but octets. */
interface Values {
  uint8: number;
  uint16: number;
  uint32: number;
  cString: string;
  octets: Uint8Array;
}
type Kind = keyof Values;

export const TLVS = {
  dest_addr_subunit: { tag: 0x0005, kind: "uint8" },
  dest_network_type: { tag: 0x0006, kind: "uint8" },
  dest_bearer_type: { tag: 0x0007, kind: "uint8" },
  dest_telematics_id: { tag: 0x0008, kind: "uint16" },
  source_addr_subunit: { tag: 0x000d, kind: "uint8" },
  source_network_type: { tag: 0x000e, kind: "uint8" },
  source_bearer_type: { tag: 0x000f, kind: "uint8" },
  source_telematics_id: { tag: 0x0010, kind: "uint8" },
  qos_time_to_live: { tag: 0x0017, kind: "uint32" },
  payload_type: { tag: 0x0019, kind: "uint8" },
  additional_status_info_text: { tag: 0x001d, kind: "cString" },
  receipted_message_id: { tag: 0x001e, kind: "cString" },
  ms_msg_wait_facilities: { tag: 0x0030, kind: "uint8" },
  privacy_indicator: { tag: 0x0201, kind: "uint8" },
  source_subaddress: { tag: 0x0202, kind: "octets" },
  dest_subaddress: { tag: 0x0203, kind: "octets" },
  user_message_reference: { tag: 0x0204, kind: "uint16" },
  user_response_code: { tag: 0x0205, kind: "uint8" },
  source_port: { tag: 0x020a, kind: "uint16" },
  destination_port: { tag: 0x020b, kind: "uint16" },
  sar_msg_ref_num: { tag: 0x020c, kind: "uint16" },
  language_indicator: { tag: 0x020d, kind: "uint8" },
  sar_total_segments: { tag: 0x020e, kind: "uint8" },
  sar_segment_seqnum: { tag: 0x020f, kind: "uint8" },
  sc_interface_version: { tag: 0x0210, kind: "uint8" },
  callback_num_pres_ind: { tag: 0x0302, kind: "uint8" },
  callback_num_atag: { tag: 0x0303, kind: "octets" },
  number_of_messages: { tag: 0x0304, kind: "uint8" },
  callback_num: { tag: 0x0381, kind: "octets" },
  dpf_result: { tag: 0x0420, kind: "uint8" },
  set_dpf: { tag: 0x0421, kind: "uint8" },
  ms_availability_status: { tag: 0x0422, kind: "uint8" },
  network_error_code: { tag: 0x0423, kind: "octets" },
  message_payload: { tag: 0x0424, kind: "octets" },
  delivery_failure_reason: { tag: 0x0425, kind: "uint8" },
  more_messages_to_send: { tag: 0x0426, kind: "uint8" },
  message_state: { tag: 0x0427, kind: "uint8" },
  // 5.0
  congestion_state: { tag: 0x0428, kind: "uint8" },
  ussd_service_op: { tag: 0x0501, kind: "octets" },
  // 5.0
  billing_identification: { tag: 0x060b, kind: "octets" },
  source_network_id: { tag: 0x060d, kind: "cString" },
  dest_network_id: { tag: 0x060e, kind: "cString" },
  source_node_id: { tag: 0x060f, kind: "octets" },
  dest_node_id: { tag: 0x0610, kind: "octets" },
  dest_addr_np_resolution: { tag: 0x0611, kind: "uint8" },
  dest_addr_np_information: { tag: 0x0612, kind: "octets" },
  dest_addr_np_country: { tag: 0x0613, kind: "uint32" },
  display_time: { tag: 0x1201, kind: "uint8" },
  sms_signal: { tag: 0x1203, kind: "uint16" },
  ms_validity: { tag: 0x1204, kind: "octets" },
  // No value: it says what it says by being there.
  alert_on_message_delivery: { tag: 0x130c, kind: "octets" },
  its_reply_type: { tag: 0x1380, kind: "uint8" },
  its_session_info: { tag: 0x1383, kind: "octets" },
} as const satisfies Record<string, { readonly tag: number; readonly kind: Kind }>;

export const KNOWN_TAGS: ReadonlySet<number> = new Set(Object.values(TLVS).map(({ tag }) => tag));

export type TlvName = keyof typeof TLVS;
export type TlvValue<Name extends TlvName> = Values[(typeof TLVS)[Name]["kind"]];

/** What a PDU without optional parameters has. */
export const NO_TLVS: readonly Tlv[] = Object.freeze([]);

/** The value of the first of that name; undefined when there is none, or when its octets make no value of its kind. */
export function readTlv<Name extends TlvName>(tlvs: readonly Tlv[], name: Name): TlvValue<Name> | undefined {
  const { tag, kind } = TLVS[name];
  const found = find(tlvs, tag);
  if (found === undefined) return undefined;
  return READ[kind](found.value) as TlvValue<Name> | undefined;
}

export function makeTlv<Name extends TlvName>(name: Name, value: TlvValue<Name>): Tlv {
  const { tag, kind } = TLVS[name];
  return { tag, value: (MAKE[kind] as (value: TlvValue<Name>) => Uint8Array)(value) };
}

/** By places: of each receipt four are looked for, and an iterator each time would cost as much as all else that is read of them. */
function find(tlvs: readonly Tlv[], tag: number): Tlv | undefined {
  for (let place = 0; place < tlvs.length; place++) if (tlvs[place]!.tag === tag) return tlvs[place];
  return undefined;
}

/** As many octets as there are: carriers write one where the standard wants two, and the reverse. */
function readNumber(value: Uint8Array): number | undefined {
  if (value.length === 0 || value.length > 4) return undefined;
  let number = 0;
  for (let place = 0; place < value.length; place++) number = number * 256 + value[place]!;
  return number;
}

/** With its NUL, as it should be, or without, as it often is. */
function readString(value: Uint8Array): string {
  const end = value.indexOf(0);
  return asBuffer(value).toString("latin1", 0, end === -1 ? value.length : end);
}

const READ: { readonly [K in Kind]: (value: Uint8Array) => Values[K] | undefined } = {
  uint8: readNumber,
  uint16: readNumber,
  uint32: readNumber,
  cString: readString,
  octets: (value) => value,
};

function makeNumber(octetCount: number): (value: number) => Uint8Array {
  return (value) => {
    const octets = Buffer.allocUnsafe(octetCount);
    octets.writeUIntBE(value, 0, octetCount);
    return octets;
  };
}

const MAKE: { readonly [K in Kind]: (value: Values[K]) => Uint8Array } = {
  uint8: makeNumber(1),
  uint16: makeNumber(2),
  uint32: makeNumber(4),
  cString: (value) => Buffer.from(`${value}\0`, "latin1"),
  octets: (value) => value,
};

const HEADER_OCTETS = 4;

/** An honest PDU has a dozen. One of 64 KiB has room for 16,000, and each would be an object that waits with it for its turn. */
export const MAX_TLVS = 64;

/** All that is left of a PDU after its mandatory fields. */
export function readTlvs(reader: Reader): readonly Tlv[] {
  if (reader.left === 0) return NO_TLVS;
  // An array that grows takes room for seventeen at once.
  const tlvs = Array<Tlv>(countTlvs(reader));
  let count = 0;
  while (reader.left > 0) {
    if (reader.left < HEADER_OCTETS) {
      reader.fail("ESME_RINVOPTPARSTREAM");
      break;
    }
    const tag = reader.octets.readUInt16BE(reader.offset);
    const length = reader.octets.readUInt16BE(reader.offset + 2);
    reader.offset += HEADER_OCTETS;
    if (count >= MAX_TLVS && !isFirstOfKnown(tlvs, tag)) {
      reader.skip(length, "ESME_RINVPARLEN");
      continue;
    }
    const value = reader.take(length, "ESME_RINVPARLEN");
    if (value !== null) tlvs[count++] = { tag, value };
  }
  // What breaks off has fewer than it says.
  if (count < tlvs.length) tlvs.length = count;
  return tlvs;
}

/** How many begin there, as far as they are all kept. */
function countTlvs({ octets, offset, end }: Reader): number {
  let count = 0;
  for (let at = offset; count < MAX_TLVS && at + HEADER_OCTETS <= end; count++)
    at += HEADER_OCTETS + octets.readUInt16BE(at + 2);
  return count;
}

function isFirstOfKnown(tlvs: readonly Tlv[], tag: number): boolean {
  return KNOWN_TAGS.has(tag) && find(tlvs, tag) === undefined;
}

export function writeTlvs(writer: Writer, tlvs: readonly Tlv[]): void {
  for (let place = 0; place < tlvs.length; place++) {
    const { tag, value } = tlvs[place]!;
    writer.uint16(tag);
    writer.uint16(value.length);
    writer.bytes(value);
  }
}

export function tlvOctets(tlvs: readonly Tlv[]): number {
  let octets = 0;
  for (let place = 0; place < tlvs.length; place++) octets += HEADER_OCTETS + tlvs[place]!.value.length;
  return octets;
}
