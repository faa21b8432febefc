/** The carriers' connections shared out between nodes: what this node opens, what it closes, and when it says so. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Carrier } from "../../src/carriers/port.ts";
import { Binds, type KnownCarrier } from "../../src/dispatch/binds.ts";
import { silentLog } from "../../src/runtime/log.ts";
import type { BindClaim, BindShare } from "../../src/store/port/nodes.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { ScriptedCarrier } from "./scripted-carrier.ts";

/** A carrier whose connections close when the test says so. */
class SlottedCarrier extends ScriptedCarrier {
  slots: readonly number[] = [];
  closing = Promise.resolve();

  setSlots(slots: readonly number[]): Promise<void> {
    this.slots = slots;
    return this.closing;
  }
}

/** A node with a store that shares as the test says, and keeps the questions. */
async function startNode(
  t: TestContext,
  share: (claim: BindClaim) => Omit<BindShare, "carrierId">,
  { isAlone = false } = {},
) {
  const clock = new VirtualClock();
  const node = {
    clock,
    share,
    away: false,
    /** The carrier that does not start. */
    failing: "",
    questions: 0,
    /** The carriers of the last question, and every slot that was ever told closed. */
    asked: [] as string[],
    told: [] as string[],
    made: [] as SlottedCarrier[],
    events: [] as string[],
    handingOver: Promise.resolve(),
    known(id: string, binds: number, profile = "a"): KnownCarrier {
      const make = () => {
        const carrier = new SlottedCarrier(id);
        node.made.push(carrier);
        return carrier;
      };
      return { id, binds, profile, make };
    },
  };
  const event = (name: string) => async (carrier: { id: string } | string) => {
    node.events.push(`${name} ${typeof carrier === "string" ? carrier : carrier.id}`);
    if (name === "hand over") await node.handingOver;
    if (name === "add" && (carrier as Carrier).id === node.failing) throw new Error("it does not start");
  };
  const binds = new Binds({
    clock,
    log: silentLog,
    isAlone,
    store: {
      async shareBinds({ claims }) {
        node.questions++;
        if (node.away) throw new Error("away");
        node.asked = claims.map(({ carrierId }) => carrierId);
        for (const { carrierId, binds, closed } of claims)
          node.told.push(...closed.map((slot) => `${carrierId} ${slot} of ${binds}`));
        return claims.map((claim) => ({ carrierId: claim.carrierId, ...node.share(claim) }));
      },
    },
    dispatcher: {
      addCarrier: event("add"),
      replaceCarrier: event("replace"),
      handOver: event("hand over"),
      removeCarrier: event("remove"),
    },
  });
  t.after(async () => {
    await binds.stop();
    await binds.settled();
    assert.equal(clock.timersPending, 0, "a timer is left behind");
  });
  return { ...node, node, binds };
}

const all = ({ binds }: BindClaim) => ({ slots: [...Array(binds).keys()], excess: 0 });

test("alone, a node serves every carrier over all its connections before its start is done", async (t) => {
  const { node, binds } = await startNode(t, all);
  await binds.start([node.known("one", 2), node.known("two", 1)]);
  assert.deepEqual(node.events, ["add one", "add two"]);
  assert.deepEqual(
    node.made.map(({ slots }) => slots),
    [[0, 1], [0]],
  );
  await node.clock.advance(10_000);
  assert.equal(node.events.length, 2, "asking again changes nothing");
});

test("a node that has its store to itself asks again only while something is to be done", async (t) => {
  const { node, binds } = await startNode(t, all, { isAlone: true });
  node.failing = "one";
  await binds.start([node.known("one", 2)]);
  assert.equal(node.questions, 1);
  await node.clock.advance(2_000);
  assert.equal(node.questions, 3, "it did not start");
  node.failing = "";
  await node.clock.advance(10_000);
  assert.equal(node.questions, 4);

  node.away = true;
  await binds.set([node.known("one", 2), node.known("two", 1)]);
  await node.clock.advance(2_000);
  assert.equal(node.questions, 7, "the store was away");
  node.away = false;
  await node.clock.advance(10_000);
  assert.equal(node.questions, 8);
  assert.equal(node.events.at(-1), "add two");

  await binds.set([node.known("two", 1)]);
  await node.clock.advance(10_000);
  assert.deepEqual(node.told, ["one 0 of 0", "one 1 of 0"], "what is closed is told");
  const { questions } = node;
  await node.clock.advance(10_000);
  assert.equal(node.questions, questions);
});

test("a carrier without a slot is known and not served, until there is one", async (t) => {
  const { node, binds } = await startNode(t, () => ({ slots: [], excess: 0 }));
  await binds.start([node.known("one", 2)]);
  assert.deepEqual(node.events, []);
  node.share = () => ({ slots: [1], excess: 0 });
  await node.clock.advance(1_000);
  assert.deepEqual(node.events, ["add one"]);
  assert.deepEqual(node.made[0]!.slots, [1]);
});

