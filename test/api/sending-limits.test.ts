/** Much at once: the largest request, and more requests than the balance covers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ADVANCED, accepted, balanceOf, ENROUTE, ID, MULTI, REJECTED, SINGLE } from "../support/sending.ts";
import { CATALOGUE, errorObject, startTestService } from "../support/service.ts";

const hello = { from: "InfoSMS", text: "Hello" };

function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(41_790_000_000 + index));
}

test("10,000 destinations in one request are accepted in one answer, and charged", async (t) => {
  const service = await startTestService(t);
  const destinations = numbers(10_000).map((to) => ({ to }));
  const answer = await service.call("POST", ADVANCED, {
    body: { messages: [{ ...hello, destinations }] },
  });

  const entry = { status: ENROUTE, smsCount: 1, messageId: ID };
  assert.deepEqual(
    accepted(answer).messages,
    destinations.map(({ to }) => ({ to, ...entry })),
  );
  const ids = new Set(answer.json.messages.map(({ messageId }: { messageId: string }) => messageId));
  assert.equal(ids.size, 10_000);
  assert.equal(await balanceOf(service), 0);
  assert.deepEqual(await service.store.verifyLedger(), []);
});

test("one destination more is refused with a sentence that names the limit, and nothing is sent or charged", async (t) => {
  const service = await startTestService(t);
  const to = numbers(10_001);
  const says = "must name at most 10000 destinations, not 10001";
  const halves = [to.slice(0, 5_000), to.slice(5_000)];
  const rows = [
    [
      ADVANCED,
      { messages: halves.map((half) => ({ ...hello, destinations: half.map((number) => ({ to: number })) })) },
      "messages",
    ],
    [MULTI, { messages: to.map((number) => ({ ...hello, to: number })) }, "messages"],
    [SINGLE, { ...hello, to }, "to"],
  ] as const;
  for (const [path, body, field] of rows) {
    const answer = await service.call("POST", path, { body });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.json, errorObject("BAD_REQUEST", "Bad request", [field], `${field} ${says}.`));
  }
  assert.equal(await balanceOf(service), 100);
  assert.equal(service.handedOn.length, 0);
});

test("of 200 concurrent requests on a balance for 50, exactly 50 are accepted and the balance ends at 0", async (t) => {
  const service = await startTestService(t, { catalogue: CATALOGUE.replace('price = "0.01"', 'price = "2"') });
  const answers = await Promise.all(numbers(200).map((to) => service.call("POST", SINGLE, { body: { ...hello, to } })));

  const results = answers.flatMap((answer) => accepted(answer).messages as { to: string; status: unknown }[]);
  const { taken = [], refused = [] } = Object.groupBy(results, ({ status }) =>
    JSON.stringify(status) === JSON.stringify(ENROUTE) ? "taken" : "refused",
  );
  assert.equal(taken.length, 50);
  assert.deepEqual(
    refused,
    refused.map(({ to }) => ({ to, status: REJECTED.credits, smsCount: 1, messageId: ID })),
  );
  assert.equal(refused.length, 150);
  assert.deepEqual(service.handedOn.map(({ to }) => to).toSorted(), taken.map(({ to }) => to).toSorted());
  assert.equal(await balanceOf(service), 0);
  assert.deepEqual(await service.store.verifyLedger(), []);
});

test("of 20 concurrent requests with the same messageId, one is accepted", async (t) => {
  const service = await startTestService(t);
  const answers = await Promise.all(
    numbers(20).map((to) => service.call("POST", SINGLE, { body: { ...hello, to, messageId: "only-one" } })),
  );

  const statuses = answers.map(({ json }) => json.messages[0].status.id);
  assert.deepEqual(statuses.toSorted(), [...Array<number>(19).fill(REJECTED.duplicate.id), ENROUTE.id]);
  assert.equal(await balanceOf(service), 99.99);
});
