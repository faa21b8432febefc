import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatDateTime, parseDateTime } from "../../src/schedule/date-time.ts";
import fc from "../support/chance.ts";

describe("a date that comes in", () => {
  const moment = Date.UTC(2026, 1, 12, 9, 58, 20, 323);

  const understood: [text: string, atMs: number][] = [
    ["2026-02-12T09:58:20.323+0000", moment],
    ["2026-02-12T09:58:20.323Z", moment],
    ["2026-02-12T10:58:20.323+0100", moment],
    ["2026-02-12T10:58:20.323+01:00", moment],
    ["2026-02-12T04:28:20.323-05:30", moment],
    ["2026-02-12T09:58:20.323-00:00", moment],
    ["2026-02-13T08:58:20.323+23:00", moment],
    ["2026-02-12T09:58:20Z", moment - 323],
    ["2026-02-12T09:58:20.3Z", moment - 23],
    ["2026-02-12T09:58:20.32Z", moment - 3],
    ["2026-02-12T09:58:20.323999999Z", moment],
    ["2026-02-12T09:58:20.3239999999999999Z", moment],
    ["2026-02-12T09:58:20.323456+0000", moment],
    ["2026-02-12T09:58:20.323", moment],
    ["2026-02-12T09:58:20.323456", moment],
    ["2026-02-12T09:58:20", moment - 323],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["2026-12-31T23:30:00-0100", Date.UTC(2027, 0, 1, 0, 30)],
  ];
  for (const [text, atMs] of understood) {
    test(`${text} is understood`, () => assert.equal(parseDateTime(text), atMs));
  }

  const refused: [text: string, why: string][] = [
    ["2026-02-12T09:58Z", "no seconds"],
    ["2026-02-12", "no time"],
    ["2026-02-12 09:58:20Z", "no T"],
    ["2026-02-30T00:00:00Z", "no such day"],
    ["2025-02-29T00:00:00Z", "no leap year"],
    ["2026-04-31T00:00:00Z", "no such day"],
    ["2026-13-01T00:00:00Z", "no such month"],
    ["2026-00-10T00:00:00Z", "no such month"],
    ["2026-01-00T00:00:00Z", "no such day"],
    ["2026-02-12T25:00:00Z", "no such hour"],
    ["2026-02-12T24:00:00Z", "the next day has a name of its own"],
    ["2026-02-12T09:60:00Z", "no such minute"],
    ["2026-02-12T09:58:60Z", "no such second"],
    ["2026-02-12T09:58:20.Z", "a point and no fraction"],
    ["2026-02-12T09:58:20+24:00", "no such offset"],
    ["2026-02-12T09:58:20+01:60", "no such offset"],
    ["2026-02-12T09:58:20+1", "half an offset"],
    [" 2026-02-12T09:58:20Z", "space before"],
    ["2026-02-12T09:58:20Z\n", "newline after"],
    ["+002026-02-12T09:58:20Z", "a year of six digits"],
    ["1770890300323", "a number"],
    ["infobip.Time value", "what a client writes in place of a date"],
    ["", "nothing"],
  ];
  for (const [text, why] of refused) {
    test(`${JSON.stringify(text)} is refused: ${why}`, () => assert.equal(parseDateTime(text), null));
  }
});

test("a date that goes out has milliseconds and an offset without a colon", () => {
  assert.equal(formatDateTime(Date.UTC(2026, 1, 12, 9, 58, 20, 323)), "2026-02-12T09:58:20.323+0000");
  assert.equal(formatDateTime(0), "1970-01-01T00:00:00.000+0000");
  assert.equal(formatDateTime(7), "1970-01-01T00:00:00.007+0000");
  assert.equal(formatDateTime(-1), "1969-12-31T23:59:59.999+0000");
  assert.throws(() => formatDateTime(Number.NaN), RangeError);
});

test("what goes out means the same when it comes back in, wherever the client lives", () => {
  const anyMoment = fc.date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9998-12-31T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(anyMoment, fc.integer({ min: -1439, max: 1439 }), (moment, offsetMinutes) => {
      const atMs = moment.getTime();
      assert.equal(parseDateTime(formatDateTime(atMs)), atMs);

      const local = new Date(atMs + offsetMinutes * 60_000);
      fc.pre(local.getUTCFullYear() >= 0);
      const twoDigits = (n: number) => String(n).padStart(2, "0");
      const distance = Math.abs(offsetMinutes);
      const offset = `${offsetMinutes < 0 ? "-" : "+"}${twoDigits(Math.floor(distance / 60))}:${twoDigits(distance % 60)}`;
      assert.equal(parseDateTime(local.toISOString().replace("Z", offset)), atMs);
    }),
  );
});

test("no text makes it throw", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?[+-]\d{4}$/)),
      (text) => {
        const atMs = parseDateTime(text);
        assert.ok(atMs === null || Number.isSafeInteger(atMs));
      },
    ),
  );
});
