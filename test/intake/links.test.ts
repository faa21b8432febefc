/** Which links of a text are found, where each ends, and that a text is as long with whichever code. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deviceOf, isWatcher } from "../../src/api/devices.ts";
import { prepareBody } from "../../src/intake/body.ts";
import { findLinks } from "../../src/intake/links.ts";
import { CODE_LENGTH } from "../../src/message/links.ts";
import { randomCodes } from "../../src/runtime/random.ts";
import { parseLinkDomains } from "../../src/settings/lists.ts";
import { ENCODINGS, type Encoding } from "../../src/sms/encodings.ts";
import { measure } from "../../src/sms/parts.ts";
import { TRANSLITERATIONS } from "../../src/sms/text.ts";

const CASES: readonly [text: string, ...links: string[]][] = [
  ["https://a.example", "https://a.example"],
  ["see HTTP://A.example/b?c=d&e=%20#f now", "HTTP://A.example/b?c=d&e=%20#f"],
  [
    "(https://a.example/b). Or https://a.example/c, 'https://a.example/d'!",
    "https://a.example/b",
    "https://a.example/c",
    "https://a.example/d",
  ],
  [
    "https://a.example/wiki/Word_(sense) and [https://a.example/x]",
    "https://a.example/wiki/Word_(sense)",
    "https://a.example/x",
  ],
  ['<a href="https://a.example/q">', "https://a.example/q"],
  ["https://münchen.example/straße, dann", "https://münchen.example/straße"],
  ["看https://a.example/b。谢谢", "https://a.example/b"],
  ["https://user:word@a.example:8080/", "https://user:word@a.example:8080/"],
  ["https://a.example/\nhttps://b.example/", "https://a.example/", "https://b.example/"],
  ["https://a.example/?u=https://b.example/", "https://a.example/?u=https://b.example/"],
  ["ftp://a.example javascript:alert(1) http:a https:// xhttps://a.example http://[ www.a.example"],
  [""],
];

test("links are found as a reader would see them", () => {
  for (const [text, ...links] of CASES)
    assert.deepEqual(
      findLinks(text)?.map(({ start, end, url }) => [text.slice(start, end), url]),
      links.map((link) => [link, link]),
      text,
    );
});

test("more links than a text may have are told, and so are many that are none", () => {
  assert.equal(findLinks("https://a.example ".repeat(5))?.length, 5);
  assert.equal(findLinks("https://a.example ".repeat(6)), null);
  assert.equal(findLinks("http://% ".repeat(100)), null);
});

test("a code is as long as any other in every alphabet, and no two are the same", () => {
  const codes = randomCodes(2_000, CODE_LENGTH);
  assert.equal(new Set(codes).size, codes.length);
  const letters = new Set(codes.join(""));
  assert.equal(letters.size, 62);
  for (const encoding of Object.keys(ENCODINGS) as Encoding[])
    for (const letter of letters) {
      assert.match(letter, /^[0-9A-Za-z]$/);
      assert.equal(measure(letter.repeat(70), encoding)?.partCount, measure("a".repeat(70), encoding)?.partCount);
      assert.equal(measure(letter.repeat(160), encoding)?.partCount, measure("a".repeat(160), encoding)?.partCount);
    }
});

test("no transliteration touches a short link", () => {
  const link = "https://go.example.com/l/";
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (const transliteration of TRANSLITERATIONS)
    for (const around of ["Hello", "ΩΜΕΓΑ αβγδ", "Привет", "ığüşöç", "😀"]) {
      const { text } = prepareBody({ text: `${around} ${link}${letters} ${around}`, transliteration });
      assert.ok(text.includes(link + letters), `${transliteration} ${around}: ${text}`);
    }
});

test("domains are hosts with or without a scheme and a port, and nothing more", () => {
  assert.deepEqual(parseLinkDomains(""), []);
  assert.deepEqual(parseLinkDomains("Go.Example.com, http://b.example:8080"), [
    "https://go.example.com",
    "http://b.example:8080",
  ]);
  for (const wrong of ["a.example/path", "https://u:p@a.example", "a b", "ftp://a.example", "https://", "a.example?"])
    assert.equal(parseLinkDomains(wrong), null, wrong);
});

test("a phone is known by what it says, and what it does not say is left out", () => {
  const android = (middle: string) =>
    `Mozilla/5.0 (Linux; Android 13; ${middle}) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36`;
  const cases: [string | undefined, string | null, string | null, string | null][] = [
    [android("SM-G991B Build/TP1A.220624.014"), "Phone", "Android", "SM-G991B"],
    [android("K"), "Phone", "Android", null],
    ["Mozilla/5.0 (iPad; CPU OS 16_0 like Mac OS X) Mobile/15E148", "Tablet", "iPadOS", "iPad"],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/120.0", "Computer", "Windows", null],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "Computer", "macOS", null],
    ["curl/8.5.0", null, null, null],
    [undefined, null, null, null],
  ];
  for (const [agent, deviceType, os, deviceName] of cases)
    assert.deepEqual(deviceOf(agent), { deviceType, os, deviceName }, agent);
  assert.equal(isWatcher({ "user-agent": android("CUBOT X18 Build/1") }), false);
  assert.equal(isWatcher({ "user-agent": "Slackbot-LinkExpanding 1.0" }), true);
  assert.equal(isWatcher({ purpose: "prefetch" }), true);
  assert.equal(isWatcher({}), false);
});
