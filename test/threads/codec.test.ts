/** What crosses between threads arrives as it was sent. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { carriedOf, usedOf } from "../../src/message/fields.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import type { Feed } from "../../src/store/port/delivery.ts";
import type { AcceptanceOutcome } from "../../src/store/port/messages.ts";
import type { CommandInput, CommandName } from "../../src/store/port/store.ts";
import {
  packAcceptance,
  packFeed,
  packInput,
  unpackAcceptance,
  unpackFeed,
  unpackInput,
} from "../../src/threads/codec.ts";

/** As it comes out on the other side of a port. */
function cross<Name extends CommandName>(command: Name, input: CommandInput<Name>): unknown {
  return unpackInput(command, structuredClone(packInput(command, input)));
}

const crossFeed = (feed: Feed): Feed => unpackFeed(structuredClone(packFeed(feed)));

const CONTENT = {
  from: "Sender",
  text: "Hello",
  shownText: "*****",
  encoding: "gsm7",
  partCount: 1,
  ...usedOf({ flash: true }),
  notifyUrl: "https://example.com",
  reportForm: "application/json",
  regional: { southKorea: { title: "News" } },
  written: null,
  ...carriedOf({ callbackData: "data" }),
  intermediateReport: false,
  sendAtMs: 1,
  dueAtMs: 2,
  window: { days: [1, 2], from: { hour: 8, minute: 0 }, to: { hour: 20, minute: 0 } },
  expiresAtMs: 3,
};

test("an acceptance, with all its contents and messages", () => {
  const acceptance = {
    accountId: 1,
    bulkId: "bulk",
    replay: { key: "key", bulk: true, bodyHash: "hash" },
    receivedAtMs: 5,
    firstKey: "4123456789012345678",
    links: { contents: new Map([[1, [{ code: "00000000000", target: "https://a.example/" }]]]), trackingUrl: null },
    conversion: '{"name":"PIN"}',
    speedLimit: { amount: 5, unitMs: 60_000 },
    contents: [CONTENT, { ...CONTENT, encoding: { dataCoding: 4, esmClass: 0 }, notifyUrl: null, window: null }],
    messages: [0, 1, 1].map((content) => ({
      content,
      to: `4179000000${content}`,
      clientMessageId: content === 0 ? "mine" : null,
      carrierId: content === 0 ? null : "acme",
      pricePerPartMicros: 10_000n,
      rejectedStatusId: content === 0 ? 52 : null,
    })),
  } as unknown as CommandInput<"accept">;
  assert.deepEqual(cross("accept", acceptance), acceptance);
  const empty = { ...acceptance, replay: null, contents: [], messages: [] };
  assert.deepEqual(cross("accept", empty), empty);
});

test("what carriers took, of one part and of several, and their receipts", () => {
  const submitted: CommandInput<"submitted"> = {
    awaited: true,
    messages: [1, 3, 2].map((count) => ({
      key: `key ${count}`,
      carrierId: "acme",
      parts: Array.from({ length: count }, (_, index) => ({ carrierMessageId: `id ${index}`, counts: index === 0 })),
      refusedErrorId: count === 3 ? 7 : null,
      atMs: count,
    })),
  };
  assert.deepEqual(cross("submitted", submitted), submitted);
  const received: CommandInput<"received"> = {
    carrierId: "acme",
    mayBeEarly: true,
    receipts: [
      {
        carrierMessageId: "id",
        outcome: "delivered",
        errorId: 0,
        atMs: 4,
        mccMnc: "22801",
        to: "41790000001",
        other: "41790000002",
        unmarked: true,
        submittedAtMs: 3,
        octets: null,
      },
      {
        carrierMessageId: "",
        outcome: "held",
        errorId: 1,
        atMs: 5,
        mccMnc: null,
        to: null,
        other: null,
        unmarked: false,
        submittedAtMs: null,
        octets: "00ff",
      },
    ],
  };
  assert.deepEqual(cross("received", received), received);
});

