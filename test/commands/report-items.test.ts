import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOf, serializeItems } from "../../src/commands/report-items.ts";
import { carriedOf } from "../../src/message/fields.ts";
import type { ReportFacts } from "../../src/message/message.ts";
import type { ReportRow } from "../../src/store/schema/report.ts";

const FACTS: ReportFacts = {
  bulkId: "bulk",
  messageId: "12345",
  to: "41793026727",
  from: "InfoSMS",
  sentAtMs: 1_700_000_000_000,
  doneAtMs: 1_700_000_001_000,
  smsCount: 2,
  mccMnc: "22801",
  pricePerPartMicros: 9_007_199_254_740_993n,
  currency: "EUR",
  statusId: 5,
  errorId: 0,
  ...carriedOf({ callbackData: "back", campaignReferenceId: "campaign", entityId: "entity", applicationId: "app" }),
};
const BARE: ReportFacts = { ...FACTS, bulkId: null, mccMnc: null, ...carriedOf({}) };

const itemsIn = (items: string) => batchOf({ kind: "delivery", items } as ReportRow).items;

test("items come back as they were, whatever they have none of", () => {
  assert.deepEqual(itemsIn(serializeItems([FACTS, BARE])), [FACTS, BARE]);
});

test("what an item has none of takes no room", () => {
  assert.ok(!serializeItems([BARE]).includes("null"));
});

test("items that an older Heliograph kept, with their nulls, are read too", () => {
  const kept = JSON.stringify([{ ...BARE, pricePerPartMicros: BARE.pricePerPartMicros.toString() }]);
  assert.deepEqual(itemsIn(kept), [BARE]);
});
