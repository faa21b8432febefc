/** A connection to a carrier is this node's for as long as its lease holds: another may take its place by then. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SmppCarrier } from "../../../src/carriers/smpp/carrier.ts";
import { Lease } from "../../../src/node/lease.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { seededRandom } from "../../../src/runtime/random.ts";
import { eventually } from "../../support/service.ts";
import { startSmsc } from "../../support/smsc.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

test("an idle connection is closed soon after its lease lapsed, and bound again when the lease is back", async (t) => {
  const smsc = await startSmsc(t);
  const clock = new VirtualClock();
  const lease = Lease.endless();
  const hosts = [`127.0.0.1:${smsc.port}`];
  const carrier = new SmppCarrier(
    { id: "acme", kind: "smpp", hosts, systemId: "me", password: "secret" },
    { clock, random: seededRandom(1), log: silentLog, lease },
  );
  t.after(async () => {
    await carrier.stop();
    assert.equal(clock.timersPending, 0, "a timer is left behind");
  });
  await carrier.start();
  await eventually(async () => carrier.isUp());

  await clock.advance(5_000);
  assert.equal(carrier.isUp(), true, "it stays for as long as the lease holds");
  lease.end();
  await clock.advance(1_000);
  await eventually(async () => !carrier.isUp() && smsc.connections.length === 0);
  await clock.advance(10_000);
  assert.equal(carrier.isUp(), false, "nothing is begun without the lease");

  lease.renew(Lease.moment(), 3_600_000);
  await clock.advance(1_000);
  await eventually(async () => carrier.isUp());
});
