/** The search of messages as people write it, and the sentence that says where a message stands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageAnswer } from "../../src/api/console/message-schemas.ts";
import { type MessageTerms, readMessageSearch, SearchProblem, searchOf } from "../../src/api/console/message-search.ts";
import { messageSentence } from "../../src/api/console/message-words.ts";

const NOW = Date.UTC(2026, 1, 12, 13, 30);
const HOUR = 3_600_000;

/** What a search says, without what it does not say. */
function terms(text: string, zoneMinutes = 0): Partial<MessageTerms> {
  const read = readMessageSearch(text, { nowMs: NOW, zoneMinutes });
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== null));
}

const problem = (text: string): [number, string] => {
  try {
    terms(text);
  } catch (error) {
    if (error instanceof SearchProblem) return [error.place, error.message];
    throw error;
  }
  throw new Error(`${text} was read`);
};

test("a search has filters, words and quoted values, in any order", () => {
  assert.deepEqual(terms(""), {});
  assert.deepEqual(terms('  to:+4179*  from:Shop text:"your parcel" bulk:spring-sale stuck'), {
    to: { text: "4179", isPrefix: true },
    from: { text: "Shop", isPrefix: false },
    text: "your parcel",
    bulkId: "spring-sale",
    life: "stuck",
  });
  assert.deepEqual(terms('from:"My Shop" id:17 carrier:one account:DEMO0001'), {
    from: { text: "My Shop", isPrefix: false },
    messageId: "17",
    carrierId: "one",
    accountKey: "DEMO0001",
  });
  assert.deepEqual(terms("text:10:30"), { text: "10:30" });
  assert.deepEqual(terms("STATUS:delivered_to_handset"), { statusIds: [5] });
  assert.deepEqual(terms("status:5,pending").statusIds?.slice(0, 1), [5]);
  assert.deepEqual(terms("delivered").statusIds?.includes(5), true);
  assert.deepEqual(terms("failed").statusIds?.includes(5), false);
  assert.deepEqual(terms("error:27"), { errorIds: [27] });
  assert.deepEqual(terms("error:ec_absent_subscriber"), terms("error:absent_subscriber"));
});

test("a search that a link has is read as it was meant", () => {
  assert.equal(searchOf({ bulk: "spring-sale" }), "bulk:spring-sale");
  assert.equal(searchOf({ bulk: "spring sale" }, "failed"), 'bulk:"spring sale" failed');
  assert.deepEqual(terms(searchOf({ bulk: "a  b", carrier: "one" }, "stuck")), {
    bulkId: "a  b",
    carrierId: "one",
    life: "stuck",
  });
});

test("times are by the reader's clock", () => {
  const at = (text: string, zone = 0) => new Date(terms(`since:${text}`, zone).sinceMs!).toISOString();
  assert.equal(at("2h"), new Date(NOW - 2 * HOUR).toISOString());
  assert.equal(at("today"), "2026-02-12T00:00:00.000Z");
  assert.equal(at("today", 60), "2026-02-11T23:00:00.000Z");
  assert.equal(at("yesterday"), "2026-02-11T00:00:00.000Z");
  assert.equal(at("14:00", -300), "2026-02-12T19:00:00.000Z");
  assert.equal(at("2026-02-01"), "2026-02-01T00:00:00.000Z");
  assert.equal(at("2026-02-01T10:00", 120), "2026-02-01T08:00:00.000Z");
  assert.equal(at("2026-02-01T10:00:00.5+01:00"), "2026-02-01T09:00:00.500Z");
  assert.equal(new Date(terms("until:2026-02-01").untilMs!).toISOString(), "2026-02-01T23:59:59.999Z");
});

test("what cannot be read is named, with its place and what to do", () => {
  assert.deepEqual(problem("failed colour:red"), [
    8,
    'at character 8: "colour:" is no filter. There are to:, from:, status:, error:, carrier:, bulk:, id:, text:, account:, since:, until:',
  ]);
  assert.deepEqual(problem("hello"), [
    1,
    'at character 1: "hello" is none of the words failed, retrying, stuck, scheduled, delivered. To look for it in texts, write text:hello',
  ]);
  assert.deepEqual(problem('to:1 text:"never')[0], 11);
  assert.match(problem("to:")[1], /has nothing behind it/);
  assert.match(problem("to:1 to:2")[1], /say it once/);
  assert.match(problem("failed status:pending")[1], /say it once/);
  assert.match(problem("since:soon")[1], /is no time: write today/);
  assert.match(problem("since:25:00")[1], /is no time/);
  assert.match(problem("status:nice")[1], /names no status/);
  assert.match(problem("error:nice")[1], /names no error/);
  assert.match(problem(`text:${"a".repeat(500)}`)[1], /longer than 500/);
  assert.match(problem("failed ".repeat(21))[1], /say it once|more than 20/);
  assert.match(problem("__proto__:1")[1], /none of the words/);
  assert.match(problem("constructor:1")[1], /is no filter/);
});

