import assert from "node:assert/strict";
import { test } from "node:test";
import { expiry, firstSendable } from "../../src/schedule/sending-time.ts";
import type { DeliveryWindow } from "../../src/schedule/window.ts";
import fc from "../support/chance.ts";

const HOUR_MS = 3_600_000;
const nowMs = Date.parse("2026-03-02T12:00:00Z"); // a Monday
const tuesdayMornings: DeliveryWindow = { days: ["TUESDAY"], hours: { fromMinute: 8 * 60, toMinute: 12 * 60 } };

test("a message that asks for nothing goes now", () => {
  assert.equal(firstSendable({ nowMs, sendAtMs: null, window: null }), nowMs);
});

test("a message waits for its sendAt, and one in the past is now", () => {
  assert.equal(firstSendable({ nowMs, sendAtMs: nowMs + HOUR_MS, window: null }), nowMs + HOUR_MS);
  assert.equal(firstSendable({ nowMs, sendAtMs: nowMs - HOUR_MS, window: null }), nowMs);
});

test("a message waits for its window to open", () => {
  const opensMs = Date.parse("2026-03-03T08:00:00Z");
  assert.equal(firstSendable({ nowMs, sendAtMs: null, window: tuesdayMornings }), opensMs);
});

test("the window counts from sendAt, not from now", () => {
  const tuesdayNoon = Date.parse("2026-03-03T12:00:00Z");
  const nextTuesday = Date.parse("2026-03-10T08:00:00Z");
  assert.equal(firstSendable({ nowMs, sendAtMs: tuesdayNoon, window: tuesdayMornings }), nextTuesday);
  assert.equal(firstSendable({ nowMs, sendAtMs: tuesdayNoon - 1, window: tuesdayMornings }), tuesdayNoon - 1);
});

test("validity is 48 hours when nothing is said, and never more", () => {
  assert.equal(expiry(nowMs, null), nowMs + 48 * HOUR_MS);
  assert.equal(expiry(nowMs, 48 * HOUR_MS), nowMs + 48 * HOUR_MS);
  assert.equal(expiry(nowMs, 48 * HOUR_MS + 1), nowMs + 48 * HOUR_MS);
  assert.equal(expiry(nowMs, 60_000), nowMs + 60_000);
});

test("no message is over before it may first be sent", () => {
  fc.assert(
    fc.property(
      fc.option(fc.integer({ min: nowMs - 200 * HOUR_MS, max: nowMs + 200 * HOUR_MS })),
      fc.option(fc.integer({ min: 1 })),
      fc.constantFrom(null, tuesdayMornings),
      (sendAtMs, validityMs, window) => {
        const firstMs = firstSendable({ nowMs, sendAtMs, window });
        assert.ok(firstMs >= nowMs && firstMs >= (sendAtMs ?? nowMs));
        assert.ok(expiry(firstMs, validityMs) > firstMs);
      },
    ),
  );
});
