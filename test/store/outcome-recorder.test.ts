/**
 * What became of things is gathered on its way to the store: for as long as nobody waits for it, and no longer. One bad item among many: all others are
 * written at once, in their order, and none of them twice.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../src/runtime/log.ts";
import { MAX_SET_ASIDE, MAX_TRIES, OutcomeRecorder, SET_ASIDE_EVERY_MS } from "../../src/store/outcome-recorder.ts";
import { StoreUnavailable } from "../../src/store/port/errors.ts";
import fc from "../support/chance.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const GATHER_MS = 30;
const RETRY_MS = 1_000;
const HOUR_MS = 3_600_000;

function start(t: TestContext, gatherMs?: number) {
  const clock = new VirtualClock();
  const recorder = new OutcomeRecorder({
    clock,
    log: silentLog,
    what: "what became of things",
    retryMs: RETRY_MS,
    ...(gatherMs === undefined ? {} : { gatherMs }),
  });
  const written: string[] = [];
  const kind = (name: string) =>
    recorder.kind<number>({
      name,
      write: async (items) => void written.push(`${name} ${items}`),
      setAside: async () => true,
    });
  const [sent, heard] = [kind("sent"), kind("heard")];
  t.after(() => assert.equal(clock.timersPending, 0, "a timer was left behind"));
  return { clock, recorder, written, sent, heard };
}

test("what may wait is written together with what comes soon after it, each kind with one call", async (t) => {
  const { clock, written, sent, heard } = start(t, GATHER_MS);
  heard(1, true);
  await clock.advance(20);
  sent(2, true);
  heard(3, true);
  await clock.advance(9);
  assert.deepEqual(written, []);
  await clock.advance(1);
  assert.deepEqual(written, ["sent 2", "heard 1,3"]);
  sent(4, true);
  await clock.advance(GATHER_MS);
  assert.deepEqual(written.slice(2), ["sent 4"]);
});

test("what may not wait takes along what does", async (t) => {
  const { clock, written, sent, heard } = start(t, GATHER_MS);
  sent(1, true);
  heard(2);
  await clock.advance(0);
  assert.deepEqual(written, ["sent 1", "heard 2"]);
});

test("nothing waits any more when somebody does, when there is enough of it, or when all is to be settled", async (t) => {
  const { clock, recorder, written, sent } = start(t, GATHER_MS);
  sent(1, true);
  recorder.hurry();
  await clock.advance(0);
  assert.deepEqual(written.splice(0), ["sent 1"]);
  recorder.hurry();
  sent(2, true);
  await clock.advance(0);
  assert.deepEqual(written.splice(0), ["sent 2"], "it was waited for before it came");
  sent(3, true);
  await clock.advance(GATHER_MS - 1);
  assert.deepEqual(written, [], "that was for once");
  await recorder.settled();
  assert.deepEqual(written.splice(0), ["sent 3"]);
  const many = Array.from({ length: 32 }, (_, index) => index);
  for (const item of many) sent(item, true);
  await clock.advance(0);
  assert.deepEqual(written, [`sent ${many}`]);
});

test("what waits when the process ends is left to whoever takes over", async (t) => {
  const { clock, recorder, written, sent } = start(t, GATHER_MS);
  sent(1, true);
  recorder.abandon();
  await clock.advance(GATHER_MS);
  assert.deepEqual(written, []);
});

test("without a time to gather nothing waits for more than a turn", async (t) => {
  const { clock, written, sent } = start(t);
  sent(1, true);
  sent(2, true);
  await clock.advance(0);
  assert.deepEqual(written, ["sent 1,2"]);
});

interface Story {
  readonly bad?: ReadonlySet<number>;
  /** Whether the n-th call finds nobody. */
  readonly away?: (call: number) => boolean;
  /** Whether the n-th item that is to be set aside is. */
  readonly isSetAside?: (count: number) => boolean;
}

function tell({ bad = new Set(), away = () => false, isSetAside = () => true }: Story, items: readonly number[]) {
  const clock = new VirtualClock();
  const told = { written: [] as number[], aside: [] as number[], calls: 0 };
  const recorder = new OutcomeRecorder({
    clock,
    log: silentLog,
    what: "what became of things",
    retryMs: RETRY_MS,
  });
  const add = recorder.kind<number>({
    name: "things",
    async write(some) {
      if (away(++told.calls)) throw new StoreUnavailable("away");
      if (some.some((item) => bad.has(item))) throw new Error("a value has no place");
      told.written.push(...some);
    },
    async setAside(item) {
      told.aside.push(item);
      return isSetAside(told.aside.length);
    },
  });
  for (const item of items) add(item);
  return { clock, recorder, told, add };
}

