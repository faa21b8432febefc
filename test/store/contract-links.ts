/** What every engine of the store must do with short links and conversions. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Click, MAX_TOLD_CLICKS, type NewLinks } from "../../src/message/links.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { PURGE_START } from "../../src/store/port/delivery.ts";
import { Bench, HOUR, type MakeDatabase } from "./harness.ts";

const PLACE = "00000000000";
const TARGET = "https://shop.example/sale";
const TEXT = `Look: https://go.example/l/${PLACE}!`;
const URL_A = "http://127.0.0.1:1/clicks";
const DAY = 24 * HOUR;

function links(change: Partial<NewLinks> = {}): NewLinks {
  return { contents: new Map([[0, [{ code: PLACE, target: TARGET }]]]), trackingUrl: URL_A, ...change };
}

const codeIn = (text: string): string => /\/l\/(\w+)/.exec(text)![1]!;

/** The messages that were handed on, with their codes. */
async function accepted(bench: Bench, count = 1): Promise<{ key: string; code: string }[]> {
  await bench.accept(
    Array.from({ length: count }, () => bench.message()),
    { text: TEXT, callbackData: "order 7" },
    { links: links() },
  );
  return bench.takeMessages().map(({ key, text }) => ({ key, code: codeIn(text) }));
}

function click(bench: Bench, code: string): Click {
  return { code, atMs: bench.clock.now(), deviceType: "Phone", os: null, deviceName: null };
}

const lifeOf = async (bench: Bench, key: string) =>
  (await bench.store.messageLife({ accountId: bench.accountId, messageId: key }))!;

