/** What every engine of the store must do. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_SESSIONS } from "../../src/commands/sessions.ts";
import type { QueuedMessage } from "../../src/message/message.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { SWEEP_START, type Swept } from "../../src/store/port/delivery.ts";
import type { ReplayGuard } from "../../src/store/port/messages.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const URL_A = "http://127.0.0.1:1/a";
const ENROUTE = 7;
const ACCEPTED = 26;
const NO_CREDITS = 12;

export function storeContract(engine: string, make: MakeDatabase): void {
  describe(`the store on ${engine}: accepting`, () => {
    test("what was accepted is there after the process died, and goes to delivery again", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message({ to: "41790000001" }), bench.message({ to: "41790000002" })]);
      const before = bench.takeMessages();
      await bench.restart();
      assert.deepEqual(bench.overflowed, [{ accountId: bench.accountId, carrierId: CARRIER }]);
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      assert.deepEqual(bench.takeMessages(), before);
    });

    test("each part is charged once, and the ledger agrees", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 100_000n });
      assert.deepEqual(await bench.accept([bench.message(), bench.message()], { partCount: 3 }), [ENROUTE, ENROUTE]);
      assert.equal(await bench.balance(), 40_000n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("messages that the balance does not cover are rejected, those before and after that it covers go out", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 25_000n });
      const prices = [10_000n, 20_000n, 10_000n, 10_000n];
      const statuses = await bench.accept(prices.map((pricePerPartMicros) => bench.message({ pricePerPartMicros })));
      assert.deepEqual(statuses, [ENROUTE, NO_CREDITS, ENROUTE, NO_CREDITS]);
      assert.equal(await bench.balance(), 5_000n);
      assert.equal(bench.takeMessages().length, 2);
    });

    test("200 requests at once on money for 50: exactly 50 are accepted and nothing is left", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 500_000n });
      const statuses = await Promise.all(Array.from({ length: 200 }, () => bench.accept([bench.message()])));
      assert.equal(statuses.flat().filter((status) => status === ENROUTE).length, 50);
      assert.equal(statuses.flat().filter((status) => status === NO_CREDITS).length, 150);
      assert.equal(await bench.balance(), 0n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a credit limit lets the balance go below zero, and no further", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n, creditLimitMicros: 15_000n });
      assert.deepEqual(await bench.accept([bench.message(), bench.message()]), [ENROUTE, NO_CREDITS]);
      assert.equal(await bench.balance(), -10_000n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a request that comes again gets its first answer and is charged once, by key and by bulkId", async (t) => {
      const bench = await Bench.start(t, make);
      for (const replay of [
        { key: "k", bulk: false, bodyHash: "h" },
        { key: null, bulk: true, bodyHash: "h" },
      ] satisfies ReplayGuard[]) {
        const before = await bench.balance();
        const mixed = [bench.message(), bench.message({ rejectedStatusId: 52 })];
        const first = await bench.store.accept(bench.acceptance(mixed, {}, { replay }));
        const copies = await Promise.all(
          // By now it would take more parts: what was charged is told.
          Array.from({ length: 5 }, () => bench.store.accept(bench.acceptance(mixed, { partCount: 2 }, { replay }))),
        );
        for (const copy of copies) {
          const pricesMicros = [10_000n, 10_000n];
          assert.deepEqual(copy, { ...first, replayed: true, partCounts: [1, 1], pricesMicros });
        }
        assert.equal(before - (await bench.balance()), 10_000n);
      }
      assert.equal(bench.takeMessages().length, 2);
    });

    test("a key with another request is a conflict; a bulkId with another request joins the bulk", async (t) => {
      const bench = await Bench.start(t, make);
      const accept = (replay: ReplayGuard) => bench.store.accept(bench.acceptance([bench.message()], {}, { replay }));
      await accept({ key: "k", bulk: false, bodyHash: "one" });
      assert.deepEqual(await accept({ key: "k", bulk: false, bodyHash: "two" }), { kind: "conflict" });
      await accept({ key: null, bulk: true, bodyHash: "one" });
      const joined = await accept({ key: null, bulk: true, bodyHash: "two" });
      assert.equal(joined.kind === "accepted" && joined.replayed, false);
      assert.equal(bench.takeMessages().length, 3);
    });

    test("a key that came with a bulkId that was answered before belongs to that request too", async (t) => {
      const bench = await Bench.start(t, make);
      const accept = (replay: ReplayGuard) => bench.store.accept(bench.acceptance([bench.message()], {}, { replay }));
      await accept({ key: null, bulk: true, bodyHash: "one" });
      const again = await accept({ key: "k", bulk: true, bodyHash: "one" });
      assert.equal(again.kind === "accepted" && again.replayed, true);
      assert.deepEqual(await accept({ key: "k", bulk: false, bodyHash: "two" }), { kind: "conflict" });
    });

    test("a rejected message does not use up its messageId", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 15_000n });
      const named = bench.message({ clientMessageId: "mine" });
      assert.deepEqual(await bench.accept([named], { partCount: 2 }), [NO_CREDITS]);
      assert.deepEqual(await bench.accept([named]), [ENROUTE]);
      assert.deepEqual(await bench.accept([named]), [23]);
    });

    test("keys are forgotten after their time, bulkIds are not", async (t) => {
      const bench = await Bench.start(t, make);
      const accept = (replay: ReplayGuard) => bench.store.accept(bench.acceptance([bench.message()], {}, { replay }));
      await accept({ key: "k", bulk: true, bodyHash: "one" });
      await bench.store.purgeExpired({ nowMs: NOW + 25 * HOUR, replayMs: 24 * HOUR, sessionMs: 24 * HOUR, limit: 100 });
      assert.equal((await accept({ key: "k", bulk: false, bodyHash: "two" })).kind, "accepted");
      const again = await accept({ key: null, bulk: true, bodyHash: "one" });
      assert.equal(again.kind === "accepted" && again.replayed, true);
    });

    test("old replays and sessions are forgotten a page at a time, the young ones never", async (t) => {
      const bench = await Bench.start(t, make);
      const later = NOW + 25 * HOUR;
      const purgeExpired = (limit: number) =>
        bench.store.purgeExpired({ nowMs: later, replayMs: 24 * HOUR, sessionMs: 24 * HOUR, limit });
      const accept = (key: string, receivedAtMs = NOW) => {
        const replay = { key, bulk: false, bodyHash: "one" };
        return bench.store.accept(bench.acceptance([bench.message()], {}, { replay, receivedAtMs }));
      };
      for (const key of ["a", "b", "c", "d", "e"]) await accept(key);
      await accept("young", later);
      assert.deepEqual(
        [await purgeExpired(2), await purgeExpired(2), await purgeExpired(2)],
        [{ more: true }, { more: true }, { more: false }],
      );
      const young = await accept("young", later);
      assert.equal(young.kind === "accepted" && young.replayed, true);

      for (const token of ["a", "b", "c", "d", "e"]) await bench.store.createSession(bench.session(token));
      await bench.store.createSession({ ...bench.session("young"), nowMs: later });
      assert.deepEqual(
        [await purgeExpired(2), await purgeExpired(2), await purgeExpired(2)],
        [{ more: true }, { more: true }, { more: false }],
      );
      const look = { nowMs: later, idleMs: HOUR, maxMs: 24 * HOUR };
      assert.notEqual(await bench.store.findSession({ ...look, tokenHash: "young" }), null);
    });

    test("sessions move with a clock that is moved, and last as long as before", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.store.createSession(bench.session("a"));
      const look = { tokenHash: "a", idleMs: HOUR, maxMs: 24 * HOUR };
      await bench.store.moveSessions({ byMs: 48 * HOUR });
      assert.equal(await bench.store.findSession({ ...look, nowMs: NOW + 49 * HOUR }), null);
      assert.notEqual(await bench.store.findSession({ ...look, nowMs: NOW + 49 * HOUR - 1 }), null);
    });

    test("what waits for a time is counted, of one account or of all, and the first of it is told", async (t) => {
      const bench = await Bench.start(t, make);
      for (const hours of [1, 2, 3])
        await bench.accept([bench.message()], { sendAtMs: NOW, dueAtMs: NOW + hours * HOUR });
      const until = (hours: number, accountId: number | null) =>
        bench.store.waitingUntil({ untilMs: NOW + hours * HOUR, accountId });
      const first = { reports: 0, firstMessageAtMs: NOW + HOUR };
      assert.deepEqual(await until(2, bench.accountId), { ...first, messages: 2 });
      assert.deepEqual(await until(3, null), { ...first, messages: 3 });
      assert.deepEqual(await until(3, bench.accountId + 1), { messages: 0, reports: 0, firstMessageAtMs: null });
      assert.deepEqual(await until(0, null), { messages: 0, reports: 0, firstMessageAtMs: null });
    });

    test("a messageId of the client's names one message, also within one request", async (t) => {
      const bench = await Bench.start(t, make);
      const named = bench.message({ clientMessageId: "mine" });
      assert.deepEqual(await bench.accept([named, named]), [ENROUTE, 23]);
      assert.deepEqual(await bench.accept([named, bench.message({ clientMessageId: "other" })]), [23, ENROUTE]);
      assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
    });

    test("numbers on the account's or the service's opt-out list get nothing", async (t) => {
      const bench = await Bench.start(t, make);
      assert.equal(await bench.store.optOut({ accountKey: "CLIENT", number: "41790000001", atMs: NOW }), "added");
      assert.equal(await bench.store.optOut({ accountKey: null, number: "41790000002", atMs: NOW }), "added");
      assert.equal(
        await bench.store.optOut({ accountKey: "NOBODY", number: "41790000002", atMs: NOW }),
        "unknown account",
      );
      const numbers = ["41790000001", "41790000002", "41790000003"];
      const all = () => bench.accept(numbers.map((to) => bench.message({ to })));
      assert.deepEqual(await all(), [14, 14, ENROUTE]);
      await bench.store.optIn({ accountKey: "CLIENT", number: "41790000001" });
      assert.deepEqual(await all(), [ENROUTE, 14, ENROUTE]);
    });

    test("a rejected message costs nothing and is reported to its URL", async (t) => {
      const bench = await Bench.start(t, make);
      const content = { notifyUrl: URL_A, callbackData: "mine" };
      assert.deepEqual(await bench.accept([bench.message({ rejectedStatusId: 52 })], content), [52]);
      const [batch] = bench.takeReports();
      assert.equal(batch?.url, URL_A);
      assert.deepEqual(
        batch?.items.map(({ statusId, errorId, callbackData }) => [statusId, errorId, callbackData]),
        [[52, 351, "mine"]],
      );
      assert.equal(await bench.balance(), 1_000_000_000n);
    });

    test("one bad command of a group does not take the others with it", async (t) => {
      const bench = await Bench.start(t, make);
      const good = () => bench.accept([bench.message()]);
      const bad = bench.store.accept(bench.acceptance([bench.message({ content: 7 })]));
      const results = await Promise.allSettled([good(), bad, good()]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
      assert.equal(bench.takeMessages().length, 2);
      assert.equal(await bench.balance(), 1_000_000_000n - 20_000n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });
  });

  describe(`the store on ${engine}: lanes and schedules`, () => {
    test("what does not fit into a lane waits in the store, comes in order, and is not overtaken", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 2, total: 100 } });
      const send = (from: number, to: number) =>
        bench.accept(
          Array.from({ length: to - from }, (_, index) => bench.message({ to: `4179000${1000 + from + index}` })),
        );
      await send(0, 5);
      const first = bench.takeMessages();
      assert.equal(first.length, 2);
      assert.deepEqual(bench.overflowed, [{ accountId: bench.accountId, carrierId: CARRIER }]);
      await bench.submit(first);
      await send(5, 6); // there is room again, and still it must wait behind the others
      assert.equal(bench.messages.length, 0);
      const order = first.map(({ to }) => to);
      for (;;) {
        const { more } = await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
        const claimed = bench.takeMessages();
        assert.ok(claimed.length <= 2);
        order.push(...claimed.map(({ to }) => to));
        await bench.submit(claimed);
        if (!more) break;
      }
      assert.deepEqual(
        order,
        Array.from({ length: 6 }, (_, index) => `4179000${1000 + index}`),
      );
      await send(6, 7);
      assert.equal(bench.takeMessages().length, 1, "an emptied lane takes messages straight again");
    });

    test("a backlog is claimed in its order, and what goes back to it comes first again", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 3, total: 100 } });
      const phones = Array.from({ length: 16 }, (_, index) => String(41_790_000_100 + index));
      await bench.accept(phones.map((to) => bench.message({ to })));
      const own = bench.takeMessages();
      assert.deepEqual(
        own.map(({ to }) => to),
        phones.slice(0, 3),
      );
      await bench.submit(own);
      const claim = async (limit = 3): Promise<QueuedMessage[]> => {
        await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit });
        return bench.takeMessages();
      };
      const seen: string[] = [];
      for (let count = 0; count < 2; count++) {
        const claimed = await claim();
        seen.push(...claimed.map(({ to }) => to));
        await bench.submit(claimed);
      }
      const claimed = await claim();
      seen.push(...claimed.map(({ to }) => to));
      assert.deepEqual(seen, phones.slice(3, 12));
      await bench.store.release({ keys: claimed.slice(1).map(({ key }) => key) });
      await bench.submit(claimed.slice(0, 1));
      const again = await claim();
      assert.deepEqual(
        again.map(({ to }) => to),
        phones.slice(10, 13),
      );
      await bench.submit(again);
      assert.deepEqual(
        (await claim(10)).map(({ to }) => to),
        phones.slice(13),
      );
    });

    test("all lanes together have a bound too, and an empty lane always gets one message", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 10, total: 3 } });
      await bench.accept(Array.from({ length: 5 }, () => bench.message()));
      assert.equal(bench.takeMessages().length, 3);
      await bench.accept([bench.message({ carrierId: "other" })]);
      assert.equal(bench.messages.length, 0);
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: "other", limit: 10 });
      assert.equal(bench.takeMessages().length, 1);
    });

    test("scheduled messages come when they are due, in the order of their time", async (t) => {
      const bench = await Bench.start(t, make);
      for (const hours of [3, 1, 2]) {
        const status = await bench.accept([bench.message({ to: `4179000000${hours}` })], {
          dueAtMs: NOW + hours * HOUR,
        });
        assert.deepEqual(status, [ACCEPTED]);
      }
      assert.deepEqual(await bench.store.claimDue({ nowMs: NOW, limit: 10 }), { more: false, nextDueAtMs: NOW + HOUR });
      assert.equal(bench.messages.length, 0);
      assert.deepEqual(await bench.store.claimDue({ nowMs: NOW + 2 * HOUR, limit: 10 }), {
        more: false,
        nextDueAtMs: NOW + 3 * HOUR,
      });
      assert.deepEqual(
        bench.takeMessages().map(({ to }) => to),
        ["41790000001", "41790000002"],
      );
      assert.deepEqual(await bench.store.claimDue({ nowMs: NOW + 4 * HOUR, limit: 1 }), {
        more: true,
        nextDueAtMs: null,
      });
    });

    test("a scheduled message past its validity is not sent but refunded and reported", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { dueAtMs: NOW + HOUR, expiresAtMs: NOW + 2 * HOUR, notifyUrl: URL_A });
      await bench.store.claimDue({ nowMs: NOW + 2 * HOUR, limit: 10 });
      assert.equal(bench.messages.length, 0);
      assert.deepEqual(
        bench.takeReports().flatMap(({ items }) => items.map(({ statusId }) => statusId)),
        [15],
      );
      assert.equal(await bench.balance(), 1_000_000_000n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a postponed message waits for its next time", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()]);
      const [message] = bench.takeMessages();
      await bench.store.postpone({ messages: [{ key: message!.key, dueAtMs: NOW + HOUR, event: "window closed" }] });
      await bench.store.claimDue({ nowMs: NOW + HOUR - 1, limit: 10 });
      assert.equal(bench.messages.length, 0);
      await bench.store.claimDue({ nowMs: NOW + HOUR, limit: 10 });
      assert.deepEqual(bench.takeMessages(), [{ ...message, dueAtMs: NOW + HOUR }]);
    });

    test("what is handed back, page by page, is found by the next start", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept(Array.from({ length: 4 }, () => bench.message()));
      const [first] = bench.takeMessages();
      await bench.submit([first!]);
      assert.deepEqual(await bench.store.handBack({ limit: 2 }), { more: true });
      assert.deepEqual(await bench.store.handBack({ limit: 2 }), { more: false });
      await bench.restart();
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      assert.equal(bench.takeMessages().length, 3);
    });

    test("an unknown outcome is counted on the message", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()]);
      const [message] = bench.takeMessages();
      await bench.store.again({ messages: [{ key: message!.key, unknown: true, taken: null }] });
      await bench.restart();
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      assert.equal(bench.takeMessages()[0]?.unknownCount, 1);
    });

    test("a receipt that waits under the name of a message proves that its carrier has what it never answered", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message(), bench.message({ to: "41790000002" })]);
      const charged = await bench.balance();
      const [first, second] = bench.takeMessages().map(({ key }) => key);
      const again = (keys: readonly (string | undefined)[]) =>
        bench.store.again({
          messages: keys.map((key) => ({
            key: key!,
            unknown: true,
            taken: null,
            provenBy: { carrierId: CARRIER, carrierMessageId: key! },
          })),
        });
      assert.deepEqual(await again([first, second]), { gone: [] });
      assert.equal(await bench.receive(bench.receipt(second!)), 1);
      assert.deepEqual(await again([first, second]), { gone: [1] });
      assert.deepEqual(await again([second]), { gone: [0] }, "and it is gone for whoever asks once more");
      await bench.restart();
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      assert.deepEqual(
        bench.takeMessages().map(({ key, unknownCount }) => [key, unknownCount]),
        [[first, 2]],
      );
      assert.equal(await bench.balance(), charged);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    for (const [end, makeEnd] of [
      [
        "is given up",
        async ({ store }: Bench, key: string) => {
          const provenBy = { carrierId: CARRIER, carrierMessageId: key };
          await store.finish({ endings: [{ key, event: "gave up", errorId: 815, atMs: NOW, provenBy }] });
        },
      ],
      [
        "expires while it waits for its time",
        async ({ store }: Bench, key: string) => {
          await store.postpone({ messages: [{ key, dueAtMs: NOW + 9 * HOUR, event: "put off" }] });
          await store.claimDue({ nowMs: NOW + 9 * HOUR, limit: 10 });
        },
      ],
      [
        "expires in the backlog",
        async (bench: Bench) => {
          await bench.restart();
          await bench.store.sweep({ nowMs: NOW + 9 * HOUR, receiptWaitMs: HOUR, limit: 10, cursor: SWEEP_START });
        },
      ],
      [
        "is called off with its bulk",
        async ({ store, accountId }: Bench, key: string) => {
          await store.postpone({ messages: [{ key, dueAtMs: NOW + 2 * HOUR, event: "window closed" }] });
          await store.setBulkStatus({ accountId, bulkId: "bulk", status: "CANCELED" });
          await store.claimDue({ nowMs: NOW, limit: 10 });
        },
      ],
    ] as const) {
      test(`a receipt that waits under the name of a message proves that its carrier has it, also when it ${end}`, async (t) => {
        const bench = await Bench.start(t, make);
        const times = { sendAtMs: NOW, dueAtMs: NOW, expiresAtMs: NOW + 9 * HOUR };
        await bench.accept([bench.message()], { ...times, notifyUrl: URL_A }, { bulkId: "bulk" });
        await bench.store.claimDue({ nowMs: NOW, limit: 10 });
        const { key } = bench.takeMessages()[0]!;
        const charged = await bench.balance();
        await bench.store.again({ messages: [{ key, unknown: true, taken: null }] });
        await bench.receive(bench.receipt(key));
        await makeEnd(bench, key);
        const reports = bench.takeReports().flatMap(({ items }) => items);
        assert.deepEqual(
          reports.map(({ statusId }) => statusId),
          [STATUS.DELIVERED_TO_HANDSET.id],
        );
        assert.equal(await bench.balance(), charged);
        assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
      });
    }

    const TAKEN = { reference: 4711, cut: "cut", ids: ["a", null, "c"] };

    test("what a carrier has of a long message is known after a restart, and the rest makes it whole", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message(), bench.message({ to: "41790000002" })], { partCount: 3 });
      const { key } = bench.takeMessages()[0]!;
      await bench.store.again({ messages: [{ key, unknown: false, taken: TAKEN }] });
      // An older word that comes later, and one that says nothing new, as of a link that died.
      await bench.store.again({ messages: [{ key, unknown: false, taken: { ...TAKEN, ids: ["a", null, null] } }] });
      await bench.store.again({ messages: [{ key, unknown: true, taken: null }] });
      await bench.restart();
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      const claimed = bench.takeMessages();
      assert.deepEqual(
        claimed.map(({ taken, unknownCount }) => [taken, unknownCount]),
        [
          [TAKEN, 1],
          [null, 0],
        ],
      );
      // The receipt of a part that it had waits until the whole is there.
      await bench.store.received({ carrierId: CARRIER, receipts: [bench.receipt("a")] });
      const parts = ["a", "b", "c"].map((carrierMessageId) => ({ carrierMessageId, counts: true }));
      await bench.store.submitted({
        messages: [{ key, carrierId: CARRIER, parts, refusedErrorId: null, atMs: NOW }],
      });
      const left = await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 });
      assert.deepEqual(
        left.map(({ carrierMessageId }) => carrierMessageId),
        ["b", "c"],
      );
      // What comes too late changes nothing.
      await bench.store.again({ messages: [{ key, unknown: true, taken: TAKEN }] });
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("past its validity, a message that nobody has ends with the parts that its carrier has, and stays charged", async (t) => {
      const bench = await Bench.start(t, make);
      const before = await bench.balance();
      await bench.accept([bench.message()], { partCount: 3, expiresAtMs: NOW + HOUR });
      const { key } = bench.takeMessages()[0]!;
      const charged = await bench.balance();
      await bench.store.again({ messages: [{ key, unknown: false, taken: TAKEN }] });
      await bench.store.received({ carrierId: CARRIER, receipts: [bench.receipt("c")] });
      await bench.restart();
      const sweep = { receiptWaitMs: HOUR, limit: 100, cursor: SWEEP_START };
      await bench.store.sweep({ nowMs: NOW + HOUR + 2_000, ...sweep });
      const left = await bench.store.outstanding({ carrierId: CARRIER, afterRow: 0, limit: 10 });
      assert.deepEqual(
        left.map(({ carrierMessageId }) => carrierMessageId),
        ["a"],
        "the other's receipt had come",
      );
      assert.equal(await bench.balance(), charged);
      assert.ok(charged < before);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });
  });

  describe(`the store on ${engine}: outcomes`, () => {
    test("a receipt makes the message final, once: a second one changes nothing and is recorded beside it", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { notifyUrl: URL_A });
      const [message] = bench.takeMessages();
      await bench.submit([message!]);
      assert.equal(await bench.receive(bench.receipt(`${message!.key}.1`)), 0);
      assert.deepEqual(
        bench.takeReports().flatMap(({ items }) => items.map(({ statusId }) => statusId)),
        [5],
      );
      assert.equal(await bench.receive(bench.receipt(`${message!.key}.1`, "undeliverable", 1)), 0);
      assert.deepEqual(bench.takeReports(), []);
      const later = await bench.store.laterReceipts({ messageKey: message!.key });
      assert.deepEqual(
        later.map(({ outcome, errorId }) => [outcome, errorId]),
        [["undeliverable", 1]],
      );
    });

    test("a receipt that overtakes the submit answer still finds its message, also across a restart", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { notifyUrl: URL_A });
      const [message] = bench.takeMessages();
      assert.equal(await bench.receive(bench.receipt(`${message!.key}.1`, "undeliverable", 1)), 1);
      await bench.restart();
      await bench.submit([message!]);
      const [batch] = bench.takeReports();
      assert.deepEqual(
        batch?.items.map(({ statusId, errorId }) => [statusId, errorId]),
        [[9, 1]],
      );
    });

    test("a message of several parts is final with its last part, and its worst part counts", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { partCount: 3, notifyUrl: URL_A });
      const key = bench.takeMessages()[0]!.key;
      await bench.store.submitted({
        messages: [
          {
            key,
            carrierId: CARRIER,
            parts: [1, 2, 3].map((part) => ({ carrierMessageId: `${key}.${part}`, counts: true })),
            refusedErrorId: null,
            atMs: NOW,
          },
        ],
      });
      await bench.receive(bench.receipt(`${key}.3`), bench.receipt(`${key}.1`, "undeliverable", 27));
      assert.deepEqual(bench.takeReports(), []);
      await bench.receive(bench.receipt(`${key}.2`));
      assert.deepEqual(
        bench.takeReports().flatMap(({ items }) => items.map(({ statusId, errorId }) => [statusId, errorId])),
        [[9, 27]],
      );
    });

    test("a part that the carrier refused spoils the message, whose other parts are waited for", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { partCount: 2, notifyUrl: URL_A });
      const [message] = bench.takeMessages();
      await bench.submit([{ ...message!, partCount: 1 }], 566);
      await bench.receive(bench.receipt(`${message!.key}.1`));
      assert.deepEqual(
        bench.takeReports().flatMap(({ items }) => items.map(({ statusId, errorId }) => [statusId, errorId])),
        [[4, 566]],
      );
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a message that no carrier took is refunded once, however often that is said", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { notifyUrl: URL_A });
      const [message] = bench.takeMessages();
      const endings = [{ key: message!.key, event: "refused", errorId: 566, atMs: NOW }] as const;
      await Promise.all([bench.store.finish({ endings }), bench.store.finish({ endings })]);
      assert.equal(await bench.balance(), 1_000_000_000n);
      assert.deepEqual(
        bench.takeReports().flatMap(({ items }) => items.map(({ statusId }) => statusId)),
        [4],
      );
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a message whose outcome stayed unknown is given up without a refund", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()]);
      const [message] = bench.takeMessages();
      await bench.store.finish({ endings: [{ key: message!.key, event: "gave up", errorId: 815, atMs: NOW }] });
      assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a carrier that forgets is told what it had taken, a page at a time", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept(
        Array.from({ length: 5 }, () => bench.message()),
        { expiresAtMs: NOW + HOUR },
      );
      const messages = bench.takeMessages();
      await bench.submit(messages);
      await bench.receive(bench.receipt(`${messages[0]!.key}.1`));
      const pages = [];
      for (let afterRow = 0; ; ) {
        const page = await bench.store.outstanding({ carrierId: CARRIER, afterRow, limit: 3 });
        pages.push(page);
        if (page.length < 3) break;
        afterRow = page.at(-1)!.rowId;
      }
      assert.deepEqual(
        pages.map((page) => page.length),
        [3, 1],
      );
      const { rowId: _, ...first } = pages[0]![0]!;
      assert.deepEqual(first, {
        carrierMessageId: `${messages[1]!.key}.1`,
        to: "41790000001",
        submittedAtMs: NOW,
        expiresAtMs: NOW + HOUR,
      });
      assert.deepEqual(await bench.store.outstanding({ carrierId: "other", afterRow: 0, limit: 3 }), []);
    });

    test("a round through the parts comes to its end while others come", async (t) => {
      const bench = await Bench.start(t, make);
      const submitTwo = async (): Promise<void> => {
        await bench.accept([bench.message(), bench.message()]);
        await bench.submit(bench.takeMessages());
        // A round need not see what came within the last second.
        await bench.clock.advance(2_000);
      };
      await submitTwo();
      await submitTwo();
      let swept: Swept = { cursor: SWEEP_START, more: true, waits: true };
      for (let page = 0; swept.more && page < 10; page++) {
        assert.ok(swept.waits);
        const nowMs = bench.clock.now();
        swept = await bench.store.sweep({ nowMs, receiptWaitMs: 1_000, limit: 2, cursor: swept.cursor });
        await submitTwo();
      }
      assert.deepEqual([swept.cursor, swept.more], [SWEEP_START, false]);
    });

    test("rounds end what waited too long: receipts that never came, and a backlog past its validity", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 3, total: 100 } });
      await bench.accept(
        Array.from({ length: 7 }, () => bench.message()),
        { expiresAtMs: NOW + HOUR, notifyUrl: URL_A },
      );
      await bench.submit(bench.takeMessages());
      const round = async (nowMs: number): Promise<number[]> => {
        await bench.clock.advance(nowMs - bench.clock.now());
        let swept = { cursor: SWEEP_START, more: true };
        while (swept.more)
          swept = await bench.store.sweep({ nowMs, receiptWaitMs: 1_000, limit: 2, cursor: swept.cursor });
        return bench.takeReports().flatMap(({ items }) => items.map(({ statusId }) => statusId));
      };
      assert.deepEqual(await round(NOW + HOUR - 1), []);
      assert.deepEqual(await round(NOW + HOUR), [15, 15, 15, 15]);
      assert.deepEqual(await round(NOW + HOUR + 1_000), [29, 29, 29]);
      assert.deepEqual(await round(NOW + 2 * HOUR), []);
      assert.equal(
        await bench.balance(),
        1_000_000_000n - 30_000n,
        "the backlog was refunded, the three that a carrier took were not",
      );
    });
  });

  describe(`the store on ${engine}: reports`, () => {
    /** A message with reports at every step, submitted. */
    async function submittedMessage(bench: Bench, notifyUrl = URL_A): Promise<string> {
      await bench.accept([bench.message()], { notifyUrl, intermediateReport: true });
      const [message] = bench.takeMessages();
      await bench.submit([message!]);
      return message!.key;
    }

    test("reports of one commit for one URL share a batch of at most 100", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 1_000, total: 1_000 } });
      await bench.accept(
        Array.from({ length: 250 }, () => bench.message()),
        { notifyUrl: URL_A },
      );
      const messages = bench.takeMessages();
      await bench.submit(messages);
      await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));
      const batches = bench.takeReports();
      assert.deepEqual(
        batches.map(({ items }) => items.length),
        [100, 100, 50],
      );
      assert.deepEqual(
        batches.flatMap(({ items }) => items.map(({ messageId }) => messageId)),
        messages.map(({ key }) => key),
      );
      assert.equal(new Set(batches.map(({ id }) => id)).size, 3);
    });

    test("a later report of a message waits until the earlier one is settled", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await submittedMessage(bench);
      const [first] = bench.takeReports();
      await bench.receive(bench.receipt(`${key}.1`, "held", 27));
      await bench.receive(bench.receipt(`${key}.1`));
      assert.deepEqual(bench.takeReports(), [], "both wait for the first");
      assert.deepEqual((await bench.store.dueReports({ nowMs: NOW + HOUR, limit: 10 })).batches, []);
      await bench.store.reportsDelivered({ ids: [first!.id] });
      const [second] = bench.takeReports();
      assert.deepEqual(
        second?.items.map(({ statusId, errorId }) => [statusId, errorId]),
        [[3, 27]],
      );
      await bench.store.reportsFailed({
        failures: [{ id: second!.id, attempts: 21, retryAtMs: null, reason: "answered 500", attempt: null }],
      });
      const [third] = bench.takeReports();
      assert.deepEqual(
        third?.items.map(({ statusId }) => statusId),
        [5],
        "a dead letter holds nothing up",
      );
    });

    test("a later report whose earlier one is settled in the same commit goes out", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await submittedMessage(bench);
      const [first] = bench.takeReports();
      await Promise.all([bench.receive(bench.receipt(`${key}.1`)), bench.store.reportsDelivered({ ids: [first!.id] })]);
      assert.deepEqual(
        bench.takeReports().flatMap(({ items }) => items.map((item) => "statusId" in item && item.statusId)),
        [5],
      );
    });

    test("reports of one message in one commit stay in order", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { notifyUrl: URL_A, intermediateReport: true });
      const [message] = bench.takeMessages();
      await Promise.all([bench.submit([message!]), bench.receive(bench.receipt(`${message!.key}.1`))]);
      const statuses = bench.takeReports().flatMap(({ items }) => items.map(({ statusId }) => statusId));
      assert.deepEqual(statuses, [3, 5]);
    });

    test("an undelivered batch is handed out again under its id: after a failure when due, after a release, after a restart", async (t) => {
      const bench = await Bench.start(t, make);
      const key = await submittedMessage(bench);
      const [batch] = bench.takeReports();
      const due = async (nowMs: number) => (await bench.store.dueReports({ nowMs, limit: 10 })).batches;
      assert.deepEqual(await due(NOW + HOUR), [], "it is in memory here");

      await bench.store.reportsFailed({
        failures: [{ id: batch!.id, attempts: 1, retryAtMs: NOW + 60_000, reason: "answered 500", attempt: null }],
      });
      assert.deepEqual(await due(NOW + 59_999), []);
      assert.equal((await bench.store.dueReports({ nowMs: NOW, limit: 10 })).nextDueAtMs, NOW + 60_000);
      assert.deepEqual(await due(NOW + 60_000), [{ ...batch, attempts: 1 }]);
      assert.deepEqual(await due(NOW + 60_000), [], "not handed out twice");

      await bench.store.reportsReleased({ releases: [{ id: batch!.id, dueAtMs: NOW + 5 }] });
      assert.deepEqual(await due(NOW + 5), [{ ...batch, attempts: 1 }]);

      await bench.restart();
      assert.deepEqual(await due(NOW + HOUR), [{ ...batch, attempts: 1, tried: true }]);
      await bench.store.reportsDelivered({ ids: [batch!.id] });
      await bench.store.reportsDelivered({ ids: [batch!.id] });
      await bench.restart();
      assert.deepEqual(await due(NOW + HOUR), []);
      assert.equal(await bench.receive(bench.receipt(`${key}.1`)), 0);
      assert.equal(bench.takeReports().length, 1);
    });

    test("due reports come oldest first and say whether there are more", async (t) => {
      const bench = await Bench.start(t, make);
      const urls = ["http://a/", "http://b/", "http://c/"];
      for (const [index, notifyUrl] of urls.entries()) {
        await bench.accept([bench.message({ rejectedStatusId: 52 })], { notifyUrl });
        const [batch] = bench.takeReports();
        await bench.store.reportsReleased({ releases: [{ id: batch!.id, dueAtMs: NOW - index }] });
      }
      const { batches, more } = await bench.store.dueReports({ nowMs: NOW, limit: 2 });
      assert.deepEqual([batches.map(({ url }) => url), more], [["http://c/", "http://b/"], true]);
    });

    test("an account has one signing secret, and two while one is being changed", async (t) => {
      const bench = await Bench.start(t, make);
      const secrets = async () => (await bench.store.callbackPolicy({ accountId: bench.accountId })).secrets;
      assert.deepEqual(await secrets(), ["whsec_AA=="]);
      assert.equal(await bench.store.rotateCallbackSecret({ accountKey: "CLIENT", secret: "whsec_BB==" }), "done");
      assert.deepEqual(await secrets(), ["whsec_BB==", "whsec_AA=="]);
      assert.equal(await bench.store.dropOldCallbackSecret({ accountKey: "CLIENT" }), "done");
      assert.deepEqual(await secrets(), ["whsec_BB=="]);
      assert.equal(await bench.store.rotateCallbackSecret({ accountKey: "NOBODY", secret: "x" }), "unknown account");
    });

    test("batches that pile up become one under the first id, with what waits for any of them behind it", async (t) => {
      const bench = await Bench.start(t, make);
      const keys = [await submittedMessage(bench), await submittedMessage(bench)];
      const [first, second] = bench.takeReports();
      await bench.store.mergeReports({ ids: [first!.id, second!.id] });
      await bench.receive(...keys.map((key) => bench.receipt(`${key}.1`)));
      assert.deepEqual(bench.takeReports(), [], "the final reports wait");
      await bench.restart();
      const { batches } = await bench.store.dueReports({ nowMs: NOW + HOUR, limit: 10 });
      assert.deepEqual(batches, [{ ...first, items: [...first!.items, ...second!.items], tried: true }]);
      await bench.store.reportsDelivered({ ids: [first!.id] });
      const released = bench.takeReports().flatMap(({ items }) => items.map(({ messageId }) => messageId));
      assert.deepEqual(released.sort(), keys);
    });

    test("a dead letter is listed with its tries, and sent again when told to, one by one or by filter", async (t) => {
      const bench = await Bench.start(t, make);
      const urls = ["http://a.test/", "http://b.test/", "http://b.test/"];
      const ids: string[] = [];
      for (const notifyUrl of urls) {
        await bench.accept([bench.message({ rejectedStatusId: 52 })], { notifyUrl });
        ids.push(bench.takeReports()[0]!.id);
      }
      const attempt = { atMs: NOW, status: 500, durationMs: 12, reason: "answered 500", excerpt: "oops" };
      const fail = (retryAtMs: number | null, attempts: number) =>
        bench.store.reportsFailed({
          failures: ids.map((id) => ({ id, attempts, retryAtMs, reason: attempt.reason, attempt })),
        });
      await fail(NOW + 1, 1);
      await fail(null, 2);
      const list = (change = {}) =>
        bench.store.deadLetters({ accountKey: null, url: null, beforeId: null, limit: 10, ...change });
      assert.deepEqual(
        (await list()).map(({ id }) => id),
        ids.toReversed(),
      );
      assert.deepEqual(
        (await list({ limit: 1, beforeId: ids[2] })).map(({ id }) => id),
        [ids[1]],
      );
      assert.deepEqual((await list({ url: "http://a.test/" }))[0], {
        id: ids[0],
        accountKey: "CLIENT",
        url: "http://a.test/",
        itemCount: 1,
        attempts: 2,
        deadAtMs: bench.clock.now(),
        reason: "answered 500",
        history: [attempt, attempt],
      });
      assert.deepEqual(await list({ accountKey: "NOBODY" }), []);

      const replay = { nowMs: NOW + HOUR, limit: 10 };
      assert.deepEqual(await bench.store.replayDeadLetters({ ids: [ids[0]!, "1"], accountKey: null, ...replay }), {
        replayed: 1,
        next: null,
      });
      assert.deepEqual(
        await bench.store.replayDeadLetters({ accountKey: "CLIENT", url: "http://b.test/", ...replay, limit: 1 }),
        { replayed: 1, next: ids[1] },
      );
      const { batches } = await bench.store.dueReports({ nowMs: NOW + HOUR, limit: 10 });
      assert.deepEqual(
        batches.map(({ id, attempts }) => [id, attempts]),
        [
          [ids[0], 0],
          [ids[1], 0],
        ],
      );
      assert.deepEqual(
        (await list()).map(({ id }) => id),
        [ids[2]],
      );
    });
  });

  describe(`the store on ${engine}: accounts, money, catalogue`, () => {
    test("keys and usernames are unique, and a parent must be a reseller", async (t) => {
      const bench = await Bench.start(t, make);
      const create = (key: string, username: string, parentKey: string | null) =>
        bench.store.createAccount({
          key,
          kind: "client",
          parentKey,
          username,
          currency: "EUR",
          ratePlanId: "standard",
          defaultSender: null,
          creditLimitMicros: 0n,
          openingBalanceMicros: 0n,
          callbackSecret: "s",
          passwordHash: "h",
          atMs: NOW,
        });
      assert.deepEqual(await create("CLIENT", "new", null), { kind: "key taken" });
      assert.deepEqual(await create("NEW", "client", null), { kind: "username taken" });
      assert.deepEqual(await create("NEW", "new", "CLIENT"), { kind: "unknown parent" });
      assert.deepEqual(await create("NEW", "new", "NOBODY"), { kind: "unknown parent" });
      assert.equal((await create("NEW", "new", "RESELLER")).kind, "created");
      assert.equal((await bench.store.findLogin({ username: "new" }))?.account.key, "NEW");
      assert.equal(await bench.store.findLogin({ username: "nobody" }), null);
      assert.equal(await bench.store.countAccounts({ kind: "client" }), 2);
    });

    test("of a user with too many sessions the oldest end, and nobody else's", async (t) => {
      const bench = await Bench.start(t, make);
      const other = { ...bench.session("other"), username: "reseller", accountId: bench.resellerId };
      await bench.store.createSession(other);
      const open = (index: number) =>
        bench.store.createSession({ ...bench.session(`t${index}`), nowMs: NOW + Math.floor(index / 10) });
      for (let index = 0; index < MAX_SESSIONS; index += 100)
        await Promise.all(Array.from({ length: 100 }, (_, place) => open(index + place)));
      const isThere = async (tokenHash: string): Promise<boolean> =>
        (await bench.store.findSession({ tokenHash, nowMs: NOW, idleMs: HOUR, maxMs: HOUR })) !== null;
      assert.deepEqual([await isThere("t0"), await isThere("t9")], [true, true]);
      for (let index = 0; index < 10; index++) await open(MAX_SESSIONS + index);
      assert.deepEqual([await isThere("t0"), await isThere("t9")], [false, false]);
      assert.deepEqual([await isThere("t10"), await isThere(`t${MAX_SESSIONS}`)], [true, true]);
      assert.equal(await isThere("other"), true);
    });

    test("a session ends when it is not used, when it is old, and when it is told to", async (t) => {
      const bench = await Bench.start(t, make);
      const find = (nowMs: number) =>
        bench.store.findSession({ tokenHash: "t", nowMs, idleMs: HOUR, maxMs: 24 * HOUR });
      await bench.store.createSession(bench.session("t"));
      for (let hours = 0; hours < 23.9; hours += 0.9)
        assert.equal((await find(NOW + hours * HOUR))?.id, bench.accountId);
      assert.equal(await find(NOW + 24 * HOUR), null);
      await bench.store.createSession(bench.session("u"));
      const look = { tokenHash: "u", idleMs: HOUR, maxMs: 24 * HOUR, lookOnly: true };
      assert.notEqual(
        await bench.store.findSession({ ...look, nowMs: NOW + 0.9 * HOUR }),
        null,
        "it does not count as use",
      );
      assert.equal(
        await bench.store.findSession({ tokenHash: "u", nowMs: NOW + HOUR, idleMs: HOUR, maxMs: 24 * HOUR }),
        null,
      );
      await bench.store.createSession(bench.session("v"));
      await bench.store.endSession({ tokenHash: "v" });
      assert.equal(await bench.store.findSession({ tokenHash: "v", nowMs: NOW, idleMs: HOUR, maxMs: 24 * HOUR }), null);
      await bench.store.purgeExpired({ nowMs: NOW + 25 * HOUR, replayMs: HOUR, sessionMs: 24 * HOUR, limit: 100 });
      assert.equal(await bench.store.findSession({ tokenHash: "t", nowMs: NOW, idleMs: HOUR, maxMs: 24 * HOUR }), null);
    });

    test("funds move money in, out, and between currencies, and never below zero", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n });
      const fund = (
        amountMicros: bigint,
        currency: string | null = null,
        accountKey = "CLIENT",
        replay: ReplayGuard | null = null,
      ) =>
        bench.store.fund({
          resellerId: bench.resellerId,
          accountKey,
          amountMicros,
          currency,
          ratesMicros: { EUR: 920_000n },
          description: "payment",
          replay,
          atMs: NOW,
        });
      const first = await fund(10_000_000n);
      const second = await fund(-4_000_000n);
      assert.ok(first.kind === "posted" && second.kind === "posted" && second.transactionId > first.transactionId);
      assert.deepEqual(await fund(-6_000_001n), { kind: "below zero" });
      assert.equal((await fund(1_000_000n, "USD")).kind, "posted");
      assert.equal(await bench.balance(), 6_920_000n);
      assert.deepEqual(await fund(1n, "USD"), { kind: "posted", transactionId: first.transactionId + 3 });
      assert.deepEqual(await fund(-1n, "EUR", "NOBODY"), { kind: "unknown account" });
      assert.deepEqual(
        await fund(1n, null, "RESELLER"),
        { kind: "unknown account" },
        "an account that is not its client",
      );
      const guard = { key: "k", bulk: false, bodyHash: "h" };
      const kept = await fund(5n, null, "CLIENT", guard);
      assert.deepEqual(await fund(5n, null, "CLIENT", guard), kept);
      assert.deepEqual(await fund(5n, null, "CLIENT", { ...guard, bodyHash: "other" }), { kind: "conflict" });
      assert.equal(await bench.balance(), 6_920_006n);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("an amount without a rate, or too small to be anything, is not posted", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n });
      const fund = (amountMicros: bigint, ratesMicros: Record<string, bigint>) =>
        bench.store.fund({
          resellerId: bench.resellerId,
          accountKey: "CLIENT",
          amountMicros,
          currency: "JPY",
          ratesMicros,
          description: "d",
          replay: null,
          atMs: NOW,
        });
      assert.deepEqual(await fund(1n, {}), { kind: "no rate", currency: "EUR" });
      assert.deepEqual(await fund(1n, { EUR: 6_000n }), { kind: "nothing left" });
      assert.deepEqual(await fund(10n ** 18n, { EUR: 1_000_000n }), { kind: "too large" });
    });

    test("the catalogue is replaced whole, and every change is counted", async (t) => {
      const bench = await Bench.start(t, make);
      const before = await bench.store.changeCounter();
      const items = [
        { kind: "carrier" as const, id: "a", body: "{}", version: 1 },
        { kind: "route" as const, id: "", body: "{}", version: 1 },
      ];
      await bench.store.putCatalogue({ items });
      assert.deepEqual(await bench.store.catalogue(), items);
      await bench.store.putCatalogue({ items: items.slice(1) });
      assert.deepEqual(await bench.store.catalogue(), items.slice(1));
      assert.equal(await bench.store.changeCounter(), before + 2);
    });

    test("what the data is for is said once", async (t) => {
      const bench = await Bench.start(t, make);
      assert.equal(await bench.store.purpose(), null);
      assert.equal(await bench.store.claimPurpose({ purpose: "sandbox" }), "sandbox");
      assert.equal(await bench.store.claimPurpose({ purpose: "production" }), "sandbox");
      await bench.restart();
      assert.equal(await bench.store.purpose(), "sandbox");
    });
  });
}
