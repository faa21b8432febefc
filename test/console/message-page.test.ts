/** What the page of a message makes of its events and of its text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { folded, pastWords } from "../../console/src/pages/message/folded.ts";
import { codeOf, piecesOf, unseenName } from "../../console/src/pages/message/letters.ts";
import { shortLink } from "../../console/src/pages/message/short-link.ts";
import type { MessageEvent } from "../../src/api/console/message-schemas.ts";

const at = (second: number): string => new Date(Date.UTC(2026, 1, 12, 12, 0, second)).toISOString();

const event = (second: number, change: Partial<MessageEvent> = {}): MessageEvent => ({
  at: at(second),
  kind: "again",
  what: "not taken, goes again",
  detail: `carrier one · the carrier is busy · after ${second} ms`,
  until: at(second + 1),
  isTrouble: true,
  exchange: null,
  ...change,
});

test("what happens many times in a row is told once, with how often and when it last did", () => {
  const accepted = event(0, { kind: "accepted", what: "accepted", detail: "", until: null });
  const submitted = event(9, { kind: "submitted", what: "submitted", detail: "", until: null });
  const rows = folded([accepted, event(1), event(2), event(3), submitted, event(10)]);
  assert.deepEqual(
    rows.map(({ event: { what }, times, lastAt, isFollowed }) => [what, times, lastAt, isFollowed]),
    [
      ["accepted", 1, at(0), true],
      ["not taken, goes again", 3, at(3), true],
      ["submitted", 1, at(9), true],
      ["not taken, goes again", 1, at(10), false],
    ],
  );
  const exchange = { url: "http://x", body: null, status: 503, answer: null };
  assert.equal(folded([event(1, { exchange }), event(2, { exchange })]).length, 2, "each try has its own answer");
});

test("a short link is told as it stands in the text", () => {
  const code = "abcdefghijk";
  const texts: readonly (readonly [text: string, short: string])[] = [
    [`Sale: https://go.example/l/${code}`, `https://go.example/l/${code}`],
    [`Sale\n(http://127.0.0.1:8080/l/${code}).`, `http://127.0.0.1:8080/l/${code}`],
    [`see "go.example/l/${code}"`, `go.example/l/${code}`],
    ["deleted", `/l/${code}`],
  ];
  for (const [text, short] of texts) assert.equal(shortLink(text, code), short);
});

test("a time that was awaited is told as past when it is", () => {
  const [followed, last] = folded([event(1), event(5, { detail: "carrier two" })]);
  const nowMs = Date.parse(at(5));
  assert.equal(pastWords(followed!, nowMs), "was tried again at");
  assert.equal(pastWords(last!, nowMs), null);
  assert.equal(pastWords(last!, nowMs + 60_000), "is due again since");
  const [held] = folded([event(1, { kind: "held" })]);
  assert.equal(pastWords(held!, nowMs), "until");
  assert.equal(pastWords(folded([event(1, { until: null })])[0]!, nowMs), null);
});

test("letters that cannot be seen are told by name, and cannot turn the page around", () => {
  assert.deepEqual(piecesOf("ab\u202ec\u05d0\u05d1 d", true), [
    { text: "ab", kind: "plain" },
    { text: "\u202e", kind: "unseen" },
    { text: "c", kind: "plain" },
    { text: "\u05d0\u05d1", kind: "guilty" },
    { text: " d", kind: "plain" },
  ]);
  assert.equal(unseenName("\u202e"), "right-to-left override");
  assert.equal(unseenName("\u0007"), "control character");
  assert.equal(unseenName("a"), null);
  assert.equal(unseenName("\n"), null);
  assert.equal(codeOf("\u202e"), "U+202E");
  const family = "👨\u200d👩\u200d👧";
  assert.deepEqual(piecesOf(family, true), [{ text: family, kind: "guilty" }], "an emoji stays whole");
  assert.deepEqual(piecesOf("plain text\n", false), [{ text: "plain text\n", kind: "plain" }]);
});
