/** How long every engine of the store keeps messages: from their end on, and never while something of them waits. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { STATUS } from "../../src/sms/statuses.ts";
import { PURGE_START, type PurgeCursor } from "../../src/store/port/delivery.ts";
import { REPORT_FETCH_MS } from "../../src/store/port/reports.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const DAY = 24 * HOUR;
const MINUTE = 60_000;
const URL_A = "http://127.0.0.1:1/a";
const ENROUTE = STATUS.PENDING_ENROUTE.id;
const PRICE_MICROS = 10_000n;
const OPENING_MICROS = 1_000_000_000n;
/** PostgreSQL waits so long for the stragglers of a day. */
const STRAGGLER_DAYS = 6;

/** A whole pass of what the rounds do; returns how many pages it took. */
async function purgeMessages(bench: Bench, retentionDays: number, limit = 1): Promise<number> {
  const nowMs = bench.clock.now();
  const beforeMs = nowMs - retentionDays * DAY;
  let cursor: PurgeCursor = PURGE_START;
  for (let pages = 1; ; pages++) {
    const retired = await bench.store.purgeMessages({ beforeMs, nowMs, limit, cursor });
    cursor = retired.cursor;
    if (!retired.more) {
      assert.deepEqual(cursor, PURGE_START);
      assert.deepEqual(await bench.store.verifyLedger(), []);
      return pages;
    }
  }
}

async function ids(bench: Bench): Promise<string[]> {
  const range = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, limit: 100, after: null };
  const anything = { from: null, to: null, statusIds: null, mcc: null, mnc: null, bulkIds: null, messageIds: null };
  const { messages } = await bench.store.logs({ accountId: bench.accountId, ...range, ...anything });
  return messages.map(({ messageId }) => messageId).sort();
}

/** A carrier takes whatever waits here, and says that it is delivered. */
async function deliverAll(bench: Bench): Promise<void> {
  const messages = bench.takeMessages();
  await bench.submit(messages);
  for (const { key } of messages) await bench.receive(bench.receipt(`${key}.1`));
}

async function accept(
  bench: Bench,
  names: readonly string[],
  days: number | null,
  notifyUrl: string | null = URL_A,
): Promise<void> {
  const dueAtMs = days === null ? null : bench.clock.now() + days * DAY;
  const expiresAtMs = (dueAtMs ?? bench.clock.now()) + 2 * DAY;
  const messages = names.map((clientMessageId) => bench.message({ clientMessageId }));
  await bench.accept(messages, { notifyUrl, sendAtMs: dueAtMs, dueAtMs, expiresAtMs });
}

async function fetchReports(bench: Bench): Promise<string[]> {
  const nowMs = bench.clock.now();
  const names = { bulkIds: null, messageIds: null };
  const moments = { nowMs, sinceMs: nowMs - REPORT_FETCH_MS, againAtMs: nowMs + MINUTE };
  const { reports } = await bench.store.fetchReports({ accountId: bench.accountId, limit: 10, ...names, ...moments });
  return reports.map(({ messageId }) => messageId);
}