test("what is too much is closed, and told a second after it is really closed; never opened meanwhile", async (t) => {
  const { node, binds } = await startNode(t, all);
  await binds.start([node.known("one", 4)]);
  const carrier = node.made[0]!;
  const closed = Promise.withResolvers<void>();
  carrier.closing = closed.promise;
  node.share = () => (node.told.length === 0 ? { slots: [0, 1, 2, 3], excess: 2 } : { slots: [0, 1], excess: 0 });
  await node.clock.advance(1_000);
  assert.deepEqual(carrier.slots, [0, 1]);
  await node.clock.advance(5_000);
  assert.deepEqual(node.told, [], "they are still closing");
  closed.resolve();
  await node.clock.advance(900);
  assert.deepEqual(node.told, [], "what went over them may still count in this second");
  assert.deepEqual(carrier.slots, [0, 1]);
  await node.clock.advance(1_100);
  assert.deepEqual(node.told, ["one 2 of 4", "one 3 of 4"]);
  await node.clock.advance(3_000);
  assert.equal(node.told.length, 2, "it is told once");
  assert.deepEqual(carrier.slots, [0, 1]);
  node.share = all;
  await node.clock.advance(1_000);
  assert.deepEqual(carrier.slots, [0, 1, 2, 3], "another node went: they are ours again");
});

test("a claim that did not get through is made again", async (t) => {
  const { node, binds } = await startNode(t, all);
  await binds.start([node.known("one", 2)]);
  node.share = (claim) => ({ slots: all(claim).slots, excess: 1 });
  await node.clock.advance(1_500);
  node.away = true;
  await node.clock.advance(5_000);
  assert.deepEqual(node.made[0]!.slots, [0], "while the store is away it stays as it is");
  node.away = false;
  node.share = () => ({ slots: [0], excess: 0 });
  await node.clock.advance(1_000);
  assert.deepEqual(node.told, ["one 1 of 2"]);
});

test("with its last slot the carrier is handed over whole, and may come back as a new one", async (t) => {
  const { node, binds } = await startNode(t, all);
  await binds.start([node.known("one", 1)]);
  const closed = Promise.withResolvers<void>();
  node.handingOver = closed.promise;
  node.share = () => (node.told.length === 0 ? { slots: [0], excess: 1 } : { slots: [], excess: 0 });
  await node.clock.advance(5_000);
  assert.deepEqual(node.events, ["add one", "hand over one"]);
  assert.deepEqual(node.told, []);
  closed.resolve();
  await node.clock.advance(2_000);
  assert.deepEqual(node.told, ["one 0 of 1"]);
  node.share = all;
  await node.clock.advance(1_000);
  assert.deepEqual(node.events, ["add one", "hand over one", "add one"]);
  assert.equal(node.made.length, 2);
});

test("a carrier that fails to start is tried again, and does not hold up the others", async (t) => {
  const { node, binds } = await startNode(t, all);
  node.failing = "one";
  await binds.start([node.known("one", 1), node.known("two", 1)]);
  assert.deepEqual(node.events, ["add one", "hand over one", "add two"]);
  node.failing = "";
  await node.clock.advance(1_000);
  assert.deepEqual(node.events.slice(3), ["add one"]);
});

test("the operator's changes are followed at once: new, changed and gone", async (t) => {
  const { node, binds } = await startNode(t, all);
  await binds.start([node.known("one", 2), node.known("two", 1)]);
  await binds.set([node.known("two", 1, "b"), node.known("three", 1)]);
  assert.deepEqual(node.events.slice(2), ["replace two", "add three", "remove one"]);
  await node.clock.advance(2_000);
  assert.deepEqual(node.told, ["one 0 of 0", "one 1 of 0"], "its slots are given back");
  await node.clock.advance(1_000);
  assert.deepEqual(node.asked, ["two", "three"]);
});

for (const [change, profile] of [
  ["nothing else", "a"],
  ["its profile too", "b"],
])
  test(`with fewer connections allowed, those without a place are closed and told (changed was ${change})`, async (t) => {
    const { node, binds } = await startNode(t, () => ({ slots: [0, 3], excess: 0 }));
    await binds.start([node.known("one", 4)]);
    // As the store shares: no place beyond the allowed ones, whoever had it.
    node.share = () => ({ slots: [0], excess: 0 });
    await binds.set([node.known("one", 2, profile)]);
    assert.deepEqual(node.made.at(-1)!.slots, [0]);
    await node.clock.advance(3_000);
    assert.deepEqual(node.told, ["one 3 of 2"]);
    await node.clock.advance(3_000);
    assert.equal(node.told.length, 1, "it is told once");
  });

test("with none of the allowed connections left here, the carrier is handed over, and served again over the share that comes", async (t) => {
  const { node, binds } = await startNode(t, () => ({ slots: [2, 3], excess: 0 }));
  await binds.start([node.known("one", 4)]);
  node.share = () => ({ slots: [], excess: 0 });
  await binds.set([node.known("one", 2)]);
  assert.deepEqual(node.events, ["add one", "hand over one"]);
  await node.clock.advance(3_000);
  assert.deepEqual(node.told, ["one 2 of 2", "one 3 of 2"]);
  node.share = () => ({ slots: [1], excess: 0 });
  await node.clock.advance(1_000);
  assert.deepEqual(node.events.slice(2), ["add one"]);
  assert.deepEqual(node.made.at(-1)!.slots, [1]);
});
