/** What every engine of the store must do for whoever looks for messages and asks what happened to one. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SUBJECT, type TraceNote } from "../../src/events/trace.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import {
  type MessageFilter,
  type MessagePage,
  type MessageSearch,
  SEARCH_ROWS,
} from "../../src/store/port/message-search.ts";
import { Bench, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const URL_A = "http://127.0.0.1:1/a";
const MINUTE = 60_000;
const ANY: MessageFilter = {
  to: null,
  from: null,
  statusIds: null,
  errorIds: null,
  carrierId: null,
  text: null,
  bulkId: null,
  messageId: null,
  life: null,
  sinceMs: 0,
  untilMs: Number.MAX_SAFE_INTEGER,
};

function search(bench: Bench, change: Partial<MessageSearch> = {}): Promise<MessagePage> {
  const stuckBeforeMs = bench.clock.now() - 10 * MINUTE;
  return bench.store.findMessages({
    ...ANY,
    accountId: bench.accountId,
    stuckBeforeMs,
    overdueBeforeMs: bench.clock.now() - 5_000,
    limit: 50,
    after: null,
    ...change,
  });
}

const found = async (bench: Bench, change: Partial<MessageSearch> = {}): Promise<string[]> =>
  (await search(bench, change)).messages.map(({ to }) => to);

/** Three messages, a minute apart: one delivered, one failed, one on its way. */
async function threeMessages(bench: Bench): Promise<void> {
  for (const [index, to] of ["41790000001", "41790000002", "49170000003"].entries()) {
    await bench.accept([bench.message({ to })], { text: `Number ${index} is 100% here` }, { bulkId: `bulk-${index}` });
    await bench.clock.advance(MINUTE);
  }
  const [first, second, third] = bench.takeMessages();
  await bench.submit([first!, second!]);
  await bench.receive(bench.receipt(`${first!.key}.1`), bench.receipt(`${second!.key}.1`, "undeliverable", 27));
  assert.equal(third!.to, "49170000003");
}

const note = (subject: string, kind: TraceNote["kind"], detail: object, atMs = NOW): TraceNote => ({
  subject,
  atMs,
  kind,
  detail: JSON.stringify(detail),
});

