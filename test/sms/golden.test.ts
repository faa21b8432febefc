/**
 * Octets that were not worked out by the code under test. The parts of each text were cut by hand; their octets come
 * from a separate program that writes bits one by one and has its own tables, typed from 3GPP TS 23.038.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { decodeUserData, type Encoding, encodeParts, prepareText, type TextOptions } from "../../src/sms/text.ts";
import rows from "./golden.json" with { type: "json" };

interface Golden {
  name: string;
  encoding: Encoding;
  /**
   * With these options the text must come to this encoding; absent where the encoding is only reached by asking for it.
   */
  options?: TextOptions;
  reference: number;
  wideReference: boolean;
  flash: boolean;
  parts: { text: string; hex: string; length: number; hasHeader: boolean; dataCoding: number }[];
}

const golden = rows as Golden[];

for (const { name, encoding, options, reference, wideReference, flash, parts } of golden) {
  test(`${encoding}: ${name}`, () => {
    const text = parts.map((part) => part.text).join("");

    const encoded = encodeParts({ text, encoding }, { reference, wideReference, flash });

    const seen = encoded.map(({ octets, ...rest }) => ({ ...rest, hex: Buffer.from(octets).toString("hex") }));
    assert.deepEqual(seen, parts);
    for (const [index, part] of encoded.entries()) {
      const decoded = decodeUserData(part);
      assert.equal(decoded.text, part.text);
      assert.equal(decoded.flash, flash);
      const expected = parts.length === 1 ? undefined : { reference, total: parts.length, sequence: index + 1 };
      assert.deepEqual(decoded.concatenation, expected);
    }
    if (options !== undefined) {
      const prepared = prepareText(text, options);
      assert.deepEqual([prepared.text, prepared.encoding, prepared.partCount], [text, encoding, parts.length]);
    }
  });
}

test("there are golden vectors for every encoding, alone and in several parts", () => {
  assert.ok(golden.length >= 60);
  const encodings = new Set(golden.map((row) => row.encoding));
  assert.equal(encodings.size, 9);
  for (const encoding of encodings) {
    const counts = golden.filter((row) => row.encoding === encoding).map((row) => row.parts.length);
    assert.ok(Math.min(...counts) === 1 && Math.max(...counts) > 1, encoding);
  }
});
