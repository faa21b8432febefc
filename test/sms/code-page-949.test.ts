/** Korean as phones write it: KS X 1001, and all other syllables of Hangul. The pairs are those of the published code page. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { textOfCodePage949 } from "../../src/sms/code-page-949.ts";

const read = (hex: string): string => textOfCodePage949(Buffer.from(hex, "hex"));

describe("a pair is read as code page 949 has it", () => {
  const cases: [pair: string, character: string][] = [
    ...Object.entries({ b0a1: "가", c8fe: "힝", cafe: "龕" }), // of KS X 1001
    ...Object.entries({ "8141": "갂", "815a": "갴", "8161": "갵", "817a": "걕", "8181": "걖", "81fe": "괓" }),
    ...Object.entries({ "8c63": "똠", a0fe: "좤", a141: "좥", a1a0: "줎", c5a0: "힋", c641: "힍", c652: "힣" }),
    ...Object.entries({ a2e6: "€", a2e7: "®" }),
  ];
  for (const [pair, character] of cases) test(`${pair} is ${character}`, () => assert.equal(read(pair), character));
});

test("every syllable of Hangul has one pair", () => {
  const found: string[] = [];
  for (let lead = 0x81; lead <= 0xfe; lead++)
    for (let trail = 0x41; trail <= 0xfe; trail++) {
      const text = textOfCodePage949(Uint8Array.of(lead, trail));
      if (text >= "가" && text <= "힣" && text.length === 1) found.push(text);
    }
  assert.equal(found.length, 11_172);
  assert.equal(new Set(found).size, 11_172);
});

test("what is no pair is replaced, and letters beside it stay", () => {
  assert.equal(read("41c7d18c6342"), "A한똠B");
  assert.equal(read("c65341"), "\ufffdSA");
  assert.equal(read("812041"), "\ufffd A");
  assert.equal(read("41c7"), "A\ufffd");
});