export function linksContract(engine: string, make: MakeDatabase): void {
  describe(`links and conversions, on ${engine}`, () => {
    test("each message of a text has a link of its own, from the commit that accepts it on, and after a restart", async (t) => {
      const bench = await Bench.start(t, make);
      const messages = await accepted(bench, 3);
      assert.equal(new Set(messages.map(({ code }) => code)).size, 3);
      await bench.restart();
      for (const { key, code } of messages) {
        assert.deepEqual(await bench.store.link({ code }), { target: TARGET });
        const { text, links: kept } = await lifeOf(bench, key);
        assert.equal(text, TEXT.replace(PLACE, code));
        assert.deepEqual(kept, [{ code, target: TARGET, clicks: 0, firstClickAtMs: null, lastClickAtMs: null }]);
      }
      assert.equal(await bench.store.link({ code: PLACE }), null);
    });

    test("links that cannot be written take their messages with them, and nobody else's", async (t) => {
      const bench = await Bench.start(t, make);
      const before = await bench.balance();
      const broken = new Map([[0, [{ code: PLACE, target: null as unknown as string }]]]);
      const [refused, good] = await Promise.allSettled([
        bench.accept([bench.message({ clientMessageId: "a" })], { text: TEXT }, { links: links({ contents: broken }) }),
        bench.accept([bench.message({ clientMessageId: "b" })], { text: TEXT }, { links: links() }),
      ]);
      assert.deepEqual([refused.status, good.status], ["rejected", "fulfilled"]);
      const handedOn = bench.takeMessages();
      assert.equal(handedOn.length, 1);
      assert.deepEqual(await bench.store.link({ code: codeIn(handedOn[0]!.text) }), { target: TARGET });
      assert.equal(before - (await bench.balance()), 10_000n);
      assert.equal(await bench.store.messageLife({ accountId: bench.accountId, messageId: "a" }), null);
    });

    test("a message that is rejected when it is accepted has no link, and its neighbour has", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 10_000n });
      const conversion = JSON.stringify({ name: null, processKey: "A37D", endedAtMs: null });
      const messages = [bench.message(), bench.message({ clientMessageId: "b" })];
      const statusIds = await bench.accept(messages, { text: TEXT }, { links: links(), conversion });
      assert.equal(statusIds[1], STATUS.REJECTED_NOT_ENOUGH_CREDITS.id);
      const [first] = bench.takeMessages();
      assert.deepEqual(await bench.store.link({ code: codeIn(first!.text) }), { target: TARGET });
      const rejected = await lifeOf(bench, "b");
      assert.deepEqual([rejected.links, rejected.conversion], [[], null]);
    });

    test("clicks of one transaction are counted together, told one by one in their order, and told no more past the bound", async (t) => {
      const bench = await Bench.start(t, make);
      const [message, other] = await accepted(bench, 2);
      const firstMs = bench.clock.now();
      const clicks = [click(bench, message!.code), click(bench, other!.code), click(bench, message!.code)];
      await bench.store.clicked({ clicks: [...clicks, click(bench, "nobodyhasit")] });
      assert.equal(bench.clicks.length, 3);
      for (const batch of bench.clicks) {
        assert.equal(batch.items.length, 1);
        assert.deepEqual([batch.url, batch.accountId, batch.form], [URL_A, bench.accountId, "application/json"]);
      }
      assert.deepEqual(bench.clicks[0]!.items[0], {
        messageId: message!.key,
        bulkId: "bulk",
        to: "41790000001",
        url: TARGET,
        atMs: firstMs,
        deviceType: "Phone",
        os: null,
        deviceName: null,
        callbackData: "order 7",
        entityId: null,
        applicationId: null,
      });
      await bench.clock.advance(HOUR);
      const flood = Array.from({ length: 2 * MAX_TOLD_CLICKS }, () => click(bench, message!.code));
      await bench.store.clicked({ clicks: flood });
      await bench.store.clicked({ clicks: flood });
      assert.equal(bench.clicks.length, 3 + MAX_TOLD_CLICKS - 2);
      const [kept] = (await lifeOf(bench, message!.key)).links;
      assert.deepEqual(
        [kept!.clicks, kept!.firstClickAtMs, kept!.lastClickAtMs],
        [2 + 4 * MAX_TOLD_CLICKS, firstMs, bench.clock.now()],
      );
    });

    test("a click that was to be told is there after a restart, and leaves when it was taken", async (t) => {
      const bench = await Bench.start(t, make);
      const [message] = await accepted(bench);
      await bench.store.clicked({ clicks: [click(bench, message!.code)] });
      await bench.restart();
      const { batches } = await bench.store.dueReports({ nowMs: bench.clock.now(), limit: 10 });
      assert.deepEqual(
        batches.map(({ kind, items }) => [kind, items.length]),
        [["click", 1]],
      );
      await bench.store.reportsDelivered({ ids: batches.map(({ id }) => id) });
      await bench.restart();
      assert.equal((await bench.store.dueReports({ nowMs: bench.clock.now(), limit: 10 })).batches.length, 0);
    });

    test("a link goes with its message, a page at a time, and no sooner", async (t) => {
      const bench = await Bench.start(t, make);
      const old = await accepted(bench, 3);
      await bench.accept(
        [bench.message()],
        { text: TEXT, dueAtMs: bench.clock.now() + 30 * DAY, expiresAtMs: bench.clock.now() + 31 * DAY },
        { links: links(), bulkId: "later" },
      );
      const queued = old.map(({ key }) => ({ key, partCount: 1 }));
      await bench.submit(queued as never);
      await bench.receive(...old.map(({ key }) => bench.receipt(`${key}.1`)));
      await bench.clock.advance(10 * DAY);
      const [fresh] = await accepted(bench);
      const nowMs = bench.clock.now();
      const beforeMs = nowMs - DAY;
      const purge = async (): Promise<number> => {
        let pages = 0;
        for (let after: string | null = "0"; after !== null; pages++)
          after = (await bench.store.purgeLinks({ beforeMs, after, limit: 2 })).next;
        return pages;
      };
      assert.ok((await purge()) >= 2);
      for (const { code } of old) assert.notEqual(await bench.store.link({ code }), null);
      let cursor = PURGE_START;
      for (let more = true; more; )
        ({ cursor, more } = await bench.store.purgeMessages({ beforeMs, nowMs, limit: 10, cursor }));
      await purge();
      for (const { code } of old) assert.equal(await bench.store.link({ code }), null);
      assert.notEqual(await bench.store.link({ code: fresh!.code }), null);
    });

    test("a conversion is ended once, by its own account", async (t) => {
      const bench = await Bench.start(t, make);
      const conversion = JSON.stringify({ name: "PIN", processKey: "A37D", endedAtMs: null });
      await bench.accept([bench.message({ clientMessageId: "mine" })], {}, { conversion });
      const { key } = bench.takeMessages()[0]!;
      const end = (messageId: string, accountId = bench.accountId) =>
        bench.store.endConversion({ accountId, messageId, atMs: bench.clock.now() });
      assert.equal(await end(key, bench.resellerId), null);
      assert.equal(await end("another"), null);
      const firstMs = bench.clock.now();
      assert.deepEqual(await end("mine"), { processKey: "A37D" });
      await bench.clock.advance(HOUR);
      await bench.restart();
      assert.deepEqual(await end(key), { processKey: "A37D" });
      assert.deepEqual((await lifeOf(bench, key)).conversion, { name: "PIN", processKey: "A37D", endedAtMs: firstMs });
    });
  });
}
