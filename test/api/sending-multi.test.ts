/** POST /sms/1/text/multi: different texts to different destinations. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ACCEPTED, accepted, balanceOf, ENROUTE, ID, MULTI } from "../support/sending.ts";
import { startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const service = await startTestService({ after }, { clock: new VirtualClock(NOW) });

function send(...messages: Record<string, unknown>[]) {
  return service.call("POST", MULTI, { body: { messages } });
}

test("each item has its own sender, number and text; the service supplies the bulkId", async () => {
  const before = service.handedOn.length;
  const answer = await send(
    { from: "InfoSMS", to: "41793026727", text: "May the Force be with you!" },
    { from: "41793026700", to: "41793026834", text: "A long time ago. ".repeat(10) },
  );

  assert.match(answer.headers.get("content-type")!, /^application\/json(; charset=utf-8)?$/);
  assert.deepEqual(accepted(answer), {
    bulkId: ID,
    messages: [
      { to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID },
      { to: "41793026834", status: ENROUTE, smsCount: 2, messageId: ID },
    ],
  });
  assert.deepEqual(
    service.handedOn.slice(before).map(({ from, to, text }) => ({ from, to, text })),
    [
      { from: "InfoSMS", to: "41793026727", text: "May the Force be with you!" },
      { from: "41793026700", to: "41793026834", text: "A long time ago. ".repeat(10) },
    ],
  );
});

test("one item is enough, and the answer still has a bulkId", async () => {
  assert.deepEqual(accepted(await send({ from: "InfoSMS", to: "41793026727", text: "Hello" })), {
    bulkId: ID,
    messages: [{ to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID }],
  });
});

test("an item may have an array of numbers, each with an entry in the order of the request", async () => {
  const balance = await balanceOf(service);
  const answer = await send(
    { from: "InfoSMS", to: ["41793026727", "41793026834"], text: "Hello" },
    { from: "InfoSMS", to: "41793026700", text: "Hello" },
    { from: "InfoSMS", to: ["41793026600"], text: "Hello" },
  );

  assert.deepEqual(
    accepted(answer).messages,
    ["41793026727", "41793026834", "41793026700", "41793026600"].map((to) => ({
      to,
      status: ENROUTE,
      smsCount: 1,
      messageId: ID,
    })),
  );
  assert.equal(Math.round((balance - (await balanceOf(service))) * 100), 4);
});

test("a bulkId of the client's own comes back", async () => {
  const body = { bulkId: "my-bulk", messages: [{ from: "InfoSMS", to: "41793026727", text: "Hello" }] };

  assert.equal(accepted(await service.call("POST", MULTI, { body })).bulkId, "my-bulk");
});

test("an item takes the other fields of a message too", async () => {
  const before = service.handedOn.length;
  const answer = await send(
    { from: "InfoSMS", to: "41793026727", text: "ş", languageCode: "TR", flash: true, validityPeriod: 5 },
    { from: "InfoSMS", to: "41793026834", text: "Later", sendAt: "2026-01-05T12:30:00.000+0000" },
  );

  assert.deepEqual(accepted(answer).messages, [
    { to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID },
    { to: "41793026834", status: ACCEPTED, messageId: ID },
  ]);
  const { encoding, flash, expiresAtMs } = service.handedOn[before]!;
  assert.deepEqual(
    { encoding, flash, expiresAtMs },
    { encoding: "gsm7+tr.s", flash: true, expiresAtMs: NOW + 300_000 },
  );
});
