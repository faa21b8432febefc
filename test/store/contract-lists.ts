/** What every engine of the store must do for people who look: lists of bulks, of hosts that fail, of messages from phones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LISTED_MESSAGES } from "../../src/commands/bulks.ts";
import type { Content } from "../../src/message/message.ts";
import { MAX_COUNTED_REPORTS } from "../../src/store/port/reports.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const LATER: Partial<Content> = { sendAtMs: NOW + HOUR, dueAtMs: NOW + HOUR, expiresAtMs: NOW + 3 * HOUR };
const HOST_A = "http://a.test";
const HOST_B = "https://b.test:8443";

const many = (bench: Bench, count: number) => Array.from({ length: count }, () => bench.message());

async function listed(bench: Bench, accountId = bench.accountId): Promise<string[]> {
  const bulks = await bench.store.listedBulks({ accountId, before: null, limit: 10 });
  return bulks.map(({ bulkId, state }) => `${bulkId} ${state}`);
}

/** A report to each of these URLs that has failed: to be tried again in a minute, or with null for the last time. Gives their ids. */
async function fail(bench: Bench, urls: readonly string[], retryAtMs: number | null): Promise<string[]> {
  const ids: string[] = [];
  for (const notifyUrl of urls) {
    await bench.accept([bench.message({ rejectedStatusId: 52 })], { notifyUrl });
    ids.push(bench.takeReports()[0]!.id);
  }
  await failAgain(bench, ids, retryAtMs);
  return ids;
}

async function failAgain(bench: Bench, ids: readonly string[], retryAtMs: number | null, attempts = 1): Promise<void> {
  const attempt = { atMs: bench.clock.now(), status: 503, durationMs: 5, reason: "answered 503", excerpt: "down" };
  const failures = ids.map((id) => ({ id, attempts, retryAtMs, reason: attempt.reason, attempt }));
  await bench.store.reportsFailed({ failures });
}

