/** Conversions: the client says which of its messages brought what they were sent for. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { addAccount } from "../support/accounts.ts";
import { basic, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const end = (id: string, authorization?: string) =>
  service.call("POST", `/ct/1/log/end/${encodeURIComponent(id)}`, authorization === undefined ? {} : { authorization });

async function send(tracking: unknown, messageId?: string) {
  const destinations = [{ to: "41793026727", ...(messageId === undefined ? {} : { messageId }) }];
  const body = { messages: [{ from: "Shop", destinations, text: "Your code is 1234" }], tracking };
  const answer = await service.call("POST", "/sms/1/text/advanced", { body });
  assert.equal(answer.status, 200, answer.text);
  return { ...answer.json, messageId: answer.json.messages[0].messageId };
}

const kept = async (id: string) =>
  (await service.call("GET", `/console/1/message?id=${encodeURIComponent(id)}`)).json.conversion;

test("a message's conversion is told once, kept, and answered the same when told again", async () => {
  const { messageId } = await send({ track: "SMS", type: "ONE_TIME_PIN", processKey: "A37D" });
  assert.deepEqual(await kept(messageId), { name: "ONE_TIME_PIN", processKey: "A37D", endedAt: null });
  const first = await end(messageId);
  assert.deepEqual([first.status, first.json], [200, { processKey: "A37D" }]);
  const { endedAt } = await kept(messageId);
  assert.ok(Date.parse(endedAt) > 0);
  assert.deepEqual((await end(messageId)).json, { processKey: "A37D" });
  assert.equal((await kept(messageId)).endedAt, endedAt);
});

test("without a key of the client's, the key is that of its request", async () => {
  const { messageId, trackingProcessKey } = await send({ track: "SMS" });
  assert.match(trackingProcessKey, /^[0-9a-f]{32}$/);
  assert.deepEqual((await end(messageId)).json, { processKey: trackingProcessKey });
});

test("a message is found by the client's own name for it, however long", async () => {
  const name = `order/7 ${"é".repeat(190)}`;
  await send({ track: "SMS", processKey: "own" }, name);
  assert.deepEqual((await end(name)).json, { processKey: "own" });
});

test("the query of the first version asks for it too", async () => {
  const query = "to=41793026727&from=Shop&text=hello&track=SMS&trackingType=SALE&processKey=Q1";
  const answer = await service.call("GET", `/sms/1/text/query?${query}`);
  assert.equal(answer.status, 200, answer.text);
  const [{ messageId }] = answer.json.messages;
  assert.equal((await kept(messageId)).name, "SALE");
  assert.deepEqual((await end(messageId)).json, { processKey: "Q1" });
});

test("a message that nobody wanted to track, is rejected, is another's or is not there: 404 in the family's words", async () => {
  const plain = await send(undefined);
  const odd = [await send({ type: "ONE_TIME_PIN" })];
  const tracked = await send({ track: "SMS" });
  const rejected = await service.call("POST", "/sms/1/text/advanced", {
    body: { messages: [{ destinations: [{ to: "x", messageId: "wrong" }], text: "x" }], tracking: { track: "SMS" } },
  });
  assert.equal(rejected.status, 200);
  await addAccount(service.store, { key: "OTHER1" });
  const stranger = basic("OTHER1", "password");
  const tries = [
    ...[plain.messageId, ...odd.map(({ messageId }) => messageId), "wrong", "1", "nobody", "x".repeat(300)].map((id) =>
      end(id),
    ),
    end(tracked.messageId, stranger),
  ];
  for (const answer of await Promise.all(tries)) {
    assert.equal(answer.status, 404, answer.text);
    assert.deepEqual(answer.json, {
      requestError: {
        serviceException: {
          messageId: "NOT_FOUND",
          text: "There is no message with this id that was sent with conversion tracking.",
        },
      },
    });
  }
  assert.equal((await kept(tracked.messageId)).endedAt, null);
});