test("a command without a form crosses as it is, also without an input", () => {
  assert.deepEqual(cross("balance", { accountId: 1 }), { accountId: 1 });
  assert.equal(cross("cluster", undefined), undefined);
});

test("a feed, with messages and reports of every kind", () => {
  const { from, text, partCount, intermediateReport, window, expiresAtMs, regional } = CONTENT;
  const shared = {
    from,
    text,
    partCount,
    ...usedOf(CONTENT),
    intermediateReport,
    window,
    dueAtMs: 5,
    expiresAtMs,
    slotUntilMs: 7,
    regional,
    reference: 4_711,
  };
  const message = {
    key: "1",
    accountId: 1,
    carrierId: "acme",
    to: "4179",
    encoding: "gsm7",
    unknownCount: 2,
    taken: null,
  };
  const batch = { id: "9", accountId: 1, url: "http://x", form: "application/json", attempts: 0 };
  const report = {
    bulkId: null,
    messageId: "m",
    to: "4179",
    from: "Sender",
    sentAtMs: 1,
    doneAtMs: 2,
    smsCount: 1,
    mccMnc: null,
    ...carriedOf({ callbackData: "data" }),
    pricePerPartMicros: 10n,
    currency: "EUR",
    statusId: 5,
    errorId: 0,
  };
  const alert = { accountKey: "A", balanceMicros: 1n, belowMicros: 2n, currency: "EUR", atMs: 3 };
  const feed = {
    messages: [
      { ...message, ...shared },
      { ...message, ...shared, window: null },
    ],
    reports: [
      { ...batch, kind: "delivery", items: [report, { ...report, messageId: "n" }] },
      { ...batch, kind: "delivery", items: [report], tried: true },
      { ...batch, kind: "alert", items: [alert] },
    ],
    overflowed: [{ accountId: 1, carrierId: "acme" }],
    earliestDueAtMs: 4,
    reportsWait: true,
  } as unknown as Feed;
  assert.deepEqual(crossFeed(feed), feed);
  const nothing: Feed = { messages: [], reports: [], overflowed: [], earliestDueAtMs: null };
  assert.deepEqual(crossFeed(nothing), nothing);
});

test("of many that are alike none gets what another has", () => {
  const random = seededRandom(7);
  const one = <Value>(...values: Value[]): Value => values[Math.floor(random.next() * values.length)]!;
  const receipts: CommandInput<"received">["receipts"] = Array.from({ length: 2_000 }, () => ({
    carrierMessageId: one("id 1", "id 2", ""),
    outcome: one("delivered", "held"),
    errorId: one(0, 1),
    atMs: one(4, Number.MAX_SAFE_INTEGER),
    mccMnc: one(null, "22801"),
    to: one(null, "41790000001"),
    other: one(null, ""),
    unmarked: one(true, false),
    submittedAtMs: one(null, 0, -1),
    octets: one(null, "00ff"),
  }));
  const received = { carrierId: "acme", receipts, mayBeEarly: false };
  assert.deepEqual(cross("received", received), received);
  const contents = Array.from({ length: 2_000 }, () => {
    const { shownText, ...others } = { ...CONTENT, flash: one(true, false), window: one(CONTENT.window, null) };
    return { ...others, shownText: one(shownText, undefined) };
  });
  const acceptance = { contents, messages: [] } as unknown as CommandInput<"accept">;
  assert.deepEqual((cross("accept", acceptance) as CommandInput<"accept">).contents, contents);
});

test("the answer to an acceptance, whatever it is", () => {
  const accepted = {
    kind: "accepted",
    bulkId: "bulk",
    firstKey: "17",
    statusIds: [7, 12, 7],
    replayed: false,
  } as const;
  const answers: AcceptanceOutcome[] = [
    { ...accepted, statusIds: [...accepted.statusIds] },
    { ...accepted, statusIds: [] },
    { ...accepted, statusIds: [7], replayed: true, partCounts: [2], pricesMicros: [10n] },
    { kind: "conflict" },
  ];
  for (const answer of answers)
    assert.deepEqual(unpackAcceptance(structuredClone(packAcceptance(answer))), answer, JSON.stringify(answer.kind));
});
