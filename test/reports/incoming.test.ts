/** What is told of messages from phones, and that they are pushed as delivery reports are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { XMLValidator } from "fast-xml-parser";
import { Webhook } from "standardwebhooks";
import type { IncomingBatch, IncomingFacts } from "../../src/message/message.ts";
import { until } from "../support/patience.ts";
import { status } from "../support/report-receiver.ts";
import { MINUTE_MS, startPush, startReceiver } from "./fixtures.ts";

const TEXT = "Quiz  Correct answer is <Paris> & no other";

function incomingFacts(change: Partial<IncomingFacts> = {}): IncomingFacts {
  return {
    messageId: "1770890300323000002",
    from: "41793026727",
    to: "12345",
    text: TEXT,
    keyword: "QUIZ",
    receivedAtMs: Date.UTC(2026, 1, 12, 9, 58, 20, 323),
    smsCount: 2,
    currency: "EUR",
    ...change,
  };
}

function incomingBatch(url: string, change: Partial<IncomingBatch> = {}): IncomingBatch {
  const form = "application/json";
  return {
    id: "b1",
    kind: "incoming",
    accountId: 1,
    url,
    form,
    items: [incomingFacts()],
    attempts: 0,
    ...change,
  };
}

test("a message from a phone is pushed in the family's form, signed, and again under its id when it was not taken", async (t) => {
  const receiver = await startReceiver(t);
  const { clock, store, send } = startPush(t, { startMs: Date.now() });
  receiver.answer(status(500));
  send(incomingBatch(receiver.url, { items: [incomingFacts(), incomingFacts({ text: "Hello", keyword: null })] }));
  await until(() => store.failures.length === 1, "it is refused");
  receiver.answer(status(200));
  await clock.advance(MINUTE_MS + 1);
  const due = await store.dueReports({ nowMs: clock.now(), limit: 10 });
  send(...due.batches);
  await until(() => store.delivered.length === 1, "it is delivered");

  const [first, second] = receiver.requests;
  assert.equal(second?.body, first?.body);
  assert.equal(second?.headers["webhook-id"], first?.headers["webhook-id"]);
  assert.equal(first?.headers["content-type"], "application/json");
  new Webhook(store.secrets[0]!).verify(first!.body, first!.headers as Record<string, string>, { jsonParse: false });
  const rest = {
    messageId: "1770890300323000002",
    from: "41793026727",
    to: "12345",
    receivedAt: "2026-02-12T09:58:20.323+0000",
    smsCount: 2,
    price: { pricePerMessage: 0, currency: "EUR" },
  };
  assert.deepEqual(JSON.parse(first!.body), {
    results: [
      { ...rest, text: TEXT, cleanText: "Correct answer is <Paris> & no other", keyword: "QUIZ" },
      { ...rest, text: "Hello", cleanText: "Hello" },
    ],
    messageCount: 2,
    pendingMessageCount: 0,
  });
});

test("in XML it has the same names in the same order, and what has no value is left out", async (t) => {
  const receiver = await startReceiver(t);
  const { store, send } = startPush(t);
  send(incomingBatch(receiver.url, { form: "application/xml", items: [incomingFacts({ keyword: null })] }));
  await until(() => store.delivered.length === 1, "it is delivered");
  const [{ body, headers } = { body: "", headers: {} }] = receiver.requests;
  assert.equal(headers["content-type"], "application/xml");
  assert.equal(XMLValidator.validate(body), true);
  const text = "Quiz  Correct answer is &lt;Paris&gt; &amp; no other";
  assert.equal(
    body,
    '<?xml version="1.0" encoding="UTF-8"?><reportResponse><results><result>' +
      "<messageId>1770890300323000002</messageId><from>41793026727</from><to>12345</to>" +
      `<text>${text}</text><cleanText>${text}</cleanText>` +
      "<receivedAt>2026-02-12T09:58:20.323+0000</receivedAt><smsCount>2</smsCount>" +
      "<price><pricePerMessage>0</pricePerMessage><currency>EUR</currency></price>" +
      "</result></results><messageCount>1</messageCount><pendingMessageCount>0</pendingMessageCount></reportResponse>",
  );
});
