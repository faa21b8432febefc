/** The numbers of a catalogue file: what is taken, and what is told of what is not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CatalogueFault } from "../../src/catalogue/faults.ts";
import { readCatalogueFile } from "../../src/catalogue/file.ts";

const number = (lines: string): string => `[[number]]\nnumber = "12345"\naccount = "CLIENT"\n${lines}`;

test("a number is kept as it is written, under its digits", () => {
  const file = number(
    'forwardUrl = "https://example.com/in"\ncontentType = "application/xml"\nstopKeywords = ["STOP"]',
  );
  assert.deepEqual(
    readCatalogueFile(file).map(({ kind, id, body }) => [kind, id, JSON.parse(body)]),
    [
      [
        "number",
        "12345",
        {
          number: "12345",
          account: "CLIENT",
          forwardUrl: "https://example.com/in",
          contentType: "application/xml",
          stopKeywords: ["STOP"],
        },
      ],
    ],
  );
});

const FAULTS: [what: string, file: string, says: RegExp][] = [
  [
    "a number with a plus sign",
    '[[number]]\nnumber = "+4179"\naccount = "CLIENT"',
    /^catalogue:2:1: number "\+4179": number must be 3 to 15 digits in quotes, not "\+4179"$/,
  ],
  [
    "a number without an account",
    '[[number]]\nnumber = "12345"',
    /^catalogue:1:1: number "12345": account is required$/,
  ],
  ["a field that is not known", number('url = "http://a/"'), /: url is not known here/],
  ["a URL without a host to go to", number('forwardUrl = "/in"'), /"12345": forwardUrl "\/in" is not an absolute http/],
  ["a URL of another kind", number('forwardUrl = "ftp://a/"'), /is not an absolute http or https URL/],
  ["a URL that cannot be", number('forwardUrl = "http://a b/"'), /is not an absolute http or https URL/],
  [
    "a content type that is not made",
    number('contentType = "text/html"'),
    /contentType must be one of application\/json, application\/xml, get-url, post-url, not "text\/html"/,
  ],
  ["no keywords at all", number("keywords = []"), /keywords must have at least 1 item, not 0/],
  ["two words", number('stopKeywords = ["STOP ALL"]'), /"12345": stopKeywords has "STOP ALL", which is not one word/],
  ["no word", number('keywords = ["!"]'), /keywords has "!", which is not one word/],
  [
    "a word with two meanings",
    number('stopKeywords = ["End"]\nstartKeywords = ["END"]'),
    /has "END", which stands there twice/,
  ],
  ["the number twice", number("") + number(""), /number "12345" stands there twice/],
];

for (const [what, file, says] of FAULTS) {
  test(`refused with a word about the place: ${what}`, () => {
    assert.throws(
      () => readCatalogueFile(file),
      (error: Error) => {
        assert.ok(error instanceof CatalogueFault);
        assert.match(error.message, says);
        return true;
      },
    );
  });
}
