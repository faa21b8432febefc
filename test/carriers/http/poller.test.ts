/** Messages that are asked for one by one, where a provider cannot call us. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Calls } from "../../../src/carriers/http/calls.ts";
import { Poller } from "../../../src/carriers/http/poller.ts";
import type { Answer, Transport } from "../../../src/http/transport.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

const ROUND_MS = 5_000;

/** A provider that answers for a message in the next turn, and how it was asked. */
function asked(t: { after(work: () => Promise<void>): void }, answerOf: (id: string) => object | null) {
  const clock = new VirtualClock();
  const ids: string[] = [];
  let underWay = 0;
  let most = 0;
  const transport: Transport = {
    post: async ({ path }) => {
      const id = path.slice(1);
      ids.push(id);
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      const data = answerOf(id);
      if (data === null) return { kind: "unreachable", reason: "nobody is there" };
      return {
        kind: "answered",
        status: 200,
        excerpt: JSON.stringify(data),
        isWhole: true,
        retryAfter: null,
      } as Answer;
    },
    forget: () => undefined,
    close: async () => undefined,
  };
  const calls = new Calls({ url: "http://provider.example", auth: undefined, transport, clock, values: {} });
  const receipts: string[] = [];
  const [poller] = Poller.of(
    {
      receipts: {
        id: "id",
        status: "state",
        outcomes: { done: "delivered" },
        poll: { path: "/{id}", each: true, everySeconds: ROUND_MS / 1_000 },
      },
    },
    {
      clock,
      calls,
      hasCallbacks: false,
      everySeconds: undefined,
      onReceipt: async ({ carrierMessageId, outcome }) => {
        if (outcome === "delivered") receipts.push(carrierMessageId);
      },
      onIncoming: async () => undefined,
      onProblem: () => undefined,
    },
  );
  poller!.start();
  t.after(() => poller!.stop());
  const round = async (): Promise<string[]> => {
    await clock.advance(ROUND_MS);
    for (let turn = 0; turn < 2_000 && (underWay > 0 || turn < 20); turn++)
      await new Promise((resolve) => setImmediate(resolve));
    return ids.splice(0);
  };
  return { poller: poller!, clock, round, receipts, most: () => most };
}

test("all that wait are asked for in a round, a few at a time, until their last word", async (t) => {
  const done = new Set<string>();
  const { poller, clock, round, receipts, most } = asked(t, (id) => ({
    id,
    state: done.has(id) ? "done" : "on its way",
  }));
  const all = Array.from({ length: 120 }, (_, index) => `id-${index}`);
  for (const id of all) poller.await(id, clock.now() + 60_000);
  assert.deepEqual(await round(), all);
  assert.equal(most(), 10);
  for (const id of all.slice(0, 70)) done.add(id);
  assert.deepEqual((await round()).toSorted(), all.toSorted());
  assert.deepEqual(receipts.toSorted(), all.slice(0, 70).toSorted());
  assert.deepEqual(
    (await round()).toSorted(),
    all.slice(70).toSorted(),
    "those with their last word are asked for no more",
  );
  await clock.advance(60_000);
  await round();
  assert.deepEqual(await round(), [], "and none after its time");
});

test("a provider that does not answer is left alone until the next round, and nothing is forgotten", async (t) => {
  let isThere = false;
  const { poller, clock, round } = asked(t, (id) => (isThere ? { id, state: "on its way" } : null));
  const all = Array.from({ length: 50 }, (_, index) => `id-${index}`);
  for (const id of all) poller.await(id, clock.now() + 60_000);
  assert.equal((await round()).length, 10);
  isThere = true;
  assert.deepEqual((await round()).toSorted(), all.toSorted());
});