const MESSAGE: MessageAnswer = {
  id: "1",
  messageId: "1",
  account: "A",
  bulkId: "b",
  state: "sent",
  status: { name: "PENDING_WAITING_DELIVERY", groupName: "PENDING", description: "waiting", final: false },
  error: null,
  from: "Shop",
  to: "41790000001",
  text: "Hello",
  encoding: "gsm7",
  parts: 1,
  flash: false,
  price: { perPart: "0.01", charged: "0.01", currency: "EUR" },
  carrier: "one",
  receivedAt: "2026-02-12T12:03:20.000Z",
  dueAt: "2026-02-12T12:03:20.000Z",
  sentAt: "2026-02-12T12:03:20.014Z",
  doneAt: null,
  expiresAt: "2026-02-12T13:03:20.000Z",
  receiptUntil: "2026-02-12T14:03:20.000Z",
  heldBy: null,
  isOverdue: false,
  carrierDownSince: null,
  isPhoneAway: false,
  unknownCount: 0,
  notifyUrl: null,
  notifyContentType: "application/json",
  wished: { validityPeriod: null, intermediateReport: false, window: null },
  toFetch: false,
  reports: [],
  reportTakenAt: null,
  reportTries: 0,
  links: [],
  conversion: null,
  events: [],
  timeline: "trouble",
};
const says = (change: Partial<MessageAnswer>): string =>
  messageSentence({ ...MESSAGE, ...change }, { time: (at) => at.slice(11, 16), duration: (ms) => `${ms} ms` });
const DELIVERED: Partial<MessageAnswer> = {
  state: "delivered",
  status: { name: "DELIVERED_TO_HANDSET", groupName: "DELIVERED", description: "delivered", final: true },
  doneAt: "2026-02-12T12:03:21.200Z",
};

test("a sentence says what is awaited, and until when", () => {
  assert.equal(says({}), "The carrier one has it since 12:03; a receipt is awaited until 14:03.");
  assert.equal(
    says({ state: "scheduled", heldBy: "window", dueAt: "2026-02-13T06:00:00.000Z" }),
    "Held until 06:00 by its time window.",
  );
  assert.equal(says({ state: "scheduled", heldBy: "bulk" }), "Held, because its bulk is paused; it expires at 13:03.");
  assert.equal(
    says({ state: "waiting", sentAt: null }),
    "It waits for its turn with the carrier one; it is sent until 13:03.",
  );
});

test("a sentence says why a message does not move", () => {
  const waiting: Partial<MessageAnswer> = { state: "waiting", sentAt: null };
  const busy = {
    at: MESSAGE.dueAt,
    kind: "again",
    what: "not taken, goes again",
    detail: "carrier one · the carrier is busy (throttled)",
    until: null,
    isTrouble: true,
    exchange: null,
  };
  const carrierDownSince = "2026-02-12T11:00:00.000Z";
  assert.equal(
    says({ ...waiting, state: "retrying", events: [busy] }),
    "It is handed to the carrier one again, because the carrier is busy (throttled); it is tried until 13:03.",
  );
  assert.equal(
    says({ ...waiting, isOverdue: true }),
    "The carrier one has not taken it yet; it waits since 12:03, and is sent until 13:03.",
  );
  assert.equal(
    says({ ...waiting, carrierDownSince }),
    "The carrier one has no connection since 11:00; it is sent until 13:03.",
  );
  assert.equal(
    says({ isPhoneAway: true }),
    "The phone is off or out of reach; the network holds it, and a receipt is awaited until 14:03.",
  );
  assert.equal(
    says({ state: "stuck" }),
    "Stuck since 12:03: the carrier one has it since then and has sent no receipt; one is awaited until 14:03.",
  );
  assert.equal(
    says({ ...waiting, state: "stuck", events: [busy] }),
    "Stuck since 12:03: the carrier one does not take it, because the carrier is busy (throttled); it is tried until 13:03.",
  );
  assert.equal(
    says({ ...waiting, state: "stuck", carrierDownSince }),
    "Stuck since 12:03: the carrier one has no connection since 11:00; it is tried until 13:03.",
  );
});

test("a sentence says what is final, and what its report came to", () => {
  const report = { id: "7", url: "http://x/", items: 1, attempts: 2, reason: "answered 503", isDead: false };
  const withUrl = { ...DELIVERED, notifyUrl: "http://x/" };
  const delivered = "Delivered to the handset 1200 ms after it was sent to us";
  assert.equal(says(DELIVERED), `${delivered}.`);
  assert.equal(
    says({ ...withUrl, reports: [{ ...report, nextTryAt: "2026-02-12T12:09:00.000Z" }] }),
    `${delivered}; try 3 for your server at 12:09, the last one answered 503.`,
  );
  assert.equal(
    says({ ...withUrl, reports: [{ ...report, attempts: 21, isDead: true, nextTryAt: null }] }),
    `${delivered}; your server was not told: its report is a dead letter after 21 tries, the last one answered 503.`,
  );
  assert.equal(
    says({ ...withUrl, reportTakenAt: "2026-02-12T12:03:22.000Z" }),
    `${delivered}; your server was told at 12:03.`,
  );
  assert.equal(says({ ...withUrl }), `${delivered}; your server took its report at the first try.`);
  assert.equal(
    says({
      state: "failed",
      status: {
        name: "REJECTED_NOT_ENOUGH_CREDITS",
        groupName: "REJECTED",
        description: "Not enough credits",
        final: true,
      },
      doneAt: MESSAGE.receivedAt,
    }),
    "Rejected at once: not enough credits.",
  );
});
