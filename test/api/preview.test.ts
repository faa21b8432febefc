/** POST /sms/1/preview: what a text would look like and cost, without sending it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { prepareText, TRANSLITERATIONS } from "../../src/sms/text.ts";
import { balanceOf } from "../support/sending.ts";
import { assertUnauthorized, errorObject, startTestService } from "../support/service.ts";

const service = await startTestService({ after });

function preview(body: unknown) {
  return service.call("POST", "/sms/1/preview", { body });
}

test("a plain text has one preview", async () => {
  const answer = await preview({ text: "Let's see how many characters remain." });

  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type")!, /^application\/json(; charset=utf-8)?$/);
  assert.deepEqual(answer.json, {
    originalText: "Let's see how many characters remain.",
    previews: [
      {
        textPreview: "Let's see how many characters remain.",
        messageCount: 1,
        charactersRemaining: 123,
        configuration: {},
      },
    ],
  });
});

test("a text of several parts says how much room the last one has", async () => {
  const { json } = await preview({ text: "x".repeat(161) });

  const [{ messageCount, charactersRemaining }] = json.previews;
  assert.deepEqual({ messageCount, charactersRemaining }, { messageCount: 2, charactersRemaining: 2 * 153 - 161 });
});

test("with a language and a transliteration the plain text comes first, then what each of them makes of it", async () => {
  const text = "Artık Ulusal Dil Tanımlayıcısı ile Türkçe karakterli smslerinizi rahatlıkla iletebilirsiniz.";
  const latin = "Artik Ulusal Dil Tanimlayicisi ile Türkce karakterli smslerinizi rahatlikla iletebilirsiniz.";
  const { json } = await preview({ text, languageCode: "TR", transliteration: "TURKISH" });

  const language = { languageCode: "TR" };
  assert.deepEqual(json, {
    originalText: text,
    previews: [
      { textPreview: text, messageCount: 2, charactersRemaining: 134 - text.length, configuration: {} },
      // 7 letters of the single shift table, at two septets each.
      { textPreview: text, messageCount: 1, charactersRemaining: 155 - text.length - 7, configuration: { language } },
      {
        textPreview: latin,
        messageCount: 1,
        charactersRemaining: 160 - text.length,
        configuration: { transliteration: "TURKISH" },
      },
      {
        textPreview: latin,
        messageCount: 1,
        charactersRemaining: 160 - text.length,
        configuration: { language, transliteration: "TURKISH" },
      },
    ],
  });
});

test("every transliteration has its preview beside the plain one, and NONE is the plain one", async () => {
  const text = "Ş ř ļ ã á Љ Щ Ω ώ “";
  for (const transliteration of TRANSLITERATIONS) {
    const { status, json } = await preview({ text, transliteration });
    assert.equal(status, 200);
    assert.deepEqual(
      json.previews.map(({ configuration }: { configuration: unknown }) => configuration),
      transliteration === "NONE" ? [{}] : [{}, { transliteration }],
    );
    assert.equal(json.previews[0].textPreview, text);
    if (transliteration !== "NONE") assert.notEqual(json.previews[1].textPreview, text);
  }
});

test("with AUTODETECT the preview shows the fewest parts of all languages, and says AUTODETECT", async () => {
  const text = "Não há água à tarde, mas amanhã de manhã virá o caminhão. ".repeat(2);
  const { json } = await preview({ text, languageCode: "AUTODETECT" });
  const portuguese = await preview({ text, languageCode: "PT" });

  assert.deepEqual(json.previews[1], {
    ...portuguese.json.previews[1],
    configuration: { language: { languageCode: "AUTODETECT" } },
  });
  assert.equal(json.previews[1].messageCount, 1);
  const none = await preview({ text, languageCode: "NONE", transliteration: "NONE" });
  assert.deepEqual(none.json.previews, [json.previews[0]]);
});

test("the language may stand in language, as in a message, with the tables that it allows", async () => {
  const text = "Iğdır'da güneş ışığı çok güçlü, öğleden sonra hava serin olur ve akşam rüzgar başlar. ".repeat(5);
  const flat = await preview({ text, languageCode: "TR" });
  const nested = await preview({ text, language: { languageCode: "TR" } });
  assert.deepEqual([nested.status, nested.headers.get("x-heliograph-warnings")], [200, null]);
  assert.deepEqual(nested.json, flat.json);
  assert.equal(nested.json.previews.length, 2);
  assert.ok(nested.json.previews[1].messageCount < nested.json.previews[0].messageCount);
  // A message says the same in the same way, and costs as much.
  const language = { languageCode: "TR", lockingShift: true, singleShift: true } as const;
  const { json } = await preview({ text, language });
  assert.equal(json.previews[1].messageCount, prepareText(text, language).partCount);
  assert.deepEqual(
    [nested, { json }].map((answer) => answer.json.previews[1].messageCount),
    [4, 3],
  );
  const both = await preview({ text, languageCode: "ES", language: { languageCode: "TR" } });
  assert.deepEqual(both.json, flat.json, "the nested one counts, as in a message");
  assert.equal((await preview({ text, language: { languageCode: "XX" } })).status, 400);
});

test("a preview costs nothing and sends nothing", async () => {
  const balance = await balanceOf(service);
  await preview({ text: "Hello" });

  assert.equal(await balanceOf(service), balance);
  assert.equal(service.handedOn.length, 0);
});

test("null means absent and unknown keys are ignored, as everywhere", async () => {
  const { json } = await preview({ text: "Hello", languageCode: null, transliteration: null, from: "InfoSMS" });

  assert.deepEqual(
    json.previews.map(({ configuration }: { configuration: unknown }) => configuration),
    [{}],
  );
});

test("a preview that cannot be made says what is wrong", async () => {
  const transliterations = TRANSLITERATIONS.join(", ");
  const rows = [
    [{}, "text", "is required"],
    [{ text: "" }, "text", "must not be empty"],
    [{ text: 7 }, "text", "must be a string"],
    [{ text: "x".repeat(10_001) }, "text", "must be at most 10000 characters long"],
    [{ text: "Hello", languageCode: "DE" }, "languageCode", "must be one of TR, ES, PT, AUTODETECT, NONE"],
    [{ text: "Hello", transliteration: "LATIN" }, "transliteration", `must be one of ${transliterations}`],
  ] as const;
  for (const [body, field, says] of rows) {
    const answer = await preview(body);
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json, errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`));
  }
});

test("a preview needs an account", async () => {
  const answer = await service.call("POST", "/sms/1/preview", { body: { text: "Hello" }, authorization: null });

  assertUnauthorized(answer, "missing");
});
