/** POST /sms/1/text/single: one text to one number, or to several. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ACCEPTED, accepted, balanceOf, ENROUTE, ID, REJECTED, SINGLE } from "../support/sending.ts";
import { startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const service = await startTestService({ after }, { clock: new VirtualClock(NOW) });

function send(fields: Record<string, unknown>) {
  return service.call("POST", SINGLE, { body: { from: "InfoSMS", text: "Hello", ...fields } });
}

test("one destination is answered with its message and without a bulkId", async () => {
  const answer = await send({ to: "41793026727" });

  assert.match(answer.headers.get("content-type")!, /^application\/json(; charset=utf-8)?$/);
  assert.deepEqual(accepted(answer), {
    messages: [{ to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID }],
  });
});

test("an array of one destination is one destination", async () => {
  assert.deepEqual(accepted(await send({ to: ["41793026727"] })), {
    messages: [{ to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID }],
  });
});

test("several destinations are answered with a bulkId, in their order", async () => {
  const balance = await balanceOf(service);
  const answer = await send({ to: ["41793026834", "41793026727", "nobody"], text: "x".repeat(200) });

  assert.deepEqual(accepted(answer), {
    bulkId: ID,
    messages: [
      { to: "41793026834", status: ENROUTE, smsCount: 2, messageId: ID },
      { to: "41793026727", status: ENROUTE, smsCount: 2, messageId: ID },
      { to: "nobody", status: REJECTED.destination, smsCount: 2 },
    ],
  });
  assert.equal(Math.round((balance - (await balanceOf(service))) * 100), 4);
});

test("the client's own messageId names the one message", async () => {
  assert.deepEqual(accepted(await send({ to: "41793026727", messageId: "mine" })), {
    messages: [{ to: "41793026727", status: ENROUTE, smsCount: 1, messageId: "mine" }],
  });
});

test("the client's own bulkId comes back where a bulkId does", async () => {
  const one = accepted(await send({ to: "41793026727", bulkId: "my-bulk-1" }));
  const two = accepted(await send({ to: ["41793026727", "41793026728"], bulkId: "my-bulk-2" }));

  assert.equal(one.bulkId, undefined);
  assert.equal(two.bulkId, "my-bulk-2");
});

test("the fields of a message stand flat beside from, to and text", async () => {
  const before = service.handedOn.length;
  const answer = await send({
    to: "41793026727",
    text: "Привет",
    flash: true,
    transliteration: "CYRILLIC",
    validityPeriod: 10,
    notifyUrl: "https://example.com/reports",
    notifyContentType: "application/xml",
    intermediateReport: true,
    callbackData: "order 7",
  });

  accepted(answer);
  const { from, to, text, flash, expiresAtMs } = service.handedOn[before]!;
  assert.deepEqual(
    { from, to, text, flash, expiresAtMs },
    { from: "InfoSMS", to: "41793026727", text: "Privet", flash: true, expiresAtMs: NOW + 10 * 60_000 },
  );
});

test("sendAt and deliveryTimeWindow hold the message, and the answer has no smsCount", async () => {
  const later = accepted(await send({ to: "41793026727", sendAt: "2026-01-05T12:30:00.000+0000" }));
  const tomorrow = accepted(await send({ to: "41793026727", deliveryTimeWindow: { days: ["TUESDAY"] } }));

  const held = { messages: [{ to: "41793026727", status: ACCEPTED, messageId: ID }] };
  assert.deepEqual([later, tomorrow], [held, held]);
});
