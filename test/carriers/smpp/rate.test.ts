/** The carrier's rate, from the dispatcher's side of the port to the network's: counted there, over any second, under a virtual clock. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import type { SmppProfile } from "../../../src/carriers/smpp/profile.ts";
import { Lease } from "../../../src/runtime/lease.ts";
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
  let taken = 0;
  for (let turn = 0; turn < 60; turn++) {
    const answers = [];
    while (carrier.room() > 0) for (const part of parts) answers.push(carrier.submit(part));
    taken += (await Promise.all(answers)).filter(({ kind }) => kind === "accepted").length;
    await clock.advance(100);
  }

  await Promise.all([carrier.stop(), clock.advance(10_000)]);

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
