/** What every engine of the store must do with bulks: move, pause, resume, call off. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Content, MessageKey } from "../../src/message/message.ts";
import type { BulkStatus } from "../../src/store/port/bulks.ts";
import { Bench, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const URL_A = "http://127.0.0.1:1/a";
const PRICE = 10_000n;
const FULL = 1_000_000_000n;
const MINUTE = 60_000;
const NOT_SENT = 31;
const CANCELED_ERROR = 4100;
const EXPIRED = 15;
const LATER: Partial<Content> = { sendAtMs: NOW + HOUR, dueAtMs: NOW + HOUR, expiresAtMs: NOW + 3 * HOUR };

/** The names of the cases' one bulk, and what is done to it most. */
class Case {
  readonly bench: Bench;

  constructor(bench: Bench) {
    this.bench = bench;
  }

  get name() {
    return { accountId: this.bench.accountId, bulkId: "bulk" };
  }

  /** Accepts this many messages for later. */
  async plan(count: number, content: Partial<Content> = {}): Promise<void> {
    await this.bench.accept(
      Array.from({ length: count }, () => this.bench.message()),
      { ...LATER, ...content },
    );
  }

  async status(): Promise<BulkStatus | null | undefined> {
    return (await this.bench.store.bulk(this.name))?.status;
  }

  async set(status: BulkStatus): Promise<string> {
    return (await this.bench.store.setBulkStatus({ ...this.name, status })).kind;
  }

  move(sendAtMs: number) {
    return this.bench.store.moveBulk({ ...this.name, sendAtMs, nowMs: this.bench.clock.now() });
  }

  /** Claims what is due until nothing is, as dispatch does, and returns the keys; and how many claims it took. */
  async claim(limit = 100): Promise<{ keys: MessageKey[]; claims: number; nextDueAtMs: number | null }> {
    for (let claims = 1; ; claims++) {
      const { more, nextDueAtMs } = await this.bench.store.claimDue({ nowMs: this.bench.clock.now(), limit });
      if (!more) return { keys: this.bench.takeMessages().map(({ key }) => key), claims, nextDueAtMs };
      assert.ok(claims < 1_000, "claiming never ends");
    }
  }

  reports() {
    return this.bench.takeReports().flatMap(({ items }) => items);
  }
}

