/**
 * Reading and writing the user data field, where the golden vectors do not reach: what other people's octets look like.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { dataCodingOf, readDataCoding } from "../../src/sms/datacoding.ts";
import { decodeUserData, encodeParts, encodeUserData } from "../../src/sms/userdata.ts";

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));
const hexOf = (octets: Uint8Array) => Buffer.from(octets).toString("hex");

test("without a septet count, seven spare bits read as an @: that is why the count travels along", () => {
  const { octets, length } = encodeUserData("1234567", "gsm7", { flash: false });
  assert.equal(decodeUserData({ octets, length, dataCoding: 0, hasHeader: false }).text, "1234567");
  assert.equal(decodeUserData({ octets, dataCoding: 0, hasHeader: false }).text, "1234567@");
});

test("unpacked septets stand one an octet after the header", () => {
  const prepared = { text: `ş${"a".repeat(160)}`, encoding: "gsm7+tr.s" } as const;
  const [first, second] = encodeParts(prepared, { reference: 9, flash: false, unpacked: true });
  assert.equal(hexOf(first!.octets.subarray(0, 13)), "0800030902012401011b736161");
  assert.equal(first!.octets.length, 9 + 149);
  assert.equal(first!.length, 160);
  assert.equal(decodeUserData({ ...second!, unpacked: true }).text, "a".repeat(13));
});

test("a part can be sent without our header, for carriers that number parts themselves", () => {
  const [part] = encodeParts({ text: "hello", encoding: "gsm7" }, { reference: 1, flash: false });
  assert.deepEqual(encodeUserData("hello", "gsm7", { flash: false }), part);
  assert.equal(encodeUserData("şeker", "gsm7+tr.s", { flash: false }).hasHeader, true);
});

test("an escaped code that the table lacks shows the letter of the main table", () => {
  const decode = (octets: Uint8Array) =>
    decodeUserData({ octets, dataCoding: 0, hasHeader: false, unpacked: true }).text;
  assert.equal(decode(hex("1b 41")), "A");
  assert.equal(decode(hex("1b 73")), "s");
  assert.equal(decode(hex("61 1b 1b 62")), "a b");
  assert.equal(decode(hex("61 1b")), "a ");
});

test("a phone without the Turkish table shows the plain letter", () => {
  const { octets } = encodeUserData("şişli ğ", "gsm7+tr.s", { flash: false, unpacked: true });
  const text = decodeUserData({ octets: octets.subarray(4), dataCoding: 0, hasHeader: false, unpacked: true }).text;
  assert.equal(text, "sisli g");
});

test("a language that we do not know is read with the default table", () => {
  // Single shift and locking shift of Hindi, number 6.
  const octets = hex("06 24 01 06 25 01 06 68 69");
  assert.equal(decodeUserData({ octets, dataCoding: 0, hasHeader: true, unpacked: true }).text, "hi");
});

test("other elements of a header are skipped", () => {
  // Application ports beside the concatenation.
  const octets = hex("0b 05 04 0b84 23f0 00 03 2a 02 01 cafe");
  const decoded = decodeUserData({ octets, dataCoding: 4, hasHeader: true });
  assert.deepEqual(decoded.concatenation, { reference: 42, total: 2, sequence: 1 });
  assert.equal(hexOf(decoded.payload), "cafe");
  assert.equal(decoded.text, "");
  assert.equal(decoded.alphabet, "octets");
});

test("a 16 bit reference is read whole", () => {
  const octets = hex("06 08 04 be ef 03 02 68 69");
  const decoded = decodeUserData({ octets, dataCoding: 0, hasHeader: true, unpacked: true });
  assert.deepEqual(decoded.concatenation, { reference: 0xbeef, total: 3, sequence: 2 });
  assert.equal(decoded.text, "hi");
});

const BROKEN: readonly (readonly [what: string, octets: string, text: string])[] = [
  ["whose last element is cut off", "04 00 03 2a 02 68 69", "hi"],
  ["longer than the field", "20 00 03", ""],
  ["of part 0", "05 00 03 2a 02 00 68 69", "hi"],
  ["of part 3 of 2", "05 00 03 2a 02 03 68 69", "hi"],
  ["of 0 parts", "05 00 03 2a 00 00 68 69", "hi"],
  ["with a concatenation of a wrong length", "04 00 02 2a 02 68 69", "hi"],
  ["of nothing", "00 68 69", "hi"],
  ["that is not there", "", ""],
];

for (const [what, octets, text] of BROKEN) {
  test(`a header ${what} concatenates nothing and the text is read`, () => {
    const decoded = decodeUserData({ octets: hex(octets), dataCoding: 0, hasHeader: true, unpacked: true });
    assert.equal(decoded.concatenation, undefined);
    assert.equal(decoded.text, text);
  });
}

test("an odd octet at the end of UCS-2 is dropped", () => {
  assert.equal(decodeUserData({ octets: hex("0416 04"), dataCoding: 8, hasHeader: false }).text, "Ж");
});

test("the data coding tells alphabet and class, in all its groups", () => {
  const expected: Record<number, [alphabet: string, flash: boolean]> = {
    0: ["gsm7", false],
    4: ["octets", false],
    8: ["ucs2", false],
    12: ["gsm7", false],
    16: ["gsm7", true],
    17: ["gsm7", false],
    20: ["octets", true],
    24: ["ucs2", true],
    25: ["ucs2", false],
    32: ["octets", false],
    72: ["ucs2", false],
    88: ["ucs2", true],
    128: ["gsm7", false],
    192: ["gsm7", false],
    208: ["gsm7", false],
    224: ["ucs2", false],
    240: ["gsm7", true],
    241: ["gsm7", false],
    244: ["octets", true],
    245: ["octets", false],
  };
  for (const [dataCoding, [alphabet, flash]] of Object.entries(expected)) {
    assert.deepEqual(readDataCoding(Number(dataCoding)), { alphabet, flash }, dataCoding);
  }
  for (const alphabet of ["gsm7", "octets", "ucs2"] as const) {
    for (const flash of [false, true])
      assert.deepEqual(readDataCoding(dataCodingOf(alphabet, flash)), { alphabet, flash });
  }
});

test("what cannot be encoded is a bug of the caller, not a wrong message", () => {
  assert.throws(() => encodeParts({ text: "ж", encoding: "gsm7" }, { reference: 1, flash: false }), RangeError);
  assert.throws(
    () => encodeParts({ text: "a".repeat(153 * 256), encoding: "gsm7" }, { reference: 1, flash: false }),
    RangeError,
  );
});
