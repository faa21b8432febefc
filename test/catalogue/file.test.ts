/** What an operator is told of a catalogue file that cannot be. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CARRIER_KINDS } from "../../src/catalogue/carrier-kinds.ts";
import { CatalogueFault, WORDS } from "../../src/catalogue/faults.ts";
import { ExchangeRate, RatePlan, Route, readCatalogueFile } from "../../src/catalogue/file.ts";
import { IncomingNumber } from "../../src/catalogue/numbers.ts";
import { Snapshot } from "../../src/catalogue/snapshot.ts";
import { CATALOGUE, CATALOGUE_ITEMS } from "../support/service.ts";

const SMPP = `[[carrier]]
id = "acme"
kind = "smpp"
hosts = ["smpp.acme.example:2775"]
systemId = "me"
password = "secret"
`;

describe("a file that cannot be is refused with file, line and column, and in words", () => {
  const cases: [name: string, text: string, says: RegExp][] = [
    ["not TOML", "x = = 1", /^catalogue:1:5: is not readable as TOML: \w/],
    [
      "a section that does not exist",
      "[[carier]]\nid = 'a'",
      /^catalogue:1:1: carier is not known here; did you mean "carrier"\?$/,
    ],
    [
      "a kind that does not exist",
      "[[carrier]]\nid = 'a'\nkind = 'pigeon'",
      /^catalogue:3:1: carrier "a": kind must be one of simulator, smpp, http, not "pigeon"$/,
    ],
    [
      "a field that does not exist",
      `${SMPP}windw = 5`,
      /^catalogue:7:1: carrier "acme": windw is not known here; did you mean "window"\?$/,
    ],
    [
      "a value out of its limits",
      `${SMPP}window = 0`,
      /^catalogue:7:1: carrier "acme": window must be a whole number from 1 to 10000, not 0$/,
    ],
    [
      "a word that is not one of those",
      `${SMPP}longMessages = "uhd"`,
      /^catalogue:7:1: carrier "acme": longMessages must be one of udh, sar, payload, not "uhd"; did you mean "udh"\?$/,
    ],
    [
      "an alphabet that is not one of those",
      `${SMPP}nameAlphabet = "gsm packed"`,
      /^catalogue:7:1: carrier "acme": nameAlphabet must be one of .*, not "gsm packed"/,
    ],
    [
      "a text that no PDU can hold",
      `${SMPP}serviceType = "ΔΣ"`,
      /^catalogue:7:1: carrier "acme": serviceType must have characters of Latin-1 only, not "ΔΣ"$/,
    ],
    [
      "a number that is not one of those",
      `${SMPP}referenceBits = 12`,
      /^catalogue:7:1: carrier "acme": referenceBits must be one of 8, 16, not 12$/,
    ],
    [
      "a tag that is not the carriers' own",
      `${SMPP}tlvs = { principalEntityId = 0x0424 }`,
      /^catalogue:7:10: carrier "acme": tlvs\.principalEntityId must be a whole number from 5120 to 16383, not 1060$/,
    ],
    [
      "a tag beyond them",
      `${SMPP}tlvs = { title = 0x4000 }`,
      /^catalogue:7:10: carrier "acme": tlvs\.title must be a whole number from 5120 to 16383, not 16384$/,
    ],
    [
      "a tag for what no message has",
      `${SMPP}tlvs = { colour = 0x1400 }`,
      /^catalogue:7:10: carrier "acme": tlvs\.colour is not known here$/,
    ],
    [
      "a tag for two fields",
      `${SMPP}tlvs = { principalEntityId = 0x1400, telemarketerId = 0x1401, title = 0x1400 }`,
      /^catalogue:7:1: carrier "acme": tlvs has two fields with the tag 0x1400$/,
    ],
    [
      "an end of strings that there is none of",
      `${SMPP}tlvStrings = "bstr"`,
      /^catalogue:7:1: carrier "acme": tlvStrings must be one of octets, c-octets, not "bstr"$/,
    ],
    [
      "a carrier that stands there twice",
      SMPP + SMPP,
      /^catalogue:7:1: carrier "acme" stands there twice, first in line 1$/,
    ],
    [
      "a route to nowhere",
      `${SMPP}[[route]]\nprefix = ""\ncarrier = "acm"`,
      /^catalogue:9:1: route "": carrier names "acm", which is not a carrier of this file; did you mean "acme"\?$/,
    ],
    [
      "a route with both a carrier and groups",
      `${SMPP}[[route]]\nprefix = ""\ncarrier = "acme"\ngroups = [[{ carrier = "acme" }]]`,
      /^catalogue:9:1: route "": carrier or groups must be given, not both/,
    ],
    [
      "a phone with an error that there is none of",
      `[[carrier]]\nid = "s"\nkind = "simulator"\nhandset = [{ suffix = "777", outcome = "rejected", error = "EC_MOOD" }]`,
      /^catalogue:4:52: carrier "s": handset\.0\.error is not the name of an error/,
    ],
    [
      "a price that is no amount",
      '[[ratePlan]]\nid = "a"\ncurrency = "EUR"\n\n[[ratePlan.rate]]\nprefix = ""\nprice = "1"\n\n[[ratePlan.rate]]\nprefix = "41"\nprice = "abc"',
      /^catalogue:11:1: ratePlan "a": rate\.1\.price must be a decimal number of 0 or more, .* such as "0\.0065", not "abc"$/,
    ],
    [
      "a price without quotes",
      '[[ratePlan]]\nid = "a"\ncurrency = "EUR"\nrate = [\n  { prefix = "", price = 0.5 },\n]',
      /^catalogue:5:18: ratePlan "a": rate\.0\.price must be a decimal number .* in quotes such as "0\.0065", not 0\.5$/,
    ],
    [
      "two prices for a prefix",
      '[[ratePlan]]\nid = "a"\ncurrency = "EUR"\nrate = [\n  { prefix = "1", price = "1" },\n  { prefix = "1", price = "2" },\n]',
      /^catalogue:6:3: ratePlan "a": rate has two prices for prefix "1"$/,
    ],
    [
      "a field that is missing",
      `\n${SMPP.replace('systemId = "me"\n', "")}`,
      /^catalogue:2:1: carrier "acme": systemId is required$/,
    ],
    [
      "a password that is too long",
      `${SMPP.replace('"secret"', '"secret secret"')}`,
      /^catalogue:6:1: carrier "acme": password must have at most 8 characters$/,
    ],
    [
      "a table in place of a list",
      '[carrier]\nid = "a"',
      /^catalogue:1:1: carrier must be written as \[\[carrier\]\], once for each$/,
    ],
    [
      "an exchange rate of zero",
      `[[exchangeRate]]\nfrom = "USD"\nto = "EUR"\nrate = "0"`,
      /^catalogue:4:1: exchangeRate "USD\/EUR": rate must be above zero$/,
    ],
  ];
  for (const [name, text, says] of cases) {
    test(name, () =>
      assert.throws(
        () => readCatalogueFile(text),
        (error: Error) => {
          assert.ok(error instanceof CatalogueFault);
          assert.match(error.message, says);
          return true;
        },
      ),
    );
  }
});

test("all faults of a file are told at once, in the order of its lines and up to a bound", () => {
  const text = `[[route]]
prefix = "+41"
carrier = "acme"

${SMPP.replace("window", "")}window = -1
# a comment with [[route]] in it
systemType = """
[[route]]
"""
`;
  assert.throws(() => readCatalogueFile(text, "my.toml"), {
    message: [
      "2 faults in my.toml, and nothing is changed:",
      '  my.toml:2:1: route "+41": prefix must be the first digits of numbers, 15 at most and in quotes, or empty for all, not "+41"',
      '  my.toml:11:1: carrier "acme": window must be a whole number from 1 to 10000, not -1',
    ].join("\n"),
  });
  const many = Array.from(
    { length: 500 },
    (_, index) => `[[exchangeRate]]\nfrom = "USD"\nto = "E${index}"\nrate = "1"\n`,
  );
  assert.throws(
    () => readCatalogueFile(many.join("")),
    ({ message }: Error) => /^more than 20 faults in catalogue,/.test(message) && message.split("\n").length === 21,
  );
});

/** Every pattern in a schema. */
function* patternsIn(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  if ("pattern" in schema && typeof schema.pattern === "string") yield schema.pattern;
  for (const inner of Object.values(schema)) yield* patternsIn(inner);
}

