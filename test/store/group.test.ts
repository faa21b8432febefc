/** Group commit: what arrives while a transaction is under way, or soon after one, shares the next. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Call, callsOf, GroupCommit, type GroupResult, storeOver } from "../../src/store/group.ts";
import type { Store } from "../../src/store/port/store.ts";
import { eventually } from "../support/service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

interface Gathering {
  readonly store: Store;
  /** For what nobody waits for. */
  readonly soon: Store;
  readonly groups: number[];
  readonly clock: VirtualClock;
}

/** A store that answers at once, the sizes of its groups, and a clock that stands. */
function gathering(pauseMs: number | null): Gathering {
  const clock = new VirtualClock();
  const groups: number[] = [];
  const engine = {
    run: async (calls: readonly Call[]) => {
      groups.push(calls.length);
      return { outcomes: calls.map(() => ({ ok: true as const, value: null })), feed: null };
    },
  };
  const pause = pauseMs === null ? null : { clock, ms: { awaited: pauseMs, soon: 2 * pauseMs } };
  const group = new GroupCommit(engine, () => undefined, pause);
  return {
    store: storeOver(callsOf(group)),
    soon: storeOver(callsOf(group, "soon")),
    groups,
    clock,
  };
}

test("what comes in one turn of the loop is one group, and the next one follows at once", async () => {
  const { store, groups } = gathering(null);
  await Promise.all([store.changeCounter(), store.changeCounter()]);
  await store.changeCounter();
  assert.deepEqual(groups, [2, 1]);
});

test("after a quiet moment nothing waits; soon after another group what comes gathers for a moment", async () => {
  const { store, groups, clock } = gathering(2);
  await store.changeCounter();
  assert.deepEqual(groups, [1]);
  const answers = [store.changeCounter()];
  await nextTurn();
  answers.push(store.changeCounter(), store.changeCounter());
  await nextTurn();
  assert.deepEqual(groups, [1], "they wait");
  await clock.advance(2);
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 3]);
  await clock.advance(10);
  await store.changeCounter();
  assert.deepEqual(groups, [1, 3, 1]);
});

test("what nobody waits for gathers for longer, and goes along with what somebody waits for", async () => {
  const { store, soon, groups, clock } = gathering(2);
  await soon.changeCounter();
  const answers = [soon.changeCounter()];
  await nextTurn();
  await clock.advance(2);
  assert.deepEqual(groups, [1], "it waits");
  answers.push(store.changeCounter());
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 2], "no group before had anything that was waited for");
  answers.push(soon.changeCounter(), store.changeCounter());
  await nextTurn();
  assert.deepEqual(groups, [1, 2]);
  await clock.advance(2);
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 2, 2]);
  answers.push(soon.changeCounter());
  await nextTurn();
  await clock.advance(3);
  assert.deepEqual(groups, [1, 2, 2]);
  await clock.advance(1);
  await Promise.all(answers);
  assert.deepEqual(groups, [1, 2, 2, 1]);
  assert.equal(clock.timersPending, 0);
});

test("an engine does what can wait when nobody does, a little at a time", async () => {
  const done: string[] = [];
  let left = 3;
  const engine = {
    run: async (calls: readonly Call[]) => {
      done.push("group");
      return { outcomes: calls.map(() => ({ ok: true as const, value: null })), feed: null };
    },
    onIdle: () => {
      done.push("rest");
      return --left > 0;
    },
  };
  const store = storeOver(callsOf(new GroupCommit(engine, () => undefined)));
  await store.changeCounter();
  assert.deepEqual(done, ["group"]);
  await Promise.all([store.changeCounter(), nextTurn().then(nextTurn).then(nextTurn)]);
  assert.deepEqual(done, ["group", "group", "rest", "rest", "rest"]);
});

/** Acceptances of so many messages by an account, in a form that is enough for the group. */
const acceptance = (accountId: number, messages: number): Call => ({
  command: "accept",
  input: { accountId, messages: { length: messages } },
});

interface Committed {
  readonly accountId: number;
  readonly messages: number;
}

