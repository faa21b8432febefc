/** Receipts of a carrier that gives an id twice, or goes on after its last word: from the API to a real SMPP server, and what an operator sees. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Faults } from "../../src/smsc/faults.ts";
import { good, operating } from "../support/operator.ts";
import { SINGLE } from "../support/sending.ts";
import { eventually, startTestService, type TestService } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const TO = "41793026727";
const OTHER = "41793026728";
const CARRIER = "smpp";

/** The carrier's phones answer when its clock moves, and not before. */
async function start(t: TestContext, faults: Faults) {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t, { answerAfterMs: 1_000, faults }, clock);
  const service = await startTestService(t, { catalogue: smppCatalogue(smsc.port) });
  const send = async (to: string): Promise<string> => {
    const { messages } = good(await service.call("POST", SINGLE, { body: { from: "InfoSMS", to, text: "Hello" } }));
    return messages[0].messageId;
  };
  /** The store knows of so many parts that wait for their receipts. */
  const isWaiting = (count: number) =>
    eventually(async () => {
      const parts = await service.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 });
      return parts.length === count;
    });
  return { smsc, clock, service, send, isWaiting, call: operating(service) };
}

async function statusOf(service: TestService, messageId: string): Promise<string> {
  const { results } = good(await service.call("GET", `/sms/1/logs?messageId=${messageId}`));
  return results[0].status.groupName;
}

const isCounted = (service: TestService, reason: string) => {
  const line = `heliograph_receipts_unapplied_total{reason="${reason}"} 1\n`;
  return eventually(async () => (await service.call("GET", "/metrics")).text.includes(line));
};

test("of two messages under one id each hears the receipt for its own phone", async (t) => {
  const { clock, service, send, isWaiting } = await start(t, { sameIds: { every: 1 } });
  const failed = await send(`${OTHER}999003`.slice(-15));
  const delivered = await send(TO);
  await isWaiting(2);
  await clock.advance(2_000);
  await isWaiting(0);
  assert.deepEqual(
    [await statusOf(service, failed), await statusOf(service, delivered)],
    ["UNDELIVERABLE", "DELIVERED"],
  );
});

test("receipts for two messages to one phone under one id are doubtful: parked, counted, and heard by neither", async (t) => {
  const { smsc, clock, service, send, isWaiting, call } = await start(t, { sameIds: { every: 1 } });
  const ids = [await send(TO), await send(TO)];
  await isWaiting(2);
  await clock.advance(2_000);
  await eventually(async () => smsc.counters.acknowledged === 2);
  await isCounted(service, "doubtful");
  await isWaiting(2);
  for (const id of ids) assert.equal(await statusOf(service, id), "PENDING");
  const { count, results } = good(await call("GET", "/receipts/parked"));
  assert.deepEqual([count, results[0].why, results[0].times, results[0].to], [1, "doubtful", 2, TO]);
});

test("what a carrier says after its last word is shown to the operator, and the message stays what it was", async (t) => {
  const { smsc, clock, service, send, isWaiting, call } = await start(t, { contradictReceipt: { ms: 5_000 } });
  const id = await send(TO);
  await isWaiting(1);
  await clock.advance(2_000);
  await isWaiting(0);
  await clock.advance(5_000);
  await eventually(async () => smsc.counters.acknowledged === 2);
  await isCounted(service, "later");
  const { results } = good(await call("GET", `/accounts/DEMO0001/messages/${id}/receipts`));
  assert.deepEqual(
    results.map(({ carrier, outcome }: { carrier: string; outcome: string }) => [carrier, outcome]),
    [[CARRIER, "undeliverable"]],
  );
  assert.equal(results[0].carrierMessageId, smsc.parts[0]!.id);
  assert.equal(await statusOf(service, id), "DELIVERED");
  assert.equal(good(await call("GET", "/receipts/parked")).count, 0);
  assert.equal((await call("GET", "/accounts/DEMO0001/messages/nobody's/receipts")).status, 404);
});
