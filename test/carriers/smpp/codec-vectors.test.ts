/**
 * Every command as octets, put together by hand from the tables of SMPP 3.4 §4 (the first is the standard's own example, §3.2.2), read
 * and written. What follows a semicolon is for the reader.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS, type PduName } from "../../../src/carriers/smpp/codec/commands.ts";
import { decodePdu } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import type { Pdu } from "../../../src/carriers/smpp/codec/pdu.ts";
import { octets } from "./codec-octets.ts";

interface Vector {
  readonly octets: string;
  readonly pdu: Pdu;
}

const NONE = Buffer.alloc(0);

const VECTORS: readonly Vector[] = [
  {
    octets: `
      0000002f 00000002 00000000 00000001
      534d50503354455354 00                ; system_id SMPP3TEST
      7365637265743038 00                  ; password secret08
      5355424d495431 00                    ; system_type SUBMIT1
      00 01 01 00                          ; interface_version, addr_ton, addr_npi, address_range`,
    pdu: {
      command: "bind_transmitter",
      status: 0,
      sequence: 1,
      systemId: "SMPP3TEST",
      password: "secret08",
      systemType: "SUBMIT1",
      interfaceVersion: 0,
      addrTon: 1,
      addrNpi: 1,
      addressRange: "",
      tlvs: [],
    },
  },
  {
    octets: `
      00000015 80000002 00000000 00000001
      736d7363 00                          ; system_id smsc`,
    pdu: { command: "bind_transmitter_resp", status: 0, sequence: 1, systemId: "smsc", tlvs: [] },
  },
  {
    octets: `
      0000001e 00000001 00000000 00000002
      7278 00 7077 00 00                   ; system_id rx, password pw, no system_type
      34 00 00 5e3431 00                   ; version 3.4, address_range ^41`,
    pdu: {
      command: "bind_receiver",
      status: 0,
      sequence: 2,
      systemId: "rx",
      password: "pw",
      systemType: "",
      interfaceVersion: 0x34,
      addrTon: 0,
      addrNpi: 0,
      addressRange: "^41",
      tlvs: [],
    },
  },
  {
    octets: `
      0000001a 80000001 00000000 00000002
      736d7363 00                          ; system_id smsc
      0210 0001 34                         ; sc_interface_version`,
    pdu: {
      command: "bind_receiver_resp",
      status: 0,
      sequence: 2,
      systemId: "smsc",
      tlvs: [{ tag: 0x0210, value: Buffer.from([0x34]) }],
    },
  },
  {
    octets: `
      00000020 00000009 00000000 00000003
      6d65 00 70617373 00 564d53 00        ; system_id me, password pass, system_type VMS
      34 01 01 00`,
    pdu: {
      command: "bind_transceiver",
      status: 0,
      sequence: 3,
      systemId: "me",
      password: "pass",
      systemType: "VMS",
      interfaceVersion: 0x34,
      addrTon: 1,
      addrNpi: 1,
      addressRange: "",
      tlvs: [],
    },
  },
  {
    octets: "00000010 80000009 0000000d 00000003 ; bind failed: an error has no body",
    pdu: { command: "bind_transceiver_resp", status: 0x0d, sequence: 3, systemId: "", tlvs: [] },
  },
  {
    octets: `
      00000019 0000000b 00000000 00000004
      736d7363 00 6f7574 00                ; system_id smsc, password out`,
    pdu: { command: "outbind", status: 0, sequence: 4, systemId: "smsc", password: "out", tlvs: [] },
  },
  {
    octets: "00000010 00000006 00000000 00000005",
    pdu: { command: "unbind", status: 0, sequence: 5, tlvs: [] },
  },
  {
    octets: "00000010 80000006 00000000 00000005",
    pdu: { command: "unbind_resp", status: 0, sequence: 5, tlvs: [] },
  },
  {
    octets: "00000010 00000015 00000000 7fffffff ; the last sequence number",
    pdu: { command: "enquire_link", status: 0, sequence: 0x7fffffff, tlvs: [] },
  },
  {
    octets: "00000010 80000015 00000000 7fffffff",
    pdu: { command: "enquire_link_resp", status: 0, sequence: 0x7fffffff, tlvs: [] },
  },
  {
    octets: "00000010 80000000 00000003 ffffffff ; invalid command id; whatever sequence number it had",
    pdu: { command: "generic_nack", status: 3, sequence: 0xffffffff, tlvs: [] },
  },
  {
    octets: `
      0000004f 00000004 00000000 00000006
      00                                   ; service_type
      05 00 48656c696f 00                  ; source: alphanumeric, Helio
      01 01 3431373931323334353637 00      ; destination: international, 41791234567
      40 00 01                             ; esm_class with a header, protocol_id, priority_flag
      00                                   ; schedule_delivery_time
      30303030303130303030303030303052 00  ; validity_period 000001000000000R
      01 00 08 00                          ; registered_delivery, replace_if_present, data_coding UCS-2, sm_default_msg_id
      08 050003a70201041f                  ; sm_length, short_message
      0204 0002 002a                       ; user_message_reference`,
    pdu: {
      command: "submit_sm",
      status: 0,
      sequence: 6,
      serviceType: "",
      sourceAddrTon: 5,
      sourceAddrNpi: 0,
      sourceAddr: "Helio",
      destAddrTon: 1,
      destAddrNpi: 1,
      destinationAddr: "41791234567",
      esmClass: 0x40,
      protocolId: 0,
      priorityFlag: 1,
      scheduleDeliveryTime: "",
      validityPeriod: "000001000000000R",
      registeredDelivery: 1,
      replaceIfPresentFlag: 0,
      dataCoding: 8,
      smDefaultMsgId: 0,
      shortMessage: Buffer.from([5, 0, 3, 0xa7, 2, 1, 0x04, 0x1f]),
      tlvs: [{ tag: 0x0204, value: Buffer.from([0, 42]) }],
    },
  },
  {
    octets: "00000015 80000004 00000000 00000006 34663261 00 ; message_id 4f2a",
    pdu: { command: "submit_sm_resp", status: 0, sequence: 6, messageId: "4f2a", tlvs: [] },
  },
  {
    octets: "00000010 80000004 00000058 00000006 ; throttled",
    pdu: { command: "submit_sm_resp", status: 0x58, sequence: 6, messageId: "", tlvs: [] },
  },
  {
    octets: `
      00000034 00000021 00000000 00000007
      00                                   ; service_type
      01 01 34313739 00                    ; source 4179
      02                                   ; number_of_dests
      01 01 01 34313738 00                 ; an address, 4178
      02 7374616666 00                     ; a distribution list, staff
      00 00 00 00 00 00 00 00 00           ; esm_class to sm_default_msg_id
      02 4869                              ; Hi`,
    pdu: {
      command: "submit_multi",
      status: 0,
      sequence: 7,
      serviceType: "",
      sourceAddrTon: 1,
      sourceAddrNpi: 1,
      sourceAddr: "4179",
      destinations: [
        { kind: "address", ton: 1, npi: 1, address: "4178" },
        { kind: "list", name: "staff" },
      ],
      esmClass: 0,
      protocolId: 0,
      priorityFlag: 0,
      scheduleDeliveryTime: "",
      validityPeriod: "",
      registeredDelivery: 0,
      replaceIfPresentFlag: 0,
      dataCoding: 0,
      smDefaultMsgId: 0,
      shortMessage: Buffer.from("Hi"),
      tlvs: [],
    },
  },
  {
    octets: `
      0000001f 80000021 00000000 00000007
      6131 00                              ; message_id a1
      01 01 01 34313738 00 0000000b        ; one unsuccessful: 4178, invalid destination address`,
    pdu: {
      command: "submit_multi_resp",
      status: 0,
      sequence: 7,
      messageId: "a1",
      unsuccessful: [{ ton: 1, npi: 1, address: "4178", status: 0x0b }],
      tlvs: [],
    },
  },
  {
    octets: `
      00000048 00000005 00000000 00000008
      00                                   ; service_type
      01 01 34313738 00                    ; source 4178
      05 00 48656c696f 00                  ; destination Helio
      04 00 00 00 00 00 00 00 00           ; esm_class: a receipt; protocol_id to sm_default_msg_id
      05 69643a6131                        ; id:a1
      001e 0003 613100                     ; receipted_message_id a1
      0427 0001 02                         ; message_state delivered
      0423 0003 030000                     ; network_error_code GSM, 0
      1401 0002 beef                       ; the carrier's own`,
    pdu: {
      command: "deliver_sm",
      status: 0,
      sequence: 8,
      serviceType: "",
      sourceAddrTon: 1,
      sourceAddrNpi: 1,
      sourceAddr: "4178",
      destAddrTon: 5,
      destAddrNpi: 0,
      destinationAddr: "Helio",
      esmClass: 4,
      protocolId: 0,
      priorityFlag: 0,
      scheduleDeliveryTime: "",
      validityPeriod: "",
      registeredDelivery: 0,
      replaceIfPresentFlag: 0,
      dataCoding: 0,
      smDefaultMsgId: 0,
      shortMessage: Buffer.from("id:a1"),
      tlvs: [
        { tag: 0x001e, value: Buffer.from("a1\0") },
        { tag: 0x0427, value: Buffer.from([2]) },
        { tag: 0x0423, value: Buffer.from([3, 0, 0]) },
        { tag: 0x1401, value: Buffer.from([0xbe, 0xef]) },
      ],
    },
  },
  {
    octets: "00000011 80000005 00000000 00000008 00 ; message_id, unused",
    pdu: { command: "deliver_sm_resp", status: 0, sequence: 8, messageId: "", tlvs: [] },
  },
  {
    octets: `
      0000002c 00000103 00000000 00000009
      574150 00                            ; service_type WAP
      01 01 34313739 00 01 01 34313738 00  ; from 4179 to 4178
      00 01 04                             ; esm_class, registered_delivery, data_coding
      0424 0003 c0ffee                     ; message_payload`,
    pdu: {
      command: "data_sm",
      status: 0,
      sequence: 9,
      serviceType: "WAP",
      sourceAddrTon: 1,
      sourceAddrNpi: 1,
      sourceAddr: "4179",
      destAddrTon: 1,
      destAddrNpi: 1,
      destinationAddr: "4178",
      esmClass: 0,
      registeredDelivery: 1,
      dataCoding: 4,
      tlvs: [{ tag: 0x0424, value: Buffer.from([0xc0, 0xff, 0xee]) }],
    },
  },
  {
    octets: `
      00000016 80000103 000000fe 00000009
      00                                   ; message_id: an error that has something to say has its body
      0425 0001 02                         ; delivery_failure_reason`,
    pdu: {
      command: "data_sm_resp",
      status: 0xfe,
      sequence: 9,
      messageId: "",
      tlvs: [{ tag: 0x0425, value: Buffer.from([2]) }],
    },
  },
  {
    octets: "0000001a 00000003 00000000 0000000a 6131 00 01 01 34313739 00 ; message_id a1 of 4179",
    pdu: {
      command: "query_sm",
      status: 0,
      sequence: 10,
      messageId: "a1",
      sourceAddrTon: 1,
      sourceAddrNpi: 1,
      sourceAddr: "4179",
      tlvs: [],
    },
  },
  {
    octets: `
      00000026 80000003 00000000 0000000a
      6131 00                              ; message_id a1
      3236303130353132333435363030302b 00  ; final_date 260105123456000+
      02 00                                ; message_state, error_code`,
    pdu: {
      command: "query_sm_resp",
      status: 0,
      sequence: 10,
      messageId: "a1",
      finalDate: "260105123456000+",
      messageState: 2,
      errorCode: 0,
      tlvs: [],
    },
  },
  {
    octets: `
      00000022 00000008 00000000 0000000b
      00 6131 00                           ; service_type, message_id a1
      01 01 34313739 00 01 01 34313738 00  ; from 4179 to 4178`,
    pdu: {
      command: "cancel_sm",
      status: 0,
      sequence: 11,
      serviceType: "",
      messageId: "a1",
      sourceAddrTon: 1,
      sourceAddrNpi: 1,
      sourceAddr: "4179",
      destAddrTon: 1,
      destAddrNpi: 1,
      destinationAddr: "4178",
      tlvs: [],
    },
  },
  {
    octets: "00000010 80000008 00000011 0000000b ; cancel failed",
    pdu: { command: "cancel_sm_resp", status: 0x11, sequence: 11, tlvs: [] },
  },
  {
    octets: `
      00000021 00000007 00000000 0000000c
      6131 00 01 01 34313739 00            ; message_id a1 of 4179
      00 00 01 00                          ; schedule, validity, registered_delivery, sm_default_msg_id
      02 4f4b                              ; OK`,
    pdu: {
      command: "replace_sm",
      status: 0,
      sequence: 12,
      messageId: "a1",
      sourceAddrTon: 1,
      sourceAddrNpi: 1,
      sourceAddr: "4179",
      scheduleDeliveryTime: "",
      validityPeriod: "",
      registeredDelivery: 1,
      smDefaultMsgId: 0,
      shortMessage: Buffer.from("OK"),
      tlvs: [],
    },
  },
  {
    octets: "00000010 80000007 00000000 0000000c",
    pdu: { command: "replace_sm_resp", status: 0, sequence: 12, tlvs: [] },
  },
  {
    octets: `
      00000021 00000102 00000000 0000000d
      01 01 34313738 00                    ; source 4178
      01 01 6d65 00                        ; ESME me
      0422 0001 00                         ; ms_availability_status: available`,
    pdu: {
      command: "alert_notification",
      status: 0,
      sequence: 13,
      sourceAddrTon: 1,
      sourceAddrNpi: 1,
      sourceAddr: "4178",
      esmeAddrTon: 1,
      esmeAddrNpi: 1,
      esmeAddr: "me",
      tlvs: [{ tag: 0x0422, value: Buffer.from([0]) }],
    },
  },
];

for (const { octets: text, pdu } of VECTORS) {
  test(`${pdu.command} with status ${pdu.status} is read from its octets and written as them`, () => {
    const wire = octets(text);
    assert.deepEqual(decodePdu(wire), { kind: "pdu", pdu });
    assert.equal(encodePdu(pdu).toString("hex"), wire.toString("hex"));
  });
}

test("there are octets for every command", () => {
  const covered = new Set<PduName>(VECTORS.map(({ pdu }) => pdu.command));
  assert.deepEqual([...covered].sort(), Object.keys(COMMANDS).sort());
});

test("what a draft leaves out is written as 0 or as nothing", () => {
  const wire = octets(`
    00000021 00000004 00000000 0000002a
    00 0000 00 0000 00 000000 00 00 00 00 00 00 00`);
  assert.equal(encodePdu({ command: "submit_sm", sequence: 42 }).toString("hex"), wire.toString("hex"));
  const decoded = decodePdu(wire);
  assert.ok(decoded.kind === "pdu" && decoded.pdu.command === "submit_sm");
  assert.deepEqual(decoded.pdu.shortMessage, NONE);
});
