/** Optional parameters: all are kept, the known ones are read by name, and carriers' ways of writing them are forgiven. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decodePdu } from "../../../src/carriers/smpp/codec/decode.ts";
import { encodePdu } from "../../../src/carriers/smpp/codec/encode.ts";
import { statusCode, statusName } from "../../../src/carriers/smpp/codec/statuses.ts";
import {
  KNOWN_TAGS,
  MAX_TLVS,
  makeTlv,
  NO_TLVS,
  readTlv,
  TLVS,
  type Tlv,
} from "../../../src/carriers/smpp/codec/tlvs.ts";
import { hasTlv } from "../../support/tlvs.ts";
import { octets } from "./codec-octets.ts";

test("a parameter made by name has the standard's tag and octets, and is read by that name", () => {
  const made = [
    makeTlv("receipted_message_id", "4f2a"),
    makeTlv("message_state", 2),
    makeTlv("sar_msg_ref_num", 0x1234),
    makeTlv("qos_time_to_live", 86_400),
    makeTlv("message_payload", octets("c0ffee")),
    makeTlv("alert_on_message_delivery", new Uint8Array(0)),
    makeTlv("congestion_state", 80),
  ];
  const tagged = made.map(({ tag, value }) => `${tag.toString(16)} ${Buffer.from(value).toString("hex")}`);
  assert.deepEqual(tagged, ["1e 3466326100", "427 02", "20c 1234", "17 00015180", "424 c0ffee", "130c ", "428 50"]);
  assert.equal(readTlv(made, "receipted_message_id"), "4f2a");
  assert.equal(readTlv(made, "message_state"), 2);
  assert.equal(readTlv(made, "sar_msg_ref_num"), 0x1234);
  assert.equal(readTlv(made, "qos_time_to_live"), 86_400);
  assert.deepEqual(readTlv(made, "message_payload"), octets("c0ffee"));
  assert.equal(hasTlv(made, "alert_on_message_delivery"), true);
  assert.equal(readTlv(made, "congestion_state"), 80);
});

test("one that is not there is undefined, and not taken for 0", () => {
  assert.equal(readTlv(NO_TLVS, "message_state"), undefined);
  assert.equal(hasTlv(NO_TLVS, "message_state"), false);
});

test("a number of another width than the standard's is read; one of no octets or of five is no number", () => {
  const state = (hex: string) => readTlv([{ tag: TLVS.message_state.tag, value: octets(hex) }], "message_state");
  assert.equal(state("0002"), 2);
  assert.equal(state("00000002"), 2);
  assert.equal(state(""), undefined);
  assert.equal(state("0000000002"), undefined);
  const reference = [{ tag: TLVS.user_message_reference.tag, value: octets("07") }];
  assert.equal(readTlv(reference, "user_message_reference"), 7);
});

test("a string is read with its NUL, without it, and not beyond it", () => {
  const id = (hex: string) =>
    readTlv([{ tag: TLVS.receipted_message_id.tag, value: octets(hex) }], "receipted_message_id");
  assert.equal(id("613100"), "a1");
  assert.equal(id("6131"), "a1");
  assert.equal(id("61310000ff"), "a1");
  assert.equal(id("00"), "");
  assert.equal(id(""), "");
});

test("of two with one name the first is read", () => {
  assert.equal(readTlv([makeTlv("message_state", 2), makeTlv("message_state", 5)], "message_state"), 2);
});

test("no two parameters have one tag", () => {
  const tags = Object.values(TLVS).map(({ tag }) => tag);
  assert.equal(new Set(tags).size, tags.length);
});

describe("a PDU of thousands of parameters is read, and few of them are kept", () => {
  const NOTHING = new Uint8Array(0);
  const many = (tag: (index: number) => number): Tlv[] =>
    Array.from({ length: 16_000 }, (_, index) => ({ tag: tag(index), value: NOTHING }));
  const read = (tlvs: readonly Tlv[]): readonly Tlv[] => {
    const decoded = decodePdu(encodePdu({ command: "deliver_sm", tlvs }));
    assert.ok(decoded.kind === "pdu" && decoded.mended === undefined);
    return decoded.pdu.tlvs;
  };

  test("of those that nobody knows the first ones, and one that is known wherever it stands", () => {
    const kept = read([...many((index) => 0x1400 + (index % 0x2c00)), makeTlv("message_state", 2)]);
    assert.equal(kept.length, MAX_TLVS + 1);
    assert.equal(readTlv(kept, "message_state"), 2);
  });

  test("of those that are known one of each", () => {
    const tags = [...KNOWN_TAGS];
    const kept = read(many((index) => tags[index % tags.length]!));
    assert.ok(kept.length <= MAX_TLVS + tags.length, `${kept.length} are kept`);
    assert.deepEqual(new Set(kept.map(({ tag }) => tag)), KNOWN_TAGS);
  });

  test("and one that breaks off behind them is a fault as ever", () => {
    const whole = encodePdu({ command: "deliver_sm", tlvs: many(() => 0x1400) });
    whole.writeUInt16BE(9, whole.length - 2);
    assert.equal(decodePdu(whole).kind, "malformed");
  });
});

test("a status is known by its name, and one of the carrier's own by its number", () => {
  assert.equal(statusCode("ESME_RTHROTTLED"), 0x58);
  assert.equal(statusName(0x14), "ESME_RMSGQFUL");
  assert.equal(statusName(0x400), "0x00000400");
});
