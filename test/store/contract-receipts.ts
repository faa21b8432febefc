/** What every engine of the store must do so that nobody changes another's message by a receipt. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_REPEAT_WAIT_MS } from "../../src/commands/receipts/repeats.ts";
import { type Receipt, unknownId } from "../../src/message/receipt.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { SWEEP_START } from "../../src/store/port/delivery.ts";
import { MAX_SAME_ID } from "../../src/store/tables.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase } from "./harness.ts";

export const PHONE = "41790000001";
export const STRANGER = "41790000666";
export const DELIVERED = STATUS.DELIVERED_TO_HANDSET.id;
export const WAITING = STATUS.PENDING_WAITING_DELIVERY.id;

/** A store with a message to PHONE that a carrier took under this id. */
export async function sent(bench: Bench, carrierMessageId: string, to = PHONE, from = "Sender"): Promise<string> {
  await bench.accept([bench.message({ to })], { from });
  const { key } = bench.takeMessages()[0]!;
  await submitted(bench, key, carrierMessageId);
  return key;
}

export async function submitted(bench: Bench, key: string, carrierMessageId: string): Promise<void> {
  const part = { carrierMessageId, counts: true };
  const atMs = bench.clock.now();
  await bench.store.submitted({ messages: [{ key, carrierId: CARRIER, parts: [part], refusedErrorId: null, atMs }] });
}

export function received(bench: Bench, carrierMessageId: string, change: Partial<Receipt>) {
  return bench.store.received({
    carrierId: CARRIER,
    receipts: [{ ...bench.receipt(carrierMessageId), ...change }],
  });
}

export async function statusOf(bench: Bench, messageId: string): Promise<number> {
  const all = { from: null, to: null, bulkIds: null, statusIds: null, mcc: null, mnc: null };
  const query = { ...all, sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, limit: 10, after: null };
  const { messages } = await bench.store.logs({ ...query, accountId: bench.accountId, messageIds: [messageId] });
  return messages[0]!.statusId;
}

export const DAY = 24 * HOUR;
/** What the store says of a receipt that found its message, and of those that did not. */
export const APPLIED = { unmatched: 0, foreign: 0, doubtful: 0, repeated: 0, later: 0, strangers: [] };
export const REPEATED = { ...APPLIED, repeated: 1 };
export const LATER = { ...APPLIED, later: 1 };

/** What there is that matches nothing: the phones of the receipts, and the senders of the messages, oldest first. */
async function unmatched({ store }: Bench): Promise<[receipts: (string | null)[], messages: string[]]> {
  const { receipts } = await store.parkedReceipts({ limit: 100 });
  const { messages } = await store.unmatchedIncoming({ limit: 100 });
  return [receipts.map(({ to }) => to).reverse(), messages.map(({ from }) => from).reverse()];
}

/** A receipt and a message of this phone that match nothing. */
async function stray(bench: Bench, phone: string): Promise<void> {
  await received(bench, "nobody's", { to: phone });
  const atMs = bench.clock.now();
  const part = { from: phone, to: "999", text: "Hello", concatenation: null, atMs };
  await bench.store.incoming({ carrierId: CARRIER, parts: [part], nowMs: atMs });
}