test("no pattern is ever shown: there are words for each", () => {
  const patterns = [...patternsIn({ ...CARRIER_KINDS, Route, RatePlan, ExchangeRate, IncomingNumber })];
  assert.ok(patterns.length > 10);
  assert.deepEqual(
    patterns.filter((pattern) => !WORDS.patterns.has(pattern)),
    [],
  );
});

test("a route's first group with a usable carrier gets the traffic, shared by weight; the longest prefix decides", () => {
  const carriers = ["a", "b", "c"].map((id) => SMPP.replace("acme", id)).join("");
  const routes = `
[[route]]
prefix = "41"
groups = [[{ carrier = "a", weight = 3 }, { carrier = "b" }], [{ carrier = "c" }]]
[[route]]
prefix = ""
carrier = "c"
`;
  const snapshot = new Snapshot(readCatalogueFile(carriers + routes));
  const shares = Array.from({ length: 100 }, (_, index) => snapshot.carrierFor("41790000000", index / 100));
  assert.deepEqual([shares.filter((id) => id === "a").length, shares.filter((id) => id === "b").length], [75, 25]);
  assert.equal(
    snapshot.carrierFor("41790000000", 0.9, (id) => id !== "b"),
    "a",
  );
  assert.equal(
    snapshot.carrierFor("41790000000", 0.1, (id) => id === "c"),
    "c",
  );
  assert.equal(snapshot.carrierFor("49170000000", 0.5), "c");
  assert.equal(
    snapshot.carrierFor("49170000000", 0.5, () => false),
    null,
  );
});

test("the catalogue of the tests of the service is read as the items that they start with", () => {
  assert.deepEqual(readCatalogueFile(CATALOGUE), CATALOGUE_ITEMS);
});
