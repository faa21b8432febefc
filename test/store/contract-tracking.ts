/** What every engine of the store must do for whoever asks what became of messages. Each case has a database of its own. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { searchLogs } from "../../src/admin/log-search.ts";
import { carriedOf } from "../../src/message/fields.ts";
import { nthId } from "../../src/runtime/ids.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import type { ReportFetch } from "../../src/store/port/reports.ts";
import type { LogFilter, LoggedMessage, LogPosition } from "../../src/store/port/tracking.ts";
import fc, { cases } from "../support/chance.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const URL_A = "http://127.0.0.1:1/a";
const LEASE_MS = 60_000;
const ENROUTE = STATUS.PENDING_ENROUTE.id;
const DELIVERED = STATUS.DELIVERED_TO_HANDSET.id;
const NO_DESTINATION = STATUS.REJECTED_DESTINATION.id;
const DUPLICATE = STATUS.REJECTED_DUPLICATE_MESSAGE_ID.id;

const EVERYTHING: LogFilter = {
  from: null,
  to: null,
  bulkIds: null,
  messageIds: null,
  statusIds: null,
  mcc: null,
  mnc: null,
  sinceMs: 0,
  untilMs: Number.MAX_SAFE_INTEGER,
};

/** All pages of the logs, and how many there were. */
async function readLogs(
  bench: Bench,
  filter: Partial<LogFilter> = {},
  limit = 1_000,
): Promise<{ messages: LoggedMessage[]; pages: number }> {
  const messages: LoggedMessage[] = [];
  let after: LogPosition | null = null;
  let pages = 0;
  do {
    const query = { ...EVERYTHING, ...filter, accountId: bench.accountId, limit: limit - messages.length, after };
    const page: Awaited<ReturnType<Bench["store"]["logs"]>> = await bench.store.logs(query);
    messages.push(...page.messages);
    after = page.next;
    pages++;
  } while (after !== null && messages.length < limit);
  return { messages, pages };
}

const idsOf = (messages: readonly { messageId: string }[]): string[] => messages.map(({ messageId }) => messageId);

function fetchReports(bench: Bench, change: Partial<ReportFetch> = {}) {
  const nowMs = bench.clock.now();
  return bench.store.fetchReports({
    accountId: bench.accountId,
    bulkIds: null,
    messageIds: null,
    limit: 100,
    nowMs,
    sinceMs: nowMs - 48 * HOUR,
    againAtMs: nowMs + LEASE_MS,
    ...change,
  });
}

async function namesFetched(bench: Bench, change: Partial<ReportFetch> = {}): Promise<string[]> {
  return idsOf((await fetchReports(bench, change)).reports);
}

/** Messages that are rejected under these names, each in a bulk of its own time. */
async function reject(bench: Bench, names: readonly string[], bulkId = "bulk"): Promise<void> {
  for (const clientMessageId of names) {
    await bench.accept([bench.message({ clientMessageId, rejectedStatusId: NO_DESTINATION })], {}, { bulkId });
    await bench.clock.advance(1);
  }
}

