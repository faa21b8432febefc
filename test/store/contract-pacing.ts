/** What every engine of the store must do with the speed limit of a bulk: give each slot once, and look at each message a bounded number of times. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { QueuedMessage } from "../../src/message/message.ts";
import { mostWithin } from "../support/pace.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const MINUTE = 60_000;
const LIMIT = { amount: 60, unitMs: MINUTE };
/** Slots at that limit are so far apart: a second, and a twentieth for the grace. */
const EVERY_MS = 1_051;
/** One at a time: its grace is a minute. */
const DAILY = { amount: 1, unitMs: 24 * HOUR };
const ENROUTE = 7;
const WAITS = 26;
const PAGE = 50;

/** A bulk with a limit, and a dispatch that hands over whatever is released, at once. */
class Case {
  readonly bench: Bench;
  readonly released: (QueuedMessage & { readonly atMs: number })[] = [];
  /** Messages that claims have looked at, and claims that released none. */
  looked = 0;
  empty = 0;

  constructor(bench: Bench) {
    this.bench = bench;
  }

  get name() {
    return { accountId: this.bench.accountId, bulkId: "bulk" };
  }

  messages(count: number, first = 0) {
    return Array.from({ length: count }, (_, place) =>
      this.bench.message({ to: String(41_790_000_000 + first + place) }),
    );
  }

  /** So many of them, one a day. Those are returned that go at once. */
  async acceptDaily(count: number): Promise<QueuedMessage[]> {
    const { bench } = this;
    await bench.accept(this.messages(count, 100), { expiresAtMs: NOW + 500 * HOUR }, { speedLimit: DAILY });
    return bench.takeMessages();
  }

  putOff(messages: readonly QueuedMessage[], forMs: number): Promise<void> {
    const dueAtMs = this.bench.clock.now() + forMs;
    return this.bench.store.postpone({ messages: messages.map(({ key }) => ({ key, dueAtMs, event: "put off" })) });
  }

