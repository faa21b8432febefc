/** Whatever a client or a receiver writes, the work with it grows with its length and no faster. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutKeyword } from "../../src/message/incoming.ts";
import { readTarget } from "../../src/reports/pushing/report-request.ts";
import { readRetryAfterMs } from "../../src/reports/pushing/retry.ts";
import { xmlBody } from "../../src/reports/rendering/report-body.ts";
import { parseDateTime } from "../../src/schedule/date-time.ts";
import { isDestination, isSender } from "../../src/sms/addresses.ts";
import { readHex } from "../../src/sms/binary.ts";
import { countOctets } from "../../src/sms/body.ts";
import { cutText, measure } from "../../src/sms/parts.ts";
import { TRANSLITERATIONS } from "../../src/sms/transliteration/names.ts";
import { transliterate } from "../../src/sms/transliteration.ts";
import { ucs2Octets } from "../../src/sms/userdata.ts";
import { growthFault } from "../support/growth.ts";

/** What is wrong with the growth of the work, from this length to ten times that; null if it is linear. */
function growthBeyondLinear<Input>(
  inputOf: (length: number) => Input,
  length: number,
  work: (input: Input) => unknown,
): string | null {
  const look = (some: number) => {
    const input = inputOf(some);
    return () => void work(input);
  };
  return growthFault(look, length * 10);
}

/** Texts that make something look far back or ahead. */
const TEXTS: Readonly<Record<string, string>> = {
  "one Greek word": "ψ",
  "one Greek word of accents": "α\u0301\u0308",
  "capitals that become several letters": "Щ",
  "hard signs": "ъ",
  "words that end in ия": "ия ",
  "a country's name": "българия",
  "accents alone": "\u0301",
  "thirty accents to a letter": `e${"\u0323\u0301".repeat(15)}`,
  "joined emoji": "👩\u200d",
  "joiners alone": "\u200d",
  flags: "🇨",
  "modifiers of skin": "🏽",
  "Hangul, letter by letter": "\u1112\u1161",
  "Devanagari joined by viramas": "क\u094d",
  "prepended marks": "\u0600",
  "halves of pairs": "\ud800",
  "line ends": "\r\n",
  "escaped characters": "€",
  spaces: " ",
};
const repeat =
  (piece: string) =>
  (length: number): string =>
    piece.repeat(Math.ceil(length / piece.length));

for (const [name, piece] of Object.entries(TEXTS)) {
  test(`text functions are linear: ${name}`, () => {
    for (const transliteration of TRANSLITERATIONS) {
      const times = growthBeyondLinear(repeat(piece), 2_000, (text) => transliterate(text, transliteration));
      assert.equal(times, null, `transliterate, ${transliteration}: ${times}`);
    }
    const wellFormed = piece.toWellFormed();
    const cut = growthBeyondLinear(repeat(wellFormed), 2_000, (text) => cutText(text, "ucs2"));
    assert.equal(cut, null, `cutText, UCS-2: ${cut}`);
    const octets = growthBeyondLinear(
      (length) => Buffer.from(ucs2Octets(repeat(wellFormed)(length))).toString("hex"),
      2_000,
      (hex) => countOctets(hex, { dataCoding: 8, esmClass: 0 }),
    );
    assert.equal(octets, null, `countOctets: ${octets}`);
  });
}

test("cutting a text of septets is linear, also where every cut would part a line end", () => {
  // 152 letters and a line end: whatever is cut after 153 lies within it.
  for (const piece of [`${"a".repeat(152)}\r\n`, `${"€".repeat(76)}\r\n`, "\r\n"]) {
    const times = growthBeyondLinear(repeat(piece), 10_000, (text) => cutText(text, "gsm7"));
    assert.equal(times, null);
    assert.equal(
      growthBeyondLinear(repeat(piece), 10_000, (text) => measure(text, "gsm7")),
      null,
    );
  }
});

const FIELDS: readonly (readonly [name: string, piece: string, work: (text: string) => unknown])[] = [
  ["a sender", "a", isSender],
  ["a sender of digits", "1", isSender],
  ["a destination", "1", isDestination],
  ["a date of digits", "2026-02-12T09:58:20.3", parseDateTime],
  ["a fraction of a second", "1", (text) => parseDateTime(`2026-02-12T09:58:20.${text}`)],
  ["hexadecimal digits", "0a ", readHex],
  ["spaces that are no digits", " ", (text) => readHex(`${text}x`)],
  ["a Retry-After of digits", "1", (text) => readRetryAfterMs(text, 0)],
  ["a Retry-After of spaces", " ", (text) => readRetryAfterMs(`${text}x${text}x`, 0)],
  ["a Retry-After of parentheses", "(", (text) => readRetryAfterMs(`Wed ${text}`, 0)],
  ["a URL's path", "/..", (text) => readTarget(`http://example.net${text}`)],
  ["a URL's path that goes up", "a/../", (text) => readTarget(`http://example.net/${text}`)],
  ["a URL's name and password", "@", (text) => readTarget(`http://${text}example.net/`)],
  ["a URL's percent signs", "%", (text) => readTarget(`http://${text}@example.net/`)],
  ["a URL's query", "&a=%41", (text) => readTarget(`http://example.net/?${text}`)],
  ["what XML cannot hold", "\u0001<&\r", (text) => xmlBody([{ callbackData: text }])],
  ["a keyword of spaces", " ", (text) => withoutKeyword(`${text}x${text}x`)],
  ["a keyword", "a", withoutKeyword],
];

for (const [name, piece, work] of FIELDS) {
  test(`reading a field is linear: ${name}`, () => {
    const times = growthBeyondLinear(repeat(piece), 10_000, work);
    assert.equal(times, null);
  });
}
