/**
 * What every engine of the store must do with a carrier that gives one id to several parts. Each case has a database of its own.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type Receipt, unknownId } from "../../src/message/receipt.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { SWEEP_START } from "../../src/store/port/delivery.ts";
import { MAX_SAME_ID } from "../../src/store/tables.ts";
import {
  APPLIED,
  DELIVERED,
  PHONE,
  received,
  STRANGER,
  sent,
  statusOf,
  submitted,
  WAITING,
} from "./contract-receipts.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase } from "./harness.ts";

const MINUTE = 60_000;
const DOUBTFUL = { ...APPLIED, unmatched: 1, doubtful: 1 };
/** To the eye of its own country the same as PHONE. */
const ALIKE = "49790000001";
const EXPIRED = STATUS.EXPIRED_DLR_UNKNOWN.id;

async function statuses(bench: Bench, keys: readonly string[]): Promise<number[]> {
  return Promise.all(keys.map((key) => statusOf(bench, key)));
}

/** A submit date as a network in a zone so many hours east writes it: without seconds. */
function writtenAt(submittedAtMs: number, zoneHours = 0): number {
  return Math.floor(submittedAtMs / MINUTE) * MINUTE + zoneHours * HOUR;
}

/** Two messages to one phone, or to two, under the id 7, with so long between them. */
async function twins(bench: Bench, apartMs: number, phones: readonly [string, string] = [PHONE, PHONE]) {
  const firstMs = bench.clock.now();
  const first = await sent(bench, "7", phones[0]);
  await bench.clock.advance(apartMs);
  const secondMs = bench.clock.now();
  const second = await sent(bench, "7", phones[1]);
  return { keys: [first, second] as const, firstMs, secondMs };
}

async function why(bench: Bench): Promise<string[]> {
  const { receipts } = await bench.store.parkedReceipts({ limit: 10 });
  return receipts.map((receipt) => receipt.why);
}

/** A message of so many parts, all of which the carrier calls the same. */
async function sentInParts(bench: Bench, count: number, id: string): Promise<string> {
  const key = await accepted(bench);
  await takenInParts(bench, key, count, id);
  return key;
}

async function accepted(bench: Bench): Promise<string> {
  await bench.accept([bench.message({ to: PHONE })]);
  return bench.takeMessages()[0]!.key;
}

async function takenInParts(bench: Bench, key: string, count: number, id: string, counting = count): Promise<void> {
  const parts = Array.from({ length: count }, (_, index) => ({
    carrierMessageId: id,
    counts: index >= count - counting,
  }));
  const message = { key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: bench.clock.now() };
  await bench.store.submitted({ messages: [message] });
}

/** Messages to phones of their own, all under the id 0. */
async function sentMany(bench: Bench, count: number): Promise<string[]> {
  const phones = Array.from({ length: count }, (_, index) => phoneAt(index));
  await bench.accept(phones.map((to) => bench.message({ to })));
  const keys = bench.takeMessages().map(({ key }) => key);
  const parts = [{ carrierMessageId: "0", counts: true }];
  const atMs = bench.clock.now();
  await bench.store.submitted({
    messages: keys.map((key) => ({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs })),
  });
  return keys;
}

const phoneAt = (index: number): string => `4179100${1_000 + index}`;

/** How often a number was compared with another that is not the same while this was done. */
async function comparisonsOf(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const endings = t.mock.method(String.prototype, "endsWith");
  try {
    await work();
    return endings.mock.callCount();
  } finally {
    endings.mock.restore();
  }
}

function sweep(bench: Bench): Promise<unknown> {
  return bench.store.sweep({ nowMs: bench.clock.now(), receiptWaitMs: HOUR, limit: 500, cursor: SWEEP_START });
}

/** So many receipts with the id 0, each of which says something else. */
async function receivedMany(bench: Bench, count: number, change: (index: number) => Partial<Receipt>): Promise<void> {
  const receipts = Array.from({ length: count }, (_, index) => ({ ...bench.receipt("0"), ...change(index) }));
  await bench.store.received({ carrierId: CARRIER, receipts });
}

const LANES = { lanes: { lane: 1_000, total: 1_000 } };

