/** SMPP's times: examples of 3.4 §7.1.1, calendars, zones, and what is no time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatAbsoluteTime,
  formatRelativeTime,
  MAX_RELATIVE_MS,
  parseTime,
} from "../../../src/carriers/smpp/codec/times.ts";
import fc from "../../support/chance.ts";

const NOW = Date.UTC(2026, 0, 5, 12, 0, 0);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

test("a point in time is written in UTC with tenths of a second", () => {
  assert.equal(formatAbsoluteTime(Date.UTC(2026, 0, 5, 12, 34, 56, 789)), "260105123456700+");
  assert.equal(formatAbsoluteTime(Date.UTC(2009, 11, 31, 23, 59, 59, 0)), "091231235959000+");
});

test("a duration is written in days, hours, minutes and seconds, rounded up", () => {
  assert.equal(formatRelativeTime(0), "000000000000000R");
  assert.equal(formatRelativeTime(1), "000000000001000R");
  assert.equal(formatRelativeTime(DAY_MS + 2 * HOUR_MS + 3 * 60_000 + 4000), "000001020304000R");
  assert.equal(formatRelativeTime(MAX_RELATIVE_MS), "000031000000000R");
});

test("a duration that cannot be said is not said wrongly", () => {
  for (const durationMs of [-1, MAX_RELATIVE_MS + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => formatRelativeTime(durationMs), RangeError);
  }
});

test("the standard's relative time is 2 years, 6 months, 10 days, 23 hours, 34 minutes and 29 seconds", () => {
  assert.equal(parseTime("020610233429000R", NOW), Date.UTC(2028, 6, 16, 11, 34, 29));
});

test("an absolute time is read with its zone: quarters of an hour ahead of UTC, or behind", () => {
  const utc = Date.UTC(2026, 0, 5, 12, 34, 56, 700);
  assert.equal(parseTime("260105123456700+", NOW), utc);
  assert.equal(parseTime("260105133456704+", NOW), utc);
  assert.equal(parseTime("260105073456720-", NOW), utc);
});

test("the century is the one nearest to now", () => {
  assert.equal(parseTime("990101000000000+", NOW), Date.UTC(1999, 0, 1));
  assert.equal(parseTime("750101000000000+", NOW), Date.UTC(2075, 0, 1));
  assert.equal(parseTime("000101000000000+", Date.UTC(2099, 11, 31)), Date.UTC(2100, 0, 1));
});

test("what is no time is null", () => {
  const wrong = [
    "",
    "2601051234560",
    "260105123456000",
    "260105123456000Z",
    "261305123456000+",
    "260230123456000+",
    "260105243456000+",
    "260105126056000+",
    "260105123456749+",
    " 260105123456000+",
    "26010512345x000+",
  ];
  for (const text of wrong) assert.equal(parseTime(text, NOW), null, text);
});

test("what is written is read again", () => {
  fc.assert(
    fc.property(fc.integer({ min: NOW - 49 * 365 * DAY_MS, max: NOW + 49 * 365 * DAY_MS }), (atMs) => {
      assert.equal(parseTime(formatAbsoluteTime(atMs), NOW), Math.floor(atMs / 100) * 100);
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_RELATIVE_MS }), (durationMs) => {
      assert.equal(parseTime(formatRelativeTime(durationMs), NOW), NOW + Math.ceil(durationMs / 1000) * 1000);
    }),
  );
});
