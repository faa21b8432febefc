import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAYS, type Day, type DeliveryWindow, isOpen, nextOpening } from "../../src/schedule/window.ts";
import fc, { cases } from "../support/chance.ts";

const MINUTE_MS = 60_000;
const WEEK_MINUTES = 7 * 1440;

/** 2 March 2026 was a Monday. */
const at = (day: number, time: string) => Date.parse(`2026-03-${String(day).padStart(2, "0")}T${time}Z`);

function window(days: readonly Day[], hours?: [from: string, to: string]): DeliveryWindow {
  const minute = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  return { days, hours: hours === undefined ? null : { fromMinute: minute(hours[0]), toMinute: minute(hours[1]) } };
}

describe("a window within the day", () => {
  const office = window(["MONDAY", "WEDNESDAY"], ["09:00", "17:30"]);

  test("is open from the first millisecond of `from` until the last before `to`", () => {
    assert.equal(isOpen(office, at(2, "08:59:59.999")), false);
    assert.equal(isOpen(office, at(2, "09:00:00.000")), true);
    assert.equal(isOpen(office, at(2, "17:29:59.999")), true);
    assert.equal(isOpen(office, at(2, "17:30:00.000")), false);
  });

  test("is closed at the same hours of another day", () => {
    assert.equal(isOpen(office, at(3, "12:00:00")), false);
  });

  test("lets a message go at once while it is open", () => {
    assert.equal(nextOpening(office, at(2, "12:34:56.789")), at(2, "12:34:56.789"));
  });

  test("opens next on the same day, a later day, or in the next week", () => {
    assert.equal(nextOpening(office, at(2, "03:00:00")), at(2, "09:00:00"));
    assert.equal(nextOpening(office, at(2, "17:30:00")), at(4, "09:00:00"));
    assert.equal(nextOpening(office, at(4, "20:00:00")), at(9, "09:00:00"));
  });

  test("of one day a week opens again seven days later", () => {
    const mondays = window(["MONDAY"], ["09:00", "10:00"]);
    assert.equal(nextOpening(mondays, at(2, "10:00:00")), at(9, "09:00:00"));
  });

  test("closes at `to`", () => {
    assert.equal(isOpen(office, at(2, "17:29:59.999")), true);
    assert.equal(isOpen(office, at(2, "17:30:00")), false);
  });
});

describe("a window over midnight", () => {
  const nights = window(["FRIDAY", "SUNDAY"], ["22:00", "06:00"]);

  test("belongs to the day on which it opens", () => {
    assert.equal(isOpen(nights, at(6, "05:00:00")), false, "Friday morning is Thursday's night");
    assert.equal(isOpen(nights, at(6, "23:00:00")), true);
    assert.equal(isOpen(nights, at(7, "05:59:59.999")), true);
    assert.equal(isOpen(nights, at(7, "06:00:00")), false);
    assert.equal(isOpen(nights, at(7, "23:00:00")), false, "Saturday has no night of its own");
  });

  test("goes over the week's end", () => {
    assert.equal(isOpen(nights, at(8, "22:00:00")), true);
    assert.equal(isOpen(nights, at(9, "05:00:00")), true);
    assert.equal(isOpen(nights, at(9, "06:00:00")), false);
    assert.equal(nextOpening(nights, at(9, "06:00:00")), at(13, "22:00:00"));
  });
});

describe("a window of whole days", () => {
  test("runs through days in a row, over the week's end too", () => {
    const longWeekend = window(["SATURDAY", "SUNDAY", "MONDAY"]);
    for (const day of [8, 9]) assert.equal(isOpen(longWeekend, at(day, "00:00:00")), true);
    assert.equal(isOpen(longWeekend, at(10, "00:00:00")), false);
    assert.equal(nextOpening(longWeekend, at(3, "00:00:00")), at(7, "00:00:00"));
  });

  test("of all seven days never closes", () => {
    for (const day of [2, 3, 4, 5, 6, 7, 8]) assert.equal(isOpen(window(DAYS), at(day, "00:00:00")), true);
  });
});

