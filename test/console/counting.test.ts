/** The page counts as the service does: the same text, in every language and transliteration, gives what POST /sms/1/preview answers. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  betterLanguage,
  codePoints,
  countHex,
  countText,
  eachOnce,
  encodingWords,
  hasSmallAlphabet,
  loadTransliteration,
  loadWriting,
  replaceLacking,
} from "../../console/src/pages/compose/counting.ts";
import { LANGUAGE_CHOICES, prepareText, TRANSLITERATIONS } from "../../src/sms/text.ts";
import fc, { cases } from "../support/chance.ts";
import { startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const transliterate = await loadTransliteration();

const CORPUS = [
  "Hello from my own phone network",
  "Grüße aus Zürich – bis morgen 👋",
  "Şimdi ağaçların altında",
  "Não há água",
  "Καλημέρα ΚΟΣΜΕ",
  "Съешь ещё этих мягких французских булок",
  "日本語のテキスト",
  "{}[]~^|€",
  "👨‍👩‍👧‍👦".repeat(9),
  "x".repeat(160),
  "x".repeat(161),
  `${"€".repeat(80)}!`,
  "ж".repeat(70),
  "ж".repeat(71),
  "cafe\u0301",
];

async function previewed(text: string, options: object) {
  const { status, json, text: said } = await service.call("POST", "/sms/1/preview", { body: { text, ...options } });
  assert.equal(status, 200, said);
  return json.previews.at(-1) as { textPreview: string; messageCount: number; charactersRemaining: number };
}

async function compare(text: string, options: Parameters<typeof countText>[1]): Promise<void> {
  const counted = countText(text, options, transliterate);
  const { textPreview, messageCount, charactersRemaining } = await previewed(text, options);
  assert.deepEqual(
    [counted.text, counted.partCount, counted.charactersRemaining],
    [textPreview, messageCount, charactersRemaining],
    JSON.stringify({ text, options }),
  );
}

test("known texts are counted as the service previews them, with every option", async () => {
  for (const text of CORPUS) {
    await compare(text, {});
    for (const languageCode of LANGUAGE_CHOICES) await compare(text, { languageCode });
    for (const transliteration of TRANSLITERATIONS) await compare(text, { transliteration });
  }
});

test("any text is counted as the service previews it", async () => {
  const pieces = fc.constantFrom(
    "a",
    "Ä",
    "€",
    "\n",
    "ş",
    "ğ",
    "ã",
    "ж",
    "Δ",
    "–",
    "“",
    "😀",
    "👍🏽",
    "語",
    "e\u0301",
    "[",
  );
  const texts = fc.oneof(
    fc.array(pieces, { minLength: 1, maxLength: 400 }).map((parts) => parts.join("")),
    fc.string({ minLength: 1, maxLength: 300, unit: "grapheme" }),
  );
  const options = fc.record(
    { languageCode: fc.constantFrom(...LANGUAGE_CHOICES), transliteration: fc.constantFrom(...TRANSLITERATIONS) },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(
      // The service takes no NUL.
      texts.filter((text) => !text.includes("\0")),
      options,
      compare,
    ),
    { numRuns: cases(150) },
  );
});

test("the characters that make a text Unicode are named, and replacing them makes it GSM", () => {
  const text = "Grüße – bis morgen 👋 – ja";
  const { lacking, encoding, room } = countText(text, {}, null);
  assert.equal(encoding, "ucs2");
  assert.equal(room, 70);
  assert.deepEqual(eachOnce(lacking), [
    { character: "–", times: 2 },
    { character: "👋", times: 1 },
  ]);
  const replaced = replaceLacking(text, lacking, transliterate);
  assert.equal(replaced, "Grüße - bis morgen ? - ja");
  assert.equal(countText(replaced, {}, null).encoding, "gsm7");
  assert.deepEqual(countText(text, { transliteration: "NON_UNICODE" }, transliterate).lacking, []);
  assert.equal(codePoints("–"), "U+2013");
  assert.equal(codePoints("👍🏽"), "U+1F44D U+1F3FD");
});

test("with a transliteration those that it leaves are still named", () => {
  const { lacking, encoding } = countText("Привет 👋", { transliteration: "CYRILLIC" }, transliterate);
  assert.equal(encoding, "ucs2");
  assert.deepEqual(
    lacking.map(({ character }) => character),
    ["👋"],
  );
});

test("replacing leaves no text in UCS-2, whatever it is", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80, unit: "grapheme" }), (text) => {
      const replaced = replaceLacking(text, countText(text, {}, null).lacking, transliterate);
      assert.equal(prepareText(replaced, {}).encoding, "gsm7");
    }),
  );
});

test("a language is suggested where its letters carry the text in no more parts", () => {
  const turkish = "Şimdi ağaçların altında ".repeat(6);
  const count = countText(turkish, {}, null);
  assert.equal(count.partCount, 3);
  assert.deepEqual(betterLanguage(turkish, count, {}), { languageCode: "TR", partCount: 2 });
  assert.equal(betterLanguage("日本", countText("日本", {}, null), {}), null);
  assert.equal(betterLanguage("plain", countText("plain", {}, null), {}), null);
  assert.equal(encodingWords(countText(turkish, { languageCode: "TR" }, null).encoding), "GSM with Turkish letters");
});

test("over a carrier with a smaller alphabet a text is counted as the service charges for it", async (t) => {
  const partsOver = await loadWriting();
  const alphabets = { "41": "latin1", "42": "ascii" };
  const carriers = Object.entries(alphabets).map(
    ([prefix, alphabet]) => `
[[carrier]]
id = "${alphabet}"
kind = "smpp"
hosts = ["127.0.0.1:1"]
systemId = "small"
password = "secret"
alphabet = "${alphabet}"
[[route]]
prefix = "${prefix}"
carrier = "${alphabet}"`,
  );
  const rates = `
[[ratePlan]]
id = "standard"
currency = "EUR"
rate = [{ prefix = "", price = "0.01" }]`;
  const other = await startTestService(t, { catalogue: carriers.join("") + rates });
  for (const [prefix, alphabet] of Object.entries(alphabets)) {
    const carrier = { id: alphabet, alphabet, missingLetters: "transliterate" };
    assert.ok(hasSmallAlphabet(carrier));
    for (const text of ["€".repeat(60), "Hello", "Grüße ".repeat(30), "ж".repeat(80)]) {
      const { status } = await other.call("POST", "/sms/1/text/single", {
        body: { from: "Shop", to: `${prefix}793026727`, text },
      });
      assert.equal(status, 200);
      assert.equal(partsOver(countText(text, {}, null), carrier), other.handedOn.at(-1)!.partCount, text);
    }
  }
});

test("octets are counted as the service counts them, or it is said what is wrong", async () => {
  for (const [hex, dataCoding, esmClass] of [
    ["0f c2 4a bf", 4, 0],
    ["ab".repeat(140), 4, 0],
    ["ab".repeat(141), 4, 0],
    ["41".repeat(161), 0, 0],
    ["0041".repeat(71), 8, 0],
  ] as const) {
    const { json } = await service.call("POST", "/sms/2/binary/advanced", {
      body: {
        includeSmsCountInResponse: true,
        messages: [{ from: "Shop", destinations: [{ to: "41793026727" }], binary: { hex, dataCoding, esmClass } }],
      },
    });
    const counted = countHex(hex, dataCoding, esmClass);
    assert.equal("parts" in counted ? counted.parts : counted.problem, json.messages[0].smsCount);
  }
  assert.deepEqual(countHex("abc", 0, 0), { problem: "A digit is missing: each octet has two." });
  assert.match(JSON.stringify(countHex("zz", 0, 0)), /Only the digits/);
  assert.match(JSON.stringify(countHex("05", 0, 64)), /a header stands first/);
  assert.match(JSON.stringify(countHex(`0500030a0201${"ab".repeat(140)}`, 4, 64)), /must fit one part/);
});
