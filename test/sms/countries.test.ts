/** The country of a number, by how it begins. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { countryOf } from "../../src/sms/countries.ts";
import { COUNTRY_PREFIXES } from "../../src/sms/data/country-prefixes.ts";

const NUMBERS: Readonly<Record<string, string | null>> = {
  "41793026727": "CH",
  "4915112345678": "DE",
  "12125550100": "US",
  "14165550100": "CA",
  "18095550100": "DO",
  "18765550100": "JM",
  "79161234567": "RU",
  "77011234567": "KZ",
  "420601123456": "CZ",
  "421901123456": "SK",
  "262692123456": "RE",
  "262639123456": "YT",
  "59995123456": "CW",
  "59971234567": "BQ",
  "9990000001": null,
  "": null,
};

test("the longest prefix says the country", () => {
  for (const [number, country] of Object.entries(NUMBERS)) assert.equal(countryOf(number), country, number);
});

test("every prefix is of one country, and every country has a name", () => {
  const prefixes = Object.values(COUNTRY_PREFIXES).flatMap((listed) => listed.split(" "));
  assert.equal(new Set(prefixes).size, prefixes.length);
  for (const prefix of prefixes) assert.match(prefix, /^[1-9]\d{0,5}$/);
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  for (const country of Object.keys(COUNTRY_PREFIXES)) assert.notEqual(names.of(country), undefined, country);
});
