/** POST /sms/2/text/advanced: the same request as version 1, another answer. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ACCEPTED, ADVANCED, ADVANCED_V2, accepted, balanceOf, ENROUTE, ID, REJECTED } from "../support/sending.ts";
import { startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const service = await startTestService({ after }, { clock: new VirtualClock(NOW) });

const GOOD = { from: "InfoSMS", text: "Hello" };

function send(body: Record<string, unknown>) {
  return service.call("POST", ADVANCED_V2, { body });
}

test("what is accepted is PENDING_ACCEPTED, now or later, without smsCount and without trackingProcessKey", async () => {
  const answer = await send({
    messages: [
      { ...GOOD, destinations: [{ to: "41793026727", messageId: "v2-mine" }, { to: "41793026834" }] },
      { ...GOOD, destinations: [{ to: "41793026700" }], sendAt: "2026-01-05T12:30:00.000+0000" },
    ],
  });

  assert.match(answer.headers.get("content-type")!, /^application\/json(; charset=utf-8)?$/);
  assert.deepEqual(accepted(answer), {
    bulkId: ID,
    messages: [
      { to: "41793026727", status: ACCEPTED, messageId: "v2-mine" },
      { to: "41793026834", status: ACCEPTED, messageId: ID },
      { to: "41793026700", status: ACCEPTED, messageId: ID },
    ],
  });
});

test("includeSmsCountInResponse puts the number of parts into every entry", async () => {
  const messages = [
    { ...GOOD, destinations: [{ to: "41793026727" }], text: "x".repeat(161) },
    { ...GOOD, destinations: [{ to: "41793026834" }], sendAt: "2026-01-05T12:30:00.000+0000" },
  ];
  const asked = accepted(await send({ messages, includeSmsCountInResponse: true }));
  const declined = accepted(await send({ messages, includeSmsCountInResponse: false }));

  assert.deepEqual(asked.messages, [
    { to: "41793026727", status: ACCEPTED, smsCount: 2, messageId: ID },
    { to: "41793026834", status: ACCEPTED, smsCount: 1, messageId: ID },
  ]);
  assert.deepEqual(declined.messages, [
    { to: "41793026727", status: ACCEPTED, messageId: ID },
    { to: "41793026834", status: ACCEPTED, messageId: ID },
  ]);
});

test("the client's bulkId comes back", async () => {
  const messages = [{ ...GOOD, destinations: [{ to: "41793026727" }] }];

  assert.equal(accepted(await send({ bulkId: "my-bulk", messages })).bulkId, "my-bulk");
});

test("what is rejected says so", async () => {
  const { messages } = accepted(await send({ messages: [{ ...GOOD, destinations: [{ to: "nobody" }] }] }));

  assert.deepEqual(messages, [{ to: "nobody", status: REJECTED.destination }]);
});

test("a message is sent and charged just as in version 1", async () => {
  const messages = [{ ...GOOD, destinations: [{ to: "41793026727" }], flash: true, validityPeriod: 7 }];
  const before = service.handedOn.length;
  const balance = await balanceOf(service);

  accepted(await send({ messages }));
  const between = await balanceOf(service);
  const first = accepted(await service.call("POST", ADVANCED, { body: { messages } }));

  const [v2, v1] = service.handedOn.slice(before).map(({ key: _, ...rest }) => rest);
  assert.deepEqual(v2, v1);
  assert.equal(v2!.expiresAtMs, NOW + 7 * 60_000);
  assert.deepEqual(first.messages, [{ to: "41793026727", status: ENROUTE, smsCount: 1, messageId: ID }]);
  assert.equal(Math.round((balance - between) * 100), 1);
});
