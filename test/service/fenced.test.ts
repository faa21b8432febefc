/** A node that the others have taken over from stops acting at the first word of it, and its process ends so that it is started again. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { type TestContext, test } from "node:test";
import { endedBy } from "../../src/cli/run.ts";
import { Lease } from "../../src/node/lease.ts";
import { Fenced, watchStoreThread } from "../../src/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("when the store's thread says so, the lease is over before anyone is told", () => {
  const thread = new EventEmitter();
  const lease = new Lease();
  lease.renew(Lease.moment(), 3_600_000);
  const told: Error[] = [];
  const nobodyAsks = () => assert.fail("others have taken over what is in doubt");
  watchStoreThread(thread as never, lease, nobodyAsks, (error) => {
    assert.equal(lease.holds(), false);
    told.push(error);
  });
  thread.emit("message", { kind: "something else" });
  assert.equal(lease.holds(), true);
  thread.emit("message", { kind: "fenced", reason: "it was not heard of for 10 seconds" });
  assert.ok(told[0] instanceof Fenced);
  assert.equal(told[0].message, "it was not heard of for 10 seconds");
});

/** What a process says at its end whose store is lost, and with which code it ends. */
async function endOf(t: TestContext, countInDoubt: () => Promise<number>) {
  const thread = new EventEmitter();
  const lease = Lease.endless();
  const clock = new VirtualClock();
  const told: Error[] = [];
  watchStoreThread(thread as never, lease, countInDoubt, (error) => told.push(error), clock);
  thread.emit("message", { kind: "lost", reason: "the disk has failed" });
  assert.equal(lease.holds(), false);
  await clock.advance(1_000);
  const written: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => written.push(text));
  const code = endedBy(told[0]!);
  t.mock.restoreAll();
  return { code, says: written.join("") };
}

const LOST = "heliograph: the store can keep nothing more (the disk has failed)";
const ENDS = "so it ends; a supervisor should start it again\n";

test("a store that can keep nothing more ends the lease and the process too", async (t) => {
  assert.deepEqual(await endOf(t, async () => 0), { code: 75, says: `${LOST}, ${ENDS}` });
});

test("its end says how many messages are in doubt", async (t) => {
  const doubt = (count: string) =>
    `, and it is not known what became of ${count} messages that were handed to carriers: they will be sent again with the next start, `;
  assert.deepEqual(await endOf(t, async () => 50), { code: 75, says: `${LOST}${doubt("50")}${ENDS}` });
  // Delivery does not answer, or not in time: the process ends all the same.
  const some = { code: 75, says: `${LOST}${doubt("some")}${ENDS}` };
  assert.deepEqual(await endOf(t, () => Promise.reject(new Error("gone"))), some);
  assert.deepEqual(await endOf(t, () => new Promise(() => undefined)), some);
});

test("the process ends with the code that asks for another start, and says why", (t) => {
  const written: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => written.push(text));
  const codes = [endedBy(new Fenced("it was not heard of for 10 seconds")), endedBy(new Error("a bug"))];
  t.mock.restoreAll();
  assert.deepEqual(codes, [75, 1]);
  assert.deepEqual(written, [
    "heliograph: nothing may be done in this node's name any more (it was not heard of for 10 seconds), so it ends; a supervisor should start it again\n",
  ]);
});