export function messagesContract(engine: string, make: MakeDatabase): void {
  describe(`the store on ${engine}: looking for messages`, () => {
    test("messages are found newest first by every filter, and by several together", async (t) => {
      const bench = await Bench.start(t, make);
      await threeMessages(bench);
      const all = ["41790000002", "41790000001", "49170000003"];
      assert.deepEqual(await found(bench), all, "by their place in the logs: what was sent last comes first");
      assert.deepEqual(await found(bench, { accountId: null }), ["49170000003", "41790000002", "41790000001"]);
      assert.deepEqual(await found(bench, { to: { text: "41790000001", isPrefix: false } }), ["41790000001"]);
      assert.deepEqual(await found(bench, { to: { text: "4179", isPrefix: false } }), []);
      assert.deepEqual(await found(bench, { to: { text: "4179", isPrefix: true } }), all.slice(0, 2));
      assert.deepEqual(await found(bench, { from: { text: "Send", isPrefix: true } }), all);
      assert.deepEqual(await found(bench, { statusIds: [STATUS.DELIVERED_TO_HANDSET.id] }), ["41790000001"]);
      assert.deepEqual(await found(bench, { errorIds: [27] }), ["41790000002"]);
      assert.deepEqual(await found(bench, { carrierId: "another" }), []);
      assert.deepEqual(await found(bench, { text: "NUMBER 1" }), ["41790000002"]);
      assert.deepEqual(
        await found(bench, { text: "100% h" }),
        all,
        "what stands for anything elsewhere stands for itself",
      );
      assert.deepEqual(await found(bench, { text: "1__% h" }), []);
      assert.deepEqual(await found(bench, { bulkId: "bulk-1" }), ["41790000002"]);
      assert.deepEqual(await found(bench, { accountId: null, bulkId: "bulk-1" }), ["41790000002"]);
      assert.deepEqual(await found(bench, { sinceMs: NOW + 2 * MINUTE, untilMs: NOW + 2 * MINUTE + 1 }), [
        "49170000003",
      ]);
      assert.deepEqual(await found(bench, { to: { text: "4179", isPrefix: true }, errorIds: [27] }), ["41790000002"]);
    });

    test("a message is found by its id and by its client's name, and not with another account", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message({ clientMessageId: "mine" }), bench.message()]);
      const [named, unnamed] = bench.takeMessages();
      const ids = async (change: Partial<MessageSearch>) =>
        (await search(bench, change)).messages.map(({ key }) => key);
      assert.deepEqual(await ids({ messageId: "mine" }), [named!.key]);
      assert.deepEqual(await ids({ messageId: unnamed!.key }), [unnamed!.key]);
      assert.deepEqual(await ids({ messageId: unnamed!.key, accountId: null }), [unnamed!.key]);
      assert.deepEqual(await ids({ messageId: unnamed!.key, accountId: bench.resellerId }), []);
      assert.deepEqual(await ids({ messageId: "mine", accountId: bench.resellerId }), []);
      assert.deepEqual(await ids({ accountId: bench.resellerId }), []);
    });

    test("what waits, is tried again or is stuck is told apart, and counted", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message({ to: "1000000" })], { dueAtMs: NOW + HOUR });
      await bench.accept([
        bench.message({ to: "2000000" }),
        bench.message({ to: "3000000" }),
        bench.message({ to: "4000000" }),
        bench.message({ to: "6000000" }),
      ]);
      const [again, putOff, submitted] = bench.takeMessages();
      await bench.store.again({ messages: [{ key: again!.key, unknown: true, taken: null }] });
      await bench.store.postpone({ messages: [{ key: putOff!.key, dueAtMs: NOW + MINUTE, event: "put off" }] });
      await bench.submit([submitted!]);
      await bench.accept([bench.message({ to: "5000000", rejectedStatusId: 52 })]);
      assert.deepEqual((await found(bench, { life: "scheduled" })).sort(), ["1000000"]);
      assert.deepEqual((await found(bench, { life: "retrying" })).sort(), ["2000000", "3000000"]);
      assert.deepEqual(await found(bench, { life: "stuck" }), []);
      const counted = (accountId: number | null) =>
        bench.store.countMessages({
          accountId,
          stuckBeforeMs: bench.clock.now() - 10 * MINUTE,
          overdueBeforeMs: bench.clock.now() - 5_000,
        });
      const all = { isAllWaiting: true };
      assert.deepEqual(await counted(bench.accountId), {
        ...{ examined: 6, failed: 1, retrying: 2, stuck: 0, scheduled: 1 },
        ...all,
      });
      await bench.clock.advance(6_000);
      assert.deepEqual((await found(bench, { life: "retrying" })).sort(), ["2000000", "3000000", "6000000"]);
      const [late] = (await search(bench, { to: { text: "6000000", isPrefix: false } })).messages;
      assert.deepEqual([late?.isOverdue, late?.isRetrying, late?.isStuck], [true, false, false]);
      await bench.clock.advance(11 * MINUTE);
      assert.deepEqual((await found(bench, { life: "stuck" })).sort(), ["2000000", "4000000", "6000000"]);
      assert.equal((await counted(null)).stuck, 3);
      assert.deepEqual(await counted(bench.resellerId), {
        ...{ examined: 0, failed: 0, retrying: 0, stuck: 0, scheduled: 0 },
        ...all,
      });
      const [first] = (await search(bench, { life: "retrying", to: { text: "2000000", isPrefix: false } })).messages;
      assert.deepEqual([first?.isRetrying, first?.isStuck, first?.isScheduled], [true, true, false]);
    });

    test("what waits is counted however many messages came after it, as far as a bound", async (t) => {
      const bench = await Bench.start(t, make);
      const counted = async (accountId: number | null) => {
        const counts = await bench.store.countMessages({ accountId, stuckBeforeMs: NOW, overdueBeforeMs: NOW });
        return [counts.examined, counts.scheduled, counts.isAllWaiting];
      };
      const some = (count: number, more: Parameters<typeof bench.message>[0]) =>
        Array.from({ length: count }, () => bench.message(more));
      await bench.accept(some(2, { to: "1000000" }), { dueAtMs: NOW + HOUR });
      await bench.accept(some(SEARCH_ROWS + 1, { to: "2000000", rejectedStatusId: 52 }));
      for (const accountId of [bench.accountId, null])
        assert.deepEqual(await counted(accountId), [SEARCH_ROWS, 2, true]);
      assert.deepEqual(await counted(bench.resellerId), [0, 0, true]);
      await bench.accept(some(SEARCH_ROWS - 1, { to: "3000000" }), { dueAtMs: NOW + HOUR });
      for (const accountId of [bench.accountId, null])
        assert.deepEqual(await counted(accountId), [SEARCH_ROWS, SEARCH_ROWS, false]);
    });

    test("pages follow each other without a gap or a repetition, also among messages of one moment", async (t) => {
      const bench = await Bench.start(t, make, { lanes: { lane: 5_000, total: 5_000 } });
      const numbers = Array.from({ length: 250 }, (_, index) => `4179${1_000_000 + index}`);
      await bench.accept(numbers.map((to) => bench.message({ to })));
      for (const accountId of [bench.accountId, null]) {
        const seen: string[] = [];
        let after: MessageSearch["after"] = null;
        do {
          const page: MessagePage = await search(bench, { accountId, after, limit: 100 });
          seen.push(...page.messages.map(({ to }) => to));
          after = page.next;
        } while (after !== null);
        assert.deepEqual(seen, numbers.toReversed());
      }
    });

    test("a text is found in capitals or not, in any alphabet", async (t) => {
      const bench = await Bench.start(t, make);
      const texts = ["Привет, МИР", "Ärger in der Straße", "ΟΔΥΣΣΕΥΣ", "Iğdır", "plain"];
      for (const [index, text] of texts.entries())
        await bench.accept([bench.message({ to: `4179000000${index}` })], { text });
      const wanted = [
        "привет",
        "ПРИВЕТ",
        "Привет",
        "мир",
        "ärger",
        "STRASSE",
        "straße",
        "οδυσσευς",
        "οδυσσεύς",
        "IĞD",
        "PLAIN",
      ];
      const places: string[] = [];
      for (const accountId of [bench.accountId, null]) {
        for (const text of wanted) places.push((await found(bench, { accountId, text })).map((to) => to.at(-1)).join());
      }
      const expected = ["0", "0", "0", "0", "1", "1", "1", "2", "", "3", "4"];
      assert.deepEqual(places, [...expected, ...expected]);
    });

    test("a text is found page by page among many that do not have it", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 10n ** 12n, lanes: { lane: 10_000, total: 10_000 } });
      for (let count = 0; count < 7; count++) {
        await bench.accept([bench.message({ to: `4170000000${count}` })], { text: "Жёлтый" });
        await bench.accept(Array.from({ length: 100 }, () => bench.message()));
        await bench.clock.advance(1);
      }
      for (const accountId of [bench.accountId, null]) {
        const seen: string[] = [];
        let after: MessageSearch["after"] = null;
        do {
          const page = await search(bench, { accountId, text: "жЁлт", limit: 3, after });
          assert.ok(page.messages.length <= 3);
          seen.push(...page.messages.map(({ to }) => to.at(-1)!));
          after = page.next;
        } while (after !== null);
        assert.equal(seen.join(""), "6543210");
      }
    });

    test("a search that finds nothing stops after a bounded number of rows and says where to go on", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 10n ** 12n, lanes: { lane: 10_000, total: 10_000 } });
      await bench.accept([bench.message({ to: "4915100000" })]);
      await bench.clock.advance(1);
      await bench.accept(
        Array.from({ length: 4_500 }, () => bench.message()),
        {},
        { bulkId: "large" },
      );
      for (const change of [{}, { accountId: null }, { bulkId: "large" }]) {
        const wanted = { ...change, to: { text: "4915", isPrefix: true } };
        const first = await search(bench, wanted);
        assert.deepEqual({ ...first, next: first.next !== null }, { messages: [], next: true, examined: 2_000 });
        const second = await search(bench, { ...wanted, after: first.next });
        assert.equal(second.examined, 2_000);
        const third = await search(bench, { ...wanted, after: second.next });
        assert.equal(third.examined, "bulkId" in change ? 500 : 501);
        assert.equal(third.next, null);
        assert.equal(third.messages.length, "bulkId" in change ? 0 : 1);
      }
    });
  });

  describe(`the store on ${engine}: what happened to a message`, () => {
    test("a message has its charge, its refund and its failed report", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message({ clientMessageId: "mine" }), bench.message()], {
        notifyUrl: URL_A,
        partCount: 2,
      });
      const [first, second] = bench.takeMessages();
      await bench.clock.advance(1_000);
      await bench.store.finish({
        endings: [{ key: second!.key, event: "refused", errorId: 11, atMs: bench.clock.now() }],
      });
      const life = await bench.store.messageLife({ accountId: bench.accountId, messageId: second!.key });
      assert.equal(life?.state, "done");
      assert.equal(life?.accountKey, "CLIENT");
      assert.deepEqual(
        life?.postings.map(({ kind, amountMicros, atMs }) => [kind, amountMicros, atMs]),
        [
          ["charge", 40_000n, NOW],
          ["refund", 20_000n, NOW + 1_000],
        ],
      );
      assert.equal(life?.reports.length, 1, "it waits to be pushed");
      const [batch] = bench.takeReports();
      await bench.store.reportsFailed({
        failures: [
          {
            id: batch!.id,
            attempts: 1,
            retryAtMs: NOW + MINUTE,
            reason: "answered 503",
            attempt: { atMs: NOW, status: 503, durationMs: 3, reason: "answered 503", excerpt: "busy" },
          },
        ],
      });
      const failing = await bench.store.messageLife({ accountId: null, messageId: second!.key });
      assert.deepEqual(failing?.reports[0], {
        id: batch!.id,
        batch: { ...batch!, attempts: 1 },
        attempts: 1,
        dueAtMs: NOW + MINUTE,
        deadAtMs: null,
        reason: "answered 503",
        history: [{ atMs: NOW, status: 503, durationMs: 3, reason: "answered 503", excerpt: "busy" }],
      });
      const named = await bench.store.messageLife({ accountId: bench.accountId, messageId: "mine" });
      assert.equal(named?.key, first!.key);
      assert.equal(named?.partCount, 2);
      assert.equal(await bench.store.messageLife({ accountId: bench.resellerId, messageId: second!.key }), null);
      assert.equal(await bench.store.messageLife({ accountId: bench.resellerId, messageId: "mine" }), null);
      assert.equal(await bench.store.messageLife({ accountId: null, messageId: "nonsense" }), null);
    });

    test("what its carrier calls its parts is known while they wait, and after their receipts", async (t) => {
      const bench = await Bench.start(t, make);
      const ids = async (key: string) =>
        (await bench.store.messageLife({ accountId: null, messageId: key }))!.parts.map(
          (part) => part.carrierMessageId,
        );
      // Others before and after it, so that it has to be found among them.
      const keys: string[] = [];
      for (let minute = 0; minute < 9; minute++) {
        await bench.accept([bench.message(), bench.message()], { partCount: 2 });
        const messages = bench.takeMessages();
        await bench.submit(messages);
        keys.push(messages[1]!.key);
        await bench.clock.advance(MINUTE);
      }
      for (const key of keys) assert.deepEqual(await ids(key), [`${key}.1`, `${key}.2`]);
      const key = keys[4]!;
      await bench.receive(bench.receipt(`${key}.1`));
      assert.deepEqual(await ids(key), [`${key}.1`, `${key}.2`], "one has its receipt, and the other waits");
      await bench.clock.advance(HOUR);
      await bench.receive(bench.receipt(`${key}.2`));
      await bench.restart();
      assert.deepEqual((await bench.store.messageLife({ accountId: null, messageId: key }))!.state, "done");
      assert.deepEqual(await ids(key), [`${key}.1`, `${key}.2`]);
      assert.deepEqual(await ids(keys[8]!), [`${keys[8]}.1`, `${keys[8]}.2`]);
      assert.equal(await bench.store.accountKey({ accountId: bench.accountId }), "CLIENT");
      assert.equal(await bench.store.accountKey({ accountId: 999_999 }), null);
    });

    test("a report is pushed once more: hastened while it waits, revived when it is dead, made anew when it was taken", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], { notifyUrl: URL_A });
      const [message] = bench.takeMessages();
      const { accountId } = bench;
      const key = message!.key;
      const replay = async (reportIds: string[]) =>
        bench.store.replayReport({ accountId, key, reportIds, nowMs: bench.clock.now() });
      assert.equal(await replay([]), "nothing to replay", "it is not over yet");
      await bench.submit([message!]);
      await bench.receive(bench.receipt(`${key}.1`));
      const [batch] = bench.takeReports();
      const fail = (retryAtMs: number | null) =>
        bench.store.reportsFailed({
          failures: [{ id: batch!.id, attempts: 1, retryAtMs, reason: "answered 503", attempt: null }],
        });
      assert.equal(await replay([batch!.id]), "on its way", "it is being sent");
      await fail(NOW + HOUR);
      assert.equal(await replay([batch!.id]), "hastened");
      const due = () => bench.store.dueReports({ nowMs: bench.clock.now(), limit: 10 });
      assert.deepEqual(
        (await due()).batches.map(({ id }) => id),
        [batch!.id],
      );
      await fail(null);
      const other = await bench.store.replayReport({
        accountId: bench.resellerId,
        key,
        reportIds: [batch!.id],
        nowMs: NOW,
      });
      assert.equal(other, "nothing to replay", "another account's");
      assert.equal(await replay([batch!.id]), "replayed");
      assert.deepEqual(
        (await due()).batches.map(({ id }) => id),
        [batch!.id],
      );
      await bench.store.reportsDelivered({ ids: [batch!.id] });
      bench.takeReports();
      assert.equal(await replay([batch!.id]), "sent anew");
      const [anew] = bench.takeReports();
      assert.deepEqual(anew!.items, batch!.items);
      assert.notEqual(anew!.id, batch!.id);
    });

    test("a report that was made anew is one, however often somebody asks for it while it is on its way", async (t) => {
      for (const intermediateReport of [false, true]) {
        const bench = await Bench.start(t, make);
        await bench.accept([bench.message()], { notifyUrl: URL_A, intermediateReport });
        const [message] = bench.takeMessages();
        const { accountId } = bench;
        const key = message!.key;
        const replay = async (reportIds: string[] = []) =>
          bench.store.replayReport({ accountId, key, reportIds, nowMs: bench.clock.now() });
        await bench.submit([message!]);
        await bench.receive(bench.receipt(`${key}.1`));
        await bench.store.reportsDelivered({ ids: bench.takeReports().map(({ id }) => id) });
        await bench.store.reportsDelivered({ ids: bench.takeReports().map(({ id }) => id) });
        await bench.clock.advance(HOUR);
        const outcomes = await Promise.all([replay(), replay(), replay()]);
        assert.deepEqual(outcomes.sort(), ["on its way", "on its way", "sent anew"]);
        const [anew, ...others] = bench.takeReports();
        assert.deepEqual(others, []);
        assert.equal(await replay(), "on its way");
        const life = await bench.store.messageLife({ accountId, messageId: key });
        assert.deepEqual(
          life!.reports.map(({ id }) => id),
          [anew!.id],
        );
        const failure = { id: anew!.id, attempts: 1, reason: "answered 503", attempt: null };
        await bench.store.reportsFailed({ failures: [{ ...failure, retryAtMs: bench.clock.now() + HOUR }] });
        assert.equal(await replay(), "hastened");
        await bench.store.reportsFailed({ failures: [{ ...failure, retryAtMs: null }] });
        assert.equal(await replay(), "replayed");
        await bench.store.reportsDelivered({ ids: [anew!.id] });
        assert.equal(await replay(), "sent anew");
        assert.equal(bench.takeReports().length, 1);
      }
    });

    test("a message's report is found behind many others of the same moment", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 10n ** 12n, lanes: { lane: 10_000, total: 10_000 } });
      const { accountId } = bench;
      // Each to a path of its own, and so with a report of its own.
      const urls = Array.from({ length: 1_300 }, (_, count) => `${URL_A}/${count}`);
      await Promise.all(urls.map((notifyUrl) => bench.accept([bench.message()], { notifyUrl })));
      const messages = bench.takeMessages();
      await bench.submit(messages);
      await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));
      const { key } = messages.at(-1)!;
      const reportOf = async () =>
        (await bench.store.messageLife({ accountId, messageId: key }))!.reports.map(({ id }) => id);
      const reports = bench.takeReports();
      const own = reports.find(({ items }) => items.some((item) => "messageId" in item && item.messageId === key))!;
      const fail = (retryAtMs: number | null) =>
        bench.store.reportsFailed({
          failures: reports.map(({ id }) => ({ id, attempts: 1, retryAtMs, reason: "answered 503", attempt: null })),
        });
      assert.deepEqual(await reportOf(), [own.id], "not tried yet");
      await fail(NOW + HOUR);
      assert.deepEqual(await reportOf(), [own.id], "failing");
      await fail(null);
      assert.deepEqual(await reportOf(), [own.id], "dead");
    });

    test("steps are kept with their message, its request and its report, and leave with their age", async (t) => {
      const bench = await Bench.start(t, make);
      const { accountId } = bench;
      await bench.accept([bench.message({ clientMessageId: "mine" })], { notifyUrl: URL_A }, { bulkId: "b" });
      await bench.accept([bench.message()], { notifyUrl: URL_A }, { bulkId: "b" });
      const [first, second] = bench.takeMessages();
      await bench.submit([first!, second!]);
      await bench.receive(bench.receipt(`${first!.key}.1`), bench.receipt(`${second!.key}.1`));
      await bench.store.reportsDelivered({ ids: bench.takeReports().map(({ id }) => id) });
      const { doneAtMs } = (await bench.store.messageLife({ accountId, messageId: "mine" }))!;
      const ended = (account: number) => SUBJECT.ended(account, doneAtMs!);
      const request = (firstKey: string) => ({ door: "JSON", apiKey: null, user: "demo", firstKey, messages: 1 });
      await bench.store.keepTrace({ notes: [] });
      await bench.store.keepTrace({
        notes: [
          note(SUBJECT.bulk(accountId, "b"), "request", request(first!.key)),
          note(SUBJECT.bulk(accountId, "b"), "request", request(second!.key)),
          note(SUBJECT.message(first!.key), "rerouted", { carrier: "ölig \u{1F600} '\"" }, NOW + 2),
          note(ended(accountId), "reported", { report: "77", names: ["his", "mine"] }, NOW + 3),
          note(ended(accountId), "reported", { report: "78", names: ["Mine", "mine too"] }, NOW + 3),
          note(ended(bench.resellerId), "reported", { report: "79", names: ["mine"] }, NOW + 3),
          ...["77", "78", "79"].map((id) => note(SUBJECT.report(id), "attempt", { report: id }, NOW + 4)),
        ],
      });
      const trace = async (messageId: string) =>
        (await bench.store.messageLife({ accountId, messageId }))!.trace.map(({ kind, detail }) => [
          kind,
          JSON.parse(detail),
        ]);
      assert.deepEqual(await trace(first!.key), [
        ["request", request(first!.key)],
        ["rerouted", { carrier: "ölig \u{1F600} '\"" }],
        ["attempt", { report: "77" }],
      ]);
      assert.deepEqual(await trace(second!.key), [["request", request(second!.key)]]);
      assert.deepEqual(await bench.store.purgeTrace({ beforeMs: NOW + 3, limit: 2 }), { more: true });
      assert.deepEqual(await bench.store.purgeTrace({ beforeMs: NOW + 3, limit: 2 }), { more: false });
      assert.deepEqual(
        (await trace(first!.key)).map(([kind]) => kind),
        ["attempt"],
      );
    });

    test("old steps go although a clock was once ahead", async (t) => {
      const bench = await Bench.start(t, make);
      const note = (atMs: number) => ({ subject: "m1", atMs, kind: "ended" as const, detail: "{}" });
      await bench.store.keepTrace({ notes: [note(NOW + 9), note(NOW + 8), note(NOW), note(NOW + 7), note(NOW + 1)] });
      const purged = { beforeMs: NOW + 5, limit: 1 };
      assert.deepEqual(await bench.store.purgeTrace(purged), { more: true });
      assert.deepEqual(await bench.store.purgeTrace(purged), { more: true });
      assert.deepEqual(await bench.store.purgeTrace(purged), { more: false });
    });
  });
}
