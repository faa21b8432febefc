/** A message becomes the request that sends it again, with all that is stored of the first one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftFrom, requestOf } from "../../console/src/pages/compose/draft.ts";
import { composeAddress, curlOf, draftOf } from "../../console/src/pages/message/again.ts";
import type { MessageAnswer } from "../../src/api/console/message-schemas.ts";

const PLAIN = {
  from: "Shop",
  to: "41793026727",
  text: "It's here",
  encoding: "gsm7",
  flash: false,
  notifyUrl: null,
  notifyContentType: "application/json",
  wished: { validityPeriod: null, intermediateReport: false, window: null },
} as unknown as MessageAnswer;

const FULL: MessageAnswer = {
  ...PLAIN,
  encoding: "gsm7+tr.l",
  flash: true,
  notifyUrl: "https://example.com/reports",
  notifyContentType: "application/xml",
  wished: {
    validityPeriod: 60,
    intermediateReport: true,
    callbackData: "order 7",
    campaignReferenceId: "spring",
    window: { days: ["MONDAY", "FRIDAY"], hours: { fromMinute: 540, toMinute: 1_020 } },
  },
};
const BINARY: MessageAnswer = { ...PLAIN, text: "0f00", encoding: "octets 4 64" };

const throughCompose = (message: MessageAnswer) =>
  draftFrom(Object.fromEntries(new URL(composeAddress(draftOf(message)), "http://x").searchParams));

test("all that is stored of a message is in the request that sends it again", () => {
  assert.deepEqual(requestOf(draftOf(FULL)), {
    path: "/sms/2/text/advanced",
    body: {
      messages: [
        {
          from: "Shop",
          destinations: [{ to: "41793026727" }],
          text: "It's here",
          flash: true,
          language: { languageCode: "TR", singleShift: false, lockingShift: true },
          deliveryTimeWindow: {
            days: ["MONDAY", "FRIDAY"],
            from: { hour: 9, minute: 0 },
            to: { hour: 17, minute: 0 },
          },
          validityPeriod: 60,
          notifyUrl: "https://example.com/reports",
          notifyContentType: "application/xml",
          intermediateReport: true,
          callbackData: "order 7",
          campaignReferenceId: "spring",
        },
      ],
    },
  });
});

test("Compose has the same from the address, of a binary message too", () => {
  for (const message of [PLAIN, FULL, BINARY]) assert.deepEqual(throughCompose(message), draftOf(message));
  assert.equal(composeAddress(draftOf(PLAIN)), "/compose?from=Shop&to=41793026727&text=It%27s+here");
  assert.deepEqual(draftFrom({ days: "MONDAY,NODAY", hours: "9-9" }).window, { days: ["MONDAY"], hours: null });
  assert.equal(draftFrom({ hours: "1-2" }).window, null);
});

test("the words of curl are one command for a shell", () => {
  assert.equal(
    curlOf(PLAIN, "http://x"),
    [
      "curl -X POST 'http://x/sms/2/text/advanced'",
      "-H 'Authorization: App YOUR_API_KEY'",
      "-H 'Content-Type: application/json'",
      `-d '{"messages":[{"from":"Shop","destinations":[{"to":"41793026727"}],"text":"It'\\''s here"}]}'`,
    ].join(" \\\n  "),
  );
  assert.match(curlOf(BINARY, "http://x"), /"binary":\{"hex":"0f00","dataCoding":4,"esmClass":64\}/);
});