test("openings that touch run on as one", () => {
  const untilMidnight: DeliveryWindow = { days: ["MONDAY", "TUESDAY"], hours: { fromMinute: 0, toMinute: 1440 } };
  assert.equal(isOpen(untilMidnight, at(3, "00:00:00")), true);
  assert.equal(isOpen(untilMidnight, at(4, "00:00:00")), false);
});

test("one closed minute a day is found", () => {
  const almostAlways = window(DAYS, ["12:01", "12:00"]);
  assert.equal(isOpen(almostAlways, at(3, "11:59:59.999")), true);
  assert.equal(isOpen(almostAlways, at(3, "12:00:00")), false);
  assert.equal(nextOpening(almostAlways, at(3, "12:00:00")), at(3, "12:01:00"));
});

test("a window without days, which is never let in, is a bug and not a wait for ever", () => {
  assert.throws(() => nextOpening(window([]), at(2, "00:00:00")), /never opens/);
});

describe("against a table of the week's minutes, filled in one by one", () => {
  const minuteOfDay = fc.integer({ min: 0, max: 1439 });
  const anyWindow: fc.Arbitrary<DeliveryWindow> = fc.record({
    days: fc.subarray([...DAYS], { minLength: 1 }),
    hours: fc.option(
      fc
        .record({ fromMinute: minuteOfDay, toMinute: minuteOfDay })
        .filter((hours) => hours.fromMinute !== hours.toMinute),
    ),
  });
  const anyMoment = fc.integer({ min: Date.UTC(1965, 0, 1), max: Date.UTC(2100, 0, 1) });
  const MONDAY = Date.UTC(2026, 2, 2);

  /** Slow and plain: walks each opening, minute by minute, and marks where it leads. */
  function openMinutes(window: DeliveryWindow): boolean[] {
    const open = new Array<boolean>(WEEK_MINUTES).fill(false);
    for (const day of window.days) {
      let minute = window.hours?.fromMinute ?? 0;
      const last = window.hours?.toMinute ?? 0;
      do {
        const next = (minute + 1) % 1440;
        const days = DAYS.indexOf(day) + (window.hours !== null && minute < window.hours.fromMinute ? 1 : 0);
        open[(days * 1440 + minute) % WEEK_MINUTES] = true;
        minute = next;
      } while (minute !== last);
    }
    return open;
  }

  const minuteOfWeek = (atMs: number) =>
    (((Math.floor(atMs / MINUTE_MS) - MONDAY / MINUTE_MS) % WEEK_MINUTES) + WEEK_MINUTES) % WEEK_MINUTES;

  /** The first moment from `atMs` on whose minute is as wanted, or Infinity if no minute of the week is. */
  function firstMoment(open: boolean[], atMs: number): number {
    if (open[minuteOfWeek(atMs)]) return atMs;
    const nextMinuteMs = (Math.floor(atMs / MINUTE_MS) + 1) * MINUTE_MS;
    for (let minutes = 0; minutes < WEEK_MINUTES; minutes++) {
      const moment = nextMinuteMs + minutes * MINUTE_MS;
      if (open[minuteOfWeek(moment)]) return moment;
    }
    return Number.POSITIVE_INFINITY;
  }

  test("every window says the same at every moment", () => {
    fc.assert(
      fc.property(anyWindow, fc.array(anyMoment, { minLength: 1, maxLength: 10 }), (window, moments) => {
        const open = openMinutes(window);
        for (const moment of moments) {
          assert.equal(isOpen(window, moment), open[minuteOfWeek(moment)]);
          assert.equal(nextOpening(window, moment), firstMoment(open, moment));
        }
      }),
      { numRuns: cases(300) },
    );
  });

  test("the edges of an opening are exact to the millisecond", () => {
    fc.assert(
      fc.property(anyWindow, anyMoment, (window, moment) => {
        const opensMs = nextOpening(window, moment);
        assert.ok(isOpen(window, opensMs));
        if (opensMs > moment) assert.ok(!isOpen(window, opensMs - 1));
      }),
    );
  });
});
