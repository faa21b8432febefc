/**
 * What every engine of the store must do with receipts that come after the last word, that cannot be read, or that stay. Each case has a database of
 * its own.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_OCTETS_LENGTH } from "../../src/commands/receipts/names.ts";
import { type Receipt, type ReceiptOutcome, unknownId } from "../../src/message/receipt.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { PURGE_START, SWEEP_START } from "../../src/store/port/delivery.ts";
import { MAX_LATER_RECEIPTS } from "../../src/store/port/receipts.ts";
import {
  APPLIED,
  DAY,
  DELIVERED,
  LATER,
  PHONE,
  REPEATED,
  received,
  STRANGER,
  sent,
  statusOf,
  submitted,
  WAITING,
} from "./contract-receipts.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase } from "./harness.ts";

const EXPIRED = STATUS.EXPIRED_EXPIRED.id;

async function later(bench: Bench, messageKey: string): Promise<string[]> {
  const receipts = await bench.store.laterReceipts({ messageKey });
  return receipts.map(({ outcome }) => outcome);
}

async function parked(bench: Bench) {
  const { count, receipts } = await bench.store.parkedReceipts({ limit: 100 });
  assert.equal(count, receipts.length);
  return receipts;
}

/** Nothing that came is older than it. */
const UNREADABLE: Partial<Receipt> = { to: null, outcome: "held" };
/** A deliver_sm of 20 octets with this sequence number and body. */
const octets = (sequence: number, body: string): string =>
  `0000001400000005000000${"00".repeat(1)}${sequence.toString(16).padStart(8, "0")}${body}`;

