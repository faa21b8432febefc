/** Messages that a client hands over as octets. */
import assert from "node:assert/strict";
import test from "node:test";
import { binaryPartCount, encodeBinary, readHex } from "../../src/sms/binary.ts";
import { decodeUserData } from "../../src/sms/userdata.ts";

const EIGHT_BIT = 0x04;
const UCS2 = 0x08;
const octetsOf = (length: number, value = 0xab) => new Uint8Array(length).fill(value);

test("hex is read with and without spaces, and anything else is refused", () => {
  assert.deepEqual(readHex("54 65 73 74"), new TextEncoder().encode("Test"));
  assert.deepEqual(readHex("DEADbeef"), Uint8Array.of(0xde, 0xad, 0xbe, 0xef));
  assert.deepEqual(readHex(""), new Uint8Array());
  for (const wrong of ["5", "5g", "0x54", "54-65", "５４"]) assert.equal(readHex(wrong), undefined);
});

test("8 bit data: 140 octets alone, 134 in several", () => {
  const count = (length: number) =>
    binaryPartCount({ octets: octetsOf(length), dataCoding: EIGHT_BIT, hasHeader: false });
  assert.deepEqual([0, 1, 140, 141, 268, 269].map(count), [1, 1, 1, 2, 2, 3]);
});

test("the parts joined are the data, and each says which it is", () => {
  const octets = Uint8Array.from({ length: 300 }, (_, index) => index & 0xff);
  for (const wideReference of [false, true]) {
    const parts = encodeBinary({ octets, dataCoding: EIGHT_BIT, hasHeader: false }, { reference: 77, wideReference });
    const decoded = parts.map((part) => decodeUserData(part));
    assert.deepEqual(Buffer.concat(decoded.map((part) => part.payload)), Buffer.from(octets));
    assert.deepEqual(
      decoded.map((part) => part.concatenation),
      [1, 2, 3].map((sequence) => ({ reference: 77, total: 3, sequence })),
    );
    for (const part of parts) assert.ok(part.hasHeader && part.dataCoding === EIGHT_BIT && part.octets.length <= 140);
  }
});

test("a header of the client's own goes out as it is, and is never cut", () => {
  const octets = new Uint8Array([0x06, 0x05, 0x04, 0x0b, 0x84, 0x23, 0xf0, ...octetsOf(133)]);
  const message = { octets, dataCoding: EIGHT_BIT, hasHeader: true };
  assert.deepEqual(encodeBinary(message, { reference: 1 }), [
    { octets, dataCoding: EIGHT_BIT, hasHeader: true, length: 140, text: "" },
  ]);

  const longer = { ...message, octets: new Uint8Array([...octets, 0]) };
  assert.equal(binaryPartCount(longer), undefined);
  assert.throws(() => encodeBinary(longer, { reference: 1 }), RangeError);
});

test("UCS-2 is cut between characters, though a 16 bit reference leaves an odd number of octets", () => {
  const text = `${"ж".repeat(65)}😀${"щ".repeat(60)}`;
  const octets = new Uint8Array(Buffer.from(text, "utf16le").swap16());
  for (const wideReference of [false, true]) {
    const parts = encodeBinary({ octets, dataCoding: UCS2, hasHeader: false }, { reference: 1, wideReference });
    const texts = parts.map((part) => decodeUserData(part).text);
    assert.equal(texts.join(""), text);
    assert.ok(texts.every((part) => part.isWellFormed()));
  }
});

test("the default alphabet is unpacked: 160 septets alone, 153 in several, no escape cut off", () => {
  const count = (length: number) =>
    binaryPartCount({ octets: octetsOf(length, 0x61), dataCoding: 0, hasHeader: false });
  assert.deepEqual([160, 161, 306, 307].map(count), [1, 2, 2, 3]);

  const octets = new Uint8Array([...octetsOf(152, 0x61), 0x1b, 0x65, ...octetsOf(20, 0x62)]);
  const parts = encodeBinary({ octets, dataCoding: 0, hasHeader: false }, { reference: 1 });
  const texts = parts.map((part) => decodeUserData({ ...part, unpacked: true }).text);
  assert.deepEqual(texts, ["a".repeat(152), `€${"b".repeat(20)}`]);
});
