/** What is typed becomes a request: numbers as people paste them, only the fields that were filled in, and errors at their field. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  draftFrom,
  EMPTY_DRAFT,
  fieldOf,
  localInput,
  problemsByField,
  readNumbers,
  requestOf,
  sendAtOf,
  textOptions,
} from "../../console/src/pages/compose/draft.ts";
import { afterKey, clockOf, minuteOf, moved, stretches } from "../../console/src/pages/compose/window.ts";
import { groupText, isFound, readGroups } from "../../console/src/pages/routes/items.ts";

test("numbers are read as people paste them, and each is sent to once", () => {
  assert.deepEqual(readNumbers("41793026727,+41793026834;\n0041-79-302.67.27  (41)791112233 abc 12"), {
    good: ["41793026727", "41793026834", "41791112233"],
    bad: ["abc", "12"],
  });
  assert.deepEqual(readNumbers("  \n, "), { good: [], bad: [] });
});

test("a number may have spaces, as people write it, and two numbers beside each other are two", () => {
  const cases: [typed: string, good: string[], bad?: string[]][] = [
    ["+41 79 302 67 27", ["41793026727"]],
    ["0041 79 300 00 27", ["41793000027"]],
    ["+41 (0)79 302-67-27", ["41793026727"]],
    ["+1 4155550123", ["14155550123"]],
    ["+44 7700 900123", ["447700900123"]],
    ["41 79 302 67 27, 41 79 302 68 34", ["41793026727", "41793026834"]],
    ["+41 79 302 67 27 +41 79 302 68 34", ["41793026727", "41793026834"]],
    ["41793026727 41793026834", ["41793026727", "41793026834"]],
    ["41793026727 12", ["41793026727"], ["12"]],
    ["123456 654321", ["123456", "654321"]],
    ["41793026727\t+41 79 302 68 34\r\n", ["41793026727", "41793026834"]],
    ["41 79 302 67 27 41 79 302 68 34", [], ["41 79 302 67 27 41 79 302 68 34"]],
    ["Anna 41793026727", ["41793026727"], ["Anna"]],
  ];
  for (const [typed, good, bad = []] of cases) assert.deepEqual(readNumbers(typed), { good, bad }, typed);
});

test("only what was filled in is sent", () => {
  assert.deepEqual(requestOf({ ...EMPTY_DRAFT, to: "41793026727", text: "Hello" }), {
    path: "/sms/2/text/advanced",
    body: { messages: [{ destinations: [{ to: "41793026727" }], text: "Hello" }] },
  });
});

test("an id of one's own is for one number", () => {
  const draft = { ...EMPTY_DRAFT, text: "x", messageId: "mine" };
  assert.deepEqual(requestOf({ ...draft, to: "41793026727" }).body.messages[0]!.destinations, [
    { to: "41793026727", messageId: "mine" },
  ]);
  assert.deepEqual(requestOf({ ...draft, to: "41793026727 41793026834" }).body.messages[0]!.destinations, [
    { to: "41793026727" },
    { to: "41793026834" },
  ]);
});

test("what is no number goes to the service as it is, which says what is wrong", () => {
  const { body } = requestOf({ ...EMPTY_DRAFT, to: "41793026727", text: "x", validityPeriod: "soon" });
  assert.equal(body.messages[0]!.validityPeriod, "soon");
});

test("a time of the reader's zone is sent in UTC, and comes back as it was", () => {
  const local = localInput(Date.UTC(2026, 6, 1, 10, 30));
  assert.equal(sendAtOf(local), "2026-07-01T10:30:00.000+0000");
  assert.equal(sendAtOf("no date"), null);
  assert.equal(localInput("nonsense"), "");
});

test("an address fills the form in, and what it does not know it leaves out", () => {
  const draft = draftFrom({
    to: "41793026727",
    text: "Hi",
    flash: "true",
    languageCode: "TR",
    transliteration: "KLINGON",
  });
  assert.deepEqual(
    [draft.to, draft.text, draft.flash, draft.languageCode, draft.transliteration, draft.kind],
    ["41793026727", "Hi", true, "TR", "", "text"],
  );
  assert.equal(draftFrom({ hex: "0f" }).kind, "binary");
});

test("a language without either table is counted as it is sent: the service takes two that are false for none said", () => {
  const draft = { ...EMPTY_DRAFT, to: "41793026727", text: "ş", languageCode: "TR", singleShift: false } as const;
  const language = { languageCode: "TR", singleShift: false };
  assert.deepEqual(textOptions(draft), language);
  assert.deepEqual(requestOf(draft).body.messages[0]!.language, language);
});

test("an error is told at its field", () => {
  const names = {
    "messages[0].destinations[2].to": "to",
    "messages[0].destinations": "to",
    "messages[0].binary.hex": "hex",
    "messages[0].binary.dataCoding": "dataCoding",
    "messages[0].deliveryTimeWindow.to": "window",
    "messages[0].language.languageCode": "language",
    bulkId: "bulkId",
    messages: null,
  } as const;
  for (const [name, field] of Object.entries(names)) assert.equal(fieldOf(name), field, name);
  assert.deepEqual(
    [
      ...problemsByField("messages[0].sendAt is no date; messages[0].notifyUrl must be absolute.", [
        "messages[0].sendAt",
        "messages[0].notifyUrl",
      ]),
    ],
    [
      ["sendAt", "It is no date."],
      ["notifyUrl", "It must be absolute."],
    ],
  );
  assert.deepEqual([...problemsByField("Too many requests", [])], [["", "Too many requests"]]);
});

test("the window's handles wrap around midnight and never meet", () => {
  assert.deepEqual(stretches({ fromMinute: 480, toMinute: 1_200 }), [{ start: 480, end: 1_200 }]);
  assert.deepEqual(stretches({ fromMinute: 1_320, toMinute: 360 }), [
    { start: 1_320, end: 1_440 },
    { start: 0, end: 360 },
  ]);
  assert.deepEqual(stretches({ fromMinute: 1_320, toMinute: 0 }), [{ start: 1_320, end: 1_440 }]);
  const hours = { fromMinute: 480, toMinute: 1_200 };
  assert.deepEqual(moved(hours, "fromMinute", 1_200), hours);
  assert.deepEqual(moved(hours, "toMinute", 1_450), { fromMinute: 480, toMinute: 10 });
  assert.equal(afterKey("ArrowRight", 483), 495);
  assert.equal(afterKey("ArrowLeft", 0), 1_425);
  assert.equal(afterKey("PageUp", 1_425), 45);
  assert.equal(afterKey("Home", 700), 0);
  assert.equal(afterKey("x", 700), null);
  assert.equal(clockOf(-30), "23:30");
  assert.equal(minuteOf("06:30"), 390);
  assert.equal(minuteOf("24:00"), null);
});

test("groups of carriers are written in lines and read again", () => {
  const groups = [[{ carrier: "acme", weight: 3 }, { carrier: "other" }], [{ carrier: "backup" }]];
  const typed = groups.map(groupText).join("\n");
  assert.equal(typed, "acme=3, other\nbackup");
  assert.deepEqual(readGroups(`${typed}\n\n`), groups);
});

test("a search finds rows that have all its words", () => {
  assert.ok(isFound("swit 41", "4179", "Switzerland"));
  assert.ok(isFound("", "x"));
  assert.ok(!isFound("swit 42", "4179", "Switzerland"));
});