/** A store that commits in order, and what it has committed. */
function committing(makeRoom?: () => boolean) {
  const committed: Committed[] = [];
  const transactions: number[] = [];
  const engine = {
    run: async (calls: readonly Call[]) => {
      transactions.push(calls.length);
      for (const { input } of calls) {
        const { accountId, messages } = input as { accountId: number; messages: { length: number } };
        committed.push({ accountId, messages: messages?.length ?? 0 });
      }
      await nextTurn();
      return { outcomes: calls.map(() => ({ ok: true as const, value: null })), feed: null };
    },
    ...(makeRoom === undefined ? {} : { makeRoom }),
  };
  return { send: callsOf(new GroupCommit(engine, () => undefined)), committed, transactions };
}

/** How many messages of others are committed between the arrival of a single message and its own commit. */
async function rowsBefore(requests: number, size: number): Promise<number> {
  const { send, committed } = committing();
  const attack = Array.from({ length: requests }, () => send(acceptance(7, size)));
  await nextTurn();
  const before = committed.length;
  await send(acceptance(8, 1));
  const own = committed.findIndex(({ accountId }) => accountId === 8);
  await Promise.all(attack);
  assert.equal(committed.length, requests + 1, "none is left behind");
  return committed.slice(before, own).reduce((sum, { messages }) => sum + messages, 0);
}

test("what an account has waiting does not lengthen the wait of another's single message", async () => {
  for (const size of [10_000, 501, 500, 100]) {
    const [few, many] = [await rowsBefore(40, size), await rowsBefore(400, size)];
    assert.ok(many <= Math.max(10_000, 2_500), `${many} messages of others go first`);
    assert.equal(many, few, `requests of ${size}`);
  }
});

/** How much of what delivery tells is committed between the arrival of a single message and its own commit. */
async function toldBefore(calls: number): Promise<number> {
  const told: number[] = [];
  const engine = {
    run: async (group: readonly Call[]) => {
      for (const { command, input } of group)
        told.push(command === "accept" ? -1 : (input as { receipts: unknown[] }).receipts.length);
      await nextTurn();
      return { outcomes: group.map(() => ({ ok: true as const, value: null })), feed: null };
    },
  };
  const clock = new VirtualClock();
  const group = new GroupCommit(engine, () => undefined, { clock, ms: { awaited: 0, soon: 0 } });
  const client = callsOf(group);
  const delivery = callsOf(group, "soon", "delivery");
  await client(acceptance(8, 1));
  const receipts = Array.from({ length: 50 });
  const all = Array.from({ length: calls }, () => delivery({ command: "received", input: { receipts } }));
  await nextTurn();
  const before = told.length;
  await client(acceptance(8, 1));
  const own = told.lastIndexOf(-1);
  await Promise.all(all);
  assert.equal(told.length, calls + 2, "none is left behind");
  return told.slice(before, own).reduce((sum, count) => sum + count, 0);
}

test("what delivery has to tell does not lengthen the wait of a single message", async () => {
  const [few, many] = [await toldBefore(40), await toldBefore(400)];
  assert.ok(many <= 100, `${many} receipts go first`);
  assert.equal(many, few);
});

test("while no client sends, delivery's go many at a time", async () => {
  const { soon, groups } = gathering(null);
  await Promise.all(Array.from({ length: 100 }, () => soon.release({ keys: ["1", "2"] })));
  assert.deepEqual(groups, [100]);
});

test("accounts take turns, one request of many messages at a time, and small ones go between them", async () => {
  const { send, committed, transactions } = committing();
  const all = [
    ...Array.from({ length: 3 }, () => send(acceptance(1, 10_000))),
    send(acceptance(2, 10_000)),
    send(acceptance(3, 1)),
    send(acceptance(3, 1)),
    send(acceptance(4, 1)),
  ];
  await Promise.all(all);
  assert.deepEqual(
    committed.map(({ accountId }) => accountId),
    [3, 4, 3, 1, 2, 1, 1],
  );
  assert.deepEqual(transactions, [3, 1, 1, 1, 1]);
});

test("room for a request of many messages is made in steps, between which others are answered", async () => {
  let left = 20;
  const { send, committed } = committing(() => left-- > 0);
  const large = send(acceptance(1, 10_000));
  await nextTurn();
  await send(acceptance(2, 1));
  assert.deepEqual(committed, [{ accountId: 2, messages: 1 }]);
  await large;
  assert.equal(left, -1);
  assert.equal(committed.length, 2);
});

