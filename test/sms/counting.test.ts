/** How many parts a text takes, which encoding it is given, and where it is cut. */
import assert from "node:assert/strict";
import test from "node:test";
import { cutText, measure } from "../../src/sms/parts.ts";
import { type Encoding, MAX_PARTS, prepareText, type TextOptions } from "../../src/sms/text.ts";

/**
 * From the standard's arithmetic, not from the code: what a part holds alone and as one of several, and with a 16 bit
 * reference.
 */
const LIMITS: { encoding: Encoding; letter: string; cost: number; alone: number; several: number; wide: number }[] = [
  { encoding: "gsm7", letter: "a", cost: 1, alone: 160, several: 153, wide: 152 },
  { encoding: "gsm7+tr.s", letter: "ş", cost: 2, alone: 155, several: 149, wide: 148 },
  { encoding: "gsm7+tr.l", letter: "ş", cost: 1, alone: 155, several: 149, wide: 148 },
  { encoding: "gsm7+tr.ls", letter: "ş", cost: 1, alone: 152, several: 146, wide: 145 },
  { encoding: "gsm7+es.s", letter: "á", cost: 2, alone: 155, several: 149, wide: 148 },
  { encoding: "gsm7+pt.s", letter: "ã", cost: 2, alone: 155, several: 149, wide: 148 },
  { encoding: "gsm7+pt.l", letter: "ã", cost: 1, alone: 155, several: 149, wide: 148 },
  { encoding: "gsm7+pt.ls", letter: "ã", cost: 1, alone: 152, several: 146, wide: 145 },
  { encoding: "ucs2", letter: "ж", cost: 1, alone: 70, several: 67, wide: 66 },
];

for (const { encoding, letter, cost, alone, several, wide } of LIMITS) {
  test(`${encoding}: ${alone} alone, ${several} in several, ${wide} with a 16 bit reference`, () => {
    /** A national letter, so that the encoding has its reason, and plain ones up to so many units. */
    const units = (count: number) => letter + "x".repeat(count - cost);

    assert.deepEqual(measure(units(alone - 1), encoding), { partCount: 1, charactersRemaining: 1 });
    assert.deepEqual(measure(units(alone), encoding), { partCount: 1, charactersRemaining: 0 });
    assert.deepEqual(measure(units(alone + 1), encoding), {
      partCount: 2,
      charactersRemaining: several * 2 - alone - 1,
    });
    for (const reach of [
      { size: several, isWide: false },
      { size: wide, isWide: true },
    ]) {
      for (let count = 2; count <= MAX_PARTS; count++) {
        const full = reach.size * count;
        assert.deepEqual(measure(units(full - 1), encoding, reach.isWide), {
          partCount: count,
          charactersRemaining: 1,
        });
        assert.deepEqual(measure(units(full), encoding, reach.isWide), { partCount: count, charactersRemaining: 0 });
        const next = { partCount: count + 1, charactersRemaining: reach.size - 1 };
        assert.deepEqual(measure(units(full + 1), encoding, reach.isWide), next);
      }
    }
  });
}

test("an empty text is one empty message", () => {
  assert.deepEqual(prepareText("", {}), { text: "", encoding: "gsm7", partCount: 1, charactersRemaining: 160 });
});

test("each character of the extension table counts two", () => {
  for (const character of "^{}\\[~]|€\f") {
    assert.equal(prepareText(character.repeat(80), {}).charactersRemaining, 0);
    assert.equal(prepareText(character.repeat(81), {}).partCount, 2);
  }
});

test("an escape that does not fit leaves its septet unused", () => {
  // 153 = 76 × 2 + 1: each part of euro signs wastes one septet.
  const prepared = prepareText("€".repeat(76 * 3 + 1), {});
  assert.deepEqual([prepared.partCount, prepared.charactersRemaining], [4, 151]);
});

