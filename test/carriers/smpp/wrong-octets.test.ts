/** Carriers whose PDUs are wrong, by an octet or beyond reading, seen through the whole service: nothing that they say is lost. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Faults } from "../../../src/smsc/faults.ts";
import { metricOf } from "../../support/exposition.ts";
import { ReportReceiver } from "../../support/report-receiver.ts";
import { eventually, startTestService, type TestService } from "../../support/service.ts";
import { smppCatalogue, startSmsc } from "../../support/smsc.ts";

const OPERATOR = `Basic ${Buffer.from("operator:operator-password").toString("base64")}`;

async function startThrough(t: TestContext, faults: Faults) {
  const smsc = await startSmsc(t, { faults });
  const receiver = await ReportReceiver.start();
  t.after(() => receiver.stop());
  const service = await startTestService(t, {
    catalogue: smppCatalogue(smsc.port, "reconnectSeconds = 1"),
  });
  const send = async (...phones: string[]) => {
    const destinations = phones.map((to) => ({ to }));
    const body = { messages: [{ from: "Sender", text: "Hello", destinations, notifyUrl: `${receiver.url}/` }] };
    const answer = await service.call("POST", "/sms/1/text/advanced", { body });
    assert.equal(answer.status, 200);
    return answer;
  };
  return { smsc, receiver, service, send };
}

async function figure(service: TestService, name: string, labels: Record<string, string> = {}): Promise<number> {
  const { text } = await service.call("GET", "/metrics", { authorization: OPERATOR });
  return metricOf(text, `heliograph_${name}`, labels);
}

const PHONES = ["41790000001", "41790000002", "41790000003"];

for (const as of ["after message", "after parameters", "length too large"] as const) {
  test(`receipts that are wrong by an octet, ${as}, settle their messages`, async (t) => {
    const { smsc, receiver, service, send } = await startThrough(t, { strayOctet: as });
    await send(...PHONES);
    await receiver.waitForItems(PHONES.length, 30_000);
    const statuses = receiver.items.map(({ status }) => (status as { name: string }).name);
    assert.deepEqual(statuses, Array(PHONES.length).fill("DELIVERED_TO_HANDSET"));
    await eventually(async () => smsc.counters.acknowledged === PHONES.length);
    assert.deepEqual([smsc.counters.sent, smsc.counters.givenUp], [PHONES.length, 0]);
    assert.equal(smsc.counters.hits.strayOctet, PHONES.length);
    assert.equal(await figure(service, "smpp_mended_total"), PHONES.length);
    assert.equal(await figure(service, "smpp_problems_total"), 0);
  });

  test(`a message from a phone that is wrong by an octet, ${as}, is the message that the phone wrote`, async (t) => {
    const { smsc, service } = await startThrough(t, { strayOctet: as });
    const { acknowledged } = smsc.incoming({ from: "41790000001", to: "12345", text: "PIN 1234" });
    assert.equal(await acknowledged, true);
    const { messages } = await service.store.unmatchedIncoming({ limit: 2 });
    assert.deepEqual(
      messages.map(({ text }) => text),
      ["PIN 1234"],
    );
  });
}

test("receipts that cannot be read are acknowledged, and each is kept among those that match no message", async (t) => {
  const { smsc, receiver, service, send } = await startThrough(t, { unreadableReceipt: 2 });
  await send(...PHONES);
  // The third one is read.
  await receiver.waitForItems(1, 30_000);
  await eventually(async () => smsc.counters.acknowledged === PHONES.length);
  assert.deepEqual([smsc.counters.sent, smsc.counters.givenUp], [PHONES.length, 0]);
  const { receipts, count } = await service.store.parkedReceipts({ limit: 10 });
  assert.equal(count, 2);
  assert.deepEqual(
    receipts.map(({ carrierId, carrierMessageId, outcome, to }) => [carrierId, carrierMessageId, outcome, to]),
    Array(2).fill(["smpp", "", "held", null]),
  );
  assert.deepEqual(
    receipts.map(({ why, octets }) => [
      why,
      PHONES.filter((phone) => octets!.includes(Buffer.from(phone).toString("hex"))).length,
    ]),
    Array(2).fill(["unreadable", 1]),
  );
  assert.equal(await figure(service, "smpp_problems_total"), 2);
  // A message that is sent later finds none of them.
  await send("41790000009");
  await receiver.waitForItems(2, 30_000);
  assert.equal((await service.store.parkedReceipts({ limit: 10 })).count, 2);
});

for (const as of ["too short", "too long"] as const) {
  test(`a connection whose framing is lost, ${as}, is made anew, and what was on it goes again`, async (t) => {
    const { smsc, receiver, service, send } = await startThrough(t, { lostFraming: { as, count: 1 } });
    await eventually(async () => smsc.connections.length === 1);
    await send(...PHONES);
    await receiver.waitForItems(PHONES.length, 30_000);
    assert.equal(smsc.counters.hits.lostFraming, 1);
    assert.equal(smsc.counters.connections, 2);
    // Those of which nobody knows whether they were taken; the rest had not gone.
    assert.ok((await figure(service, "carrier_submits_total", { outcome: "unknown" })) >= 1);
    assert.deepEqual(new Set(smsc.parts.map(({ to }) => to)), new Set(PHONES));
  });
}