export function listsContract(engine: string, make: MakeDatabase): void {
  describe(`lists on ${engine}: bulks`, () => {
    test("scheduled bulks and large ones are listed newest first, in pages, and only those of the account", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], {}, { bulkId: "small" });
      await bench.accept(many(bench, LISTED_MESSAGES), {}, { bulkId: "large" });
      await bench.clock.advance(1_000);
      await bench.accept([bench.message()], LATER, { bulkId: "later" });
      await bench.accept([bench.message()], LATER, { bulkId: "also later" });
      await bench.store.setBulkStatus({ accountId: bench.accountId, bulkId: "later", status: "PAUSED" });
      assert.deepEqual(await listed(bench), ["later paused", "also later open", "large at once"]);
      assert.deepEqual(await listed(bench, bench.resellerId), []);
      const { accountId } = bench;
      const pages: string[] = [];
      let before: { madeAtMs: number; bulkId: string } | null = null;
      for (;;) {
        const [bulk] = await bench.store.listedBulks({ accountId, before, limit: 1 });
        if (bulk === undefined) break;
        pages.push(bulk.bulkId);
        before = bulk;
      }
      assert.deepEqual(pages, ["later", "also later", "large"]);
    });

    test("a bulk that is not in the list is found by its id, and one of another account is not", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()], {}, { bulkId: "small" });
      const find = (accountId: number, bulkId: string) => bench.store.listedBulk({ accountId, bulkId });
      assert.deepEqual(await find(bench.accountId, "small"), {
        bulkId: "small",
        madeAtMs: NOW,
        sendAtMs: NOW,
        state: "at once",
      });
      assert.equal(await find(bench.resellerId, "small"), null);
      assert.equal(await find(bench.accountId, "none"), null);
    });

    test("nothing can be changed of a bulk that was sent at once, until something of it waits", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept(many(bench, LISTED_MESSAGES));
      const name = { accountId: bench.accountId, bulkId: "bulk" };
      assert.deepEqual(await bench.store.setBulkStatus({ ...name, status: "PAUSED" }), { kind: "not scheduled" });
      assert.equal((await bench.store.bulk(name))?.status, null);
      assert.equal(bench.takeMessages().length, LISTED_MESSAGES);
      await bench.accept([bench.message()], LATER);
      assert.deepEqual(await bench.store.setBulkStatus({ ...name, status: "PAUSED" }), { kind: "changed" });
      assert.deepEqual(await listed(bench), ["bulk paused"]);
      await bench.accept(many(bench, LISTED_MESSAGES), {});
      assert.equal(bench.takeMessages().length, 0, "what joins a paused bulk waits with it");
    });

    test("messages are counted by what became of them, a page at a time", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept(many(bench, 5));
      const [one, two, three] = bench.takeMessages();
      await bench.submit([one!, two!, three!]);
      await bench.receive(bench.receipt(`${one!.key}.1`), bench.receipt(`${two!.key}.1`, "undeliverable", 1));
      await bench.accept([bench.message(), bench.message({ rejectedStatusId: 52 })], LATER);
      await bench.clock.advance(3_000);
      const count = (afterKey: string, limit: number, accountId = bench.accountId) =>
        bench.store.countBulk({ accountId, bulkId: "bulk", afterKey, limit });
      const { lastKey, ...all } = await count("0", 100);
      assert.deepEqual(all, {
        scheduled: 1,
        queued: 2,
        submitted: 1,
        delivered: 1,
        failed: 2,
        anySent: true,
        lastDueAtMs: NOW + HOUR,
      });
      const first = await count("0", 2);
      assert.deepEqual([first.delivered, first.failed, first.lastKey], [1, 1, two!.key]);
      const rest = await count(first.lastKey!, 100);
      assert.deepEqual([rest.delivered, rest.failed, rest.lastKey], [0, 1, lastKey]);
      assert.deepEqual((await count(lastKey!, 100)).lastKey, null);
      assert.deepEqual((await count("0", 100, bench.resellerId)).lastKey, null);
    });

    test("bulks that were sent at once leave the list after a time, and scheduled ones stay", async (t) => {
      const bench = await Bench.start(t, make);
      for (const bulkId of ["one", "two"]) await bench.accept(many(bench, LISTED_MESSAGES), {}, { bulkId });
      await bench.accept([bench.message()], LATER, { bulkId: "later" });
      const purge = (beforeMs: number) => bench.store.purgeListedBulks({ beforeMs, limit: 1 });
      assert.deepEqual(await purge(NOW), { more: false });
      assert.deepEqual(
        [await purge(NOW + 1), await purge(NOW + 1), await purge(NOW + 1)],
        [{ more: true }, { more: true }, { more: false }],
      );
      assert.deepEqual(await listed(bench), ["later open"]);
    });
  });

  describe(`lists on ${engine}: reports that were not taken`, () => {
    test("a host is listed with what waits, since when it fails and what it said last, for its account and for the operator", async (t) => {
      const bench = await Bench.start(t, make);
      const waiting = await fail(bench, [`${HOST_A}/x`, `${HOST_A}/y?id=1`], NOW + HOUR);
      await bench.clock.advance(60_000);
      await failAgain(bench, waiting.slice(1), NOW + 30 * 60_000, 2);
      await fail(bench, [`${HOST_B}/`], null);
      await bench.clock.advance(3_000);
      const hosts = await bench.store.reportHosts({ accountKey: "CLIENT", limit: 10 });
      const atMs = NOW + 60_000;
      const last = { atMs, status: 503, durationMs: 5, reason: "answered 503", excerpt: "down" };
      assert.deepEqual(hosts, [
        {
          accountKey: "CLIENT",
          host: HOST_A,
          waiting: 2,
          dead: 0,
          nextTryAtMs: NOW + 30 * 60_000,
          failingSinceMs: NOW,
          last,
        },
        { accountKey: "CLIENT", host: HOST_B, waiting: 0, dead: 1, nextTryAtMs: null, failingSinceMs: atMs, last },
      ]);
      assert.deepEqual(await bench.store.reportHosts({ accountKey: null, limit: 10 }), hosts);
      assert.deepEqual(await bench.store.reportHosts({ accountKey: "RESELLER", limit: 10 }), []);
      assert.deepEqual(await bench.store.reportHosts({ accountKey: "NOBODY", limit: 10 }), []);
      assert.equal((await bench.store.reportHosts({ accountKey: null, limit: 1 })).length, 1);

      await bench.store.reportsDelivered({ ids: waiting });
      await bench.clock.advance(3_000);
      const left = await bench.store.reportHosts({ accountKey: "CLIENT", limit: 10 });
      assert.deepEqual(
        left.map(({ host }) => host),
        [HOST_B],
        "a host that has taken all is gone",
      );
    });

    test("what an older version has left without a host or a time gets it, a page at a time", async (t) => {
      const bench = await Bench.start(t, make);
      const urls = [
        "https://user:S3cret@example.com/cb",
        "https://EXAMPLE.com:443/cb",
        "https://example.com?x=Token1",
        "https://bücher.example/x",
        "https://example.com#f",
      ];
      await fail(bench, urls, NOW + HOUR);
      await fail(bench, urls.slice(0, 1), null);
      await bench.accept([bench.message({ rejectedStatusId: 52 })], { notifyUrl: `${HOST_A}/untried` });
      bench.takeReports();
      await bench.accept([bench.message()], LATER, { bulkId: "early" });
      await bench.clock.advance(1_000);
      await bench.accept([bench.message()], LATER, { bulkId: "late" });
      await bench.clock.advance(60_000);
      await bench.close();
      assert.equal((await bench.rows("UPDATE report SET host = NULL RETURNING 1")).length, urls.length + 2);
      await bench.rows("UPDATE bulk SET made_at_ms = 0 WHERE bulk_id = 'late' RETURNING 1");
      await bench.open();
      assert.deepEqual(await bench.store.reportHosts({ accountKey: null, limit: 10 }), []);
      assert.deepEqual(await listed(bench), ["early open", "late open"]);
      let pages = 1;
      while ((await bench.store.fillIn({ limit: 4 })).more) pages++;
      assert.equal(pages, 2);
      const hosts = await bench.store.reportHosts({ accountKey: null, limit: 10 });
      assert.deepEqual(
        hosts.map(({ host, waiting, dead }) => [host, waiting, dead]),
        [
          ["https://example.com", 4, 1],
          ["https://xn--bcher-kva.example", 1, 0],
        ],
      );
      assert.deepEqual(await listed(bench), ["late open", "early open"]);
      const [{ madeAtMs } = { madeAtMs: 0 }] = await bench.store.listedBulks({
        accountId: bench.accountId,
        before: null,
        limit: 1,
      });
      assert.equal(madeAtMs, NOW + 1_000);
      assert.equal((await bench.rows("SELECT 1 FROM report WHERE host IS NULL")).length, 1, "it has not failed");
    });

    test("one that failed is shown whole to its account and to the operator, and to nobody else", async (t) => {
      const bench = await Bench.start(t, make);
      const [id] = await fail(bench, [`${HOST_A}/x`], NOW + HOUR);
      await bench.clock.advance(3_000);
      const report = await bench.store.failedReport({ accountKey: "CLIENT", id: id! });
      assert.deepEqual(
        [report?.host, report?.nextTryAtMs, report?.deadAtMs, report?.history.length, report?.batch.items.length],
        [HOST_A, NOW + HOUR, null, 1, 1],
      );
      assert.deepEqual(await bench.store.failedReport({ accountKey: null, id: id! }), report);
      assert.equal(await bench.store.failedReport({ accountKey: "RESELLER", id: id! }), null);
      assert.equal(await bench.store.failedReport({ accountKey: null, id: "1" }), null);
      const list = (accountKey: string, beforeId: string | null = null) =>
        bench.store.waitingReports({ accountKey, host: HOST_A, beforeId, limit: 10 });
      assert.deepEqual(
        (await list("CLIENT")).map((each) => [each.id, each.nextTryAtMs]),
        [[id, NOW + HOUR]],
      );
      assert.deepEqual([await list("CLIENT", id!), await list("RESELLER")], [[], []]);
    });

    test("those that wait are tried at once when told to, a page at a time, and only the account's own", async (t) => {
      const bench = await Bench.start(t, make);
      const ids = await fail(bench, [`${HOST_A}/1`, `${HOST_A}/2`, `${HOST_A}/3`, `${HOST_B}/`], NOW + HOUR);
      const due = async (): Promise<string[]> => {
        const { batches } = await bench.store.dueReports({ nowMs: bench.clock.now(), limit: 10 });
        return batches.map(({ id }) => id);
      };
      const retry = { nowMs: NOW, limit: 2 };
      const foreign = { ids, accountKey: "RESELLER", ...retry, limit: 10 };
      assert.deepEqual(await bench.store.retryReports(foreign), { retried: 0, next: null });
      const host = { accountKey: "CLIENT", host: HOST_A };
      assert.deepEqual(await bench.store.retryReports({ ...host, afterId: null, ...retry }), {
        retried: 2,
        next: ids[1],
      });
      assert.deepEqual(await bench.store.retryReports({ ...host, afterId: ids[1]!, ...retry }), {
        retried: 1,
        next: null,
      });
      assert.deepEqual(await due(), ids.slice(0, 3));
      assert.deepEqual(await bench.store.retryReports({ ids: [ids[0]!, ids[3]!], accountKey: "CLIENT", ...retry }), {
        retried: 1,
        next: null,
      });
      assert.deepEqual(await due(), [ids[3]], "one that is under way is not tried twice");
    });

    test("dead letters are replayed by host and since a time, in steps, and what dies again is not met again", async (t) => {
      const bench = await Bench.start(t, make);
      const old = await fail(bench, [`${HOST_A}/1`, `${HOST_B}/1`], null);
      await bench.clock.advance(HOUR);
      const fresh = await fail(bench, [`${HOST_A}/2`, `${HOST_A}/3`, `${HOST_B}/2`], null);
      const filter = { accountKey: "CLIENT", url: null, host: HOST_A, sinceMs: NOW + HOUR };
      const list = async (change: object) =>
        (await bench.store.deadLetters({ ...filter, beforeId: null, limit: 10, ...change })).map(({ id }) => id);
      assert.deepEqual(await list({}), [fresh[1], fresh[0]]);
      assert.deepEqual(await list({ host: null }), [fresh[2], fresh[1], fresh[0]]);
      assert.deepEqual(await list({ accountKey: null, sinceMs: null }), [fresh[1], fresh[0], old[0]]);
      assert.deepEqual(await list({ accountKey: "RESELLER" }), []);

      const nowMs = bench.clock.now();
      const step = (afterId: string | null) => bench.store.replayDeadLetters({ ...filter, afterId, nowMs, limit: 1 });
      const first = await step(null);
      assert.deepEqual(first, { replayed: 1, next: fresh[0] });
      await failAgain(bench, [fresh[0]!], null);
      assert.deepEqual(await step(first.next), { replayed: 1, next: null });
      assert.deepEqual(await list({ sinceMs: null }), [fresh[0], old[0]]);
      assert.deepEqual(
        await bench.store.replayDeadLetters({ ids: old, accountKey: "RESELLER", nowMs, limit: 10 }),
        { replayed: 0, next: null },
        "nobody replays another's",
      );
      assert.deepEqual(
        await bench.store.replayDeadLetters({ ...filter, accountKey: null, sinceMs: null, nowMs, limit: 10 }),
        { replayed: 2, next: null },
        "of all accounts",
      );
      assert.deepEqual(await list({ accountKey: null, host: null, sinceMs: null }), [fresh[2], old[1]]);
    });

    test("however many reports a host has, they are counted up to a bound", async (t) => {
      const bench = await Bench.start(t, make);
      const count = MAX_COUNTED_REPORTS + 5;
      const ids: string[] = [];
      for (let done = 0; done < count; done += 67) {
        const some = Math.min(67, count - done);
        const contents = Array.from({ length: some }, (_, index) =>
          bench.content({ notifyUrl: `${HOST_A}/${done + index}` }),
        );
        const messages = contents.map((_, content) => bench.message({ content, rejectedStatusId: 52 }));
        await bench.accept(messages, {}, { contents });
        ids.push(...bench.takeReports().map(({ id }) => id));
      }
      assert.equal(ids.length, count);
      await failAgain(bench, ids, NOW + HOUR);
      await bench.clock.advance(3_000);
      const look = async () => (await bench.store.reportHosts({ accountKey: "CLIENT", limit: 10 }))[0]?.waiting;
      // Rows reach their table some at a time.
      for (let looks = 0; looks < 5 && (await look()) !== MAX_COUNTED_REPORTS; looks++)
        await bench.clock.advance(3_000);
      assert.equal(await look(), MAX_COUNTED_REPORTS);
    });
  });

  describe(`lists on ${engine}: messages from phones`, () => {
    test("an account's are listed newest first with what became of each, and stay to be fetched", async (t) => {
      const bench = await Bench.start(t, make);
      const numbers = [
        { number: "12345", account: "CLIENT", stopKeywords: ["STOP"] },
        { number: "777", account: "CLIENT", forwardUrl: `${HOST_A}/in` },
      ];
      await bench.store.putCatalogue({
        items: numbers.map((rule) => ({ kind: "number" as const, id: rule.number, body: JSON.stringify(rule) })),
      });
      const write = async (to: string, text: string) => {
        const part = { from: "41790000001", to, text, concatenation: null, atMs: NOW };
        await bench.store.incoming({ carrierId: CARRIER, parts: [part], nowMs: NOW });
      };
      await write("12345", "first");
      const { messages } = await bench.fetchIncoming(1);
      await bench.store.confirmIncoming({ keys: messages.map(({ messageId }) => messageId) });
      await write("12345", "stop it");
      await write("777", "pushed");
      await write("999", "nobody's");
      const list = (beforeKey: string | null, limit = 10, accountId = bench.accountId) =>
        bench.store.listedIncoming({ accountId, beforeKey, limit });
      const all = await list(null);
      assert.deepEqual(
        all.map(({ text, state, forwardUrl, wish, keyword }) => ({ text, state, forwardUrl, wish, keyword })),
        [
          { text: "pushed", state: "forwarded", forwardUrl: `${HOST_A}/in`, wish: null, keyword: null },
          { text: "stop it", state: "waiting", forwardUrl: null, wish: "stop", keyword: "STOP" },
          { text: "first", state: "fetched", forwardUrl: null, wish: null, keyword: null },
        ],
      );
      assert.deepEqual(
        (await list(all[0]!.messageId, 1)).map(({ text }) => text),
        ["stop it"],
      );
      assert.deepEqual(await list(null, 10, bench.resellerId), []);
      assert.equal((await bench.fetchIncoming(10)).messages.length, 1, "a look takes nothing");
    });
  });
}