const CHOICES: { text: string; options: TextOptions; encoding: Encoding; why: string }[] = [
  { text: "Plain text", options: {}, encoding: "gsm7", why: "the default alphabet" },
  {
    text: "Plain text",
    options: { languageCode: "TR", lockingShift: true },
    encoding: "gsm7",
    why: "no national letter",
  },
  {
    text: "20 € {ok}",
    options: { languageCode: "PT" },
    encoding: "gsm7",
    why: "the extension table is no national one",
  },
  { text: "ΔΩ", options: { languageCode: "PT" }, encoding: "gsm7", why: "Greek capitals are GSM" },
  { text: "şeker", options: {}, encoding: "ucs2", why: "no language was named" },
  { text: "şeker", options: { languageCode: "TR" }, encoding: "gsm7+tr.s", why: "single shift is the default" },
  { text: "şeker", options: { languageCode: "ES" }, encoding: "ucs2", why: "Spanish has no ş" },
  { text: "şeker", options: { languageCode: "TR", singleShift: false }, encoding: "ucs2", why: "no table was allowed" },
  {
    text: "şeker",
    options: { languageCode: "TR", lockingShift: true },
    encoding: "gsm7+tr.s",
    why: "locking saves no part",
  },
  { text: "ş".repeat(100), options: { languageCode: "TR" }, encoding: "gsm7+tr.s", why: "locking was not allowed" },
  {
    text: "ş".repeat(100),
    options: { languageCode: "TR", lockingShift: true },
    encoding: "gsm7+tr.l",
    why: "locking saves a part",
  },
  {
    text: "şeker",
    options: { languageCode: "TR", singleShift: false, lockingShift: true },
    encoding: "gsm7+tr.l",
    why: "only locking",
  },
  {
    text: "şØ",
    options: { languageCode: "TR", singleShift: false, lockingShift: true },
    encoding: "ucs2",
    why: "the Turkish table has no Ø",
  },
  {
    text: "şØ",
    options: { languageCode: "TR", lockingShift: true },
    encoding: "gsm7+tr.s",
    why: "the default table has the Ø",
  },
  {
    text: "ªΩ",
    options: { languageCode: "PT", lockingShift: true },
    encoding: "gsm7+pt.ls",
    why: "one letter from each table",
  },
  {
    text: "áéí",
    options: { languageCode: "ES", lockingShift: true },
    encoding: "gsm7+es.s",
    why: "Spanish has no locking table",
  },
  { text: "не ş", options: { languageCode: "TR" }, encoding: "ucs2", why: "Russian is in no table" },
  { text: "şeker", options: { languageCode: "AUTODETECT" }, encoding: "gsm7+tr.s", why: "only Turkish has ş" },
  { text: "pão", options: { languageCode: "AUTODETECT" }, encoding: "gsm7+pt.s", why: "only Portuguese has ã" },
  { text: "adiós", options: { languageCode: "AUTODETECT" }, encoding: "gsm7+es.s", why: "Spanish is looked at first" },
  { text: "şão", options: { languageCode: "AUTODETECT" }, encoding: "ucs2", why: "no table has both" },
  { text: "adios", options: { languageCode: "AUTODETECT" }, encoding: "gsm7", why: "no table is needed" },
  { text: "не ş", options: { languageCode: "AUTODETECT" }, encoding: "ucs2", why: "Russian is in no table" },
  {
    text: "ş".repeat(100),
    options: { languageCode: "AUTODETECT" },
    encoding: "gsm7+tr.l",
    why: "a locking table saves a part, and whoever leaves the table to us wants that",
  },
  {
    text: "ş".repeat(100),
    options: { languageCode: "AUTODETECT", singleShift: true, lockingShift: false },
    encoding: "gsm7+tr.s",
    why: "a locking table is not wished",
  },
  { text: "şeker", options: { languageCode: "NONE" }, encoding: "ucs2", why: "no language was wished" },
  {
    text: "şeker",
    options: { languageCode: "TR", singleShift: false, lockingShift: false },
    encoding: "gsm7+tr.s",
    why: "both false are as if absent",
  },
  {
    text: "şeker",
    options: { transliteration: "NONE", languageCode: "TR" },
    encoding: "gsm7+tr.s",
    why: "nothing was transliterated",
  },
  {
    text: "şeker",
    options: { languageCode: "TR", transliteration: "TURKISH" },
    encoding: "gsm7",
    why: "transliteration comes first",
  },
  {
    text: "не ş",
    options: { languageCode: "TR", transliteration: "CYRILLIC" },
    encoding: "gsm7+tr.s",
    why: "what is left needs the table",
  },
  { text: "a\u001bb", options: {}, encoding: "ucs2", why: "the escape is no character" },
  { text: "a\tb", options: {}, encoding: "ucs2", why: "GSM has no tab" },
];

for (const { text, options, encoding, why } of CHOICES) {
  test(`${JSON.stringify(text.slice(0, 12))} ${JSON.stringify(options)} goes in ${encoding}: ${why}`, () => {
    assert.equal(prepareText(text, options).encoding, encoding);
  });
}

test("the example of the reference, in each of its ways", () => {
  const text = "Artık Ulusal Dil Tanımlayıcısı ile Türkçe karakterli smslerinizi rahatlıkla iletebilirsiniz.";
  assert.equal(prepareText(text, {}).partCount, 2);
  assert.equal(prepareText(text, { languageCode: "TR" }).partCount, 1);
  assert.equal(prepareText(text, { transliteration: "TURKISH" }).partCount, 1);
});

test("a lone surrogate is shown as the replacement character and never breaks a count", () => {
  assert.deepEqual(prepareText("a\ud83d", {}), {
    text: "a\ufffd",
    encoding: "ucs2",
    partCount: 1,
    charactersRemaining: 68,
  });
  assert.equal(prepareText("\udc00".repeat(71), {}).partCount, 2);
});

test("a text too long for any transliteration is counted as it stands, at once", () => {
  const hostile = `a${"\u0301\u0316".repeat(200_000)}`;
  const started = performance.now();
  for (const transliteration of ["GREEK", "CYRILLIC", "NON_UNICODE"] as const) {
    assert.ok(prepareText(hostile, { transliteration }).partCount > MAX_PARTS);
  }
  assert.ok(performance.now() - started < 1000);
});

test("a grapheme is cut only where that saves a part", () => {
  const flag = "🇩🇪";
  const movable = `${"ж".repeat(65)}${flag}${"ж".repeat(10)}`;
  assert.deepEqual(cutText(movable, "ucs2"), ["ж".repeat(65), `${flag}${"ж".repeat(10)}`]);
  const tight = `${"ж".repeat(65)}${flag}${"ж".repeat(65)}`;
  assert.deepEqual(cutText(tight, "ucs2"), [`${"ж".repeat(65)}🇩`, `🇪${"ж".repeat(65)}`]);
});

test("a grapheme longer than a part is cut somewhere", () => {
  const zalgo = `e${"\u0301".repeat(200)}`;
  const parts = cutText(zalgo, "ucs2");
  assert.equal(parts.length, 3);
  assert.equal(parts.join(""), zalgo);
});
