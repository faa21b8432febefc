/** What an operator is told of a catalogue file that cannot be. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CatalogueFault, readCatalogueFile } from "../../src/catalogue/file.ts";
import { Snapshot } from "../../src/catalogue/snapshot.ts";

const SMPP = `[[carrier]]
id = "acme"
kind = "smpp"
hosts = ["smpp.acme.example:2775"]
systemId = "me"
password = "secret"
`;

describe("a file that cannot be is refused with the place and the reason", () => {
  const cases: [name: string, text: string, says: RegExp][] = [
    ["not TOML", "x = = 1", /^not readable as TOML/],
    ["a section that does not exist", "[[carier]]\nid = 'a'", /^carier: is not known here$/],
    [
      "a kind that does not exist",
      "[[carrier]]\nid = 'a'\nkind = 'pigeon'",
      /^carrier\.0\.kind: must be one of simulator, smpp$/,
    ],
    ["a field that does not exist", `${SMPP}windw = 5`, /^carrier\.0\.windw: is not known here$/],
    ["a value out of its limits", `${SMPP}window = 0`, /^carrier\.0\.window: must be >= 1$/],
    ["a word that is not one of those", `${SMPP}longMessages = "pigeon"`, /^carrier\.0\.longMessages: /],
    ["an alphabet that is not one of those", `${SMPP}nameAlphabet = "gsm packed"`, /^carrier\.0\.nameAlphabet: /],
    [
      "a text that no PDU can hold",
      `${SMPP}serviceType = "ΔΣ"`,
      /^carrier\.0\.serviceType: must have characters of Latin-1 only$/,
    ],
    ["a number that is not one of those", `${SMPP}referenceBits = 12`, /^carrier\.0\.referenceBits: /],
    ["a carrier that stands there twice", SMPP + SMPP, /^carrier "acme" stands there twice$/],
    [
      "a route to nowhere",
      `${SMPP}[[route]]\nprefix = ""\ncarrier = "other"`,
      /^route "" goes to carrier "other", which is not in the file$/,
    ],
    [
      "a route with both a carrier and groups",
      `${SMPP}[[route]]\nprefix = ""\ncarrier = "acme"\ngroups = [[{ carrier = "acme" }]]`,
      /^route "": carrier or groups must be given, not both/,
    ],
    [
      "a phone with an error that there is none of",
      `[[carrier]]\nid = "s"\nkind = "simulator"\nhandset = [{ suffix = "777", outcome = "rejected", error = "EC_MOOD" }]`,
      /^carrier\.0\.handset\.0\.error: is not the name of an error/,
    ],
    ["an exchange rate of zero", `[[exchangeRate]]\nfrom = "USD"\nto = "EUR"\nrate = "0"`, /must be above zero$/],
  ];
  for (const [name, text, says] of cases) {
    test(name, () =>
      assert.throws(
        () => readCatalogueFile(text),
        (error) => error instanceof CatalogueFault && says.test(error.message),
      ),
    );
  }
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
