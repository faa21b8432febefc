/** The carrier's rate, from the dispatcher's side of the port to the network's: counted there, over any second, under a virtual clock. */
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import { Lease } from "../../../src/node/lease.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { eventually } from "../../support/service.ts";
import { startSmsc } from "../../support/smsc.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

test("parts a second never exceed the profile's rate over any second, over two connections and with long messages", async (t) => {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t, {}, clock);
  const rate = 20;
  const carrier = new SmppCarrier(
    {
      id: "acme",
      kind: "smpp",
      hosts: [`127.0.0.1:${smsc.port}`],
      systemId: "me",
      password: "secret",
      binds: 2,
      window: 50,
      partsPerSecond: rate,
    },
    { clock, random: seededRandom(1), log: silentLog, lease: Lease.endless() },
  );
  await carrier.start();
  await eventually(async () => smsc.connections.length === 2 && carrier.room() > 0);

  const message = {
    from: "Sender",
    to: "41790000001",
    text: "x".repeat(400),
    encoding: "gsm7",
    flash: false,
    intermediateReport: false,
    expiresAtMs: clock.now() + 3_600_000,
    reference: 1,
  } as const;
  const parts = carrier.partsOf(message);
  // The last parts of a message may wait for the pace.
  const answers: ReturnType<SmppCarrier["submit"]>[] = [];
  for (let turn = 0; turn < 60; turn++) {
    while (carrier.room() > 0) for (const part of parts) answers.push(carrier.submit(part));
    await clock.advance(100);
  }

  await Promise.all([carrier.stop(), clock.advance(10_000)]);
  const taken = (await Promise.all(answers)).filter(({ kind }) => kind === "accepted").length;

  const times = smsc.parts.map(({ atMs }) => atMs);
  assert.equal(times.length, taken);
  const busiest = Math.max(
    ...times.map((start) => times.filter((time) => time >= start && time < start + 1_000).length),
  );
  assert.ok(busiest <= rate, `${busiest} parts in one second`);
  assert.ok(taken >= 5 * rate, `the rate is used: ${taken} parts in six seconds`);
});

test("nodes that share a carrier's connections share its rate: together they stay within it, over any second", async (t) => {
  const clock = new VirtualClock();
  const smsc = await startSmsc(t, {}, clock);
  const rate = 20;
  const profile: SmppProfile = {
    id: "acme",
    kind: "smpp",
    hosts: [`127.0.0.1:${smsc.port}`],
    systemId: "me",
    password: "secret",
    binds: 4,
    window: 50,
    partsPerSecond: rate,
  };
  const parts = { clock, random: seededRandom(1), log: silentLog, lease: Lease.endless() };
  const nodes = [new SmppCarrier(profile, parts), new SmppCarrier(profile, parts)] as const;
  await nodes[0].setSlots([0, 2, 3]);
  await nodes[1].setSlots([1]);
  for (const carrier of nodes) await carrier.start();
  await eventually(async () => smsc.connections.length === 4 && nodes.every((carrier) => carrier.room() > 0));
  assert.deepEqual(
    nodes.map((carrier) => carrier.room()),
    [15, 5],
  );
  const message = {
    from: "Sender",
    to: "41790000001",
    text: "x",
    encoding: "gsm7",
    flash: false,
    intermediateReport: false,
    expiresAtMs: clock.now() + 3_600_000,
    reference: 1,
  } as const;
  for (let turn = 0; turn < 30; turn++) {
    const answers = [];
    for (const carrier of nodes) while (carrier.room() > 0) answers.push(carrier.submit(carrier.partsOf(message)[0]!));
    await Promise.all(answers);
    await clock.advance(100);
  }
  await Promise.all([...nodes.map((carrier) => carrier.stop()), clock.advance(10_000)]);
  const times = smsc.parts.map(({ atMs }) => atMs);
  const busiest = Math.max(
    ...times.map((start) => times.filter((time) => time >= start && time < start + 1_000).length),
  );
  assert.equal(busiest, rate);
});

const SUBMIT_SM = 4;

/** How many submits stand in what is written. */
function submitsIn(octets: Buffer): number {
  let count = 0;
  for (let at = 0; at + 16 <= octets.length; at += octets.readUInt32BE(at)) {
    if (octets.readUInt32BE(at + 4) === SUBMIT_SM) count++;
  }
  return count;
}

/** The busiest second at a socket of a carrier that may have `rate` parts in one, with a loop that is held up. */
async function busiestSecond(t: TestContext, rate: number): Promise<number> {
  const smsc = await startSmsc(t);
  const profile: SmppProfile = {
    id: "acme",
    kind: "smpp",
    hosts: [`127.0.0.1:${smsc.port}`],
    systemId: "me",
    password: "secret",
    binds: 2,
    window: 100,
    partsPerSecond: rate,
  };
  /** When each submit was written, whatever the carrier's own books say. */
  const times: number[] = [];
  const { write } = Socket.prototype;
  const written = t.mock.method(Socket.prototype, "write", function (this: Socket, ...args: Parameters<typeof write>) {
    const octets = args[0];
    if (this.remotePort === smsc.port && Buffer.isBuffer(octets))
      for (let count = submitsIn(octets); count > 0; count--) times.push(performance.now());
    return Reflect.apply(write, this, args);
  });
  const sentLogs = new Map();
  const random = seededRandom(1);
  const start = async (): Promise<SmppCarrier> => {
    const carrier = new SmppCarrier(profile, {
      clock: systemClock,
      random,
      log: silentLog,
      lease: Lease.endless(),
      sentLogs,
    });
    await carrier.start();
    await eventually(async () => carrier.isUp());
    return carrier;
  };
  let carrier = await start();
  const message = {
    from: "Sender",
    to: "41790000001",
    text: "x",
    encoding: "gsm7",
    flash: false,
    intermediateReport: false,
    expiresAtMs: systemClock.now() + 3_600_000,
    reference: 1,
  } as const;
  // So many parts that it has to go on for some seconds; in the middle the carrier is set up anew.
  const answers: Promise<unknown>[] = [];
  for (let isReplaced = false; answers.length < 600; ) {
    for (let room = carrier.room(); room > 0; room--) answers.push(carrier.submit(carrier.partsOf(message)[0]!));
    const heldUpTo = performance.now() + (random.next() < 0.1 ? 30 * random.next() : 0);
    while (performance.now() < heldUpTo);
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (!isReplaced && answers.length > 300) {
      isReplaced = true;
      await carrier.stop();
      carrier = await start();
    }
  }
  await Promise.all(answers);
  await carrier.stop();
  written.mock.restore();
  assert.equal(smsc.parts.length, times.length);
  return Math.max(...times.map((first) => times.filter((time) => time >= first && time < first + 1_000).length));
}

/** A machine that others use may not let a whole second be used: then it is looked at again. */
const LOOKS = 5;

test("at a real socket no second has more parts than the profile allows, however the loop is held up", async (t) => {
  const rate = 200;
  let most = 0;
  for (let look = 0; look < LOOKS && most <= 0.9 * rate; look++) {
    const busiest = await busiestSecond(t, rate);
    assert.ok(busiest <= rate, `${busiest} in a second`);
    most = Math.max(most, busiest);
  }
  assert.ok(most > 0.9 * rate, `only ${most} in a second`);
});
