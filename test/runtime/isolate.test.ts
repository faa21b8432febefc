/** One bad item among many: all others are written at once, in their order, and none of them twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Isolation,
  MAX_SET_ASIDE,
  MAX_TRIES,
  SET_ASIDE_EVERY_MS,
  SetAsideLimit,
  writeIsolated,
} from "../../src/runtime/isolate.ts";
import fc from "../support/chance.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

class Away extends Error {}

interface Story {
  readonly bad: ReadonlySet<number>;
  /** Whether the n-th call finds nobody. */
  readonly away?: (call: number) => boolean;
  readonly mayRetry?: boolean;
}

function tell({ bad, away = () => false, mayRetry = true }: Story) {
  const told = { written: [] as number[], aside: [] as number[], calls: 0, pauses: 0 };
  const isolation: Isolation<number> = {
    async write(items) {
      if (away(++told.calls)) throw new Away("away");
      if (items.some((item) => bad.has(item))) throw new Error("a value has no place");
      told.written.push(...items);
    },
    isPassing: (error) => error instanceof Away,
    async pause() {
      told.pauses++;
      return mayRetry;
    },
    async setAside(item) {
      told.aside.push(item);
      return true;
    },
  };
  return { told, isolation };
}

test("whichever items are bad, all others are written once and in their order, and each bad one is set aside once", () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.nat(59), { maxLength: 5 }),
      fc.array(fc.nat(40), { maxLength: 5 }),
      async (count, bad, away) => {
        const items = [...Array(count).keys()];
        const { told, isolation } = tell({ bad: new Set(bad), away: (call) => away.includes(call) });
        assert.equal(await writeIsolated(items, isolation), true);
        const isBad = (item: number) => bad.includes(item);
        assert.deepEqual(
          told.written,
          items.filter((item) => !isBad(item)),
        );
        assert.deepEqual(
          told.aside.sort((a, b) => a - b),
          items.filter(isBad),
        );
      },
    ),
  ));

test("one bad item among a thousand costs some tens of calls, not a thousand", async () => {
  const { told, isolation } = tell({ bad: new Set([617]) });
  await writeIsolated([...Array(1_000).keys()], isolation);
  assert.equal(told.written.length, 999);
  assert.ok(told.calls <= 2 * 10 + 1 + MAX_TRIES, `${told.calls} calls`);
});

test("a fault that is over by the next try sets nothing aside", async () => {
  const bad = new Set([3]);
  const { told, isolation } = tell({ bad });
  const pause = async (): Promise<boolean> => {
    bad.clear();
    return true;
  };
  await writeIsolated([1, 2, 3], { ...isolation, pause });
  assert.deepEqual(told.written.sort(), [1, 2, 3]);
  assert.deepEqual(told.aside, []);
});

test("while the store is away nothing is split, and whoever gives up is told", async () => {
  const { told, isolation } = tell({ bad: new Set(), away: () => true, mayRetry: false });
  assert.equal(await writeIsolated([1, 2, 3], isolation), false);
  assert.deepEqual(told, { written: [], aside: [], calls: 1, pauses: 1 });
});

test("an item that cannot be set aside is tried until it is written", async () => {
  const bad = new Set([2]);
  const { told, isolation } = tell({ bad });
  let refused = 0;
  const setAside = async (): Promise<boolean> => {
    if (++refused === 5) bad.clear();
    return false;
  };
  assert.equal(await writeIsolated([1, 2, 3], { ...isolation, setAside }), true);
  assert.deepEqual(told.written, [1, 3, 2]);
  assert.equal(refused, 5);
});

test("bad items do not wait for each other", async () => {
  const { told, isolation } = tell({ bad: new Set([1, 2, 3]) });
  let waiting = 0;
  let mostWaiting = 0;
  const pause = async (): Promise<boolean> => {
    mostWaiting = Math.max(mostWaiting, ++waiting);
    await new Promise<void>((resolve) => setImmediate(resolve));
    waiting--;
    return true;
  };
  await writeIsolated([0, 1, 2, 3], { ...isolation, pause });
  assert.equal(mostWaiting, 3);
  assert.equal(told.aside.length, 3);
});

test("so many items of a kind are set aside in a row, and then one a minute", async () => {
  const clock = new VirtualClock();
  const limit = new SetAsideLimit(clock);
  const takeAll = (kind: string): number => {
    let taken = 0;
    while (limit.take(kind)) taken++;
    return taken;
  };
  assert.equal(takeAll("one"), MAX_SET_ASIDE);
  assert.equal(takeAll("another"), MAX_SET_ASIDE);
  limit.giveBack("one");
  assert.equal(takeAll("one"), 1);
  await clock.advance(3 * SET_ASIDE_EVERY_MS);
  assert.equal(takeAll("one"), 3);
  limit.giveBack("one", 7);
  assert.equal(takeAll("one"), 7, "what goes well makes up for what did not");
  limit.giveBack("one", 10 * MAX_SET_ASIDE);
  assert.equal(takeAll("one"), MAX_SET_ASIDE, "but nothing is saved up");
});
