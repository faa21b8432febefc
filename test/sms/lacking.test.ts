/** The characters that force a text into UCS-2 are exactly those without which it would not be in UCS-2. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { GSM_CHARACTERS } from "../../src/sms/alphabets.ts";
import { lackingCharacters } from "../../src/sms/lacking.ts";
import { LANGUAGE_CHOICES, prepareText, type TextOptions } from "../../src/sms/text.ts";
import fc from "../support/chance.ts";

const of = (text: string, options: TextOptions = {}) =>
  lackingCharacters(text, options).map(({ index, character }) => [index, character]);

test("what a reader takes for one character is one, with its place", () => {
  assert.deepEqual(of("Café – 5 €"), [[5, "–"]]);
  assert.deepEqual(of("a👨‍👩‍👧b😀"), [
    [1, "👨‍👩‍👧"],
    [10, "😀"],
  ]);
  assert.deepEqual(of("cafe\u0301"), [[3, "e\u0301"]]);
  assert.deepEqual(of("{[~]}"), []);
});

test("the tables of a language have their letters, where the client allows them", () => {
  const text = "Şimdi ağ";
  assert.deepEqual(of(text), [
    [0, "Ş"],
    [7, "ğ"],
  ]);
  assert.deepEqual(of(text, { languageCode: "TR" }), []);
  assert.deepEqual(of(`${text}–`, { languageCode: "TR" }), [[8, "–"]]);
  assert.equal(of(text, { languageCode: "TR", singleShift: false }).length, 2);
});

test("a text is in UCS-2 exactly when it has such characters, and without them it is not", () => {
  const letters = fc.constantFrom(...GSM_CHARACTERS, ..."şğıİçÇáéíóúãõ–“”…Жя😀👍🏽日本", "e\u0301");
  const texts = fc.array(letters, { minLength: 1, maxLength: 60 }).map((parts) => parts.join(""));
  const codes = fc.constantFrom(undefined, ...LANGUAGE_CHOICES);
  fc.assert(
    fc.property(texts, codes, fc.boolean(), (text, languageCode, lockingShift) => {
      const options = { languageCode, lockingShift };
      const lacking = lackingCharacters(text, options);
      assert.equal(prepareText(text, options).encoding === "ucs2", lacking.length > 0);
      let rest = text;
      for (const { index, character } of lacking.toReversed()) {
        assert.equal(rest.slice(index, index + character.length), character);
        rest = rest.slice(0, index) + rest.slice(index + character.length);
      }
      assert.notEqual(prepareText(rest, options).encoding, "ucs2");
    }),
  );
});