export function sameIdsContract(engine: string, make: MakeDatabase): void {
  describe(`one id for several parts, on ${engine}`, () => {
    for (const zoneHours of [0, 2, -5.5, 5.75]) {
      test(`of two messages to one phone the one hears of it that was submitted when the receipt says, ${zoneHours} hours from UTC`, async (t) => {
        const bench = await Bench.start(t, make);
        const { keys, firstMs, secondMs } = await twins(bench, 5 * MINUTE);
        const of = (submittedAtMs: number) => ({ to: PHONE, submittedAtMs: writtenAt(submittedAtMs, zoneHours) });
        assert.deepEqual(await received(bench, "7", of(secondMs)), APPLIED);
        assert.deepEqual(await statuses(bench, keys), [WAITING, DELIVERED]);
        assert.deepEqual(await received(bench, "7", of(firstMs)), APPLIED);
        assert.deepEqual(await statuses(bench, keys), [DELIVERED, DELIVERED]);
      });
    }

    test("one that was submitted days before the receipt says is not meant", async (t) => {
      const bench = await Bench.start(t, make);
      const { keys, secondMs } = await twins(bench, 30 * HOUR);
      await received(bench, "7", { to: PHONE, submittedAtMs: writtenAt(secondMs, 3) });
      assert.deepEqual(await statuses(bench, keys), [WAITING, DELIVERED]);
    });

    const undecided: [name: string, apartMs: number, change: (firstMs: number) => Partial<Receipt>][] = [
      ["says no time", 5 * MINUTE, () => ({ to: PHONE })],
      ["says no phone either", 5 * MINUTE, () => ({ to: null })],
      ["may be about either time, in one zone or another", HOUR, (ms) => ({ to: PHONE, submittedAtMs: writtenAt(ms) })],
      ["is about a time near to both", MINUTE, (ms) => ({ to: PHONE, submittedAtMs: writtenAt(ms) })],
      ["is about a time near to neither", MINUTE, (ms) => ({ to: PHONE, submittedAtMs: ms + 7 * MINUTE })],
      ["has a time that is none", 5 * MINUTE, () => ({ to: PHONE, submittedAtMs: Number.NaN })],
    ];
    for (const [name, apartMs, change] of undecided) {
      test(`a receipt that could be about either of two messages, and ${name}, is parked and changes nothing`, async (t) => {
        const bench = await Bench.start(t, make);
        const { keys, firstMs } = await twins(bench, apartMs);
        assert.deepEqual(await received(bench, "7", change(firstMs)), DOUBTFUL);
        assert.deepEqual(await received(bench, "7", change(firstMs)), { ...APPLIED, repeated: 1 });
        await bench.restart();
        await bench.store.matchParked({ names: [{ carrierId: CARRIER, carrierMessageId: "7" }] });
        assert.deepEqual(await statuses(bench, keys), [WAITING, WAITING]);
        assert.deepEqual(await why(bench), ["doubtful"]);
      });
    }

    test("phones that end alike are told apart by the time, and else not at all", async (t) => {
      const bench = await Bench.start(t, make);
      const { keys, secondMs } = await twins(bench, 5 * MINUTE, [PHONE, ALIKE]);
      assert.deepEqual(await received(bench, "7", { to: "0790000001" }), DOUBTFUL);
      assert.deepEqual(await statuses(bench, keys), [WAITING, WAITING]);
      await received(bench, "7", { to: "0790000001", submittedAtMs: writtenAt(secondMs) });
      assert.deepEqual(await statuses(bench, keys), [DELIVERED, DELIVERED], "the other one is left for the first");
      assert.deepEqual(await why(bench), []);
    });

    test("the very phone counts for more than the time", async (t) => {
      const bench = await Bench.start(t, make);
      const { keys, firstMs } = await twins(bench, 5 * MINUTE, [PHONE, ALIKE]);
      await received(bench, "7", { to: ALIKE, submittedAtMs: writtenAt(firstMs) });
      assert.deepEqual(await statuses(bench, keys), [WAITING, DELIVERED]);
    });

    test("a receipt settles no message that came after it", async (t) => {
      const bench = await Bench.start(t, make);
      const old = await sent(bench, "7");
      const receipt = { ...bench.receipt("7"), to: PHONE };
      await bench.clock.advance(HOUR);
      const fresh = await sent(bench, "7");
      assert.deepEqual(await bench.store.received({ carrierId: CARRIER, receipts: [receipt] }), APPLIED);
      assert.deepEqual(await statuses(bench, [old, fresh]), [DELIVERED, WAITING]);
    });

    test("a doubtful receipt is applied when another has settled its rival, also in the same batch", async (t) => {
      const bench = await Bench.start(t, make);
      const { keys, firstMs } = await twins(bench, 5 * MINUTE);
      const doubtful = { ...bench.receipt("7", "undeliverable", 1), to: PHONE };
      const sure = { ...bench.receipt("7"), to: PHONE, submittedAtMs: writtenAt(firstMs) };
      const counts = await bench.store.received({ carrierId: CARRIER, receipts: [doubtful, sure] });
      assert.deepEqual(counts, DOUBTFUL);
      const undeliverable = STATUS.UNDELIVERABLE_NOT_DELIVERED.id;
      assert.deepEqual(await statuses(bench, keys), [DELIVERED, undeliverable]);
      assert.deepEqual(await why(bench), []);
    });

    test("that a message has waited too long does not make a doubtful receipt another's", async (t) => {
      const bench = await Bench.start(t, make);
      const { keys } = await twins(bench, HOUR);
      await received(bench, "7", { to: PHONE });
      await bench.restart();
      const { expiresAtMs } = (await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 1 }))[0]!;
      const nowMs = expiresAtMs + MINUTE;
      await bench.clock.advance(nowMs - bench.clock.now());
      for (let times = 0; times < 2; times++)
        await bench.store.sweep({ nowMs, receiptWaitMs: MINUTE, limit: 100, cursor: SWEEP_START });
      assert.deepEqual(await statuses(bench, keys), [EXPIRED, WAITING]);
      assert.deepEqual(await why(bench), ["doubtful"]);
    });

    test("a part that has waited too long goes, also if an older one of its id has longer", async (t) => {
      const bench = await Bench.start(t, make);
      const startMs = bench.clock.now();
      for (const [to, hours] of [
        [PHONE, 20],
        [STRANGER, 1],
      ] as const)
        await bench.accept([bench.message({ to })], { expiresAtMs: startMs + hours * HOUR });
      const keys = bench.takeMessages().map(({ key }) => key);
      for (const key of keys) await submitted(bench, key, "7");
      await bench.restart();
      await bench.clock.advance(2 * HOUR);
      const nowMs = bench.clock.now();
      await bench.store.sweep({ nowMs, receiptWaitMs: MINUTE, limit: 100, cursor: SWEEP_START });
      assert.deepEqual(await statuses(bench, keys), [WAITING, EXPIRED]);
    });

    test("one id for all parts of a message is no riddle: each of its receipts is of one of them", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sentInParts(bench, 3, "7");
      for (const status of [WAITING, WAITING, DELIVERED]) {
        assert.deepEqual(await received(bench, "7", { to: PHONE }), APPLIED);
        assert.equal(await statusOf(bench, key), status);
      }
      assert.deepEqual(await received(bench, "7", { to: PHONE }), { ...APPLIED, repeated: 1 });
    });

    test("one id for all parts of a message: receipts that overtake the answers count as often as they came", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await accepted(bench);
      await received(bench, "7", { to: PHONE });
      await received(bench, "7", { to: PHONE });
      await bench.restart();
      await takenInParts(bench, key, 3, "7");
      assert.equal(await statusOf(bench, key), WAITING);
      assert.deepEqual(await why(bench), []);
      await received(bench, "7", { to: PHONE });
      assert.equal(await statusOf(bench, key), DELIVERED);
    });

    test("one id for all parts of a message of which one counts: its receipt is of that one", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await accepted(bench);
      await takenInParts(bench, key, 3, "7", 1);
      await received(bench, "7", { to: PHONE });
      assert.equal(await statusOf(bench, key), DELIVERED);
    });

    test("a receipt that came often settles all parts of its message, and none of another's", async (t) => {
      const bench = await Bench.start(t, make);
      const [early, late] = [await accepted(bench), await accepted(bench)];
      await received(bench, "7", { to: PHONE });
      await received(bench, "7", { to: PHONE });
      await takenInParts(bench, early, 1, "7");
      await takenInParts(bench, late, 1, "7");
      assert.deepEqual(await statuses(bench, [early, late]), [DELIVERED, WAITING]);
    });

    test("a carrier that gives one id to very many parts is heard of none of them, and each comes to its end", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 1_000, total: 1_000 } });
      await bench.accept(Array.from({ length: 2 * MAX_SAME_ID }, () => bench.message({ to: STRANGER })));
      const atMs = bench.clock.now();
      const parts = [{ carrierMessageId: "0", counts: true }];
      const messages = bench
        .takeMessages()
        .map(({ key }) => ({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs }));
      await bench.store.submitted({ messages });
      const key = await sent(bench, "0");
      assert.deepEqual(await received(bench, "0", { to: PHONE }), DOUBTFUL);
      await bench.restart();
      assert.deepEqual(await received(bench, "0", { to: PHONE, outcome: "expired" }), DOUBTFUL);
      assert.equal(await statusOf(bench, key), WAITING);
      await bench.clock.advance(50 * HOUR);
      const nowMs = bench.clock.now();
      for (let cursor = SWEEP_START, more = true; more; )
        ({ cursor, more } = await bench.store.sweep({ nowMs, receiptWaitMs: HOUR, limit: 30, cursor }));
      assert.deepEqual(await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 }), []);
      assert.equal(await statusOf(bench, key), EXPIRED);
    });

    /** What the second of two sizes, twice the first, costs: no more than each receipt beside each part. */
    async function isSquareAtMost(cost: (count: number) => Promise<number>): Promise<void> {
      const [few, many] = [await cost(MAX_SAME_ID / 4), await cost(MAX_SAME_ID / 2)];
      assert.ok(few > 0 && many <= 5 * few, `${few} comparisons, and ${many} for twice as much`);
      const most = await cost(MAX_SAME_ID);
      assert.ok(most <= 5 * many, `${many} comparisons, and ${most} for twice as much`);
      assert.ok(most <= 4 * MAX_SAME_ID ** 2, `${most} comparisons`);
    }

    test("a look for parked receipts of one id costs no more than each of them beside each part", (t) =>
      isSquareAtMost(async (count) => {
        const bench = await Bench.start(t, make, LANES);
        await sentMany(bench, count);
        await receivedMany(bench, count, (index) => ({ to: `3360000${1_000 + index}` }));
        await bench.restart();
        const looks = await comparisonsOf(t, () => sweep(bench));
        assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, count);
        return looks;
      }));

    test("receipts that settle the rivals of many doubtful ones cost no more than each of all beside each part", (t) =>
      isSquareAtMost(async (count) => {
        const bench = await Bench.start(t, make, LANES);
        const keys = await sentMany(bench, count);
        // Of one that says a phone of nobody's the numbers are compared; of one that says none they need not be.
        await receivedMany(bench, count / 2, (index) => ({ to: null, submittedAtMs: index * MINUTE }));
        await receivedMany(bench, count / 2, (index) => ({ to: `3360000${1_000 + index}` }));
        await bench.restart();
        const looks = await comparisonsOf(t, () => receivedMany(bench, 10, (index) => ({ to: phoneAt(index) })));
        const delivered = (await statuses(bench, keys)).filter((status) => status === DELIVERED);
        assert.equal(delivered.length, 10);
        return looks;
      }));

    test("a message of many parts of one id looks for its receipts once", (t) =>
      isSquareAtMost(async (count) => {
        const bench = await Bench.start(t, make);
        const key = await accepted(bench);
        await receivedMany(bench, count, (index) => ({ to: `3360000${1_000 + index}` }));
        return comparisonsOf(t, () => takenInParts(bench, key, count, "0"));
      }));

    test("where the comparisons of a sweep are used up, the next page goes on from there, and every receipt finds its part", async (t) => {
      const bench = await Bench.start(t, make, LANES);
      const ids = Array.from({ length: 8 }, (_, index) => `id${index}`);
      const keys: string[] = [];
      for (const id of ids) {
        await bench.accept(Array.from({ length: 90 }, (_, index) => bench.message({ to: phoneAt(index) })));
        const own = bench.takeMessages().map(({ key }) => key);
        const parts = [{ carrierMessageId: id, counts: true }];
        const atMs = bench.clock.now();
        await bench.store.submitted({
          messages: own.map((key) => ({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs })),
        });
        const receipts = Array.from({ length: 90 }, (_, index) => ({
          ...bench.receipt(id),
          to: `3360000${1_000 + index}`,
        }));
        await bench.store.received({ carrierId: CARRIER, receipts });
        keys.push(own[0]!);
      }
      await bench.restart();
      // Written as of another node that did not see the parts.
      await bench.rows(
        `UPDATE parked_receipt SET recipient = '${phoneAt(0)}' WHERE recipient = '33600001000' RETURNING id`,
      );
      let pages = 0;
      for (let cursor = SWEEP_START, more = true; more; pages++)
        ({ cursor, more } = await bench.store.sweep({
          nowMs: bench.clock.now(),
          receiptWaitMs: HOUR,
          limit: 1_000,
          cursor,
        }));
      assert.ok(pages > 1, `${pages} pages`);
      assert.deepEqual(new Set(await statuses(bench, keys)), new Set([DELIVERED]));
    });

    for (const seed of [1, 2, 3]) {
      test(`whatever comes, no message hears a receipt about another phone, and no receipt is lost or heard twice (seed ${seed})`, async (t) => {
        const bench = await Bench.start(t, make);
        await mixUp(bench, seed);
      });
    }
  });
}

