/** Packed septets where only octets are counted: seven spare bits at the end must not show as an `@`. 3GPP TS 23.038 §6.1.2.3.1. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_ALPHABET, GSM_CHARACTERS, septetsOf } from "../../src/sms/alphabets.ts";
import { headerSeptets, pack, unpack } from "../../src/sms/septets.ts";
import { decodeUserData, encodeUserData } from "../../src/sms/userdata.ts";
import fc from "../support/chance.ts";

/** As somebody else would write it: all bits in a row, lowest first, and every seven of them a character. It knows of no padding. */
function naiveText(octets: Uint8Array, headerOctets: number): string {
  const bits = [...octets].flatMap((octet) => [...Array(8).keys()].map((bit) => (octet >> bit) & 1));
  let text = "";
  let at = Math.ceil((headerOctets * 8) / 7) * 7;
  let escaped = false;
  for (; at + 7 <= bits.length; at += 7) {
    const code = bits.slice(at, at + 7).reduce((sum, bit, place) => sum + bit * 2 ** place, 0);
    if (!escaped && code === 0x1b) {
      escaped = true;
      continue;
    }
    text += escaped ? DEFAULT_ALPHABET.single[code] : DEFAULT_ALPHABET.locking[code];
    escaped = false;
  }
  return text;
}

/** Without CRs at the end, which a phone does not show. */
const shown = (text: string) => text.replace(/\r+$/, "");

test("whatever the length and the header, a packed text shows as it is to whoever counts octets only", () => {
  for (let headerOctets = 0; headerOctets <= 12; headerOctets++) {
    const header = new Uint8Array(headerOctets).fill(0xff);
    for (let length = 0; length + headerSeptets(headerOctets) <= 160; length++) {
      const text = "Heliograph".repeat(16).slice(0, length);
      const octets = pack(header, septetsOf(text, DEFAULT_ALPHABET.codes), true);
      const place = `${length} characters after ${headerOctets} octets`;
      assert.equal(shown(naiveText(octets, headerOctets)), text, place);
      assert.equal(Buffer.from(unpack(octets, headerOctets)).toString("latin1"), text, place);
      assert.ok(octets.length <= 140, place);
    }
  }
});

test("any GSM text shows as it is, but for a CR at its end", () => {
  const texts = fc
    .array(fc.constantFrom(...GSM_CHARACTERS), { maxLength: 160 })
    .map((characters) => characters.join(""));
  fc.assert(
    fc.property(texts, fc.boolean(), (text, endsInCr) => {
      const whole = endsInCr ? `${text}\r` : text;
      const part = encodeUserData(whole, "gsm7", { flash: false, padded: true });
      assert.equal(shown(naiveText(part.octets, 0)), shown(whole));
      assert.equal(shown(decodeUserData({ ...part, length: undefined as never }).text), shown(whole));
    }),
  );
});

test("a text that ends in CR where an octet ends has another CR behind it, unless the part is full", () => {
  for (const headerOctets of [0, 6, 7]) {
    const header = new Uint8Array(headerOctets).fill(0xff);
    for (let length = 1; length + headerSeptets(headerOctets) <= 160; length++) {
      const text = `${"Heliograph".repeat(16).slice(0, length - 1)}\r`;
      const octets = pack(header, septetsOf(text, DEFAULT_ALPHABET.codes), true);
      const place = `${length} characters after ${headerOctets} octets`;
      const count = headerSeptets(headerOctets) + length;
      const isFull = count === 160;
      const isPadded = count % 8 === 7 || (count % 8 === 0 && !isFull);
      assert.equal(naiveText(octets, headerOctets), isPadded ? `${text}\r` : text, place);
      const read = Buffer.from(unpack(octets, headerOctets)).toString("latin1");
      assert.equal(read, isFull ? text.slice(0, -1) : text, place);
      assert.ok(octets.length <= 140, place);
    }
  }
});

test("on the air the count of septets ends the text, so it has no padding and the count does not change", () => {
  const onAir = encodeUserData("seventy", "gsm7", { flash: false });
  const padded = encodeUserData("seventy", "gsm7", { flash: false, padded: true });
  assert.deepEqual([onAir.length, padded.length], [7, 7]);
  assert.equal(onAir.octets.at(-1)! >> 1, 0);
  assert.equal(padded.octets.at(-1)! >> 1, 0x0d);
  assert.equal(decodeUserData(padded).text, "seventy");
  assert.equal(decodeUserData(encodeUserData("seventy\r", "gsm7", { flash: false })).text, "seventy\r");
});
