/** What every engine of the store must do so that no id is handed out twice. A start has the number of the one before. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { firstIdAt, nthId } from "../../src/runtime/ids.ts";
import { PURGE_START, type PurgeCursor } from "../../src/store/port/delivery.ts";
import type { Store } from "../../src/store/port/store.ts";
import fc, { cases } from "../support/chance.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase } from "./harness.ts";

const URL_A = "http://127.0.0.1:1/a";
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A number whose messages are pushed. */
const NUMBER = {
  kind: "number" as const,
  id: "41790000099",
  body: JSON.stringify({ number: "41790000099", account: "CLIENT", forwardUrl: URL_A }),
};

/** Sees that every id is new. */
class Ids {
  readonly seen = new Set<string>();

  add(...ids: readonly string[]): void {
    for (const id of ids) {
      assert.ok(!this.seen.has(id), `${id} came again`);
      assert.match(id, /^\d{1,19}$/);
      assert.ok(BigInt(id) < 2n ** 63n, `${id} has more than 63 bits`);
      this.seen.add(id);
    }
  }
}

/** A request of so many messages, as the service takes one: a bulkId and messageIds. */
async function send(bench: Bench, ids: Ids, count: number, rejectedStatusId: number | null = null): Promise<void> {
  const first = bench.ids.take(count + 1);
  const messages = Array.from({ length: count }, () => bench.message({ rejectedStatusId }));
  const change = { bulkId: first, firstKey: nthId(first, 1) };
  await bench.accept(messages, { notifyUrl: URL_A }, change);
  ids.add(...Array.from({ length: count + 1 }, (_, index) => nthId(first, index)));
}

/** All that waits is sent and delivered, and its reports are taken by their receiver. */
async function deliver(bench: Bench, ids: Ids): Promise<void> {
  const messages = bench.takeMessages();
  await bench.submit(messages);
  await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));
  await takeReports(bench, ids);
}

async function takeReports(bench: Bench, ids: Ids): Promise<void> {
  const batches = [...bench.takeReports(), ...bench.takeIncoming()].map(({ id }) => id);
  ids.add(...batches);
  await bench.store.reportsDelivered({ ids: batches });
}

async function write(bench: Bench, ids: Ids): Promise<void> {
  const part = { from: "41790000001", to: NUMBER.id, text: "hello", atMs: bench.clock.now(), concatenation: null };
  await bench.store.incoming({ carrierId: CARRIER, parts: [part], nowMs: bench.clock.now() });
  ids.add(...bench.incoming.flatMap(({ items }) => items.map(({ messageId }) => messageId)));
  await takeReports(bench, ids);
}

/** All that is done leaves the store. */
async function purgeMessages(bench: Bench): Promise<void> {
  const beforeMs = bench.clock.now() + 200 * YEAR;
  for (let cursor: PurgeCursor | null = PURGE_START; cursor !== null; ) {
    const page: Awaited<ReturnType<Store["purgeMessages"]>> = await bench.store.purgeMessages({
      beforeMs,
      nowMs: beforeMs,
      limit: 1_000,
      cursor,
    });
    cursor = page.more ? page.cursor : null;
  }
}

async function start(t: Parameters<MakeDatabase>[0], make: MakeDatabase): Promise<Bench> {
  const bench = await Bench.start(t, make);
  await bench.store.putCatalogue({ items: [NUMBER] });
  return bench;
}

/** Works in two moments that are an hour apart; and again after each of two starts, with the clock set back to the first. */
async function hourAfterHour(bench: Bench, work: () => Promise<void>): Promise<void> {
  for (let round = 0; round < 3; round++) {
    if (round > 0) await bench.restart();
    await work();
    bench.clock.stepBack(-HOUR);
    await work();
    bench.clock.stepBack(HOUR);
  }
}

