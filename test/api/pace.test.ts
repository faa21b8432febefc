/** How fast messages go to a carrier that throttles, is congested, or has phones that are full: from the API to a real SMPP server. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Smsc } from "../../src/smsc/smsc.ts";
import { MULTI, passUntil } from "../support/sending.ts";
import { eventually, startTestService } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const FIRST = 41_790_000_000;
const phones = (count: number): string[] => Array.from({ length: count }, (_, index) => String(FIRST + index));
const placeOf = (phone: string): number => Number(phone) - FIRST;

/** A service on a clock of its own, and the network, which the test makes fail. Time passes until all messages are taken. */
async function sent(
  t: TestContext,
  count: number,
  faults: Smsc["faults"],
  { text = "Hello", parts = 1, profile = "" } = {},
) {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t, {}, clock);
  const service = await startTestService(t, { catalogue: smppCatalogue(smsc.port, profile || "window = 20"), clock });
  await eventually(async () => smsc.connections.length === 1);
  smsc.faults = faults;
  const messages = phones(count).map((to) => ({ from: "InfoSMS", to, text }));
  const { status } = await service.call("POST", MULTI, { body: { messages } });
  assert.equal(status, 200);
  const startMs = clock.monotonic();
  await passUntil(clock, () => smsc.parts.length >= count * parts, 20);
  const tookMs = clock.monotonic() - startMs;
  await clock.passWhile(service.stop());
  return { smsc, order: smsc.parts.map(({ to }) => placeOf(to)), tookMs };
}

/** How many come after one with a higher number. */
function overtaken(order: readonly number[]): number {
  let highest = -1;
  return order.filter((place) => {
    highest = Math.max(highest, place);
    return place < highest;
  }).length;
}

test("of a hundred answers one is throttled: each such message goes again at once, and the others hardly notice", async (t) => {
  const count = 1_000;
  const faults = { refuseSubmit: { probability: 0.01, status: "ESME_RTHROTTLED" } } as const;
  const { smsc, order } = await sent(t, count, faults);
  assert.deepEqual(
    order.toSorted((one, other) => one - other),
    [...Array(count).keys()],
    "each once",
  );
  const throttled = smsc.counters.hits.refuseSubmit!;
  assert.ok(throttled > 0 && throttled < count / 20, `${throttled} were throttled`);
  assert.ok(overtaken(order) <= throttled, "only what was throttled lost its place");
});

test("a carrier that takes 50 a second gets them, and after it was found out little above that", async (t) => {
  const { smsc, order, tookMs } = await sent(t, 600, { throttle: { perSecond: 50 } });
  assert.deepEqual(new Set(order).size, 600);
  assert.ok(tookMs < 16_000, `${tookMs} ms for 12 seconds' worth`);
  const throttled = smsc.counters.hits.throttle!;
  assert.ok(throttled < 300, `${throttled} were throttled`);
});

test("the parts of a long message go as the pace allows, however long the carrier takes to answer", async (t) => {
  const long = { text: "x".repeat(8 * 153), parts: 8, profile: "partsPerSecond = 100\nwindow = 150" };
  const { smsc, order, tookMs } = await sent(t, 60, { delayAnswer: { ms: 1_000 } }, long);
  assert.equal(order.length, 60 * 8, "each part once");
  assert.ok(tookMs < 6_000, `${tookMs} ms for 4.8 seconds' worth`);
  const sequences = smsc.find({ to: String(FIRST) }).map(({ place }) => place?.sequence);
  assert.deepEqual(sequences, [1, 2, 3, 4, 5, 6, 7, 8], "in their order");
});

test("a carrier that says it is at its optimum is not slowed down", async (t) => {
  const { smsc, tookMs } = await sent(t, 113, { congestion: { state: 81 } });
  assert.equal(smsc.counters.hits.congestion, 113);
  assert.ok(tookMs < 20_000, `${tookMs} ms of the test's clock`);
});

test("a phone that is full has its message put off, and no other waits for it", async (t) => {
  const full = 7;
  const { smsc, order, tookMs } = await sent(t, 200, { queueFull: { to: `${FIRST + full}$`, count: 3 } });
  assert.equal(smsc.counters.hits.queueFull, 3);
  assert.deepEqual(order, [...[...Array(200).keys()].filter((place) => place !== full), full]);
  assert.ok(tookMs >= 7_000 && tookMs < 10_000, `after 1, 2 and 4 seconds: ${tookMs} ms`);
});

test("a carrier whose queue is full for all phones is sent ever less, and gets everything when it is over", async (t) => {
  const { smsc, order } = await sent(t, 200, { queueFull: { count: 400 } });
  assert.equal(smsc.counters.hits.queueFull, 400);
  assert.equal(new Set(order).size, 200);
});
