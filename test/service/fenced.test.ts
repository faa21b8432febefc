/** A node that the others have taken over from stops acting at the first word of it, and its process ends so that it is started again. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { endedBy } from "../../src/cli/run.ts";
import { Lease } from "../../src/runtime/lease.ts";
import { Fenced, watchStoreThread } from "../../src/service.ts";

test("when the store's thread says so, the lease is over before anyone is told", () => {
  const thread = new EventEmitter();
  const lease = new Lease();
  lease.renew(Lease.moment(), 3_600_000);
  const told: Error[] = [];
  watchStoreThread(thread as never, lease, (error) => {
    assert.equal(lease.holds(), false);
    told.push(error);
  });
  thread.emit("message", { kind: "something else" });
  assert.equal(lease.holds(), true);
  thread.emit("message", { kind: "fenced", reason: "it was not heard of for 10 seconds" });
  assert.ok(told[0] instanceof Fenced);
  assert.equal(told[0].message, "it was not heard of for 10 seconds");
});

test("a store that can keep nothing more ends the lease and the process too", (t) => {
  const thread = new EventEmitter();
  const lease = Lease.endless();
  const told: Error[] = [];
  watchStoreThread(thread as never, lease, (error) => told.push(error));
  thread.emit("message", { kind: "lost", reason: "the disk has failed" });
  assert.equal(lease.holds(), false);
  const written: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => written.push(text));
  const code = endedBy(told[0]!);
  t.mock.restoreAll();
  assert.equal(code, 75);
  assert.deepEqual(written, [
    "heliograph: the store can keep nothing more (the disk has failed), so it ends; a supervisor should start it again\n",
  ]);
});

test("the process ends with the code that asks for another start, and says why", (t) => {
  const written: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => written.push(text));
  const codes = [endedBy(new Fenced("it was not heard of for 10 seconds")), endedBy(new Error("a bug"))];
  t.mock.restoreAll();
  assert.deepEqual(codes, [75, 1]);
  assert.deepEqual(written, [
    "heliograph: other nodes have taken over what this one had (it was not heard of for 10 seconds), so it ends; a supervisor should start it again\n",
  ]);
});