const STEPS: Readonly<Record<string, (bench: Bench, ids: Ids, amount: number) => Promise<void>>> = {
  send: (bench, ids, amount) => send(bench, ids, 1 + (amount % 3)),
  rejected: (bench, ids) => send(bench, ids, 1, 52),
  deliver: (bench, ids) => deliver(bench, ids),
  write: (bench, ids) => write(bench, ids),
  purgeMessages: (bench) => purgeMessages(bench),
  restart: (bench) => bench.restart(),
  moment: async (bench, _, amount) => bench.clock.stepBack(-amount),
  // By whole hours, so that it comes to where it was.
  back: async (bench, _, amount) => bench.clock.stepBack((amount % 3) * HOUR),
  ahead: async (bench, _, amount) => bench.clock.stepBack(-(amount % 3) * HOUR),
  "years back": async (bench, _, amount) => bench.clock.stepBack(Math.min(amount * DAY, bench.clock.now())),
  "years ahead": async (bench, _, amount) => bench.clock.stepBack(-amount * DAY),
};

export function idsContract(engine: string, make: MakeDatabase): void {
  describe(`ids on ${engine}`, () => {
    test("after a start with a clock an hour behind, no report has the id of one that was delivered before", async (t) => {
      const bench = await start(t, make);
      const ids = new Ids();
      await hourAfterHour(bench, async () => {
        await send(bench, ids, 2);
        await deliver(bench, ids);
      });
      assert.equal(ids.seen.size, 6 * (3 + 1));
    });

    test("nor has any in data from before there were marks, also if the newest is in no table yet", async (t) => {
      const bench = await start(t, make);
      const ids = new Ids();
      await send(bench, ids, 3);
      await write(bench, ids);
      await bench.close();
      await bench.rows("DELETE FROM id_mark RETURNING 1");
      bench.incoming = [];
      bench.reports = [];
      await bench.open();
      await send(bench, ids, 3);
      await write(bench, ids);
    });

    test("nor has a message the id of one that has left, or that was rejected with all of its request", async (t) => {
      const bench = await start(t, make);
      const ids = new Ids();
      await hourAfterHour(bench, async () => {
        await send(bench, ids, 2);
        await send(bench, ids, 2, 52);
        await deliver(bench, ids);
        await purgeMessages(bench);
        const { messages } = await bench.store.logs({
          ...{ from: null, to: null, bulkIds: null, messageIds: null, statusIds: null, mcc: null, mnc: null },
          ...{ accountId: bench.accountId, sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, limit: 10, after: null },
        });
        assert.deepEqual(messages, []);
      });
    });

    test("nor has a message from a phone the id of one that has left, or of a message to one", async (t) => {
      const bench = await start(t, make);
      const ids = new Ids();
      await hourAfterHour(bench, async () => {
        await send(bench, ids, 1);
        await write(bench, ids);
        await send(bench, ids, 1);
        await deliver(bench, ids);
        await purgeMessages(bench);
      });
    });

    test("after a clock that was years ahead, ids are new and within 63 bits, and after the next start as the clock says", async (t) => {
      const bench = await start(t, make);
      const ids = new Ids();
      const wrongMs = 500 * YEAR;
      await send(bench, ids, 2);
      bench.clock.stepBack(-wrongMs);
      await send(bench, ids, 2);
      await deliver(bench, ids);
      await bench.restart();
      await send(bench, ids, 2);
      bench.clock.stepBack(wrongMs);
      await send(bench, ids, 2);
      await bench.restart();
      await send(bench, ids, 2);
      await write(bench, ids);
      const last = BigInt([...ids.seen].at(-1)!);
      assert.ok(last < firstIdAt(bench.clock.now() + HOUR), "far ahead for good");
    });

    test("whatever the clock does, and whenever the service is started anew, no id comes twice", async (t) => {
      const step = fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.nat({ max: 5_000 }));
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
          const bench = await start(t, make);
          try {
            const ids = new Ids();
            for (const [name, amount] of steps) await STEPS[name]!(bench, ids, amount);
          } finally {
            await bench.close();
          }
        }),
        { numRuns: cases(10) },
      );
    });
  });
}
