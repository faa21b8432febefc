/** Messages to phones that are full, from the API to a real SMPP server and back to the client's eyes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { balanceOf, MULTI, passUntil } from "../support/sending.ts";
import { eventually, startTestService, type TestService, temporaryDirectory } from "../support/service.ts";
import { smppCatalogue, startSmsc } from "../support/smsc.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const FIRST = 41_790_000_000;
/** A lane that the messages to full phones would fill. */
const SMALL = { dispatch: { laneMessages: 20, memoryMessages: 30, claimMessages: 10 } };

async function start(t: TestContext) {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t, {}, clock);
  const directory = await temporaryDirectory(t);
  const catalogue = smppCatalogue(smsc.port, "window = 20");
  const run = async (): Promise<TestService> => {
    const service = await startTestService(t, { catalogue, clock, data: directory, settings: SMALL });
    await eventually(async () => smsc.connections.length === 1);
    return service;
  };
  const send = async (service: TestService, count: number): Promise<void> => {
    const messages = Array.from({ length: count }, (_, place) => ({
      from: "Info",
      to: String(FIRST + place),
      text: "Hi",
    }));
    const { status, text } = await service.call("POST", MULTI, { body: { messages } });
    assert.equal(status, 200, text);
  };
  const stop = (service: TestService): Promise<void> => clock.passWhile(service.stop());
  const taken = (): number[] => smsc.parts.map(({ to }) => Number(to) - FIRST).sort((one, other) => one - other);
  return { clock, smsc, run, send, stop, taken };
}

async function statusOf(service: TestService, place: number): Promise<string> {
  const { json } = await service.call("GET", `/sms/1/logs?to=${FIRST + place}`);
  return json.results[0].status.name;
}

test("messages to full phones are pending while all others go, outlast a restart, and go once when there is room", async (t) => {
  const { clock, smsc, run, send, stop, taken } = await start(t);
  // Those that end in 7: more than the memory of the account holds.
  smsc.faults = { queueFull: { to: "7$" } };
  const first = await run();
  await send(first, 400);
  await passUntil(clock, () => smsc.parts.length >= 360);
  const [all, good] = [[...Array(400).keys()], (place: number) => place % 10 !== 7];
  assert.deepEqual(taken(), all.filter(good));
  await passUntil(clock, () => smsc.counters.hits.queueFull! >= 120);
  assert.equal(await statusOf(first, 7), "PENDING_ENROUTE");
  await stop(first);

  smsc.faults = {};
  const second = await run();
  await passUntil(clock, () => smsc.parts.length >= 400);
  for (let second = 0; second < 70; second++) await clock.advance(1_000);
  assert.deepEqual(taken(), all, "each once");
  await stop(second);
});

test("a message to a phone that stays full is refused in the end, and its money comes back", async (t) => {
  const { clock, smsc, run, send, stop, taken } = await start(t);
  smsc.faults = { queueFull: { to: "1$" } };
  const service = await run();
  const before = await balanceOf(service);
  await send(service, 3);
  const charged = before - (await balanceOf(service));
  await passUntil(clock, () => smsc.counters.hits.queueFull === 11, 1_000);
  await passUntil(clock, async () => (await statusOf(service, 1)) === "UNDELIVERABLE_REJECTED_OPERATOR");
  assert.deepEqual(taken(), [0, 2]);
  const cost = before - (await balanceOf(service));
  assert.ok(Math.abs(cost - (charged * 2) / 3) < 1e-9, `${cost} of ${charged}`);
  await stop(service);
});
