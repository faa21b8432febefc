/** Messages that are asked for one by one, where a provider cannot call us. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Calls } from "../../../src/carriers/http/calls.ts";
import type { Description } from "../../../src/carriers/http/description.ts";
import { Poller } from "../../../src/carriers/http/poller.ts";
import type { Answer, Transport } from "../../../src/http/transport.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

type Said = { readonly status?: number; readonly retryAfter?: string; readonly data?: object } | null;
type Poll = NonNullable<NonNullable<Description["receipts"]>["poll"]>;

/** A provider that answers in the next turn, and how it was asked: what for, and in which second. */
function asked(
  t: { after(work: () => Promise<void>): void },
  answerOf: (ids: readonly string[]) => Said,
  own: Partial<Poll> = {},
) {
  const clock = new VirtualClock();
  const beganMs = clock.now();
  const calls: { readonly ids: readonly string[]; readonly second: number }[] = [];
  let underWay = 0;
  let most = 0;
  const transport: Transport = {
    post: async ({ path }) => {
      const ids = decodeURIComponent(path.slice(1)).split(",");
      calls.push({ ids, second: Math.floor((clock.now() - beganMs) / 1_000) });
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      underWay--;
      const said = answerOf(ids);
      if (said === null) return { kind: "unreachable", reason: "nobody is there" };
      const { status = 200, retryAfter = null, data = {} } = said;
      return { kind: "answered", status, excerpt: JSON.stringify(data), isWhole: true, retryAfter } as Answer;
    },
    forget: () => undefined,
    close: async () => undefined,
  };
  const receipts: string[] = [];
  const [poller] = Poller.of(
    {
      receipts: {
        at: "all",
        id: "id",
        status: "state",
        outcomes: { done: "delivered" },
        poll: { path: "/{id}", each: true, everySeconds: 5, ...own },
      },
    },
    {
      clock,
      calls: new Calls({ url: "http://provider.example", auth: undefined, transport, clock, values: {} }),
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
  t.after(async () => {
    const stopped = poller!.stop();
    await clock.passWhile(stopped);
  });
  /** What was asked for in these seconds. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1_000);
      for (let turn = 0; turn < 2_000 && (underWay > 0 || turn < 20); turn++)
        await new Promise((resolve) => setImmediate(resolve));
    }
    return calls.splice(0);
  };
  return { poller: poller!, clock, pass, receipts, most: () => most };
}

const idsOf = (calls: readonly { readonly ids: readonly string[] }[]): string[] => calls.flatMap(({ ids }) => ids);
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `id-${index}`);
const stateOf = (ids: readonly string[], done: ReadonlySet<string> = new Set()): Said => ({
  data: { all: ids.map((id) => ({ id, state: done.has(id) ? "done" : "on its way" })) },
});

test("all that wait are asked for in a round, ten calls a second, until their last word", async (t) => {
  const done = new Set<string>();
  const { poller, clock, pass, receipts, most } = asked(t, (ids) => stateOf(ids, done));
  const all = names(120);
  for (const id of all) poller.await(id, clock.now() + 120_000);
  const first = await pass(17);
  assert.deepEqual(idsOf(first), all);
  assert.equal(most(), 10);
  const perSecond = Map.groupBy(first, ({ second }) => second);
  assert.deepEqual(
    [...perSecond.values()].map(({ length }) => length),
    Array.from({ length: 12 }, () => 10),
  );
  for (const id of all.slice(0, 70)) done.add(id);
  assert.deepEqual(idsOf(await pass(17)).toSorted(), all.toSorted());
  assert.deepEqual(receipts.toSorted(), all.slice(0, 70).toSorted());
  const left = new Set(idsOf(await pass(17)));
  assert.deepEqual([...left].toSorted(), all.slice(70).toSorted(), "those with their last word are asked for no more");
  await pass(90);
  assert.deepEqual(await pass(30), [], "and none after its time");
});

test("several are asked for in a call where the provider takes that", async (t) => {
  const { poller, clock, pass, receipts } = asked(t, (ids) => stateOf(ids, new Set(["id-3", "id-119"])), { most: 50 });
  const all = names(120);
  for (const id of all) poller.await(id, clock.now() + 60_000);
  const calls = await pass(6);
  assert.deepEqual(
    calls.map(({ ids }) => ids.length),
    [50, 50, 20],
  );
  assert.deepEqual(receipts, ["id-3", "id-119"]);
  assert.deepEqual(
    new Set(idsOf(await pass(6))),
    new Set(all.filter((id) => id !== "id-3" && id !== "id-119")),
    "one that has ended does not end the others of its call",
  );
});

test("a message is asked for the more rarely the longer it waits", async (t) => {
  const { poller, clock, pass } = asked(t, (ids) => stateOf(ids));
  poller.await("one", clock.now() + 90_000_000);
  const early = (await pass(60)).length;
  await pass(3_600);
  const late = (await pass(600)).length;
  assert.ok(early >= 8 && late >= 1 && late <= 3, `${early} in the first minute, ${late} in ten after an hour`);
});

test("a provider that does not answer is left alone until the next round, and nothing is forgotten", async (t) => {
  let isThere = false;
  const { poller, clock, pass } = asked(t, (ids) => (isThere ? stateOf(ids) : null));
  const all = names(50);
  for (const id of all) poller.await(id, clock.now() + 60_000);
  assert.equal((await pass(8)).length, 10);
  isThere = true;
  assert.deepEqual(new Set(idsOf(await pass(12))), new Set(all));
});

test("a provider that asks for a pause gets it, and one that is broken a longer one each time", async (t) => {
  let said: Said = { status: 429, retryAfter: "60" };
  const { poller, clock, pass } = asked(t, () => said);
  for (const id of names(50)) poller.await(id, clock.now() + 90_000_000);
  assert.equal((await pass(6)).length, 10, "the round is over");
  assert.deepEqual(await pass(55), []);
  said = { status: 503 };
  const calls = await pass(600);
  const seconds = [...new Set(calls.map(({ second }) => second))];
  const pauses = seconds.slice(1).map((second, index) => second - seconds[index]!);
  assert.ok(pauses.length >= 3 && pauses.every((pause, index) => pause > (pauses[index - 1] ?? 0)), String(pauses));
  said = { status: 404 };
  await pass(600);
  assert.ok((await pass(600)).length > 10, "what it says of one message is no answer for the others");
});
