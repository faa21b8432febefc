/** POST /sms/1/preview: what a text would look like and cost, without sending it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { balanceOf } from "../support/sending.ts";
import { errorObject, startTestService } from "../support/service.ts";

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
  const transliterations = "TURKISH, GREEK, CYRILLIC, CENTRAL_EUROPEAN, NON_UNICODE";
  const rows = [
    [{}, "text", "is required"],
    [{ text: "" }, "text", "must not be empty"],
    [{ text: 7 }, "text", "must be a string"],
    [{ text: "x".repeat(10_001) }, "text", "must be at most 10000 characters long"],
    [{ text: "Hello", languageCode: "DE" }, "languageCode", "must be one of TR, ES, PT"],
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

  assert.equal(answer.status, 401);
  assert.deepEqual(answer.json, errorObject("UNAUTHORIZED", "Unauthorized"));
});
