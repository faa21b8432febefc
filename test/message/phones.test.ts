/** Numbers as carriers write them, beside the recipient that is meant. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isNational } from "../../src/message/phones.ts";

const MEANT: [country: string, phone: string, recipient: string][] = [
  ["Switzerland, with a zero", "0790000001", "41790000001"],
  ["Switzerland, without", "790000001", "41790000001"],
  ["Hungary, as long as with the country's code", "06201234567", "36201234567"],
  ["Russia, with an 8 in place of the 7", "89161234567", "79161234567"],
  ["Belarus", "80291234567", "375291234567"],
  ["Lithuania", "861234567", "37061234567"],
  ["the United States", "2025550123", "12025550123"],
  ["China", "13812345678", "8613812345678"],
  ["Mexico, dialled from a phone at home", "0445512345678", "525512345678"],
  ["Mexico, without the digit of mobile phones", "525512345678", "5215512345678"],
  ["Argentina, with that digit", "+5491112345678", "541112345678"],
  ["Argentina, dialled at home", "01115123456", "5491115123456"],
  ["Brazil, without that digit", "551112345678", "5511912345678"],
];
for (const [country, phone, recipient] of MEANT) {
  test(`a number as its country writes it is the recipient's: ${country}`, () => {
    assert.ok(isNational(phone, recipient));
  });
}

const OTHERS: [name: string, phone: string, recipient: string][] = [
  ["of another country and as long", "41790000001", "49790000001"],
  ["of another country with a plus", "+41790000001", "491790000001"],
  ["of another country with two zeros", "0041790000001", "491790000001"],
  ["of another country and shorter", "41790000001", "491790000001"],
  ["of another country and longer", "491790000001", "41790000001"],
  ["of another country, that begins with 8", "84912345678", "41912345678"],
  ["of the same country that ends alike", "491601234567", "4915101234567"],
  ["that ends otherwise", "0790000002", "41790000001"],
  ["too short to tell", "000001", "41790000001"],
];
for (const [name, phone, recipient] of OTHERS) {
  test(`a number ${name} is another phone's`, () => {
    assert.ok(!isNational(phone, recipient));
  });
}
