/** What carriers send, octet by octet: receipts as foreign networks wrote them, and messages in every coding. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decodePdu } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import type { Pdu, PduDraft } from "../../../src/carriers/smpp/codec/pdu.ts";
import { makeTlv } from "../../../src/carriers/smpp/codec/tlvs.ts";
import { type Delivered, readDelivered } from "../../../src/carriers/smpp/incoming.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import type { IncomingPart } from "../../../src/message/incoming.ts";
import type { Receipt } from "../../../src/message/receipt.ts";
import { pack } from "../../../src/sms/septets.ts";
import fc from "../../support/chance.ts";

const NOW = Date.UTC(2026, 10, 15, 16);
const PROFILE: SmppProfile = { id: "acme", kind: "smpp", hosts: ["127.0.0.1:1"], systemId: "", password: "" };

function pduOf(octets: Buffer): Delivered {
  const decoded = decodePdu(octets);
  assert.ok(decoded.kind === "pdu");
  return decoded.pdu as Pdu<"deliver_sm">;
}

const delivered = (fields: Partial<PduDraft<"deliver_sm">>): Delivered =>
  pduOf(encodePdu({ sourceAddr: "41790000001", destinationAddr: "12345", ...fields, command: "deliver_sm" }));

function receiptOf(pdu: Delivered, profile: Partial<SmppProfile> = {}): Receipt {
  const read = readDelivered(pdu, { ...PROFILE, ...profile }, NOW);
  assert.ok(read.kind === "receipt");
  return read.receipt;
}

function messageOf(fields: Partial<PduDraft<"deliver_sm">>, profile: Partial<SmppProfile> = {}): IncomingPart {
  const read = readDelivered(delivered(fields), { ...PROFILE, ...profile }, NOW);
  assert.ok(read.kind === "message");
  return read.part;
}

const ucs2 = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
const TEXT = "id:42 sub:001 dlvrd:001 submit date:2611151525 done date:2611151526 stat:DELIVRD err:000 text:id:7";
const SUBMITTED = Date.UTC(2026, 10, 15, 15, 25);

describe("receipts of foreign networks are read", () => {
  const cases: [stack: string, hex: string, id: string, outcome: string, submittedAtMs: number][] = [
    [
      "OpenSMPP, under data_coding 3",
      "000000a200000005000000000000006b000101343135343035363530303134000101343135343035363530303134000400000000000003006969643a536d736332313037207375623a3120646c7672643a31207375626d697420646174653a3236313131353135323820646f6e6520646174653a3236313131353135323820737461743a44454c49565244206572723a3020746578743a032401013f693f6c69203f",
      "smsc2107",
      "delivered",
      Date.UTC(2026, 10, 15, 15, 28),
    ],
    [
      "SMPPSim, in ASCII under data_coding 8, with the message in UCS-2 behind it",
      "000000c50000000500000000000000060001013431353530353633343333390003003132333435000400000000000008007369643a35207375623a30303120646c7672643a303031207375626d697420646174653a3236313131353135323520646f6e6520646174653a3236313131353135323520737461743a554e44454c4956206572723a30303020546578743a041f044004380432043504420020efbfbd3defbfbd00001e000235000427000105042300030300011403000a34343132333435363738",
      "5",
      "undeliverable",
      SUBMITTED,
    ],
    [
      "jSMPP, with a NUL at the end",
      "000000ae0000000500000000000000026d630001013431353130353633333930300003003132333435000400000000000000007a69643a32303837373831383839207375623a30303120646c7672643a303031207375626d697420646174653a3236313131353135323520646f6e6520646174653a3236313131353135323520737461743a44454c49565244206572723a30303020746578743a48656c6c6f20666f726569676e20534d53432000",
      "2087781889",
      "delivered",
      SUBMITTED,
    ],
    [
      "larvitsmpp, under data_coding 1",
      "000000b90000000500000000000000010000003132333435000000343135363035363334343435000400000000000001006c69643a3137393437353633343035373332353237207375623a30303120646c7672643a31207375626d697420646174653a3236313031353135323520646f6e6520646174653a3236313031353135323520737461743a44454c49565244206572723a3020746578743a787878001e00123137393437353633343035373332353237000427000102",
      "17947563405732527",
      "delivered",
      Date.UTC(2026, 9, 15, 15, 25),
    ],
    [
      "opensmppbox, with a UUID",
      "000000eb000000050000000000000000000201416c7068610001013431363138373733323136000400000000000000008c69643a36323565383935302d646566662d343432332d613463642d643837313962336634333235207375623a30303120646c7672643a303031207375626d697420646174653a3236313131353135353520646f6e6520646174653a3236313131353135353520737461743a44454c49565244206572723a30303020746578743a2020202e5b5d7b7d5e7e7c5c0427000102001e002536323565383935302d646566662d343432332d613463642d64383731396233663433323500",
      "625e8950-deff-4423-a4cd-d8719b3f4325",
      "delivered",
      Date.UTC(2026, 10, 15, 15, 55),
    ],
  ];
  for (const [stack, hex, id, outcome, submittedAtMs] of cases) {
    test(stack, () => {
      const receipt = receiptOf(pduOf(Buffer.from(hex, "hex")));
      assert.deepEqual(
        [receipt.carrierMessageId, receipt.outcome, receipt.submittedAtMs],
        [id, outcome, submittedAtMs],
      );
      assert.equal(receipt.octets, undefined);
    });
  }
});

describe("a receipt's text is read as it is meant", () => {
  const gsm = Buffer.from(TEXT.replace("42", "a_b"), "latin1").map((octet) => (octet === 0x5f ? 0x11 : octet));
  const packed = pack(Uint8Array.of(), Buffer.from(TEXT)); // of these characters the codes are those of ASCII
  const payload = (octets: Uint8Array) => ({ tlvs: [makeTlv("message_payload", octets)] });
  const cases: [name: string, fields: Partial<PduDraft<"deliver_sm">>, id: string][] = [
    ["UCS-2 under data_coding 8", { dataCoding: 8, ...payload(ucs2(TEXT)) }, "42"],
    ["UCS-2 under no data_coding", payload(ucs2(TEXT)), "42"],
    ["UCS-2 with its octets swapped", { dataCoding: 8, ...payload(Buffer.from(TEXT, "utf16le")) }, "42"],
    ["UCS-2 behind a word that is not in ASCII", { dataCoding: 8, ...payload(ucs2(`Отчёт ${TEXT}`)) }, "42"],
    ["UCS-2 behind a byte order mark", { dataCoding: 8, ...payload(ucs2(`\ufeff${TEXT}`)) }, "42"],
    ["an underscore of the GSM alphabet in the id", { shortMessage: gsm }, "a_b"],
    ["an at sign of the GSM alphabet in the id", { shortMessage: Buffer.from(TEXT.replace("42", "a\0b")) }, "a@b"],
    ["packed septets", { shortMessage: packed }, "42"],
    [
      "an underscore of the GSM alphabet that begins the id",
      { shortMessage: Buffer.from(TEXT.replace("42", "\x11b")) },
      "_b",
    ],
    ["fields with NULs between them", { shortMessage: Buffer.from(TEXT.replaceAll(" sub:", "\0\0sub:")) }, "42"],
    ["fields with a NUL between them", { shortMessage: Buffer.from(TEXT.replaceAll(" sub:", "\0sub:")) }, "42"],
    ["behind a user data header", { esmClass: 0x44, shortMessage: Buffer.from(`\x05\0\x03i\x02\x01${TEXT}`) }, "42"],
    ["with the header's bit and no header", { esmClass: 0x44, shortMessage: Buffer.from(TEXT) }, "42"],
    ["in message_payload", payload(Buffer.from(TEXT)), "42"],
    [
      "in the short message, beside an empty payload",
      { shortMessage: Buffer.from(TEXT), ...payload(Buffer.of()) },
      "42",
    ],
    [
      "in the short message, beside a payload with the message",
      { shortMessage: Buffer.from(TEXT), ...payload(ucs2("Да")) },
      "42",
    ],
  ];
  for (const [name, fields, id] of cases) {
    test(name, () => {
      const receipt = receiptOf(delivered({ esmClass: 4, ...fields }));
      assert.deepEqual([receipt.carrierMessageId, receipt.outcome], [id, "delivered"]);
      assert.equal(receipt.submittedAtMs, SUBMITTED);
    });
  }
});

test("what the message said behind text: changes nothing in any reading", () => {
  // In UCS-2 it is "id:7 stat:UNDELIV", at the same places as the octets of a text in ASCII before it.
  for (const start of ["id:42 stat:DELIVRD text:", "id:42 stat:DELIVRD  text:"]) {
    const octets = Buffer.concat([Buffer.from(start), ucs2(" id:7 stat:UNDELIV")]);
    const receipt = receiptOf(delivered({ esmClass: 4, dataCoding: 8, shortMessage: octets }));
    assert.deepEqual([receipt.carrierMessageId, receipt.outcome], ["42", "delivered"]);
  }
});

test("nor does it change a character of the id, whatever octets the message's own words are", () => {
  const head = "id:ab_12@x sub:001 dlvrd:001 stat:DELIVRD err:000 text:";
  for (const words of [Buffer.from("a\x11b"), Buffer.from("a\0b"), Buffer.from("a\0\0"), ucs2("Боб id:a\x11b")]) {
    const shortMessage = Buffer.concat([Buffer.from(head), words]);
    assert.equal(
      receiptOf(delivered({ esmClass: 4, shortMessage })).carrierMessageId,
      "ab_12@x",
      words.toString("hex"),
    );
  }
});

test("an unmarked receipt in UCS-2 is one for a carrier that marks none, and else a message", () => {
  const fields = { dataCoding: 8, ...{ tlvs: [makeTlv("message_payload", ucs2(TEXT))] } };
  assert.equal(messageOf(fields).text, TEXT);
  const receipt = receiptOf(delivered(fields), { unmarkedReceipts: true });
  assert.deepEqual([receipt.carrierMessageId, receipt.unmarked], ["42", true]);
});

describe("a marked receipt that cannot be read has its octets with it", () => {
  const cases: [name: string, text: string, has: boolean][] = [
    ["nothing in it", "message 42 was delivered", true],
    ["no id", "stat:DELIVRD", true],
    ["no state", "id:42", true],
    ["an id that is too long to be one", `id:${"1".repeat(65)} stat:DELIVRD`, true],
    ["a state that nobody knows", "id:42 stat:MYSTERY", true],
    ["all there", "id:42 stat:DELIVRD", false],
  ];
  for (const [name, text, has] of cases) {
    test(name, () => {
      const fields = { esmClass: 4, shortMessage: Buffer.from(text) };
      const pdu = delivered(fields);
      const { octets } = receiptOf(pdu);
      assert.equal(octets, has ? encodePdu(pdu).toString("hex") : undefined);
    });
  }

  test("at most 1,024 of them", () => {
    const payload = makeTlv("message_payload", Buffer.alloc(5_000, "x"));
    assert.equal(receiptOf(delivered({ esmClass: 4, tlvs: [payload] })).octets?.length, 2_048);
  });

  test("without the fields that only a lenient reader takes", () => {
    const pdu = { ...delivered({ esmClass: 4, shortMessage: Buffer.from("??") }), sourceAddr: "1".repeat(80) };
    const tlvs = [makeTlv("message_state", 99)];
    assert.equal(receiptOf({ ...pdu, tlvs } as Delivered).octets, "3f3f0427000163");
  });
});

describe("the date of the submit", () => {
  const cases: [date: string, atMs: number | null][] = [
    ["2611151525", SUBMITTED],
    ["261115152507", SUBMITTED + 7_000],
    ["20261115152507", SUBMITTED + 7_000],
    ["202611151525", SUBMITTED],
    ["2602291200", null],
    ["2802291200", Date.UTC(2028, 1, 29, 12)],
    ["2606312415", null],
    ["2611151560", null],
    ["0000000000", null],
    ["9999999999", null],
    ["26-11-15", null],
    ["2611151525000000", null],
    ["", null],
  ];
  for (const [date, atMs] of cases) {
    test(`${date === "" ? "none" : date} is ${atMs === null ? "no date" : new Date(atMs).toISOString()}`, () => {
      const text = `id:42 done date:2001010101 Submit  Date:${date} stat:DELIVRD`;
      assert.equal(receiptOf(delivered({ esmClass: 4, shortMessage: Buffer.from(text) })).submittedAtMs, atMs);
    });
  }
});

describe("messages from phones by their data_coding", () => {
  const cases: [name: string, dataCoding: number, hex: string, text: string, profile?: Partial<SmppProfile>][] = [
    ["0, with an escape (Net::SMPP)", 0, "4d4f2066726f6d207065726c201b65", "MO from perl €"],
    ["1 in ASCII", 1, "615f6240", "a_b@"],
    ["1 in the GSM alphabet, as node-smpp writes it", 1, "6279206461746111736d", "by data_sm", { ia5: "gsm" }],
    ["1 in the GSM alphabet from a carrier that packs 0", 1, "11", "_", { ia5: "gsm", alphabet: "gsm packed" }],
    ["3", 3, "e9", "é"],
    ["5", 5, "93fa967b", "日本"],
    ["5 in ISO-2022-JP", 5, "1b2442467c4b5c1b2842", "日本"],
    ["6", 6, "bfe0d8d2d5e2", "Привет"],
    ["7", 7, "f9ece5ed", "שלום"],
    ["8", 8, "d83dde00", "😀"],
    ["9", 9, "93fa", "日"],
    ["10", 10, "1b2442467c1b2842", "日"],
    ["13", 13, "c6fc8fb0a1", "日丂"],
    ["14", 14, "c7d1b1db", "한글"],
    ["0xF0", 0xf0, "1b65", "€"],
    ["0 packed", 0, "31d98c56b3dd00", "1234567", { alphabet: "gsm packed" }],
  ];
  for (const [name, dataCoding, hex, text, profile] of cases) {
    test(name, () => {
      const part = messageOf({ dataCoding, shortMessage: Buffer.from(hex, "hex") }, profile);
      assert.deepEqual([part.text, part.octets], [text, undefined]);
    });
  }

  for (const dataCoding of [2, 4, 0x14, 0x16, 0x24, 0x44, 0x47, 0x54, 0x57, 0x60, 0xf4, 0xf7, 0xfc, 0xff]) {
    test(`${dataCoding} is no text, and its octets are kept`, () => {
      const part = messageOf({ dataCoding, shortMessage: Buffer.from("00ff41", "hex") });
      assert.equal(part.text, "00ff41");
      assert.deepEqual(part.octets, { charset: "binary", hex: "00ff41", dataCoding, header: "" });
    });
  }

  test("a part of a long message keeps its octets, whatever says that it is one", () => {
    const inHeader = messageOf({ esmClass: 0x40, shortMessage: Buffer.from("050003070201411b", "hex") });
    assert.deepEqual(inHeader.octets, { charset: "gsm", hex: "411b" });
    const tlvs = [makeTlv("sar_msg_ref_num", 7), makeTlv("sar_total_segments", 2), makeTlv("sar_segment_seqnum", 2)];
    assert.deepEqual(messageOf({ shortMessage: Buffer.from("65", "hex"), tlvs }).octets, { charset: "gsm", hex: "65" });
    const shifted = messageOf({ esmClass: 0x40, shortMessage: Buffer.from("080003070201240101" + "73", "hex") });
    assert.deepEqual(shifted.octets, { charset: "gsm", hex: "73", singleShift: 1 });
  });
});

test("whatever is delivered is read without harm, marked or not", () => {
  const fields = fc.record({
    esmClass: fc.nat(255),
    dataCoding: fc.nat(255),
    shortMessage: fc.uint8Array({ maxLength: 254 }),
    tlvs: fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 2_000 }).map((octets) => makeTlv("message_payload", octets)),
        fc.nat(255).map((state) => makeTlv("message_state", state)),
        fc.record({ tag: fc.nat(0xffff), value: fc.uint8Array({ maxLength: 20 }) }),
      ),
      { maxLength: 4 },
    ),
  });
  const profile = fc.record({
    alphabet: fc.constantFrom("gsm", "gsm packed", "latin1", "ascii"),
    ia5: fc.constantFrom("ascii", "gsm"),
    unmarkedReceipts: fc.boolean(),
  });
  fc.assert(
    fc.property(fields, profile, (draft, change) => {
      const read = readDelivered(delivered(draft), { ...PROFILE, ...change }, NOW);
      if (read.kind === "receipt") assert.ok((read.receipt.octets?.length ?? 0) <= 2_048);
      else assert.equal(typeof read.part.text, "string");
    }),
  );
});
