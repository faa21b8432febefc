/** sendingSpeedLimit: a request goes at most so fast, whichever version of the API it came by, and whatever the client looks at says so. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { formatDateTime } from "../../src/schedule/date-time.ts";
import { mostWithin } from "../support/pace.ts";
import { ADVANCED, ADVANCED_V2, balanceOf, passUntil } from "../support/sending.ts";
import { startTestService } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const MINUTE_MS = 60_000;
const clock = new VirtualClock(Date.UTC(2026, 0, 5, 12));
const service = await startTestService({ after }, { clock });
const FIRST = 41_790_000_000;

let named = 0;

function bodyOf(count: number, sendingSpeedLimit: unknown, more: object = {}, said: object = { text: "Hi" }) {
  const destinations = Array.from({ length: count }, (_, place) => ({ to: String(FIRST + place) }));
  return { bulkId: `bulk ${++named}`, messages: [{ from: "Info", destinations, ...said, ...more }], sendingSpeedLimit };
}

const V3 = (count: number, sendingSpeedLimit: unknown) => ({
  messages: [
    {
      sender: "Info",
      destinations: Array.from({ length: count }, (_, place) => ({ to: String(FIRST + place) })),
      content: { text: "Hi" },
    },
  ],
  options: { schedule: { bulkId: `bulk ${++named}`, sendingSpeedLimit } },
});

const DOORS = [
  [ADVANCED, bodyOf],
  [ADVANCED_V2, bodyOf],
  ["/sms/1/binary/advanced", (count: number, limit: unknown) => bodyOf(count, limit, {}, { binary: { hex: "0f" } })],
  ["/sms/2/binary/advanced", (count: number, limit: unknown) => bodyOf(count, limit, {}, { binary: { hex: "0f" } })],
  ["/sms/3/messages", V3],
] as const;

/** When messages of a bulk were sent, by the logs. */
async function sentTimes(bulkId: string): Promise<{ times: number[]; statuses: string[] }> {
  const { json } = await service.call("GET", `/sms/1/logs?limit=1000&bulkId=${encodeURIComponent(bulkId)}`);
  const results = json.results as { sentAt: string; status: { name: string } }[];
  return {
    times: results.map(({ sentAt }) => Date.parse(sentAt)),
    statuses: results.map(({ status }) => status.name),
  };
}

/** Lets time pass until nothing of the bulk waits. */
async function ended(bulkId: string): Promise<void> {
  await passUntil(clock, async () => !(await sentTimes(bulkId)).statuses.includes("PENDING_ACCEPTED"), 1_000);
}

for (const [path, body] of DOORS) {
  test(`a bulk by ${path} keeps to its limit, and uses it`, async () => {
    const startMs = clock.now();
    const { status, text, json } = await service.call("POST", path, { body: body(25, { amount: 20 }) });
    assert.equal(status, 200, text);
    const ids = json.messages.map((message: { status: { id: number } }) => message.status.id);
    if (path.startsWith("/sms/1")) assert.deepEqual(ids, [7, ...Array(24).fill(26)], "the first goes at once");
    const isDelivered = (name: string): boolean => name.startsWith("DELIVERED");
    await clock.advance(75_000);
    await passUntil(clock, async () => (await sentTimes(json.bulkId)).statuses.every(isDelivered), 1_000);
    const { times } = await sentTimes(json.bulkId);
    assert.equal(times.length, 25);
    assert.ok(mostWithin(times, MINUTE_MS) <= 20);
    const tookMs = Math.max(...times) - startMs;
    assert.ok(tookMs > 1.2 * MINUTE_MS && tookMs < 1.3 * MINUTE_MS, `${tookMs} ms`);
  });
}

test("a limit by the hour or the day is one, and sendAt is when its first message goes", async () => {
  for (const timeUnit of ["HOUR", "DAY"]) {
    const sendAtMs = clock.now() + MINUTE_MS;
    const body = bodyOf(3, { amount: 2, timeUnit }, { sendAt: formatDateTime(sendAtMs) });
    const { json } = await service.call("POST", ADVANCED, { body });
    await clock.advance(1.5 * MINUTE_MS);
    const { times, statuses } = await sentTimes(json.bulkId);
    assert.equal(statuses.filter((name) => name === "PENDING_ACCEPTED").length, 2);
    assert.ok(times.includes(sendAtMs));
    const url = `/sms/1/bulks/status?bulkId=${encodeURIComponent(json.bulkId)}`;
    assert.equal((await service.call("GET", url)).json.status, "PENDING");
    assert.equal((await service.call("PUT", url, { body: { status: "CANCELED" } })).status, 200);
    await ended(json.bulkId);
  }
});

