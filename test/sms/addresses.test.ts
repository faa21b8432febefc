/** Which senders and destinations are accepted, and what a carrier is told of them. */
import assert from "node:assert/strict";
import test from "node:test";
import { DESTINATION_TYPE, isDestination, isSender, senderType } from "../../src/sms/addresses.ts";

test("a destination is 4 to 15 digits", () => {
  for (const to of ["1234", "41793026727", "123456789012345"]) assert.ok(isDestination(to), to);
  for (const to of [
    "",
    "123",
    "1234567890123456",
    "+41793026727",
    "0041 79",
    "41793026727\n",
    "abcd",
    "٤١٧٩٣",
    "４１７９",
  ]) {
    assert.ok(!isDestination(to), to);
  }
});

test("a sender is 3 to 15 digits, or up to 11 GSM characters with a letter", () => {
  const good = [
    "123",
    "123456789012345",
    "A",
    "InfoSMS",
    "Heliograph1",
    "Sun & Sea",
    "é",
    "Ω3",
    "24/7 Taxi",
    "A1234567890",
    "[Shop]",
    "Ñand",
  ];
  for (const from of good) assert.ok(isSender(from), from);
  const bad = [
    "",
    "12",
    "1234567890123456",
    "+41793026727",
    "Heliograph12",
    "Служба",
    "Şok",
    "👍",
    "---",
    "1-800",
    "a\nb",
    "a\u0000",
    "[[[[[[a",
    "\ud800a",
  ];
  for (const from of bad) assert.ok(!isSender(from), from);
});

test("an extension character takes two of a sender's eleven septets", () => {
  assert.ok(isSender("€€€€€a"));
  assert.ok(!isSender("€€€€€ab"));
});

test("type of number and numbering plan", () => {
  assert.deepEqual(senderType("Heliograph"), { ton: 5, npi: 0 });
  assert.deepEqual(senderType("4x4"), { ton: 5, npi: 0 });
  for (const shortCode of ["123", "70777", "12345678"]) assert.deepEqual(senderType(shortCode), { ton: 3, npi: 0 });
  for (const number of ["123456789", "41793026727", "123456789012345"])
    assert.deepEqual(senderType(number), { ton: 1, npi: 1 });
  assert.deepEqual(DESTINATION_TYPE, { ton: 1, npi: 1 });
});
