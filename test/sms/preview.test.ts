/** What a client is shown before it sends. */
import assert from "node:assert/strict";
import test from "node:test";
import { preview } from "../../src/sms/preview.ts";

test("a plain text has one preview, with an empty configuration", () => {
  const text = "Let's see how many characters will remain unused in this message.";
  assert.deepEqual(preview(text, {}), {
    originalText: text,
    previews: [{ textPreview: text, messageCount: 1, charactersRemaining: 95, configuration: {} }],
  });
});

test("the plain text comes first, then each option alone, then both", () => {
  const text = "Şişli'de buluşalım, çok güzel olacak. ".repeat(3).trim();
  const plain = "Sisli'de bulusalim, cok güzel olacak. ".repeat(3).trim();
  const { originalText, previews } = preview(text, { languageCode: "TR", transliteration: "TURKISH" });

  assert.equal(originalText, text);
  assert.deepEqual(previews, [
    { textPreview: text, messageCount: 2, charactersRemaining: 21, configuration: {} },
    {
      textPreview: text,
      messageCount: 1,
      charactersRemaining: 27,
      configuration: { language: { languageCode: "TR" } },
    },
    { textPreview: plain, messageCount: 1, charactersRemaining: 47, configuration: { transliteration: "TURKISH" } },
    {
      textPreview: plain,
      messageCount: 1,
      charactersRemaining: 47,
      configuration: { language: { languageCode: "TR" }, transliteration: "TURKISH" },
    },
  ]);
});

/** Texts that public documentation of this API family shows, with what it says of them. */
const PUBLISHED = [
  {
    text: "Let's see how many characters will remain unused in this message.",
    options: {},
    shown: "Let's see how many characters will remain unused in this message.",
    messageCount: 1,
    charactersRemaining: 95,
  },
  {
    text: "Ως Μεγαρικό ψήφισμα είναι γνωστή η απόφαση της Εκκλησίας του δήμου των Αθηναίων (πιθανόν γύρω στο 433/2 π.Χ.) να επιβάλει αυστηρό και καθολικό εμπάργκο στα",
    options: { transliteration: "GREEK" },
    shown:
      "ΩΣ MEΓAPIKO ΨHΦIΣMA EINAI ΓNΩΣTH H AΠOΦAΣH THΣ EKKΛHΣIAΣ TOY ΔHMOY TΩN AΘHNAIΩN (ΠIΘANON ΓYPΩ ΣTO 433/2 Π.X.) NA EΠIBAΛEI AYΣTHPO KAI KAΘOΛIKO EMΠAPΓKO ΣTA",
    messageCount: 1,
    charactersRemaining: 5,
  },
  {
    // Published are the text, the one part and that a language takes five of the 160; that an ı takes two of the 155 is of 3GPP TS 23.038.
    text: "Artık Ulusal Dil Tanımlayıcısı ile Türkçe karakterli smslerinizi rahatlıkla iletebilirsiniz.",
    options: { languageCode: "TR" },
    shown: "Artık Ulusal Dil Tanımlayıcısı ile Türkçe karakterli smslerinizi rahatlıkla iletebilirsiniz.",
    messageCount: 1,
    charactersRemaining: 155 - 92 - 7,
  },
] as const;

for (const { text, options, shown, messageCount, charactersRemaining } of PUBLISHED) {
  test(`a published text: ${JSON.stringify(options)}`, () => {
    const item = preview(text, options).previews.at(-1)!;
    assert.deepEqual(
      [item.textPreview, item.messageCount, item.charactersRemaining],
      [shown, messageCount, charactersRemaining],
    );
  });
}

test("with one option there are two previews", () => {
  assert.deepEqual(
    preview("Привет", { transliteration: "CYRILLIC" }).previews.map((item) => item.textPreview),
    ["Привет", "Privet"],
  );
});