export function receiptsContract(engine: string, make: MakeDatabase): void {
  describe(`whose receipt it is, on ${engine}`, () => {
    const agreeing: [name: string, change: Partial<Receipt>][] = [
      ["the message's phone", { to: PHONE }],
      ["no phone at all", { to: null }],
      ["the phone with a plus", { to: `+${PHONE}` }],
      ["the phone with two zeros", { to: `00${PHONE}` }],
      ["the phone as its country writes it", { to: "0790000001" }],
      ["the phone behind another country's trunk prefix", { to: "06790000001", other: "80808" }],
      ["the phone behind the one digit that replaces its country's code", { to: "8790000001", other: "80808" }],
      ["no readable phone, and a number for the sender", { to: null, other: "41791234567" }],
      ["the phone in the other place", { to: "80808", other: PHONE }],
      ["no mark, and the message's phone", { to: PHONE, unmarked: true }],
    ];
    for (const [name, change] of agreeing) {
      test(`a receipt with ${name} is the message's`, async (t) => {
        const bench = await Bench.start(t, make);
        const key = await sent(bench, "1001");
        assert.deepEqual(await received(bench, "1001", change), APPLIED);
        assert.equal(await statusOf(bench, key), DELIVERED);
      });
    }

    test("a receipt about another phone is parked and never applied, also when it comes before the answer", async (t) => {
      const bench = await Bench.start(t, make);
      const early = { to: STRANGER, other: "80808" };
      assert.equal((await received(bench, "1001", early)).unmatched, 1);
      const key = await sent(bench, "1001");
      const again = { ...early, outcome: "undeliverable" } as const;
      const once = { ...APPLIED, unmatched: 1, foreign: 1 };
      assert.deepEqual(await received(bench, "1001", again), once);
      await bench.store.matchParked({ names: [{ carrierId: CARRIER, carrierMessageId: "1001" }] });
      assert.equal(await statusOf(bench, key), WAITING);
      const { count, receipts } = await bench.store.parkedReceipts({ limit: 10 });
      assert.equal(count, 2);
      assert.deepEqual([receipts[0]!.to, receipts[0]!.other], [STRANGER, "80808"]);
      await received(bench, "1001", { to: PHONE });
      assert.equal(await statusOf(bench, key), DELIVERED, "its own is still heard");
    });

    test("a receipt that came before the answer, with swapped addresses, finds its message", async (t) => {
      const bench = await Bench.start(t, make);
      await received(bench, "1001", { to: "80808", other: PHONE });
      const key = await sent(bench, "1001");
      assert.equal(await statusOf(bench, key), DELIVERED);
      assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
    });

    test("of two parts with one id the one to the very phone hears of it, before one whose number ends alike", async (t) => {
      const bench = await Bench.start(t, make);
      const first = await sent(bench, "7");
      const second = await sent(bench, "7", "49790000001");
      await received(bench, "7", { to: "49790000001" });
      assert.deepEqual([await statusOf(bench, first), await statusOf(bench, second)], [WAITING, DELIVERED]);
    });

    test("of two parts with one id each hears of its own phone", async (t) => {
      const bench = await Bench.start(t, make);
      const first = await sent(bench, "7");
      const second = await sent(bench, "7", "41790000002");
      await received(bench, "7", { to: "41790000002" });
      assert.deepEqual([await statusOf(bench, first), await statusOf(bench, second)], [WAITING, DELIVERED]);
    });

    test("a text that looks like a receipt changes nothing of another phone's, and is not parked", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, "1001");
      for (const to of [STRANGER, "0790000001", null]) {
        const forged = { to, other: PHONE, unmarked: true };
        assert.deepEqual((await received(bench, "1001", forged)).strangers, [0]);
      }
      assert.deepEqual((await received(bench, "1002", { to: PHONE, unmarked: true })).strangers, [0]);
      assert.equal(await statusOf(bench, key), WAITING);
      assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
    });

    test("a receipt that names a number of another country in full is not the message's, however that ends", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, "1001");
      for (const to of ["49790000001", "+49790000001", "0049790000001"])
        assert.deepEqual(await received(bench, "1001", { to }), { ...APPLIED, unmatched: 1, foreign: 1 });
      assert.equal(await statusOf(bench, key), WAITING);
    });

    test("a text that looks like a receipt is given back, also where very many parts have its id", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 1_000, total: 1_000 } });
      await bench.accept(Array.from({ length: MAX_SAME_ID + 1 }, () => bench.message({ to: PHONE })));
      const parts = [{ carrierMessageId: "0", counts: true }];
      const atMs = bench.clock.now();
      const messages = bench
        .takeMessages()
        .map(({ key }) => ({ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs }));
      await bench.store.submitted({ messages });
      const told = await received(bench, "0", { to: STRANGER, unmarked: true });
      assert.deepEqual(told, { ...APPLIED, strangers: [0] });
      assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
    });

    test("a text that could be about two messages to its phone is given back, and never changes a message to another", async (t) => {
      const bench = await Bench.start(t, make);
      const own: [key: string, atMs: number][] = [];
      for (let times = 0; times < 2; times++) {
        own.push([await sent(bench, "7"), bench.clock.now()]);
        await bench.clock.advance(5 * 60_000);
      }
      const others = await sent(bench, "7", "49790000001");
      const forged = { to: PHONE, other: "80808", outcome: "undeliverable", unmarked: true } as const;
      assert.deepEqual(await received(bench, "7", forged), { ...APPLIED, strangers: [0] });
      assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
      for (const [key, submittedAtMs] of own) {
        assert.deepEqual(await received(bench, "7", { to: PHONE, submittedAtMs }), APPLIED);
        assert.equal(await statusOf(bench, key), DELIVERED);
      }
      assert.equal(await statusOf(bench, others), WAITING);
    });

    test("what matches nothing goes when it is too old, and the oldest when it is too much, a page at a time", async (t) => {
      const bench = await Bench.start(t, make);
      for (let phone = 1; phone <= 6; phone++) {
        await stray(bench, String(phone));
        await bench.clock.advance(DAY / 2);
      }
      const drop = (days: number, keepRows: number, limit: number) =>
        bench.store.dropUnmatched({ beforeMs: bench.clock.now() - days * DAY, keepRows, limit });
      assert.deepEqual(await drop(7, 6, 10), { count: 0, more: false });
      assert.deepEqual(await drop(2.25, 6, 10), { count: 4, more: false });
      assert.deepEqual(await unmatched(bench), [
        ["3", "4", "5", "6"],
        ["3", "4", "5", "6"],
      ]);
      assert.deepEqual(await drop(7, 1, 2), { count: 4, more: true });
      assert.deepEqual(await drop(7, 1, 2), { count: 2, more: false });
      assert.deepEqual(await unmatched(bench), [["6"], ["6"]]);
    });

    test("a receipt that comes again after the last word is known for one, also after a restart, and is not among those that match nothing", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, "1001");
      const receipt = { ...bench.receipt("1001"), to: PHONE };
      // Twice in one go; the second of them, too, is acknowledged and no more.
      const both = await bench.store.received({ carrierId: CARRIER, receipts: [receipt, receipt] });
      assert.deepEqual(both, REPEATED);
      assert.deepEqual(await received(bench, "1001", { to: PHONE }), REPEATED);
      await sent(bench, "1002", STRANGER);
      await received(bench, "1002", { to: STRANGER, outcome: "undeliverable" });
      await bench.restart();
      await bench.clock.advance(HOUR);
      assert.deepEqual(await received(bench, "1001", { to: PHONE }), REPEATED);
      assert.deepEqual(await received(bench, "1002", { to: STRANGER, outcome: "undeliverable" }), REPEATED);
      assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
      assert.equal(await statusOf(bench, key), DELIVERED);
    });

    test("an early receipt that was parked and then applied is known when it comes again", async (t) => {
      const bench = await Bench.start(t, make);
      assert.equal((await received(bench, "1001", { to: PHONE })).unmatched, 1);
      const key = await sent(bench, "1001");
      assert.equal(await statusOf(bench, key), DELIVERED);
      assert.deepEqual(await received(bench, "1001", { to: PHONE }), REPEATED);
    });

    test("what only resembles a receipt that was applied is none that comes again: another phone, outcome or carrier, or no id", async (t) => {
      const bench = await Bench.start(t, make);
      await sent(bench, "1001");
      await received(bench, "1001", { to: PHONE });
      await sent(bench, unknownId(PHONE));
      await received(bench, "", { to: PHONE });
      assert.deepEqual(await received(bench, "1001", { to: PHONE, outcome: "undeliverable" }), LATER);
      assert.equal((await received(bench, "", { to: PHONE })).unmatched, 1);
      const receipts = [{ ...bench.receipt("1001"), to: PHONE }];
      assert.equal((await bench.store.received({ carrierId: "another", receipts })).unmatched, 1);
      // The carrier uses the id again, and the receipt overtakes the answer.
      assert.equal((await received(bench, "1001", { to: STRANGER })).unmatched, 1);
      assert.equal(await statusOf(bench, await sent(bench, "1001", STRANGER)), DELIVERED);
      // And again for the same phone, with the receipt after the answer. What was parked is too old to be about it.
      await bench.clock.advance(HOUR);
      assert.equal(await statusOf(bench, await sent(bench, "1001")), WAITING);
      assert.equal((await received(bench, "1001", { to: PHONE })).repeated, 0);
    });

    /** A message to PHONE that has had its last word, under this id. */
    async function delivered(bench: Bench, id: string): Promise<void> {
      await sent(bench, id);
      await received(bench, id, { to: PHONE });
    }

    test("a carrier that uses an id again for the same phone is heard, also when the receipt overtakes the answer", async (t) => {
      const bench = await Bench.start(t, make);
      await delivered(bench, "1001");
      await bench.clock.advance(HOUR);
      await bench.accept([bench.message({ to: PHONE }), bench.message({ to: PHONE })]);
      const [first, second] = bench.takeMessages().map(({ key }) => key);
      await bench.clock.advance(1_000);
      assert.deepEqual(await received(bench, "1001", { to: PHONE }), REPEATED);
      await bench.restart();
      await bench.clock.advance(60_000);
      await submitted(bench, first!, "1001");
      assert.equal(await statusOf(bench, first!), DELIVERED);
      await submitted(bench, second!, "1001");
      assert.equal(await statusOf(bench, second!), WAITING, "it was of the first");
    });

    test("a receipt that came again settles no message that came after it, was sent long after it, or goes to another phone or under no id", async (t) => {
      const bench = await Bench.start(t, make);
      await delivered(bench, "1001");
      await bench.accept([bench.message({ to: PHONE })]);
      const waiting = bench.takeMessages()[0]!.key;
      assert.deepEqual(await received(bench, "1001", { to: PHONE }), REPEATED);
      assert.equal(await statusOf(bench, await sent(bench, "1001", STRANGER)), WAITING, "another phone");
      assert.equal(await statusOf(bench, await sent(bench, unknownId(PHONE))), WAITING, "under no id");
      await bench.clock.advance(1_000);
      assert.equal(await statusOf(bench, await sent(bench, "1001")), WAITING, "it came after the receipt");
      await bench.clock.advance(MAX_REPEAT_WAIT_MS);
      await submitted(bench, waiting, "1001");
      assert.equal(await statusOf(bench, waiting), WAITING, "it was sent long after the receipt");
    });

    test("receipts that come again are kept for some minutes, each once, and are not among those that match nothing", async (t) => {
      const bench = await Bench.start(t, make);
      for (const id of ["1001", "1002", "1003"]) await delivered(bench, id);
      await bench.accept([bench.message({ to: PHONE }), bench.message({ to: PHONE })]);
      const [early, late] = bench.takeMessages().map(({ key }) => key);
      await stray(bench, STRANGER);
      for (let times = 0; times < 3; times++)
        for (const id of ["1001", "1002"]) assert.deepEqual(await received(bench, id, { to: PHONE }), REPEATED);
      await bench.clock.advance(MAX_REPEAT_WAIT_MS / 2);
      assert.deepEqual(await received(bench, "1003", { to: PHONE }), REPEATED);
      const { count, receipts } = await bench.store.parkedReceipts({ limit: 10 });
      assert.deepEqual([count, receipts.map(({ to }) => to)], [1, [STRANGER]]);
      await bench.clock.advance(MAX_REPEAT_WAIT_MS / 2 + 1);
      // Two repeats are too old: each is one row, and a page of one row takes one of them.
      const drop = () => bench.store.dropUnmatched({ beforeMs: 0, keepRows: 10, limit: 1 });
      assert.deepEqual(await drop(), { count: 0, more: true });
      assert.deepEqual(await drop(), { count: 0, more: true });
      assert.deepEqual(await drop(), { count: 0, more: false });
      assert.equal((await bench.store.parkedReceipts({ limit: 10 })).count, 1);
      await submitted(bench, early!, "1002");
      await submitted(bench, late!, "1003");
      assert.deepEqual([await statusOf(bench, early!), await statusOf(bench, late!)], [WAITING, DELIVERED]);
    });

    test("a receipt that matches nothing, and comes again, is parked once, and as of the last time", async (t) => {
      const bench = await Bench.start(t, make);
      assert.equal((await received(bench, "1001", { to: PHONE })).unmatched, 1);
      await bench.clock.advance(HOUR);
      for (let times = 0; times < 3; times++) {
        assert.deepEqual(await received(bench, "1001", { to: PHONE }), REPEATED);
        await bench.restart();
      }
      assert.equal((await bench.store.parkedReceipts({ limit: 10 })).count, 1);
      const key = await sent(bench, "1001");
      assert.equal(await statusOf(bench, key), DELIVERED, "it came after the message");
    });

    test("receipts that were applied are remembered for a day", async (t) => {
      const bench = await Bench.start(t, make);
      for (let id = 1; id <= 5; id++) {
        await sent(bench, String(id));
        await received(bench, String(id), { to: PHONE });
        await bench.clock.advance(DAY / 4 + 1);
      }
      const beforeMs = bench.clock.now() - 7 * DAY;
      assert.deepEqual(await bench.store.dropUnmatched({ beforeMs, keepRows: 10, limit: 500 }), {
        count: 0,
        more: false,
      });
      await bench.restart();
      const repeated: number[] = [];
      for (let id = 1; id <= 5; id++) repeated.push((await received(bench, String(id), { to: PHONE })).repeated);
      assert.deepEqual(repeated, [0, 0, 1, 1, 1]);
    });

    test("a part whose id was never learnt hears marked receipts of its phone, and nothing else", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, unknownId(PHONE));
      assert.deepEqual((await received(bench, "", { to: PHONE, unmarked: true })).strangers, [0]);
      assert.deepEqual((await received(bench, "whatever", { to: PHONE, unmarked: true })).strangers, [0]);
      assert.equal((await received(bench, "whatever", { to: STRANGER })).unmatched, 1);
      assert.equal((await received(bench, unknownId(PHONE), { to: STRANGER })).foreign, 1);
      assert.equal(await statusOf(bench, key), WAITING);
      assert.equal((await received(bench, "whatever", { to: PHONE })).unmatched, 0);
      assert.equal(await statusOf(bench, key), DELIVERED);
    });

    test("a receipt of a message that had its last word, again or another, settles no message to its phone whose id was never learnt", async (t) => {
      const bench = await Bench.start(t, make);
      const first = await sent(bench, "1001");
      await received(bench, "1001", { to: PHONE });
      const second = await sent(bench, unknownId(PHONE));
      for (let times = 0; times < 2; times++) {
        assert.deepEqual(await received(bench, "1001", { to: PHONE }), REPEATED);
        assert.equal(await statusOf(bench, second), WAITING);
        // From then on it is not in memory.
        await bench.restart();
      }
      assert.deepEqual(await received(bench, "1001", { to: PHONE, outcome: "expired" }), LATER);
      assert.deepEqual([await statusOf(bench, first), await statusOf(bench, second)], [DELIVERED, WAITING]);
      const both = ["1002", "1001"].map((id) => ({ ...bench.receipt(id), to: PHONE }));
      assert.deepEqual(await bench.store.received({ carrierId: CARRIER, receipts: both }), REPEATED);
      assert.equal(await statusOf(bench, second), DELIVERED, "its own is still heard");
    });

    test("a part whose id was never learnt hears first that it is held and then the last word, under one id", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, unknownId(PHONE));
      for (const outcome of ["held", "delivered"] as const)
        assert.deepEqual(await received(bench, "1001", { to: PHONE, outcome }), APPLIED);
      assert.equal(await statusOf(bench, key), DELIVERED);
    });

    for (const order of ["before", "after"]) {
      test(`the receipt of one part that comes twice, ${order} the answer, is none of a part whose id was never learnt`, async (t) => {
        const bench = await Bench.start(t, make);
        await bench.accept([bench.message({ to: PHONE })]);
        const { key } = bench.takeMessages()[0]!;
        const parts = ["a", unknownId(PHONE)].map((carrierMessageId) => ({ carrierMessageId, counts: true }));
        const atMs = bench.clock.now();
        const message = { key, carrierId: CARRIER, parts, refusedErrorId: null, atMs };
        if (order === "after") await bench.store.submitted({ messages: [message] });
        for (let times = 0; times < 2; times++) await received(bench, "a", { to: PHONE });
        if (order === "before") await bench.store.submitted({ messages: [message] });
        assert.equal(await statusOf(bench, key), WAITING);
        await received(bench, "b", { to: PHONE });
        assert.equal(await statusOf(bench, key), DELIVERED);
      });
    }

    const SENDER = "41791111111";
    const swapped = { to: SENDER, other: PHONE };

    test("a part whose id was never learnt hears receipts with a plus, and with swapped addresses", async (t) => {
      const bench = await Bench.start(t, make);
      const byNumber = await sent(bench, unknownId(PHONE), PHONE, SENDER);
      assert.equal((await received(bench, "whatever", swapped)).unmatched, 0);
      const byName = await sent(bench, unknownId(PHONE));
      assert.equal((await received(bench, "whatever", { to: null, other: PHONE })).unmatched, 0);
      const plus = await sent(bench, unknownId(PHONE));
      assert.equal((await received(bench, "whatever", { to: `+${PHONE}` })).unmatched, 0);
      for (const key of [byNumber, byName, plus]) assert.equal(await statusOf(bench, key), DELIVERED);
    });

    test("a receipt with swapped addresses waits for a part whose id was never learnt", async (t) => {
      const bench = await Bench.start(t, make);
      await received(bench, "whatever", swapped);
      const old = await sent(bench, unknownId(PHONE), PHONE, STRANGER);
      assert.equal(await statusOf(bench, old), WAITING, "a message of another sender's");
      await received(bench, "", { to: PHONE });
      assert.equal(await statusOf(bench, old), DELIVERED);
      const key = await sent(bench, unknownId(PHONE), PHONE, SENDER);
      assert.equal(await statusOf(bench, key), DELIVERED);
      assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
    });

    test("a receipt that could be about either of two parts without ids settles neither until it can be about one only", async (t) => {
      const bench = await Bench.start(t, make);
      const toSender = await sent(bench, unknownId(SENDER), SENDER);
      const toPhone = await sent(bench, unknownId(PHONE), PHONE, SENDER);
      assert.equal((await received(bench, "whatever", swapped)).unmatched, 1);
      const names = [{ carrierId: CARRIER, carrierMessageId: unknownId(PHONE) }];
      await bench.store.matchParked({ names });
      assert.deepEqual([await statusOf(bench, toSender), await statusOf(bench, toPhone)], [WAITING, WAITING]);
      await received(bench, "its own", { to: SENDER, other: "80808", outcome: "delivered" });
      assert.deepEqual([await statusOf(bench, toSender), await statusOf(bench, toPhone)], [DELIVERED, WAITING]);
      // A sweep sees what has been written to the tables.
      await bench.restart();
      const { cursor } = await bench.store.sweep({
        nowMs: bench.clock.now(),
        receiptWaitMs: DAY,
        limit: 100,
        cursor: SWEEP_START,
      });
      assert.deepEqual(cursor, SWEEP_START);
      assert.equal(await statusOf(bench, toPhone), DELIVERED);
    });

    test("a receipt of what a phone has sent itself says nothing of a message to that phone", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await sent(bench, unknownId(PHONE));
      assert.equal((await received(bench, "1001", { to: STRANGER, other: PHONE })).unmatched, 1);
      assert.equal(await statusOf(bench, key), WAITING);
      const answered = await sent(bench, "1001", STRANGER, PHONE);
      assert.equal(await statusOf(bench, answered), DELIVERED);
    });
  });
}