test("a bulk with a limit can be paused, resumed and called off while it goes", async () => {
  const before = await balanceOf(service);
  const { json } = await service.call("POST", ADVANCED, { body: bodyOf(100, { amount: 20 }) });
  const cost = before - (await balanceOf(service));
  const url = `/sms/1/bulks/status?bulkId=${encodeURIComponent(json.bulkId)}`;
  await clock.advance(30_000);
  assert.equal((await service.call("PUT", url, { body: { status: "PAUSED" } })).status, 200);
  const sent = async () => (await sentTimes(json.bulkId)).statuses.filter((name) => name !== "PENDING_ACCEPTED").length;
  const paused = await sent();
  assert.ok(paused >= 9 && paused <= 11, `${paused}`);
  await clock.advance(MINUTE_MS);
  assert.equal(await sent(), paused);
  assert.equal((await service.call("PUT", url, { body: { status: "PENDING" } })).status, 200);
  await clock.advance(MINUTE_MS);
  const resumed = await sent();
  assert.ok(resumed - paused >= 17 && resumed - paused <= 20, `${resumed - paused}`);
  assert.equal((await service.call("PUT", url, { body: { status: "CANCELED" } })).status, 200);
  await ended(json.bulkId);
  const gone = (await sentTimes(json.bulkId)).statuses.filter((name) => name.startsWith("UNDELIVERABLE")).length;
  assert.equal(gone, 100 - resumed);
  assert.ok(Math.abs(before - (await balanceOf(service)) - (cost * resumed) / 100) < 1e-6);
});

test("the same request again is answered as the first time", async () => {
  const body = bodyOf(5, { amount: 1 });
  const first = await service.call("POST", ADVANCED, { body });
  await clock.advance(1_000);
  assert.deepEqual((await service.call("POST", ADVANCED, { body })).json, first.json);
});

test("without a limit, or with null for one, all goes at once", async () => {
  for (const limit of [undefined, null]) {
    const { json } = await service.call("POST", ADVANCED, { body: bodyOf(50, limit) });
    assert.deepEqual(
      new Set(json.messages.map((message: { status: { id: number } }) => message.status.id)),
      new Set([7]),
    );
  }
});

test("a wrong limit is refused, and so is one at which the bulk would take longer than half a year", async () => {
  const before = await balanceOf(service);
  for (const [limit, field] of [
    [{}, "sendingSpeedLimit.amount"],
    [{ amount: 0 }, "sendingSpeedLimit.amount"],
    [{ amount: -5 }, "sendingSpeedLimit.amount"],
    [{ amount: 1.5 }, "sendingSpeedLimit.amount"],
    [{ amount: 2 ** 31 }, "sendingSpeedLimit.amount"],
    [{ amount: 1, timeUnit: "SECOND" }, "sendingSpeedLimit.timeUnit"],
    [{ amount: 1, timeUnit: "minute" }, "sendingSpeedLimit.timeUnit"],
    [7, "sendingSpeedLimit"],
    [{ amount: 1, timeUnit: "DAY" }, "sendingSpeedLimit"],
  ] as const) {
    const answer = await service.call("POST", ADVANCED_V2, { body: bodyOf(200, limit) });
    assert.equal(answer.status, 400, JSON.stringify(limit));
    const { variables, additionalDescription } = answer.json.requestError.serviceException;
    assert.deepEqual(variables, [field], additionalDescription);
  }
  const slow = await service.call("POST", ADVANCED, { body: bodyOf(200, { amount: 1, timeUnit: "DAY" }) });
  assert.match(slow.text, /200 messages take longer than 180 days/);
  assert.equal(
    (await service.call("POST", ADVANCED, { body: bodyOf(100, { amount: 1, timeUnit: "DAY" }) })).status,
    200,
  );
  assert.ok(before - (await balanceOf(service)) > 0);
});