const NUMBERS = [PHONE, ALIKE, STRANGER] as const;

/** Messages to few phones under few ids, receipts about all of them in any order, and a look at who heard what. */
async function mixUp(bench: Bench, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random.next() * items.length)]!;
  const ids = ["1", "2", "3"];
  const waiting: string[] = [];
  const known = new Map<string, { to: string; id: string | null }>();
  const receipts: Receipt[] = [];
  const counted = { applied: 0, parked: 0, repeated: 0, later: 0 };
  for (let round = 0; round < 200; round++) {
    await bench.clock.advance(Math.floor(random.next() * 3 * MINUTE));
    const kind = random.next();
    if (kind < 0.35) {
      const to = pick(NUMBERS);
      await bench.accept([bench.message({ to })]);
      const { key } = bench.takeMessages()[0]!;
      known.set(key, { to, id: null });
      waiting.push(key);
    } else if (kind < 0.65 && waiting.length > 0) {
      const key = waiting.splice(Math.floor(random.next() * waiting.length), 1)[0]!;
      const id = random.next() < 0.1 ? unknownId(known.get(key)!.to) : pick(ids);
      known.set(key, { to: known.get(key)!.to, id });
      await submitted(bench, key, id);
    } else if (kind < 0.7) {
      // What waits would have to be claimed first.
      if (waiting.length === 0) await bench.restart();
    } else {
      const to = pick([...NUMBERS, "0790000001", null]);
      const submittedAtMs = random.next() < 0.6 ? writtenAt(bench.clock.now() - random.next() * HOUR, 2) : null;
      const outcome = pick(["delivered", "undeliverable", "expired"] as const);
      // Each has a network of its own, by which the message shows whose receipt it heard.
      const mccMnc = `${10_000 + receipts.length}`;
      const receipt = { ...bench.receipt(pick(ids)), to, submittedAtMs, outcome, mccMnc };
      receipts.push(receipt);
      const told = await bench.store.received({ carrierId: CARRIER, receipts: [receipt] });
      counted.parked += told.unmatched;
      counted.repeated += told.repeated;
      counted.later += told.later;
      if (told.unmatched + told.repeated + told.later === 0) counted.applied++;
    }
  }
  const { applied, parked, repeated, later } = counted;
  assert.equal(applied + parked + repeated + later, receipts.length);
  assert.ok(applied > 5 && parked > 5, JSON.stringify(counted));
  const heard = await networks(bench);
  assert.equal(new Set(heard.values()).size, heard.size, "none is heard twice");
  assert.ok(heard.size >= applied);
  for (const [key, network] of heard) {
    const { to, id } = known.get(key)!;
    const receipt = receipts[Number(network) - 10_000]!;
    assert.ok(receipt.carrierMessageId === id || id === unknownId(to), `${key} has another id`);
    const said = receipt.to ?? to;
    const isNational = said.startsWith("0") && to.endsWith(said.slice(1));
    assert.ok(said === to || isNational, `${key} to ${to} heard of ${said}`);
  }
}

/** Which network each message that has come to its end was told. */
async function networks(bench: Bench): Promise<Map<string, string>> {
  const all = { from: null, to: null, bulkIds: null, messageIds: null, statusIds: null, mcc: null, mnc: null };
  const query = { ...all, sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, limit: 500, after: null };
  const { messages } = await bench.store.logs({ ...query, accountId: bench.accountId });
  return new Map(messages.flatMap(({ key, mccMnc }) => (mccMnc === null ? [] : [[key, mccMnc]])));
}