export function retentionContract(engine: string, make: MakeDatabase): void {
  describe(`the store on ${engine}: old messages`, () => {
    test("final messages leave when they are old, others stay, and the ledger still agrees", async (t) => {
      const bench = await Bench.start(t, make);
      const old = { expiresAtMs: NOW + 100 * DAY };
      await bench.accept([bench.message({ clientMessageId: "a" }), bench.message({ clientMessageId: "b" })], old);
      const [first, second] = bench.takeMessages();
      await bench.submit([first!]);
      await bench.receive(bench.receipt(`${first!.key}.1`));
      await bench.clock.advance(DAY);
      await accept(bench, ["c"], null);
      await deliverAll(bench);

      // The second day is over, but on the first one message is not final.
      await bench.clock.advance(4 * DAY);
      await purgeMessages(bench, 3);
      assert.ok((await ids(bench)).includes("b"));
      assert.ok(!(await ids(bench)).includes("c"));

      await bench.store.finish({
        endings: [{ key: second!.key, event: "refused", errorId: 1, atMs: bench.clock.now() }],
      });
      await bench.clock.advance(4 * DAY);
      await purgeMessages(bench, 3);
      assert.deepEqual(await ids(bench), []);
      assert.equal(await bench.balance(), OPENING_MICROS - 2n * PRICE_MICROS);
      assert.deepEqual(
        await bench.accept([bench.message({ clientMessageId: "c" })]),
        [ENROUTE],
        "its name is free again",
      );
    });

    test("a message that was scheduled beyond the retention is kept from its end on", async (t) => {
      const bench = await Bench.start(t, make);
      await accept(bench, ["late"], 60);
      await bench.clock.advance(60 * DAY);
      await purgeMessages(bench, 30);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 10 });
      await deliverAll(bench);
      await bench.store.reportsDelivered({ ids: bench.takeReports().map(({ id }) => id) });
      await purgeMessages(bench, 30);
      assert.deepEqual(await ids(bench), ["late"], "not a moment after its delivery");
      await bench.clock.advance(30 * DAY);
      await purgeMessages(bench, 30);
      assert.deepEqual(await ids(bench), ["late"]);
      await bench.clock.advance(1);
      await purgeMessages(bench, 30);
      assert.deepEqual(await ids(bench), []);
      assert.equal(await bench.balance(), OPENING_MICROS - PRICE_MICROS);
    });

    test("a report that waits to be fetched can be for its whole time, however short messages are kept", async (t) => {
      const bench = await Bench.start(t, make);
      await accept(bench, ["late"], 10, null);
      await bench.clock.advance(10 * DAY);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 10 });
      await deliverAll(bench);
      await bench.clock.advance(REPORT_FETCH_MS - MINUTE);
      await purgeMessages(bench, 1);
      assert.deepEqual(await fetchReports(bench), ["late"]);
      // Whoever fetched it has not got it: it comes again.
      await bench.clock.advance(MINUTE);
      await purgeMessages(bench, 1);
      assert.deepEqual(await fetchReports(bench), ["late"]);
      await bench.clock.advance(REPORT_FETCH_MS + MINUTE);
      assert.deepEqual(await fetchReports(bench), [], "its time is over");
      await purgeMessages(bench, 1);
      assert.deepEqual(await ids(bench), []);
    });

    test("a push report is tried on when its message has left", async (t) => {
      const bench = await Bench.start(t, make);
      await accept(bench, ["a"], null);
      await deliverAll(bench);
      await bench.clock.advance(2 * DAY);
      await purgeMessages(bench, 1);
      assert.deepEqual(await ids(bench), []);
      await bench.restart();
      const { batches } = await bench.store.dueReports({ nowMs: bench.clock.now(), limit: 10 });
      assert.deepEqual(
        batches.flatMap((batch) => (batch.kind === "delivery" ? batch.items.map(({ messageId }) => messageId) : [])),
        ["a"],
      );
    });

    test("messages that wait for months keep none of the others, which leave once", async (t) => {
      const bench = await Bench.start(t, make);
      await accept(bench, ["first", "last"], 100);
      await accept(bench, ["a", "b", "c"], null);
      await accept(bench, ["newest"], 100);
      await deliverAll(bench);
      await bench.clock.advance((30 + STRAGGLER_DAYS) * DAY);
      const pages = await purgeMessages(bench, 30, 2);
      assert.ok(pages <= 4, `${pages} pages of two for six messages: none is looked at twice`);
      assert.deepEqual(await ids(bench), ["first", "last", "newest"]);
      await purgeMessages(bench, 30, 2);
      await accept(bench, ["a"], null);
      assert.equal(bench.takeMessages().length, 1, "its name is free again");
      await bench.clock.advance(64 * DAY);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 10 });
      await deliverAll(bench);
      await bench.clock.advance(29 * DAY);
      await purgeMessages(bench, 30);
      assert.deepEqual(
        (await ids(bench)).filter((id) => id !== "a"),
        ["first", "last", "newest"],
      );
      await bench.clock.advance(2 * DAY);
      await purgeMessages(bench, 30);
      assert.deepEqual(
        (await ids(bench)).filter((id) => id !== "a"),
        [],
      );
      assert.equal(await bench.balance(), OPENING_MICROS - 7n * PRICE_MICROS);
    });

    test("messages from phones leave by when they came, and wait for whoever has yet to fetch them", async (t) => {
      const bench = await Bench.start(t, make);
      const rule = { number: "12345", account: "CLIENT" };
      await bench.store.putCatalogue({ items: [{ kind: "number", id: rule.number, body: JSON.stringify(rule) }] });
      const parts = ["one", "two", "three"].map((text) => ({
        from: "41790000001",
        to: rule.number,
        text,
        concatenation: null,
        atMs: NOW,
      }));
      await bench.store.incoming({ carrierId: CARRIER, parts, nowMs: NOW });
      const { messages } = await bench.fetchIncoming(10);
      assert.equal(messages.length, 3);
      await bench.store.confirmIncoming({ keys: messages.slice(1).map(({ messageId }) => messageId) });
      await bench.clock.advance((30 + STRAGGLER_DAYS) * DAY);
      assert.ok((await purgeMessages(bench, 30)) <= 4);
      const left = await bench.fetchIncoming(10);
      assert.deepEqual(
        left.messages.map(({ text }) => text),
        ["one"],
      );
      await bench.store.confirmIncoming({ keys: left.messages.map(({ messageId }) => messageId) });
      await purgeMessages(bench, 30);
      assert.equal(await purgeMessages(bench, 30), 1, "there is nothing left to look at");
    });
  });
}
