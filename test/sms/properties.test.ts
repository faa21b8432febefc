/** What holds for every text. A failure prints the seed and the smallest text that shows it. */
import assert from "node:assert/strict";
import test from "node:test";
import { isGsm } from "../../src/sms/alphabets.ts";
import tables from "../../src/sms/data/gsm-alphabets.json" with { type: "json" };
import { ENCODINGS, LANGUAGE_CODES } from "../../src/sms/encodings.ts";
import { measure } from "../../src/sms/parts.ts";
import {
  decodeUserData,
  type Encoding,
  encodeParts,
  LANGUAGE_CHOICES,
  type LanguageChoice,
  prepareText,
  type TextOptions,
  TRANSLITERATIONS,
} from "../../src/sms/text.ts";
import { transliterate } from "../../src/sms/transliteration.ts";
import fc, { cases, isLong } from "../support/chance.ts";

const encodings = Object.keys(ENCODINGS) as Encoding[];

/** Every character that the encoding holds; of UCS-2, all of Unicode. */
function charactersOf(encoding: Encoding): fc.Arbitrary<string> {
  const { alphabet } = ENCODINGS[encoding];
  if (alphabet === undefined) return fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
  const characters = [...alphabet.locking, ...alphabet.single].filter(
    (character) => character !== undefined && character !== "\x1b",
  );
  return fc.constantFrom(...(characters as string[]));
}

/** Long enough for several parts, with runs of one character so that borders fall everywhere. */
function textsOf(encoding: Encoding): fc.Arbitrary<string> {
  const run = fc
    .tuple(charactersOf(encoding), fc.oneof(fc.constant(1), fc.nat(180)))
    .map(([character, count]) => character.repeat(count));
  return fc.array(run, { maxLength: 12 }).map((runs) => runs.join(""));
}

/** What people and machines send: scripts mixed, accents apart, emoji, line ends, lone surrogates. */
const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 400 }),
  fc.string({ unit: "binary", maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        "a",
        "€",
        "ş",
        "Ğ",
        "á",
        "ã",
        "ж",
        "Щ",
        "Ω",
        "ω",
        "ά",
        "\u0301",
        "\u0306",
        "\u0308",
        "e",
        "и",
        "i",
        "👨‍👩‍👧",
        "👍🏽",
        "\r\n",
        "\ud800",
        " ",
        "ъ",
        "μπ",
      ),
      { maxLength: 300 },
    )
    .map((pieces) => pieces.join("")),
);

const options: fc.Arbitrary<TextOptions> = fc.record(
  {
    languageCode: fc.constantFrom(...LANGUAGE_CHOICES),
    singleShift: fc.boolean(),
    lockingShift: fc.boolean(),
    transliteration: fc.constantFrom(...TRANSLITERATIONS),
  },
  { requiredKeys: [] },
);

const sending = fc.record({
  reference: fc.nat(0xff),
  flash: fc.boolean(),
  wideReference: fc.boolean(),
  unpacked: fc.boolean(),
});

for (const encoding of encodings) {
  test(`${encoding}: decoding is the inverse of encoding, and no part exceeds 140 octets`, () => {
    fc.assert(
      fc.property(textsOf(encoding), sending, (text, how) => {
        const parts = encodeParts({ text, encoding }, how);

        assert.equal(parts.map((part) => part.text).join(""), text);
        assert.equal(parts.length, measure(text, encoding, how.wideReference)?.partCount);
        for (const [index, part] of parts.entries()) {
          const decoded = decodeUserData({ ...part, unpacked: how.unpacked });
          assert.equal(decoded.text, part.text);
          assert.equal(decoded.flash, how.flash);
          const concatenation =
            parts.length > 1 ? { reference: how.reference, total: parts.length, sequence: index + 1 } : undefined;
          assert.deepEqual(decoded.concatenation, concatenation);
          const airOctets = encoding === "ucs2" ? part.length : Math.ceil((part.length * 7) / 8);
          assert.ok(airOctets <= 140);
          if (!how.unpacked) assert.equal(part.octets.length, airOctets);
        }
      }),
      { numRuns: cases(150) },
    );
  });
}

