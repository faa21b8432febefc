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

test("with one option there are two previews", () => {
  assert.deepEqual(
    preview("Привет", { transliteration: "CYRILLIC" }).previews.map((item) => item.textPreview),
    ["Привет", "Privet"],
  );
});