  /** Takes what was released; `handle` says what becomes of it. */
  async #take(handle: (messages: QueuedMessage[]) => Promise<unknown>): Promise<number> {
    const messages = this.bench.takeMessages();
    this.released.push(...messages.map((message) => ({ ...message, atMs: this.bench.clock.now() })));
    if (messages.length > 0) await handle(messages);
    return messages.length;
  }

  /** Lets time pass as dispatch does, from due message to due message. */
  async run(forMs: number, handle = (messages: QueuedMessage[]): Promise<unknown> => this.bench.submit(messages)) {
    const { bench } = this;
    const endMs = bench.clock.now() + forMs;
    await this.#take(handle);
    for (let claims = 0; claims < 5_000; claims++) {
      const nowMs = bench.clock.now();
      const { due } = await bench.store.backlog({ nowMs, limit: 10_000 });
      this.looked += Math.min(due, PAGE);
      const { more, nextDueAtMs } = await bench.store.claimDue({ nowMs, limit: PAGE });
      if ((await this.#take(handle)) === 0) this.empty++;
      if (more) continue;
      const nextMs = Math.min(nextDueAtMs ?? endMs, endMs);
      if (nextMs >= endMs && nowMs >= endMs) return;
      await bench.clock.advance(Math.max(0, nextMs - nowMs));
    }
    assert.fail("claiming never ends");
  }

  get different(): number {
    return new Set(this.released.map(({ key }) => key)).size;
  }

  keepsTo(limit: typeof LIMIT): void {
    const most = mostWithin(
      this.released.map(({ atMs }) => atMs),
      limit.unitMs,
    );
    assert.ok(most <= limit.amount, `${most} in one unit`);
  }
}

export function pacingContract(name: string, make: MakeDatabase): void {
  const start = async (t: Parameters<typeof Bench.start>[0]) => new Case(await Bench.start(t, make));

  describe(`the store on ${name}: speed limits`, () => {
    test("the first message goes at once, the others at even distances, and their validity counts from then", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const rejected = bench.message({ rejectedStatusId: 52 });
      const messages = [rejected, ...bulk.messages(100)];
      const statuses = await bench.accept(messages, { expiresAtMs: NOW + 10_000 }, { speedLimit: LIMIT });
      assert.deepEqual(statuses, [52, ENROUTE, ...Array(99).fill(WAITS)]);
      assert.deepEqual(await bench.store.bulk(bulk.name), { sendAtMs: NOW, status: "PENDING" });
      await bulk.run(2 * MINUTE);
      assert.deepEqual([bulk.different, bulk.released.length], [100, 100]);
      for (const [place, { atMs, expiresAtMs, slotUntilMs }] of bulk.released.entries()) {
        assert.ok(Math.abs(atMs - NOW - place * EVERY_MS) <= 100, `the ${place}th at ${atMs - NOW} ms`);
        assert.equal(expiresAtMs, atMs + 10_000);
        assert.ok(slotUntilMs! > atMs + 2_000 && slotUntilMs! <= atMs + 3_000, "it has some seconds to be handed over");
      }
      assert.equal(bulk.looked, 99, "each was looked at once");
      bulk.keepsTo(LIMIT);
    });

    test("messages for later are spread from then on, and in their windows", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      // A Thursday: two minutes of it are left, and Friday has three.
      const window = { days: ["THURSDAY", "FRIDAY"] as const, hours: { fromMinute: 599, toMinute: 602 } };
      const later = { sendAtMs: NOW + HOUR, dueAtMs: NOW + HOUR, expiresAtMs: NOW + 3 * HOUR };
      const contents = [bench.content({ window, expiresAtMs: NOW + 48 * HOUR }), bench.content(later)];
      const messages = [
        ...bulk.messages(200),
        ...bulk.messages(30, 200).map((message) => ({ ...message, content: 1 })),
      ];
      await bench.accept(messages, {}, { contents, speedLimit: LIMIT });
      await bulk.run(2 * MINUTE);
      const today = bulk.released.length;
      assert.ok(today >= 110 && today <= 120, `${today} before the window closes`);
      await bulk.run(HOUR + MINUTE - 2 * MINUTE);
      assert.equal(bulk.released.length, today + 30);
      assert.equal(bulk.released[today]!.atMs, NOW + HOUR);
      await bulk.run(24 * HOUR);
      assert.deepEqual([bulk.different, bulk.released.length], [230, 230]);
      bulk.keepsTo(LIMIT);
      assert.ok(bulk.looked <= 2 * 230, `${bulk.looked} rows were looked at`);
    });

    test("after a time when nobody claimed, what is late is put to slots of its own, once", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const count = 150;
      await bench.accept(bulk.messages(count), {}, { speedLimit: LIMIT });
      await bulk.run(30_000);
      await bench.clock.advance(MINUTE);
      const before = bulk.released.length;
      await bulk.run(4 * MINUTE);
      assert.deepEqual([bulk.different, bulk.released.length], [count, count]);
      bulk.keepsTo(LIMIT);
      assert.ok(bulk.released[before + 1]!.atMs - bulk.released[before]!.atMs <= EVERY_MS);
      const tookMs = bulk.released.at(-1)!.atMs - NOW;
      assert.ok(tookMs < (count * EVERY_MS + MINUTE) * 1.02, `${tookMs / MINUTE} minutes: no slot was wasted`);
      assert.ok(bulk.looked <= 2 * count, `${bulk.looked} rows were looked at for ${count} messages`);
    });

    test("what is killed while it is in memory, and what missed its slot, takes another", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bench.accept(bulk.messages(60), {}, { speedLimit: LIMIT });
      // Every third is never handed over, every third is in memory when the process dies.
      let nth = 0;
      const handle = async (messages: QueuedMessage[]): Promise<void> => {
        for (const message of messages) {
          nth++;
          if (nth % 3 === 0) await bench.submit([message]);
          if (nth % 3 === 1) {
            const dueAtMs = bench.clock.now();
            await bench.store.postpone({ messages: [{ key: message.key, dueAtMs, event: "slot missed" }] });
          }
        }
      };
      await bulk.run(90_000, handle);
      await bench.restart();
      for (const lane of bench.overflowed.splice(0)) await bench.store.claimLane({ ...lane, limit: 100 });
      const claimed = bench.takeMessages();
      assert.ok(claimed.length > 10);
      assert.deepEqual(
        new Set(claimed.map(({ slotUntilMs }) => slotUntilMs)),
        new Set([0]),
        "none has a slot any more",
      );
      const dueAtMs = bench.clock.now();
      await bench.store.postpone({
        messages: claimed.map(({ key }) => ({ key, dueAtMs, event: "slot missed" as const })),
      });
      await bulk.run(3 * MINUTE);
      assert.equal(bulk.different, 60);
      bulk.keepsTo(LIMIT);
      assert.equal((await bench.store.backlog({ nowMs: bench.clock.now(), limit: 100 })).scheduled, 0);
    });

    test("a slot that this node has no room for goes with its message to whoever claims it", async (t) => {
      const bulk = new Case(await Bench.start(t, make, { lanes: { lane: 1, total: 1 } }));
      const { bench } = bulk;
      await bench.accept(bulk.messages(4), {}, { speedLimit: { amount: 600, unitMs: MINUTE } });
      await bench.clock.advance(1_000);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: PAGE });
      const inMemory = bench.takeMessages();
      assert.equal(inMemory.length, 2, "twice the bound");
      await bench.submit(inMemory);
      const lane = { accountId: bench.accountId, carrierId: CARRIER };
      await bench.store.claimLane({ ...lane, limit: 10 });
      const [claimed] = bench.takeMessages();
      assert.ok(claimed!.slotUntilMs! > bench.clock.now());
    });

    test("a bulk can be moved sooner and later while it goes, and the slots that it gave are given again", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bench.accept(bulk.messages(100), {}, { speedLimit: LIMIT });
      await bulk.run(30_000);
      const move = (sendAtMs: number) => bench.store.moveBulk({ ...bulk.name, sendAtMs, nowMs: bench.clock.now() });
      assert.deepEqual(await move(NOW + 20 * HOUR), { kind: "changed" });
      const before = bulk.released.length;
      await bulk.run(10 * HOUR);
      assert.equal(bulk.released.length, before);
      assert.deepEqual(await move(0), { kind: "changed" });
      const movedAtMs = bench.clock.now();
      await bulk.run(5 * MINUTE);
      assert.deepEqual([bulk.different, bulk.released.length], [100, 100]);
      assert.equal(bulk.released[before]!.atMs, movedAtMs, "the first goes at once");
      bulk.keepsTo(LIMIT);
      assert.equal(await bench.store.bulk(bulk.name).then((found) => found?.status), "PROCESSING");
    });

    test("a limit that a later request of the bulk names holds from then on for the whole bulk; one without has none", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const join = (first: number, count: number, speedLimit: typeof LIMIT | null) =>
        bench.accept(bulk.messages(count, first), {}, { speedLimit });
      await join(0, 30, { amount: 6, unitMs: MINUTE });
      assert.deepEqual(await join(100, 3, null), [ENROUTE, ENROUTE, ENROUTE]);
      bench.takeMessages();
      assert.deepEqual(new Set(await join(200, 30, LIMIT)), new Set([WAITS]), "the first slot of its bulk was taken");
      await bulk.run(10 * MINUTE);
      assert.equal(bulk.different, 59, "the first one and the three are not counted here");
      bulk.keepsTo(LIMIT);
    });

    test("paused, it waits; resumed, it goes on at its pace; canceled, the rest of it is refunded", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const full = await bench.balance();
      const set = (status: "PAUSED" | "PENDING" | "CANCELED") => bench.store.setBulkStatus({ ...bulk.name, status });
      await bench.accept(bulk.messages(120), {}, { speedLimit: LIMIT });
      await bulk.run(20_000);
      assert.deepEqual(await set("PAUSED"), { kind: "changed" });
      const before = bulk.released.length;
      await bulk.run(30_000);
      assert.equal(bulk.released.length, before);
      assert.deepEqual(await set("PENDING"), { kind: "changed" });
      await bulk.run(MINUTE);
      const now = bulk.released.length;
      assert.ok(now - before >= 50, `${now - before} in the minute after`);
      bulk.keepsTo(LIMIT);
      assert.deepEqual(await set("CANCELED"), { kind: "changed" });
      await bulk.run(5 * MINUTE);
      assert.equal(bulk.released.length, now);
      assert.equal(await bench.balance(), full - BigInt(now) * 10_000n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    for (const [when, claims] of [
      ["before it has another slot", 0],
      ["while it waits for its slot", 1],
    ] as const) {
      test(`what its carrier put off is called off with its bulk, ${when}`, async (t) => {
        const bulk = await start(t);
        const { bench } = bulk;
        const full = await bench.balance();
        const [first] = await bulk.acceptDaily(3);
        await bulk.putOff([first!], 0);
        for (let claim = 0; claim < claims; claim++)
          await bench.store.claimDue({ nowMs: bench.clock.now(), limit: PAGE });
        assert.deepEqual(await bench.store.setBulkStatus({ ...bulk.name, status: "CANCELED" }), { kind: "changed" });
        await bench.store.claimDue({ nowMs: bench.clock.now(), limit: PAGE });
        assert.equal(await bench.balance(), full, "all are refunded at once");
        await bulk.run(80 * HOUR);
        assert.equal(bulk.released.length, 0);
        assert.deepEqual(await bench.store.verifyLedger(), []);
      });
    }

    test("what its carrier put off waits while its bulk is paused, and goes on with it", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const [first] = await bulk.acceptDaily(2);
      await bulk.putOff([first!], 0);
      await bench.store.setBulkStatus({ ...bulk.name, status: "PAUSED" });
      await bulk.run(60 * HOUR);
      assert.equal(bulk.released.length, 0);
      await bench.store.setBulkStatus({ ...bulk.name, status: "PENDING" });
      await bulk.run(60 * HOUR);
      assert.equal(bulk.different, 2);
      bulk.keepsTo(DAILY);
    });

    test("a message without a limit that its carrier put off is called off with its bulk, as that has one", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bench.accept(bulk.messages(1));
      await bulk.acceptDaily(2);
      await bench.accept(bulk.messages(1, 10), { expiresAtMs: NOW + 100 * HOUR });
      const [free] = bench.takeMessages();
      await bulk.putOff([free!], MINUTE);
      assert.deepEqual(await bench.store.setBulkStatus({ ...bulk.name, status: "CANCELED" }), { kind: "changed" });
      await bulk.run(HOUR);
      assert.equal(bulk.released.length, 0);
    });

    test("one that was put off before its bulk had a limit follows the bulk too", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const later = { sendAtMs: NOW + HOUR, dueAtMs: NOW + HOUR, expiresAtMs: NOW + 100 * HOUR };
      await bench.accept(bulk.messages(1), later);
      await bench.clock.advance(HOUR);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: PAGE });
      await bulk.putOff(bench.takeMessages(), MINUTE);
      await bulk.acceptDaily(2);
      assert.deepEqual(await bench.store.setBulkStatus({ ...bulk.name, status: "CANCELED" }), { kind: "changed" });
      await bulk.run(HOUR);
      assert.equal(bulk.released.length, 0);
    });

    test("what its carrier put off has a new slot when its bulk is moved: none is given twice", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bench.accept(bulk.messages(200), {}, { speedLimit: LIMIT });
      await bulk.run(MINUTE, (messages) => bulk.putOff(messages, MINUTE));
      bulk.released.length = 0;
      await bench.clock.advance(65_000);
      for (let claim = 0; claim < 5; claim++) {
        await bench.store.claimDue({ nowMs: bench.clock.now(), limit: PAGE });
        await bench.submit(bench.takeMessages());
      }
      await bench.store.moveBulk({ ...bulk.name, sendAtMs: 0, nowMs: bench.clock.now() });
      await bulk.run(5 * MINUTE);
      assert.ok(bulk.different > 190, `${bulk.different} went`);
      bulk.keepsTo(LIMIT);
    });

    test("a message of which its carrier has a part is finished whatever becomes of its bulk, with a slot of its own", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const [first] = await bulk.acceptDaily(4);
      const taken = { cut: "default", reference: 7, ids: ["part", null] };
      await bench.store.again({ messages: [{ key: first!.key, unknown: false, taken }] });
      await bulk.putOff([first!], 0);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: PAGE });
      await bench.clock.advance(HOUR);
      // The slot that it waits for is given again.
      await bench.store.moveBulk({ ...bulk.name, sendAtMs: 0, nowMs: bench.clock.now() });
      await bulk.run(30 * HOUR);
      assert.equal(bulk.released.length, 1);
      assert.deepEqual(await bench.store.setBulkStatus({ ...bulk.name, status: "CANCELED" }), { kind: "changed" });
      await bulk.run(200 * HOUR);
      assert.equal(bulk.released.length, 2);
      assert.equal(bulk.released[1]!.key, first!.key);
      bulk.keepsTo(DAILY);
    });

    for (const [event, becomes, goesAgain] of [
      ["put off", "goes on", 1],
      ["slot missed", "ends", 0],
    ] as const) {
      test(`what its carrier did not answer ${becomes} and stays charged when its bulk is called off after "${event}"`, async (t) => {
        const bulk = await start(t);
        const { bench } = bulk;
        const full = await bench.balance();
        const [first] = await bulk.acceptDaily(3);
        const { key } = first!;
        await bench.store.again({ messages: [{ key, unknown: true, taken: null }] });
        await bench.store.postpone({ messages: [{ key, dueAtMs: bench.clock.now(), event }] });
        assert.deepEqual(await bench.store.setBulkStatus({ ...bulk.name, status: "CANCELED" }), { kind: "changed" });
        await bulk.run(80 * HOUR);
        assert.equal(bulk.released.length, goesAgain);
        assert.equal(await bench.balance(), full - 10_000n);
        assert.deepEqual(await bench.store.verifyLedger(), []);
      });
    }

    test("a message whose slot would come behind its end takes none, and goes no sooner after a pause", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const expiresAtMs = NOW + 100_000;
      await bench.accept(bulk.messages(300), { expiresAtMs }, { speedLimit: LIMIT });
      const kept: QueuedMessage[] = [];
      // Its carrier is down.
      await bulk.run(90_000, async (messages) => kept.push(...messages));
      const slow = { amount: 6, unitMs: MINUTE };
      await bench.accept(bulk.messages(1, 1_000), { expiresAtMs }, { speedLimit: slow });
      const dueAtMs = bench.clock.now();
      await bench.store.postpone({
        messages: kept.map(({ key }) => ({ key, dueAtMs, event: "slot missed" as const })),
      });
      bulk.released.length = 0;
      await bulk.run(5_000);
      await bench.store.setBulkStatus({ ...bulk.name, status: "PAUSED" });
      await bulk.run(20_000);
      await bench.store.setBulkStatus({ ...bulk.name, status: "PENDING" });
      await bulk.run(2 * MINUTE);
      bulk.keepsTo(slow);
      assert.ok(
        bulk.released.length >= 12,
        `${bulk.released.length} went: those that expire took no slots from the others`,
      );
    });

    test("the first message's slot is not in its row: killed in the same moment, it takes another", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      const [first] = await bulk.acceptDaily(1);
      assert.ok(first!.slotUntilMs! > NOW);
      await bench.restart();
      for (const lane of bench.overflowed.splice(0)) await bench.store.claimLane({ ...lane, limit: 10 });
      assert.deepEqual(
        bench.takeMessages().map(({ key, slotUntilMs }) => [key, slotUntilMs]),
        [[first!.key, 0]],
      );
    });

    for (const [what, before] of [
      ["", DAILY],
      [", also if another unit held when it was given", { amount: 1, unitMs: MINUTE }],
    ] as const) {
      test(`a slot that a message waited for is used when it goes, and a bulk that is moved does not give it again${what}`, async (t) => {
        const bulk = await start(t);
        const { bench } = bulk;
        await bench.accept(bulk.messages(3), { expiresAtMs: NOW + 100 * HOUR }, { speedLimit: before });
        const [first] = bench.takeMessages();
        const dueAtMs = bench.clock.now();
        await bench.store.postpone({ messages: [{ key: first!.key, dueAtMs, event: "slot missed" }] });
        await bench.store.claimDue({ nowMs: dueAtMs, limit: PAGE });
        await bench.accept(bulk.messages(1, 10), { expiresAtMs: NOW + 100 * HOUR }, { speedLimit: DAILY });
        await bulk.run(before.unitMs * 1.1);
        assert.equal(bulk.released.length, 1, "it waited for its slot, and went with it");
        await bench.store.moveBulk({ ...bulk.name, sendAtMs: 0, nowMs: bench.clock.now() });
        await bulk.run(60 * HOUR);
        assert.ok(bulk.released.length >= 2, `${bulk.released.length} went`);
        const [went, next] = bulk.released;
        assert.ok(next!.atMs - went!.atMs >= DAILY.unitMs + MINUTE, `${next!.atMs - went!.atMs} ms behind it`);
      });
    }
  });
}
