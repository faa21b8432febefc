/** What a report says, in JSON. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonBody } from "../../src/reports/rendering/report-body.ts";
import { reportItem } from "../../src/reports/rendering/report-item.ts";
import fc from "../support/chance.ts";
import { factsOf } from "./fixtures.ts";

test("a report in JSON has every field, in the order of the contract", () => {
  assert.equal(
    jsonBody([reportItem(factsOf())]),
    JSON.stringify({
      results: [
        {
          bulkId: "1770890300323000001",
          messageId: "1770890300323000002",
          to: "41793026727",
          from: "InfoSMS",
          sentAt: "2026-02-12T09:58:20.323+0000",
          doneAt: "2026-02-12T09:58:21.005+0000",
          smsCount: 1,
          mccMnc: "22801",
          callbackData: "order 7",
          price: { pricePerMessage: 0.0075, currency: "EUR" },
          status: {
            groupId: 3,
            groupName: "DELIVERED",
            id: 5,
            name: "DELIVERED_TO_HANDSET",
            description: "Message delivered to handset",
          },
          error: { groupId: 0, groupName: "OK", id: 0, name: "NO_ERROR", description: "No Error", permanent: false },
        },
      ],
    }),
  );
});

test("what has no value is left out", () => {
  const { results } = JSON.parse(jsonBody([reportItem(factsOf({ bulkId: null, mccMnc: null, callbackData: null }))]));
  for (const name of ["bulkId", "mccMnc", "callbackData"]) assert.equal(name in results[0], false, name);
});

test("empty callbackData is still the client's", () => {
  assert.equal(reportItem(factsOf({ callbackData: "" })).callbackData, "");
});

test("a price is the exact decimal number", () => {
  const cases: [bigint, string][] = [
    [0n, "0"],
    [1n, "0.000001"],
    [7_500n, "0.0075"],
    [100_000n, "0.1"],
    [300_000n, "0.3"],
    [1_000_000n, "1"],
    [47_791_340n, "47.79134"],
    [999_999_999_999_999n, "999999999.999999"],
  ];
  for (const [micros, decimal] of cases) {
    const { price } = reportItem(factsOf({ pricePerPartMicros: micros }));
    assert.equal(JSON.stringify(price.pricePerMessage), decimal);
  }
});

test("any price up to a thousand million units reads back to the same millionths", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), (micros) => {
      const { price } = reportItem(factsOf({ pricePerPartMicros: micros }));
      const [units, fraction = ""] = JSON.stringify(price.pricePerMessage).split(".");
      assert.equal(BigInt(units + fraction.padEnd(6, "0")), micros);
    }),
  );
});

test("whatever the client wrote, the JSON reads back to it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (callbackData) => {
      const body = jsonBody([reportItem(factsOf({ callbackData }))]);
      assert.equal(JSON.parse(Buffer.from(body).toString()).results[0].callbackData, callbackData);
    }),
  );
});

test("a lone surrogate survives the way through UTF-8", () => {
  const body = jsonBody([reportItem(factsOf({ callbackData: "a\ud800b" }))]);
  assert.equal(JSON.parse(Buffer.from(body).toString()).results[0].callbackData, "a\ud800b");
});
