/** Calls over a port: answered, in order with what is told, and few messages for many of them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import { serveCalls, ThreadCaller } from "../../src/threads/rpc.ts";

function channel(t: TestContext) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  return { port1, port2 };
}

test("answers and what is told arrive in order, and those of one turn as one message", async (t) => {
  const { port1, port2 } = channel(t);
  let messages = 0;
  port1.on("message", () => messages++);
  const heard: unknown[] = [];
  const caller = new ThreadCaller(port1, (event) => heard.push(event));
  const serving = serveCalls(port2, async (name, input) => {
    serving.tell(`before ${input}`);
    return `${name} ${input}`;
  });
  const answers = [1, 2, 3].map((input) => caller.call("echo", input).then((answer) => heard.push(answer)));
  await Promise.all(answers);
  assert.deepEqual(heard, ["before 1", "before 2", "before 3", "echo 1", "echo 2", "echo 3"]);
  assert.equal(messages, 1);
});

test("a call that can wait crosses with the next that cannot, in its place, or after a bound by itself", async (t) => {
  const { port1, port2 } = channel(t);
  const seen: string[][] = [];
  port2.on("message", ({ calls }: { calls: [number, string, unknown][] }) => seen.push(calls.map(([, name]) => name)));
  const caller = new ThreadCaller(port1);
  serveCalls(port2, async () => null);
  const waiting = [caller.call("one", null, 60_000), caller.call("two", null, 60_000)];
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, [], "they wait");
  await Promise.all([...waiting, caller.call("three", null), caller.call("four", null, 60_000)]);
  await caller.call("alone", null, 1);
  assert.deepEqual(seen, [["one", "two", "three", "four"], ["alone"]]);
});

test("a call that fails rejects with what went wrong over there; a store that is away is told from a bug", async (t) => {
  const { port1, port2 } = channel(t);
  const caller = new ThreadCaller(port1);
  serveCalls(port2, async (name) => {
    throw name === "away" ? new StoreUnavailable("away") : new TypeError("a bug");
  });
  await assert.rejects(caller.call("away", null), StoreUnavailable);
  await assert.rejects(caller.call("bug", null), (error: Error) => {
    return error.message === "a bug" && !(error instanceof StoreUnavailable);
  });
});

test("when the other end is gone, calls under way and later ones fail", async (t) => {
  const { port1, port2 } = channel(t);
  const caller = new ThreadCaller(port1);
  serveCalls(port2, () => new Promise(() => undefined));
  const call = caller.call("never", null);
  port2.close();
  await assert.rejects(call, StoreUnavailable);
  await assert.rejects(caller.call("never", null), StoreUnavailable);
});