const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index);

test("whichever items are bad, all others are written once and in their order, and each bad one is set aside once", () =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.nat(59), { maxLength: 5 }),
      fc.array(fc.nat(40), { maxLength: 5 }),
      async (count, bad, away) => {
        const items = upTo(count);
        const story = tell({ bad: new Set(bad), away: (call) => away.includes(call) }, items);
        await story.clock.advance(HOUR_MS);
        await story.recorder.settled();
        const isBad = (item: number) => bad.includes(item);
        assert.deepEqual(
          story.told.written,
          items.filter((item) => !isBad(item)),
        );
        assert.deepEqual(
          story.told.aside.sort((a, b) => a - b),
          items.filter(isBad),
        );
      },
    ),
  ));

test("one bad item among a thousand costs some tens of calls, not a thousand", async () => {
  const { clock, told } = tell({ bad: new Set([617]) }, upTo(1_000));
  await clock.advance(HOUR_MS);
  assert.equal(told.written.length, 999);
  assert.ok(told.calls <= 10 + 2 * 7 + MAX_TRIES, `${told.calls} calls`);
});

test("a fault that is over by the next try sets nothing aside", async () => {
  const bad = new Set([3]);
  const { clock, told } = tell({ bad }, [1, 2, 3]);
  await clock.advance(0);
  assert.deepEqual(told.written, [1, 2]);
  bad.clear();
  await clock.advance(RETRY_MS);
  assert.deepEqual(told.written, [1, 2, 3]);
  assert.deepEqual(told.aside, []);
});

test("while the store is away nothing is split, and when the process ends nothing is tried any more", async () => {
  const { clock, recorder, told } = tell({ away: () => true }, [1, 2, 3]);
  await clock.advance(RETRY_MS);
  assert.deepEqual(told, { written: [], aside: [], calls: 2 });
  assert.equal(recorder.keepsUp, false);
  recorder.abandon();
  await clock.advance(HOUR_MS);
  assert.equal(told.calls, 2);
  assert.equal(clock.timersPending, 0);
});

test("an item that cannot be set aside is tried until it is written", async () => {
  const bad = new Set([2]);
  const isSetAside = (count: number): boolean => {
    if (count === 5) bad.clear();
    return false;
  };
  const { clock, recorder, told } = tell({ bad, isSetAside }, [1, 2, 3]);
  await clock.advance(HOUR_MS);
  await recorder.settled();
  assert.deepEqual(told.written, [1, 3, 2]);
  assert.equal(told.aside.length, 5);
});

test("bad items do not wait for each other, and keep nobody waiting", async () => {
  const { clock, recorder, told } = tell({ bad: new Set([1, 2, 3]) }, [0, 1, 2, 3]);
  await clock.advance(0);
  assert.equal(clock.timersPending, 3);
  assert.equal(recorder.keepsUp, true);
  await clock.advance(HOUR_MS);
  assert.equal(told.aside.length, 3);
});

test("so many items of a kind are set aside in a row, and then one a minute, or one for each that goes well", async () => {
  const items = upTo(MAX_SET_ASIDE + 50);
  const { clock, told, add } = tell({ bad: new Set(items) }, items);
  const halfMs = SET_ASIDE_EVERY_MS / 2;
  await clock.advance(halfMs);
  assert.equal(told.aside.length, MAX_SET_ASIDE);
  await clock.advance(3 * SET_ASIDE_EVERY_MS);
  assert.equal(told.aside.length, MAX_SET_ASIDE + 3);
  for (const good of upTo(7, 1_000)) add(good);
  await clock.advance(2 * RETRY_MS);
  assert.equal(told.aside.length, MAX_SET_ASIDE + 10);
});

test("for what goes well before, no more are set aside", async () => {
  const bad = upTo(MAX_SET_ASIDE + 50, 1_000);
  const { clock, told, add } = tell({ bad: new Set(bad) }, upTo(1_000));
  await clock.advance(0);
  assert.equal(told.written.length, 1_000);
  for (const item of bad) add(item);
  await clock.advance(SET_ASIDE_EVERY_MS / 2);
  assert.equal(told.aside.length, MAX_SET_ASIDE);
});