test("room is made also while others never cease to wait, a step between two of their groups", async () => {
  let steps = 0;
  const { send, committed } = committing(() => ++steps <= 12);
  let isDone = false;
  const large = send(acceptance(1, 10_000)).then(() => {
    isDone = true;
  });
  const small = async (): Promise<void> => {
    while (!isDone) await send(acceptance(2, 1));
  };
  await Promise.all([large, small(), small()]);
  assert.ok(steps > 12, `${steps} steps`);
  assert.ok(committed.length > 5, "others were answered meanwhile");
});

/** How many requests of many messages are committed in three seconds, each of which takes a tenth of a second, beside an account that sends now and then. */
async function bulksInTime(sender: number | null): Promise<{ bulks: number; waits: number[] }> {
  const clock = new VirtualClock();
  let bulks = 0;
  const engine = {
    run: async (calls: readonly Call[]) => {
      if (calls.some(({ input }) => (input as { messages: { length: number } }).messages.length > 1)) {
        await new Promise<void>((resolve) => clock.after(100, resolve));
        bulks++;
      }
      return { outcomes: calls.map(() => ({ ok: true as const, value: null })), feed: null };
    },
  };
  const send = callsOf(new GroupCommit(engine, () => undefined, { clock, ms: { awaited: 1, soon: 1 } }));
  for (let request = 0; request < 40; request++) void send(acceptance(7, 10_000));
  const waits: number[] = [];
  for (let ms = 0; ms < 3_000; ms += 20) {
    const fromMs = clock.monotonic();
    if (sender !== null) void send(acceptance(sender, 1)).then(() => waits.push(clock.monotonic() - fromMs));
    for (let step = 0; step < 20; step++) await clock.advance(1);
  }
  return { bulks, waits };
}

test("while another account sends, requests of many messages have a share of the time, and most of its messages wait for none", async () => {
  const { bulks, waits } = await bulksInTime(8);
  assert.ok(bulks >= 3 && bulks <= 6, `${bulks} requests of many messages`);
  assert.ok(waits.filter((ms) => ms > 5).length < waits.length / 4, `${waits}`);
});

test("while nobody else sends they follow each other", async () => {
  for (const sender of [null, 7]) {
    const { bulks } = await bulksInTime(sender);
    assert.ok(bulks >= 25, `${bulks} requests of many messages`);
  }
});

test("where groups overlap, one begins when the one before is handed over, takes a part of what waits, and all are answered in their order", async () => {
  const begun: { readonly size: number; readonly handOver: () => void; readonly end: () => void }[] = [];
  const engine = {
    overlaps: true,
    run: (calls: readonly Call[], handOver: () => void = () => undefined) =>
      new Promise<GroupResult>((resolve) => {
        const end = (): void => resolve({ outcomes: calls.map(() => ({ ok: true, value: null })), feed: null });
        begun.push({ size: calls.length, handOver, end });
      }),
  };
  const group = new GroupCommit(engine, () => undefined);
  const store = storeOver(callsOf(group));
  const answered: string[] = [];
  const ask = (name: string, count: number): void => {
    for (let index = 0; index < count; index++) void store.changeCounter().then(() => answered.push(name));
  };
  ask("first", 400);
  await eventually(async () => begun.length === 1);
  assert.equal(begun[0]!.size, 100, "a quarter");
  await nextTurn();
  assert.equal(begun.length, 1, "it is not handed over yet");
  begun[0]!.handOver();
  await eventually(async () => begun.length === 2);
  assert.equal(begun[1]!.size, 75);
  begun[1]!.handOver();
  await eventually(async () => begun.length === 3);
  assert.equal(begun[2]!.size, 64, "fewer are not worth a transaction");
  begun[0]!.end();
  await eventually(async () => answered.length === 100);

  let isSettled = false;
  const settled = group.settled().then(() => {
    isSettled = true;
  });
  for (let next = 1; answered.length < 400 || next < begun.length; next++) {
    await eventually(async () => begun.length > next);
    begun[next]!.handOver();
    assert.equal(isSettled, false);
    begun[next]!.end();
    await nextTurn();
  }
  await settled;
  assert.equal(answered.length, 400);
});