test("what is prepared can be sent in the counted parts, whatever the text and the options", () => {
  fc.assert(
    fc.property(anyText, options, (text, chosen) => {
      const prepared = prepareText(text, chosen);

      const parts = encodeParts(prepared, { reference: 1, flash: false });

      assert.equal(parts.length, prepared.partCount);
      assert.equal(parts.map((part) => decodeUserData(part).text).join(""), prepared.text);
      assert.ok(prepared.text.isWellFormed());
      if ((chosen.transliteration ?? "NONE") === "NONE") assert.equal(prepared.text, text.toWellFormed());
    }),
    { numRuns: cases(600) },
  );
});

test("a cut lies inside a surrogate pair never, and between an escape and its character never", () => {
  fc.assert(
    fc.property(textsOf("ucs2"), (text) => {
      const prepared = prepareText(text, {});
      for (const part of encodeParts(prepared, { reference: 1, flash: false })) assert.ok(part.text.isWellFormed());
    }),
  );
  fc.assert(
    fc.property(textsOf("gsm7+pt.s"), (text) => {
      for (const part of encodeParts({ text, encoding: "gsm7+pt.s" }, { reference: 1, flash: false, unpacked: true })) {
        assert.notEqual(part.octets.at(-1), 0x1b);
      }
    }),
  );
});

test("adding a character never lowers the count", () => {
  fc.assert(
    fc.property(
      anyText,
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
      fc.nat(),
      options,
      (text, character, place, chosen) => {
        const plain = { ...chosen };
        delete plain.transliteration;
        const characters = Array.from(text);
        const at = place % (characters.length + 1);
        const longer = characters.slice(0, at).join("") + character + characters.slice(at).join("");

        assert.ok(prepareText(longer, plain).partCount >= prepareText(text, plain).partCount);
      },
    ),
    { numRuns: cases(1500) },
  );
});

test("so many more characters as remain keep the count, and one more raises it", () => {
  fc.assert(
    fc.property(anyText, options, (text, chosen) => {
      const plain = { ...chosen };
      delete plain.transliteration;
      const { partCount, charactersRemaining, encoding } = prepareText(text, plain);

      const filled = text + "a".repeat(charactersRemaining);

      assert.equal(measure(filled, encoding)?.partCount, partCount);
      assert.equal(measure(`${filled}a`, encoding)?.partCount, partCount + 1);
    }),
    { numRuns: cases(600) },
  );
});

test("NON_UNICODE leaves only GSM characters, and no text in UCS-2", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.ok(isGsm(transliterate(text, "NON_UNICODE")));
      assert.equal(prepareText(text, { transliteration: "NON_UNICODE" }).encoding, "gsm7");
    }),
    { numRuns: cases(2000) },
  );
});

test("AUTODETECT takes as many parts as the language does that takes the fewest", () => {
  fc.assert(
    fc.property(anyText, fc.boolean(), (text, lockingShift) => {
      const partsWith = (languageCode: LanguageChoice) => prepareText(text, { languageCode, lockingShift }).partCount;
      assert.equal(partsWith("AUTODETECT"), Math.min(...LANGUAGE_CODES.map(partsWith), partsWith("NONE")));
    }),
    { numRuns: cases(1000) },
  );
});

test("NON_UNICODE has a GSM answer for every character of Unicode", () => {
  // Beyond the basic plane the short run looks at one in sixty-one.
  for (let point = 0; point <= 0x10ffff; point += isLong || point < 0x10000 ? 1 : 61) {
    const answer = transliterate(String.fromCodePoint(point), "NON_UNICODE");
    if (!isGsm(answer)) assert.fail(`U+${point.toString(16)} became ${answer}`);
  }
});

for (const transliteration of TRANSLITERATIONS) {
  test(`${transliteration} done twice is done once`, () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = transliterate(text, transliteration);
        assert.equal(transliterate(once, transliteration), once);
      }),
      { numRuns: cases(2000) },
    );
  });

  test(`${transliteration} leaves a GSM text alone`, () => {
    const gsm = tables.locking.default.replace("\x1b", "") + Object.values(tables.single.default).join("");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...gsm) }), (text) => {
        assert.equal(transliterate(text, transliteration), text);
      }),
    );
  });
}

test("octets from outside never make the decoder throw", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 160 }),
      fc.nat(0xff),
      fc.boolean(),
      fc.boolean(),
      fc.nat(200),
      (octets, dataCoding, hasHeader, unpacked, length) => {
        const decoded = decodeUserData({ octets, dataCoding, hasHeader, unpacked, length });
        assert.equal(typeof decoded.text, "string");
      },
    ),
    { numRuns: cases(3000) },
  );
});