export function trackingContract(engine: string, make: MakeDatabase): void {
  describe(`tracking on ${engine}: reports to be fetched`, () => {
    test("the last word of a message without a URL waits, with all that a pushed report says", async (t) => {
      const bench = await Bench.start(t, make);
      const content = { callbackData: "mine", partCount: 2, intermediateReport: true };
      await bench.accept([bench.message({ clientMessageId: "one" })], content);
      await bench.accept([bench.message({ clientMessageId: "two" })], {
        ...content,
        intermediateReport: false,
        notifyUrl: URL_A,
      });
      const messages = bench.takeMessages();
      await bench.clock.advance(1_000);
      await bench.submit(messages);
      assert.deepEqual(await namesFetched(bench), [], "what is still to come is not fetched, not even on request");
      await bench.clock.advance(1_000);
      for (const { key } of messages) {
        const receipts = [bench.receipt(`${key}.1`), { ...bench.receipt(`${key}.2`), mccMnc: "22801" }];
        await bench.store.received({ carrierId: CARRIER, receipts });
      }
      const pushed = bench.takeReports().flatMap(({ items }) => items);
      assert.deepEqual(idsOf(pushed), ["two"]);
      const { reports } = await fetchReports(bench);
      assert.deepEqual(reports, [{ ...pushed[0], messageId: "one" }]);
      assert.deepEqual([reports[0]?.statusId, reports[0]?.mccMnc], [DELIVERED, "22801"]);
    });

    test("rejected, refunded and expired messages are reported too, at no price", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 20_000n });
      await bench.accept([bench.message({ clientMessageId: "refused" })]);
      await bench.accept([bench.message({ clientMessageId: "late" })], {
        dueAtMs: NOW + HOUR,
        expiresAtMs: NOW + HOUR,
      });
      await bench.accept([bench.message({ clientMessageId: "poor", pricePerPartMicros: 10_000n })]);
      await bench.accept([bench.message({ clientMessageId: "pushed", rejectedStatusId: 52 })], { notifyUrl: URL_A });
      const [refused] = bench.takeMessages();
      await bench.clock.advance(HOUR);
      const atMs = bench.clock.now();
      await bench.store.finish({ endings: [{ key: refused!.key, event: "refused", errorId: 1, atMs }] });
      await bench.clock.advance(1);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 10 });
      const { reports } = await fetchReports(bench);
      assert.deepEqual(
        reports.map(({ messageId, statusId, pricePerPartMicros }) => [messageId, statusId, pricePerPartMicros]),
        [
          ["poor", STATUS.REJECTED_NOT_ENOUGH_CREDITS.id, 0n],
          ["refused", STATUS.UNDELIVERABLE_REJECTED_OPERATOR.id, 0n],
          ["late", STATUS.EXPIRED_EXPIRED.id, 0n],
        ],
      );
    });

    test("four who fetch at once get different reports, and together all of them, oldest first", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept(Array.from({ length: 40 }, () => bench.message({ rejectedStatusId: NO_DESTINATION })));
      const [all] = [idsOf((await readLogs(bench)).messages).reverse()];
      const fetches = await Promise.all(Array.from({ length: 4 }, () => namesFetched(bench, { limit: 10 })));
      assert.deepEqual(fetches.flat(), all);
      assert.deepEqual(await namesFetched(bench), []);
      assert.deepEqual(await namesFetched(bench, { accountId: bench.resellerId }), []);
    });

    test("what was handed out and not confirmed comes again when its time is over, before what is newer, also after a crash", async (t) => {
      const bench = await Bench.start(t, make);
      await reject(bench, ["one", "two", "three"]);
      const first = await fetchReports(bench, { limit: 2 });
      await bench.restart();
      assert.deepEqual(await namesFetched(bench, { limit: 0 }), []);
      await bench.clock.advance(LEASE_MS - 1);
      assert.deepEqual(await namesFetched(bench, { messageIds: ["one", "two"] }), [], "its time is not over");
      await bench.clock.advance(1);
      const again = await fetchReports(bench);
      assert.deepEqual(idsOf(again.reports), ["one", "two", "three"]);
      assert.deepEqual(again.reports.slice(0, 2), first.reports, "to the letter");
    });

    test("what was confirmed does not come again, however often it is confirmed", async (t) => {
      const bench = await Bench.start(t, make);
      await reject(bench, ["one", "two"]);
      const { keys } = await fetchReports(bench, { limit: 1 });
      await bench.store.confirmReports({ keys });
      await bench.store.confirmReports({ keys });
      await bench.restart();
      await bench.clock.advance(HOUR);
      assert.deepEqual(await namesFetched(bench), ["two"]);
    });

    test("a report waits 48 hours from when it was made here, whatever time the network put on it", async (t) => {
      const bench = await Bench.start(t, make);
      const names = ["in time", "from long ago", "from the future"];
      await bench.accept(names.map((clientMessageId) => bench.message({ clientMessageId })));
      const messages = bench.takeMessages();
      await bench.submit(messages);
      const times = [NOW, NOW - 1_000 * HOUR, NOW + 1_000 * HOUR];
      const receipts = messages.map(({ key }, index) => ({ ...bench.receipt(`${key}.1`), atMs: times[index]! }));
      await bench.store.received({ carrierId: CARRIER, receipts });
      await bench.clock.advance(48 * HOUR - 1);
      assert.deepEqual(await namesFetched(bench, { limit: 2 }), names.slice(0, 2));
      await bench.clock.advance(1);
      assert.deepEqual(await namesFetched(bench), []);
    });

    test("a clock that steps back hides nothing that waits", async (t) => {
      const bench = await Bench.start(t, make);
      await reject(bench, ["one"]);
      bench.clock.stepBack(HOUR);
      assert.deepEqual(await namesFetched(bench), ["one"]);
    });

    test("only what is asked for is taken: by bulk, by messageId, by both; the rest goes on waiting", async (t) => {
      const bench = await Bench.start(t, make);
      await reject(bench, ["a1", "same"], "a");
      await reject(bench, ["b1", "same", "b2"], "b");
      await bench.accept([bench.message({ rejectedStatusId: NO_DESTINATION })], {}, { bulkId: "c" });
      const [unnamed] = (await readLogs(bench, { bulkIds: ["c"] })).messages;
      const { messageId } = unnamed!;
      assert.deepEqual(await namesFetched(bench, { messageIds: ["nothing", "99999999999999999999", "0", "b"] }), []);
      assert.deepEqual(await namesFetched(bench, { accountId: bench.resellerId, messageIds: [messageId] }), []);
      assert.deepEqual(await namesFetched(bench, { messageIds: [messageId, messageId, "b2"] }), ["b2", messageId]);
      assert.deepEqual(await namesFetched(bench, { messageIds: ["same"], bulkIds: ["b", "c"] }), ["same"]);
      assert.deepEqual(await namesFetched(bench, { bulkIds: ["b", "a", "b"], limit: 2 }), ["a1", "same"]);
      assert.deepEqual(await namesFetched(bench), ["b1"]);
    });
  });

  describe(`tracking on ${engine}: logs`, () => {
    test("a message is in the logs as it stands: on its way, then under the time at which it was sent", async (t) => {
      const bench = await Bench.start(t, make);
      const content = { text: "Grüezi", partCount: 2, callbackData: "mine", notifyUrl: URL_A };
      await bench.accept([bench.message({ clientMessageId: "one" })], content);
      await bench.accept([bench.message({ clientMessageId: "two", to: "no", rejectedStatusId: NO_DESTINATION })]);
      const [message] = bench.takeMessages();
      const facts = {
        bulkId: "bulk",
        messageId: "one",
        to: "41790000001",
        from: "Sender",
        sentAtMs: NOW,
        doneAtMs: null,
        smsCount: 2,
        mccMnc: null,
        ...carriedOf({ callbackData: "mine" }),
        pricePerPartMicros: 10_000n,
        currency: "EUR",
        statusId: ENROUTE,
        errorId: 0,
        key: message!.key,
        text: "Grüezi",
        encoding: "gsm7",
        written: null,
      };
      const [two, one] = (await readLogs(bench)).messages;
      assert.deepEqual(one, facts);
      assert.deepEqual(
        [two?.messageId, two?.statusId, two?.pricePerPartMicros, two?.doneAtMs],
        ["two", NO_DESTINATION, 0n, NOW],
      );

      await bench.clock.advance(HOUR);
      await bench.submit([message!]);
      await bench.clock.advance(HOUR);
      await bench.receive(bench.receipt(`${message!.key}.1`), bench.receipt(`${message!.key}.2`));
      const { messages } = await readLogs(bench);
      assert.deepEqual(idsOf(messages), ["one", "two"]);
      assert.deepEqual(messages[0], {
        ...facts,
        sentAtMs: NOW + HOUR,
        doneAtMs: NOW + 2 * HOUR,
        statusId: DELIVERED,
      });
      assert.deepEqual(await readLogs(bench), { messages, pages: 1 }, "a second reader sees the same");
    });

    test("a name finds what was accepted under it and what was rejected, newest first, and no other account's", async (t) => {
      const bench = await Bench.start(t, make);
      for (let copy = 0; copy < 50; copy++) {
        await bench.clock.advance(1);
        const rejected = { to: `4179000${1000 + copy}`, rejectedStatusId: NO_DESTINATION };
        await bench.accept([bench.message({ clientMessageId: "mine", ...rejected })]);
      }
      await bench.clock.advance(1);
      await bench.accept([bench.message({ clientMessageId: "mine" })]);
      // A duplicate has another name: this one is the first message's.
      await bench.accept([bench.message({ clientMessageId: "mine", to: "41790009999" })]);
      const { messages, pages } = await readLogs(bench, { messageIds: ["mine", "other"] });
      assert.ok(pages <= 5, `${pages} pages`);
      assert.deepEqual(
        messages.map(({ statusId, to }) => [statusId, to]),
        [
          [ENROUTE, "41790000001"],
          ...Array.from({ length: 50 }, (_, index) => [NO_DESTINATION, `4179000${1049 - index}`]),
        ],
      );
      const strange = { ...EVERYTHING, accountId: bench.resellerId, limit: 10, after: null };
      assert.deepEqual(await bench.store.logs({ ...strange, messageIds: ["mine"] }), { messages: [], next: null });
      assert.deepEqual(await bench.store.logs(strange), { messages: [], next: null });
    });

    test("a filter that matches rarely is followed a page at a time, through messages of one moment too", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 1, total: 1 } });
      const count = 7_000;
      const rare = [0, 1_999, 2_000, 5_000, count - 1];
      const numbers = Array.from({ length: count }, (_, index) =>
        rare.includes(index) ? "41791111111" : "41790000001",
      );
      const acceptance = bench.acceptance(numbers.map((to) => bench.message({ to })));
      await bench.store.accept(acceptance);
      const found = [...rare].reverse().map((index) => nthId(acceptance.firstKey, index));
      for (const bulkIds of [null, ["bulk"], ["bulk", "other"]]) {
        const first = await bench.store.logs({
          ...EVERYTHING,
          accountId: bench.accountId,
          to: "41790000009",
          bulkIds,
          limit: 10,
          after: null,
        });
        assert.deepEqual(first.messages, []);
        assert.notEqual(first.next, null, "it does not look at all of them at once");
        const { messages, pages } = await readLogs(bench, { to: "41791111111", bulkIds });
        assert.deepEqual(idsOf(messages), found);
        assert.ok(pages > 2 && pages < 10, `${pages} pages`);
        assert.deepEqual(idsOf((await readLogs(bench, { to: "41791111111", bulkIds }, 2)).messages), found.slice(0, 2));
      }
      const { messages } = await readLogs(bench, {}, count);
      assert.equal(new Set(idsOf(messages)).size, count);
    });

    test("a search has every message once and newest first, though messages are sent between its pages", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 1_000, total: 1_000 } });
      const bulks = ["a", "b"];
      for (let request = 0; request < 90; request++) {
        await bench.accept(
          Array.from({ length: 10 }, () => bench.message({ clientMessageId: null })),
          {},
          { bulkId: bulks[request % 2]! },
        );
        await bench.clock.advance(100);
      }
      let waiting = bench.takeMessages();
      const all = waiting.map(({ key }) => key).sort();
      for (const bulkIds of [null, bulks]) {
        let pages = 0;
        const found = await searchLogs({
          query: { ...EVERYTHING, accountId: bench.accountId, bulkIds, limit: 1_000 },
          nowMs: bench.clock.now(),
          async page(query) {
            const page = await bench.store.logs(query);
            pages++;
            await bench.clock.advance(1);
            // One in three from all over the place: the pages have seen some of them and not the others.
            await bench.submit(waiting.filter((_, place) => place % 3 === 0));
            waiting = waiting.filter((_, place) => place % 3 !== 0);
            return page;
          },
        });
        assert.ok(pages > 5, `${pages} pages`);
        assert.deepEqual(found.map(({ key }) => key).sort(), all);
        const times = found.map(({ sentAtMs }) => sentAtMs);
        assert.deepEqual(
          times,
          times.toSorted((one, other) => other - one),
        );
      }
    });

    test("any filter gives what a look at every message gives", async (t) => {
      const message = fc.record({
        from: fc.constantFrom("Sender", "Other", "41799"),
        to: fc.constantFrom("41790000001", "41790000002"),
        bulkId: fc.constantFrom("a", "b", "c"),
        name: fc.option(fc.constantFrom("x", "y", "z", "1")),
        fate: fc.constantFrom("rejected", "queued", "submitted", "delivered", "undeliverable" as const),
        mccMnc: fc.constantFrom(null, "22801", "22802", "310410"),
        afterMs: fc.constantFrom(0, 1, 500),
      });
      const oneOf = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { freq: 2 });
      const several = (...values: string[]) => fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }));
      const query = fc.record({
        from: oneOf("Sender", "Other", "sender", "nobody"),
        to: oneOf("41790000001", "41790000002", "4179000000"),
        bulkIds: several("a", "b", "none"),
        // A number stands for the key of the message at that place.
        messageIds: several("x", "y", "1", "none", "#0", "#1", "#2"),
        statusIds: oneOf([ENROUTE, 3], [DELIVERED], [NO_DESTINATION, DUPLICATE], [1]),
        mcc: oneOf("228", "310", "22"),
        mnc: oneOf("01", "410", "1"),
        sinceMs: fc.constantFrom(0, NOW + 1, NOW + 500, NOW + 2_000),
        untilMs: fc.constantFrom(Number.MAX_SAFE_INTEGER, NOW, NOW + 1_000, NOW + 5_000),
        limit: fc.constantFrom(1, 3, 1_000),
      });
      const population = fc.array(message, { minLength: 1, maxLength: 30 });
      await fc.assert(
        fc.asyncProperty(population, fc.array(query, { minLength: 40, maxLength: 40 }), async (messages, queries) => {
          const bench = await Bench.start(t, make);
          const model: (LoggedMessage & { key: string })[] = [];
          for (const { from, to, bulkId, name, fate, mccMnc, afterMs } of messages) {
            await bench.clock.advance(afterMs);
            const rejectedStatusId = fate === "rejected" ? NO_DESTINATION : null;
            const acceptance = bench.acceptance(
              [bench.message({ to, clientMessageId: name, rejectedStatusId })],
              { from },
              { bulkId },
            );
            const outcome = await bench.store.accept(acceptance);
            assert.ok(outcome.kind === "accepted");
            const key = acceptance.firstKey;
            const [queued] = bench.takeMessages();
            const receivedAtMs = bench.clock.now();
            const sent = queued !== undefined && fate !== "queued";
            if (sent) {
              await bench.clock.advance(700);
              await bench.submit([queued]);
            }
            const sentAtMs = sent ? bench.clock.now() : receivedAtMs;
            const done = sent && (fate === "delivered" || fate === "undeliverable");
            if (done) {
              const receipt = { ...bench.receipt(`${key}.1`, fate), mccMnc };
              await bench.store.received({ carrierId: CARRIER, receipts: [receipt] });
            }
            const final = fate === "delivered" ? DELIVERED : STATUS.UNDELIVERABLE_NOT_DELIVERED.id;
            model.push({
              key,
              encoding: "gsm7",
              written: null,
              bulkId,
              // A duplicate has an id of its own.
              messageId: outcome.statusIds[0] === DUPLICATE ? key : (name ?? key),
              to,
              from,
              sentAtMs,
              doneAtMs: done || queued === undefined ? bench.clock.now() : null,
              smsCount: 1,
              mccMnc: done ? mccMnc : null,
              ...carriedOf({}),
              pricePerPartMicros: queued === undefined ? 0n : 10_000n,
              currency: "EUR",
              statusId: done ? final : sent ? STATUS.PENDING_WAITING_DELIVERY.id : outcome.statusIds[0]!,
              errorId: 0,
              text: "Hello",
            });
          }
          model.sort((a, b) => b.sentAtMs - a.sentAtMs || (BigInt(b.key) > BigInt(a.key) ? 1 : -1));
          for (const { limit, messageIds: wanted, ...filter } of queries) {
            const messageIds = wanted?.map((id) => (id.startsWith("#") ? (model[Number(id[1])]?.messageId ?? id) : id));
            const { from, to, bulkIds, statusIds, mcc, mnc, sinceMs, untilMs } = filter;
            const expected = model.filter(
              (one) =>
                (from === null || one.from === from) &&
                (to === null || one.to === to) &&
                (bulkIds === null || bulkIds.includes(one.bulkId ?? "")) &&
                (messageIds === undefined || messageIds.includes(one.messageId)) &&
                (statusIds === null || statusIds.includes(one.statusId)) &&
                (mcc === null || one.mccMnc?.slice(0, 3) === mcc) &&
                (mnc === null || one.mccMnc?.slice(3) === mnc) &&
                one.sentAtMs >= sinceMs &&
                one.sentAtMs <= untilMs,
            );
            const found = await readLogs(bench, { ...filter, messageIds: messageIds ?? null }, limit);
            assert.deepEqual(
              found.messages.map(({ errorId: _, ...rest }) => rest),
              expected.slice(0, limit).map(({ errorId: _, ...rest }) => rest),
            );
          }
          await bench.close();
        }),
        { numRuns: cases(25) },
      );
    });
  });
}
