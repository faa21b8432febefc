/** A rejected duplicate is reported under an id of its own: the client's id stays the first message's, in every place where one looks it up. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { messagesNamed } from "../../src/admin/messages.ts";
import { ReportReceiver } from "../support/report-receiver.ts";
import { ADVANCED, REJECTED } from "../support/sending.ts";
import { eventually, startTestService } from "../support/service.ts";

const service = await startTestService({ after });
const [TO, OTHER] = ["41793026727", "41793026728"];

interface Item {
  readonly messageId: string;
  readonly to: string;
  readonly status: { readonly id: number };
}

async function send(destinations: readonly object[], options: object = {}): Promise<Item[]> {
  const body = { messages: [{ from: "InfoSMS", text: "Hello", destinations, ...options }] };
  const { status, json, text } = await service.call("POST", ADVANCED, { body });
  assert.equal(status, 200, text);
  return json.messages;
}

const itemsOf = async (path: string): Promise<Item[]> => (await service.call("GET", path)).json.results;

test("the answer names what the client wrote; logs, fetched reports and the operator find the first message under it", async () => {
  const [first] = await send([{ to: TO, messageId: "order-7" }]);
  const [again, twice] = await send([
    { to: OTHER, messageId: "order-7" },
    { to: OTHER, messageId: "order-7" },
  ]);
  assert.equal(first!.messageId, "order-7");
  for (const answer of [again, twice])
    assert.deepEqual([answer!.messageId, answer!.status], ["order-7", REJECTED.duplicate]);

  await eventually(async () => (await itemsOf("/sms/1/logs?messageId=order-7"))[0]?.status.id === 5);
  const named = await itemsOf("/sms/1/logs?messageId=order-7");
  assert.deepEqual(
    named.map(({ to }) => to),
    [TO],
  );
  const duplicates = await itemsOf(`/sms/1/logs?to=${OTHER}`);
  assert.equal(duplicates.length, 2);
  for (const { messageId, status } of duplicates) {
    assert.match(messageId, /^\d{19}$/);
    assert.equal(status.id, 23);
    assert.equal((await itemsOf(`/sms/1/logs?messageId=${messageId}`)).length, 1);
  }
  const { id: accountId } = (await service.store.account({ key: "DEMO0001", resellerId: null }))!;
  const shown = await messagesNamed(service.store, { accountId, messageId: "order-7", nowMs: Date.now() });
  assert.deepEqual(
    shown.map(({ message }) => message.to),
    [TO],
  );

  const byName = await itemsOf("/sms/1/reports?messageId=order-7");
  assert.deepEqual(
    byName.map(({ messageId, status }) => [messageId, status.id]),
    [["order-7", 5]],
  );
  const rest = await itemsOf("/sms/1/reports");
  assert.deepEqual(
    rest.map(({ messageId }) => messageId).toSorted(),
    duplicates.map(({ messageId }) => messageId).toSorted(),
  );
});

test("a push names the duplicate by its own id", async (t) => {
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const options = { notifyUrl: receiver.url };
  await send([{ to: TO, messageId: "order-8" }], options);
  await send([{ to: OTHER, messageId: "order-8" }], options);
  const items = await receiver.waitForItems(2);
  const byStatus = new Map(items.map(({ status, messageId }) => [status.id, messageId]));
  assert.equal(byStatus.get(5), "order-8");
  assert.match(byStatus.get(23), /^\d{19}$/);
});