export function bulksContract(name: string, make: MakeDatabase): void {
  const start = async (t: Parameters<typeof Bench.start>[0]) => new Case(await Bench.start(t, make));

  describe(`the store on ${name}: bulks`, () => {
    test("a scheduled bulk is PENDING, then PROCESSING, then FINISHED", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(2);
      assert.deepEqual(await bench.store.bulk(bulk.name), { sendAtMs: NOW + HOUR, status: "PENDING" });

      await bench.clock.advance(HOUR);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 10 });
      assert.equal(await bulk.status(), "PROCESSING");
      const messages = bench.takeMessages();
      await bench.submit(messages);
      assert.equal(await bulk.status(), "PROCESSING");
      await bench.receive(bench.receipt(`${messages[0]!.key}.1`));
      assert.equal(await bulk.status(), "PROCESSING");
      await bench.receive(bench.receipt(`${messages[1]!.key}.1`, "undeliverable", 1));
      assert.equal(await bulk.status(), "FINISHED");
    });

    test("a bulk of which nothing was ever sent is FAILED", async (t) => {
      const bulk = await start(t);
      await bulk.plan(2);
      await bulk.bench.clock.advance(3 * HOUR);
      await bulk.claim();
      assert.equal(await bulk.status(), "FAILED");
    });

    test("a bulk is its account's, and an unknown one is nobody's", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(1);
      for (const stranger of [
        { accountId: bench.resellerId, bulkId: "bulk" },
        { accountId: bench.accountId, bulkId: "another" },
      ]) {
        assert.equal(await bench.store.bulk(stranger), null);
        assert.deepEqual(await bench.store.setBulkStatus({ ...stranger, status: "CANCELED" }), { kind: "unknown" });
        assert.deepEqual(await bench.store.moveBulk({ ...stranger, sendAtMs: NOW, nowMs: NOW }), { kind: "unknown" });
      }
      assert.equal(await bulk.status(), "PENDING");
    });

    test("messages sent at once make a bulk that can be looked through page by page, and not be changed", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bench.accept([bench.message(), bench.message(), bench.message({ rejectedStatusId: 52 })]);
      assert.deepEqual(await bench.store.bulk(bulk.name), { sendAtMs: NOW, status: null });
      assert.deepEqual(await bulk.move(NOW + HOUR), { kind: "not scheduled" });
      assert.equal(await bulk.set("CANCELED"), "not scheduled");

      const messages = bench.takeMessages();
      await bench.submit(messages.slice(0, 1));
      await bench.receive(bench.receipt(`${messages[0]!.key}.1`));
      const first = await bench.store.lookThroughBulk({ ...bulk.name, afterKey: "0", limit: 1 });
      assert.deepEqual(first, { unfinished: false, sent: true, lastKey: messages[0]!.key });
      const second = await bench.store.lookThroughBulk({ ...bulk.name, afterKey: first.lastKey!, limit: 5 });
      assert.deepEqual(second, { unfinished: true, sent: false, lastKey: null });
    });

    test("a client moves PENDING to PAUSED and back and either to CANCELED; everything else is refused", async (t) => {
      const bulk = await start(t);
      const all: BulkStatus[] = ["PENDING", "PAUSED", "PROCESSING", "CANCELED", "FINISHED", "FAILED"];
      const refuses = async (...statuses: BulkStatus[]): Promise<void> => {
        const now = await bulk.status();
        for (const status of statuses) {
          const answer = await bulk.bench.store.setBulkStatus({ ...bulk.name, status });
          assert.deepEqual(answer, { kind: "refused", status: now }, `${now} to ${status}`);
        }
      };
      await bulk.plan(1);
      await refuses("PENDING", "PROCESSING", "FINISHED", "FAILED");
      assert.equal(await bulk.set("PAUSED"), "changed");
      await refuses("PAUSED", "PROCESSING", "FINISHED", "FAILED");
      assert.equal(await bulk.set("PENDING"), "changed");
      assert.equal(await bulk.set("CANCELED"), "changed");
      assert.equal(await bulk.status(), "CANCELED");
      await refuses(...all);
      assert.deepEqual(await bulk.move(NOW + 2 * HOUR), { kind: "refused", status: "CANCELED" });
    });

    test("a canceled bulk is refunded and reported page by page, each message once, and nothing of it is sent", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(25, { notifyUrl: URL_A });
      assert.equal(await bench.balance(), FULL - 25n * PRICE);
      assert.equal(await bulk.set("CANCELED"), "changed");
      assert.equal(await bulk.status(), "CANCELED");

      const { more } = await bench.store.claimDue({ nowMs: NOW, limit: 10 });
      assert.deepEqual([more, await bench.balance()], [true, FULL - 15n * PRICE]);
      const { keys, claims } = await bulk.claim(10);
      assert.deepEqual([keys, claims], [[], 2]);
      assert.equal(await bench.balance(), FULL);
      const reports = bulk.reports();
      assert.equal(new Set(reports.map(({ messageId }) => messageId)).size, 25);
      for (const { statusId, errorId, pricePerPartMicros } of reports) {
        assert.deepEqual([statusId, errorId, pricePerPartMicros], [NOT_SENT, CANCELED_ERROR, 0n]);
      }
      await bench.clock.advance(4 * HOUR);
      assert.deepEqual((await bulk.claim()).keys, []);
      assert.deepEqual(bulk.reports(), []);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a bulk that is canceled when it is due is not sent, however few of its messages have followed", async (t) => {
      const bulk = await start(t);
      await bulk.plan(25);
      await bulk.bench.clock.advance(HOUR);
      await bulk.set("CANCELED");
      const { keys } = await bulk.claim(3);
      assert.deepEqual(keys, []);
      assert.equal(await bulk.bench.balance(), FULL);
    });

    test("once a message of it is on its way a bulk cannot be paused, moved or canceled", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(5);
      await bench.clock.advance(HOUR);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 1 });
      for (const status of ["PAUSED", "CANCELED"] as const) {
        assert.deepEqual(await bench.store.setBulkStatus({ ...bulk.name, status }), {
          kind: "refused",
          status: "PROCESSING",
        });
      }
      assert.deepEqual(await bulk.move(NOW + 2 * HOUR), { kind: "refused", status: "PROCESSING" });
      assert.equal((await bulk.claim()).keys.length, 5);
    });

    test("what waits again can be called off, while what was sent stays sent", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(2);
      await bench.clock.advance(HOUR);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 10 });
      const [sent, late] = bench.takeMessages();
      await bench.submit([sent!]);
      await bench.store.postpone({ messages: [{ key: late!.key, dueAtMs: NOW + 2 * HOUR, event: "window closed" }] });
      assert.equal(await bulk.status(), "PENDING");
      assert.equal(await bulk.set("CANCELED"), "changed");
      await bulk.claim();
      assert.equal(await bench.balance(), FULL - PRICE);
      await bench.receive(bench.receipt(`${sent!.key}.1`));
      assert.equal(await bulk.status(), "CANCELED");
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("what a carrier put off keeps its bulk in process: nobody changes the bulk, and it goes when it is due", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(3);
      // With a version of its own, and twice: nothing of that is lost.
      assert.deepEqual(await bulk.move(NOW + HOUR / 2), { kind: "changed" });
      await bulk.claim();
      await bench.clock.advance(HOUR / 2);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 10 });
      const [sent, ...late] = bench.takeMessages();
      await bench.submit([sent!]);
      for (let time = 0; time < 2; time++) {
        const dueAtMs = bench.clock.now() + MINUTE;
        await bench.store.postpone({ messages: late.map(({ key }) => ({ key, dueAtMs, event: "put off" })) });
        assert.equal(await bulk.status(), "PROCESSING");
        assert.deepEqual(await bulk.move(NOW + 2 * HOUR), { kind: "refused", status: "PROCESSING" });
        for (const status of ["PAUSED", "CANCELED"] as const) assert.equal(await bulk.set(status), "refused");
        assert.deepEqual(await bulk.claim(), { keys: [], claims: 1, nextDueAtMs: dueAtMs });
        await bench.clock.advance(MINUTE);
        assert.deepEqual((await bulk.claim()).keys.toSorted(), late.map(({ key }) => key).toSorted());
        assert.equal(await bulk.status(), "PROCESSING");
      }
      await bench.submit(late);
      assert.equal(await bulk.status(), "PROCESSING");
      for (const { key } of [sent!, ...late]) await bench.receive(bench.receipt(`${key}.1`));
      assert.equal(await bulk.status(), "FINISHED");
    });

    test("others of a bulk that wait for their time wait, while one that was put off goes on", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(1);
      await bulk.plan(1, { dueAtMs: NOW + 2 * HOUR });
      await bench.clock.advance(HOUR);
      const { keys } = await bulk.claim();
      await bench.store.postpone({
        messages: keys.map((key) => ({ key, dueAtMs: bench.clock.now() + MINUTE, event: "put off" })),
      });
      assert.equal(await bulk.status(), "PROCESSING");
      assert.equal(await bulk.set("CANCELED"), "refused");
      await bench.clock.advance(MINUTE);
      assert.deepEqual((await bulk.claim()).keys, keys);
    });

    test("a message sent at once that its carrier put off makes no scheduled bulk, and is on its way", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bench.accept([bench.message()]);
      const [message] = bench.takeMessages();
      await bench.store.postpone({ messages: [{ key: message!.key, dueAtMs: NOW + MINUTE, event: "put off" }] });
      assert.deepEqual(await bench.store.bulk(bulk.name), { sendAtMs: NOW, status: null });
      assert.deepEqual(await bulk.move(NOW + HOUR), { kind: "not scheduled" });
      assert.equal(await bulk.set("CANCELED"), "not scheduled");
      await bench.clock.advance(MINUTE);
      assert.deepEqual((await bulk.claim()).keys, [message!.key]);
    });

    test("messages of a paused bulk do not go when they are due, and do not stand in the way of others", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(25);
      await bench.accept([bench.message({ to: "41790000099" })], LATER, { bulkId: "another" });
      assert.equal(await bulk.set("PAUSED"), "changed");
      await bench.clock.advance(HOUR);
      const { keys, nextDueAtMs } = await bulk.claim(10);
      assert.equal(keys.length, 1);
      assert.equal(nextDueAtMs, NOW + 3 * HOUR);
      assert.equal(await bulk.status(), "PAUSED");
      assert.equal((await bulk.claim(10)).claims, 1);

      await bench.clock.advance(HOUR);
      assert.equal(await bulk.set("PENDING"), "changed");
      assert.equal((await bulk.claim(10)).keys.length, 25);
      assert.equal(await bulk.status(), "PROCESSING");
    });

    test("a bulk that is resumed before its time goes at its time", async (t) => {
      const bulk = await start(t);
      await bulk.plan(3);
      await bulk.set("PAUSED");
      await bulk.set("PENDING");
      assert.deepEqual(await bulk.claim(), { keys: [], claims: 1, nextDueAtMs: NOW + HOUR });
      await bulk.bench.clock.advance(HOUR);
      assert.equal((await bulk.claim()).keys.length, 3);
    });

    test("validity runs while a bulk is paused: what outlives it expires, is refunded and reported", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(2, { notifyUrl: URL_A });
      await bulk.set("PAUSED");
      await bench.clock.advance(HOUR);
      await bulk.claim();
      await bench.clock.advance(2 * HOUR - 1);
      await bulk.claim();
      assert.deepEqual(bulk.reports(), []);
      await bench.clock.advance(1);
      assert.deepEqual((await bulk.claim()).keys, []);
      assert.deepEqual(
        bulk.reports().map(({ statusId }) => statusId),
        [EXPIRED, EXPIRED],
      );
      assert.equal(await bench.balance(), FULL);
      assert.equal(await bulk.status(), "FAILED");
      assert.equal(await bulk.set("PENDING"), "refused");
    });

    test("a moved bulk goes at its new time, later or earlier, with its validity counted from then", async (t) => {
      for (const sendAtMs of [NOW + 5 * HOUR, NOW + MINUTE]) {
        const bulk = await start(t);
        const { bench } = bulk;
        await bulk.plan(25);
        assert.deepEqual(await bulk.move(sendAtMs), { kind: "changed" });
        assert.deepEqual(await bench.store.bulk(bulk.name), { sendAtMs, status: "PENDING" });
        assert.deepEqual(await bulk.claim(10), { keys: [], claims: 3, nextDueAtMs: sendAtMs });
        await bench.clock.advance(sendAtMs - NOW - 1);
        assert.deepEqual((await bulk.claim(10)).keys, []);
        await bench.clock.advance(1);
        await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 100 });
        const messages = bench.takeMessages();
        assert.equal(messages.length, 25);
        for (const { expiresAtMs } of messages) assert.equal(expiresAtMs, sendAtMs + 2 * HOUR);
      }
    });

    test("a bulk that is moved away when it is due waits, however few of its messages have followed", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(25);
      await bench.clock.advance(HOUR);
      await bulk.move(NOW + 6 * HOUR);
      await bench.store.claimDue({ nowMs: bench.clock.now(), limit: 3 });
      await bench.clock.advance(3 * HOUR);
      const { keys, nextDueAtMs } = await bulk.claim(3);
      assert.deepEqual([keys, nextDueAtMs], [[], NOW + 6 * HOUR]);
      await bench.clock.advance(2 * HOUR);
      assert.equal((await bulk.claim()).keys.length, 25);
    });

    test("a bulk that is moved into the past goes now; a window still holds", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      // NOW is 10:00: one window is open, the other opens at noon.
      const days = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"] as const;
      await bulk.plan(1, { window: { days, hours: { fromMinute: 600, toMinute: 700 } } });
      await bulk.plan(1, { window: { days, hours: { fromMinute: 720, toMinute: 900 } } });
      await bulk.move(NOW - HOUR);
      assert.equal((await bench.store.bulk(bulk.name))?.sendAtMs, NOW);
      const { keys, nextDueAtMs } = await bulk.claim();
      assert.deepEqual([keys.length, nextDueAtMs], [1, NOW + 2 * HOUR]);
    });

    test("a paused bulk can be moved and stays paused", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(4);
      await bulk.set("PAUSED");
      await bench.clock.advance(HOUR);
      await bulk.claim();
      assert.deepEqual(await bulk.move(NOW + 4 * HOUR), { kind: "changed" });
      assert.equal(await bulk.status(), "PAUSED");
      await bench.clock.advance(3 * HOUR);
      assert.deepEqual((await bulk.claim()).keys, []);
      await bulk.set("PENDING");
      assert.equal((await bulk.claim()).keys.length, 4);
    });

    test("changes on top of each other leave the last one", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(10);
      await bulk.move(NOW + 5 * HOUR);
      await bench.store.claimDue({ nowMs: NOW, limit: 3 });
      await bulk.set("PAUSED");
      await bulk.move(NOW + 2 * HOUR);
      await bench.store.claimDue({ nowMs: NOW, limit: 3 });
      await bulk.set("PENDING");
      assert.equal((await bulk.claim(3)).nextDueAtMs, NOW + 2 * HOUR);
      await bench.clock.advance(2 * HOUR);
      assert.equal((await bulk.claim(3)).keys.length, 10);
    });

    test("what joins a bulk shares its fate: paused with it, called off with it, at its own time after a move", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(1);
      await bulk.move(NOW + 5 * HOUR);
      await bulk.claim();
      await bulk.plan(1);
      assert.equal((await bulk.claim()).nextDueAtMs, NOW + HOUR);

      await bulk.set("PAUSED");
      assert.deepEqual(await bench.accept([bench.message()]), [26]);
      assert.deepEqual((await bulk.claim()).keys, []);
      await bulk.set("CANCELED");
      await bulk.claim();
      assert.equal(await bench.balance(), FULL);
      assert.deepEqual(await bench.accept([bench.message(), bench.message()], { notifyUrl: URL_A }), [26, 26]);
      assert.deepEqual((await bulk.claim()).keys, []);
      assert.deepEqual(
        bulk.reports().map(({ statusId }) => statusId),
        [NOT_SENT, NOT_SENT],
      );
      assert.equal(await bench.balance(), FULL);
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("small bulks do not wait for a large one that was canceled before them", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(100);
      await bench.accept([bench.message()], { ...LATER, notifyUrl: URL_A }, { bulkId: "small" });
      await bulk.set("CANCELED");
      await bench.store.setBulkStatus({ ...bulk.name, bulkId: "small", status: "CANCELED" });
      for (let claim = 0; claim < 2; claim++) await bench.store.claimDue({ nowMs: NOW, limit: 10 });
      assert.deepEqual(
        bulk.reports().map(({ bulkId }) => bulkId),
        ["small"],
      );
    });

    test("a process that dies between two pages leaves the rest to the next one", async (t) => {
      const bulk = await start(t);
      const { bench } = bulk;
      await bulk.plan(10);
      await bulk.set("CANCELED");
      await bench.store.claimDue({ nowMs: NOW, limit: 4 });
      await bench.restart();
      assert.deepEqual([await bulk.status(), await bench.balance()], ["CANCELED", FULL - 6n * PRICE]);
      assert.deepEqual((await bulk.claim(4)).keys, []);
      assert.equal(await bench.balance(), FULL);

      await bench.accept([bench.message(), bench.message(), bench.message()], LATER, { bulkId: "moved" });
      await bench.store.moveBulk({ ...bulk.name, bulkId: "moved", sendAtMs: NOW + MINUTE, nowMs: NOW });
      await bench.store.claimDue({ nowMs: NOW, limit: 1 });
      await bench.restart();
      assert.equal((await bulk.claim(1)).nextDueAtMs, NOW + MINUTE);
      await bench.clock.advance(MINUTE);
      assert.equal((await bulk.claim(1)).keys.length, 3);
    });
  });
}