export function laterReceiptsContract(engine: string, make: MakeDatabase): void {
  describe(`receipts that come late or stay, on ${engine}`, () => {
    test("what a carrier says after its last word is recorded beside the message, once, and changes nothing of it", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, "1001");
      await received(bench, "1001", { to: PHONE, outcome: "expired", errorId: 1 });
      const balance = await bench.balance();
      bench.takeReports();
      assert.deepEqual(await received(bench, "1001", { to: PHONE }), LATER);
      await bench.restart();
      assert.deepEqual(await received(bench, "1001", { to: PHONE, outcome: "held" }), LATER);
      for (const outcome of ["delivered", "held", "expired"] as const)
        assert.deepEqual(await received(bench, "1001", { to: PHONE, outcome }), REPEATED);
      const [first] = await bench.store.laterReceipts({ messageKey: key });
      const { atMs, ...rest } = first!;
      const said = { messageKey: key, carrierId: CARRIER, carrierMessageId: "1001", outcome: "delivered", errorId: 0 };
      assert.deepEqual(rest, said);
      assert.deepEqual(await later(bench, key), ["delivered", "held"]);
      assert.deepEqual(await parked(bench), []);
      assert.deepEqual([await statusOf(bench, key), await bench.balance()], [EXPIRED, balance]);
      assert.deepEqual(bench.takeReports(), []);
    });

    test("both in one batch: the first is the last word, the second is recorded", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, "1001");
      const first = { ...bench.receipt("1001"), to: PHONE };
      const second = { ...first, outcome: "undeliverable" as const };
      const counts = await bench.store.received({ carrierId: CARRIER, receipts: [first, second, second] });
      assert.deepEqual(counts, { ...LATER, repeated: 1 });
      assert.deepEqual([await statusOf(bench, key), await later(bench, key)], [DELIVERED, ["undeliverable"]]);
    });

    test("of a message of several parts, too, and no more than so many", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message({ to: PHONE })]);
      const { key } = bench.takeMessages()[0]!;
      const parts = ["1", "2", "3"].map((carrierMessageId) => ({ carrierMessageId, counts: true }));
      const atMs = bench.clock.now();
      await bench.store.submitted({ messages: [{ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs }] });
      await received(bench, "1", { to: PHONE });
      assert.deepEqual(await received(bench, "1", { to: PHONE, outcome: "lost" }), LATER);
      assert.equal(await statusOf(bench, key), WAITING, "the other parts have not been heard of");
      for (const id of ["2", "3"]) await received(bench, id, { to: PHONE });
      const others: ReceiptOutcome[] = ["undeliverable", "expired", "rejected", "held"];
      const receipts = others.flatMap((outcome) =>
        ["1", "2", "3"].map((id) => ({ ...bench.receipt(id), to: PHONE, outcome })),
      );
      const counts = await bench.store.received({ carrierId: CARRIER, receipts });
      assert.deepEqual(counts, { ...APPLIED, later: receipts.length });
      assert.equal((await later(bench, key)).length, MAX_LATER_RECEIPTS);
      assert.equal(await statusOf(bench, key), DELIVERED);
    });

    test("what is not surely of that message is not recorded beside it", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, "1001");
      await received(bench, "1001", { to: PHONE });
      const others: Partial<Receipt>[] = [{ to: STRANGER }, { to: null }, { to: PHONE, carrierMessageId: "" }];
      for (const change of others)
        assert.equal((await received(bench, "1001", { outcome: "expired", ...change })).unmatched, 1);
      const receipts = [{ ...bench.receipt("1001", "undeliverable"), to: PHONE }];
      assert.equal((await bench.store.received({ carrierId: "another", receipts })).unmatched, 1);
      assert.deepEqual(await later(bench, key), []);
      // The id comes again, for the same phone: now there are two that it may be about.
      await bench.clock.advance(HOUR);
      const second = await sent(bench, "1001");
      await received(bench, "1001", { to: PHONE });
      const told = await received(bench, "1001", { to: PHONE, outcome: "rejected" });
      assert.deepEqual(told, { ...APPLIED, unmatched: 1, doubtful: 1 });
      assert.deepEqual([await later(bench, key), await later(bench, second)], [[], []]);
    });

    test("what looked like a second word, and was the first of a message whose answer it had overtaken, is that message's", async (t) => {
      const bench = await Bench.start(t, make);
      const old = await sent(bench, "1001");
      await received(bench, "1001", { to: PHONE });
      await bench.accept([bench.message({ to: PHONE })]);
      const { key } = bench.takeMessages()[0]!;
      await bench.clock.advance(1_000);
      assert.deepEqual(await received(bench, "1001", { to: PHONE, outcome: "expired", errorId: 1 }), LATER);
      assert.deepEqual(await later(bench, old), ["expired"]);
      await bench.restart();
      await submitted(bench, key, "1001");
      assert.deepEqual([await statusOf(bench, old), await statusOf(bench, key)], [DELIVERED, EXPIRED]);
      assert.deepEqual(await later(bench, old), []);
    });

    test("it leaves the store with its message", async (t) => {
      const bench = await Bench.start(t, make);
      const keys: string[] = [];
      for (const id of ["1", "2"]) {
        keys.push(await sent(bench, id));
        await received(bench, id, { to: PHONE });
        await received(bench, id, { to: PHONE, outcome: "expired" });
        await bench.clock.advance(30 * DAY);
      }
      const nowMs = bench.clock.now();
      const beforeMs = nowMs - 40 * DAY;
      let cursor = PURGE_START;
      for (let more = true; more; )
        ({ cursor, more } = await bench.store.purgeMessages({ beforeMs, nowMs, limit: 10, cursor }));
      assert.deepEqual([await later(bench, keys[0]!), await later(bench, keys[1]!)], [[], ["expired"]]);
    });

    test("a receipt that cannot be read is kept with its octets, and the same one once", async (t) => {
      const bench = await Bench.start(t, make);
      const one = { ...UNREADABLE, octets: octets(1, "aabbccdd") };
      const other = { ...UNREADABLE, octets: octets(2, "aabbccde") };
      assert.deepEqual(await received(bench, "", one), { ...APPLIED, unmatched: 1 });
      assert.deepEqual(await received(bench, "", other), { ...APPLIED, unmatched: 1 });
      await bench.restart();
      const again = { ...UNREADABLE, octets: octets(3, "aabbccdd") };
      assert.deepEqual(await received(bench, "", again), REPEATED, "only its sequence number is another");
      const batch = [again, again, other].map((change) => ({ ...bench.receipt(""), ...change }));
      assert.deepEqual(await bench.store.received({ carrierId: CARRIER, receipts: batch }), {
        ...APPLIED,
        repeated: 3,
      });
      const kept = await parked(bench);
      assert.deepEqual(
        kept.map(({ octets, why, times, carrierMessageId }) => [octets, why, times, carrierMessageId]),
        [
          [other.octets, "unreadable", 2, ""],
          [again.octets, "unreadable", 4, ""],
        ],
      );
    });

    test("the octets of a receipt are kept up to a bound", async (t) => {
      const bench = await Bench.start(t, make);
      await received(bench, "", { ...UNREADABLE, octets: octets(1, "ab".repeat(100_000)) });
      await received(bench, "", { ...UNREADABLE, octets: octets(2, "ab".repeat(100_000)) });
      const [only, ...more] = await parked(bench);
      assert.deepEqual([only!.octets!.length, more.length], [MAX_OCTETS_LENGTH, 0]);
    });

    test("one that cannot be read, but names its phone, still finds a part whose id was never learnt", async (t) => {
      const bench = await Bench.start(t, make);
      await received(bench, "", { to: PHONE, octets: octets(1, "aabbccdd") });
      const key = await sent(bench, `unknown:${PHONE}`);
      assert.equal(await statusOf(bench, key), DELIVERED);
      assert.deepEqual(await parked(bench), []);
    });

    const UNCLEAR: [name: string, partId: string, id: string][] = [
      ["an id that is known", "1001", "1001"],
      ["no id, and a phone to which a part of no id has gone", unknownId(PHONE), ""],
    ];
    for (const [name, partId, id] of UNCLEAR) {
      const unclear = (sequence: number) => ({
        to: PHONE,
        outcome: "held" as const,
        octets: octets(sequence, "aabbccdd"),
      });
      const kept = async (bench: Bench) =>
        (await parked(bench)).map(({ why, times, carrierMessageId, octets }) => [why, times, carrierMessageId, octets]);

      test(`a receipt with a state that nobody knows and ${name} is heard as far as it goes, and kept`, async (t) => {
        const bench = await Bench.start(t, make);
        const key = await sent(bench, partId);
        assert.deepEqual(await received(bench, id, unclear(1)), APPLIED);
        assert.equal(await statusOf(bench, key), WAITING);
        assert.deepEqual(await kept(bench), [["unreadable", 1, id, unclear(1).octets]]);
        await bench.restart();
        assert.deepEqual(await received(bench, id, unclear(2)), REPEATED);
        await bench.store.matchParked({ names: [{ carrierId: CARRIER, carrierMessageId: partId }] });
        await bench.store.sweep({ nowMs: bench.clock.now(), receiptWaitMs: DAY, limit: 10, cursor: SWEEP_START });
        assert.deepEqual(await kept(bench), [["unreadable", 2, id, unclear(2).octets]]);
        await received(bench, id, { to: PHONE });
        assert.equal(await statusOf(bench, key), DELIVERED);
        assert.deepEqual(await received(bench, id, unclear(3)), REPEATED);
        assert.deepEqual(await kept(bench), [["unreadable", 3, id, unclear(3).octets]], "also after the last word");
        await sent(bench, partId);
        assert.deepEqual(await kept(bench), [["unreadable", 3, id, unclear(3).octets]], "it is no other message's");
      });

      test(`a receipt with a state that nobody knows and ${name} is heard and kept, also before the answer`, async (t) => {
        const bench = await Bench.start(t, make);
        await bench.accept([bench.message({ to: PHONE })]);
        const { key } = bench.takeMessages()[0]!;
        assert.deepEqual(await received(bench, id, unclear(1)), { ...APPLIED, unmatched: 1 });
        await submitted(bench, key, partId);
        assert.equal(await statusOf(bench, key), WAITING);
        assert.deepEqual(await kept(bench), [["unreadable", 1, id, unclear(1).octets]]);
      });
    }

    test("to park receipts of one id costs what each of them costs", async (t) => {
      const bench = await Bench.start(t, make);
      const cost = async (id: string, count: number): Promise<number> => {
        const receipts = Array.from({ length: count }, (_, index) => ({
          ...bench.receipt(id),
          to: PHONE,
          submittedAtMs: index,
        }));
        const written = t.mock.method(JSON, "stringify");
        assert.equal((await bench.store.received({ carrierId: CARRIER, receipts })).unmatched, count);
        written.mock.restore();
        return written.mock.callCount();
      };
      const [few, many] = [await cost("1", 100), await cost("2", 400)];
      assert.ok(many <= 5 * few, `${few} were compared for 100, and ${many} for 400`);
    });

    /** One parked receipt of each kind. */
    async function oneOfEach(bench: Bench, id: string): Promise<void> {
      await received(bench, "nobody's", { to: `${id}1` });
      await sent(bench, `foreign ${id}`);
      await received(bench, `foreign ${id}`, { to: STRANGER });
      for (const _ of [1, 2]) await sent(bench, `doubtful ${id}`);
      await received(bench, `doubtful ${id}`, { to: PHONE });
      await received(bench, "", { ...UNREADABLE, octets: octets(1, id) });
      await received(bench, "", { to: `${id}2` });
    }

    test("every kind of parked receipt says why it is there, and has an age and a number at which it goes", async (t) => {
      const bench = await Bench.start(t, make);
      await oneOfEach(bench, "aa");
      await bench.clock.advance(DAY);
      await oneOfEach(bench, "bb");
      const kinds = ["unmatched", "unreadable", "doubtful", "foreign", "unmatched"];
      const reasons = async () => (await parked(bench)).map(({ why }) => why);
      assert.deepEqual(await reasons(), [...kinds, ...kinds]);
      assert.equal((await bench.store.parkedReceipts({ limit: 3 })).receipts.length, 3);
      const some = async (filter: object) =>
        (await bench.store.parkedReceipts({ ...filter, limit: 100 })).receipts.length;
      assert.deepEqual([await some({ carrierId: CARRIER }), await some({ carrierId: "another" })], [10, 0]);
      assert.deepEqual([await some({ beforeMs: bench.clock.now() - DAY / 2 }), await some({ beforeMs: 1 })], [5, 0]);
      const drop = (beforeMs: number, keepRows: number) =>
        bench.store.dropUnmatched({ beforeMs, keepRows, limit: 100 });
      assert.deepEqual(await drop(bench.clock.now() - DAY / 2, 100), { count: 5, more: false });
      assert.deepEqual(await reasons(), kinds);
      for (let keep = kinds.length - 1; keep >= 0; keep--) {
        assert.deepEqual(await drop(0, keep), { count: 1, more: false });
        assert.deepEqual(await reasons(), kinds.slice(0, keep));
      }
      await bench.store.sweep({ nowMs: bench.clock.now(), receiptWaitMs: DAY, limit: 10, cursor: SWEEP_START });
    });
  });
}
