/** What every engine of the store must do with what it cannot record. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_QUARANTINED } from "../../src/commands/quarantine.ts";
import type { AsideKind } from "../../src/store/port/quarantine.ts";
import { Bench, CARRIER, HOUR, type MakeDatabase, NOW } from "./harness.ts";

export function quarantineContract(engine: string, make: MakeDatabase): void {
  describe(`what is kept aside on ${engine}`, () => {
    test("whatever it holds, it is kept, cut off at a bound", async (t) => {
      const bench = await Bench.start(t, make);
      const odd = { atMs: NOW, command: "received", subject: "a\0b\ud800", reason: "r".repeat(5_000) };
      await bench.store.quarantine({ items: [{ ...odd, detail: JSON.stringify("x".repeat(100_000)) }] });
      await bench.restart();
      const { count, items } = await bench.store.quarantined({ limit: 10 });
      assert.equal(count, 1);
      assert.equal(items[0]!.subject, "a\ufffdb\ufffd");
      assert.ok(items[0]!.reason.length <= 300 && items[0]!.detail.length <= 4_000);
    });

    test("a message that is held goes to nobody, also after a start, until somebody lets it; too many do not push it out", async (t) => {
      const bench = await Bench.start(t, make);
      const { store } = bench;
      await bench.accept([bench.message({ to: "41790000001" }), bench.message({ to: "41790000002" })]);
      const { key } = bench.takeMessages().find(({ to }) => to === "41790000001")!;
      const item = { atMs: NOW, command: "submitted", reason: "r", detail: "{}" };
      await store.quarantine({ items: [{ ...item, subject: key, heldKey: key }] });
      const others = Array.from({ length: MAX_QUARANTINED + 5 }, (_, index) => ({ ...item, subject: String(index) }));
      await store.quarantine({ items: others });
      await bench.restart();
      const claimed = async (): Promise<string[]> => {
        await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
        return bench.takeMessages().map(({ to }) => to);
      };
      assert.deepEqual(await claimed(), ["41790000002"]);
      const { held, items } = await bench.store.quarantined({ limit: 2 * MAX_QUARANTINED });
      assert.equal(held, 1);
      const row = items.find(({ heldKey }) => heldKey === key)!;
      const made = { by: { name: "OPERATOR", address: null }, atMs: NOW, kind: "quarantine" as const };
      assert.deepEqual(await bench.store.discard({ ...made, ids: [String(row.id)] }), { discarded: 0 });
      assert.deepEqual(await claimed(), []);
      assert.deepEqual(await bench.store.discard({ ...made, ids: [String(row.id)], held: "goes again" }), {
        discarded: 1,
      });
      assert.deepEqual(await claimed(), ["41790000001"]);
    });

    test("of too many the oldest go", async (t) => {
      const bench = await Bench.start(t, make);
      const item = { atMs: NOW, command: "received", reason: "r", detail: "{}" };
      const items = Array.from({ length: MAX_QUARANTINED + 5 }, (_, index) => ({ ...item, subject: String(index) }));
      await bench.store.quarantine({ items });
      const kept = await bench.store.quarantined({ limit: MAX_QUARANTINED + 5 });
      assert.equal(kept.count, MAX_QUARANTINED);
      assert.equal(kept.items.at(0)!.subject, String(MAX_QUARANTINED + 4));
      assert.equal(kept.items.at(-1)!.subject, "5");
    });

    test("what somebody has looked at is deleted by its id, and the audit says who did so", async (t) => {
      const bench = await Bench.start(t, make);
      const { store } = bench;
      const made = { by: { name: "OPERATOR", address: null }, atMs: NOW };
      const item = { atMs: NOW, command: "received", reason: "r", detail: "{}" };
      await store.quarantine({
        items: [
          { ...item, subject: "one" },
          { ...item, subject: "two" },
        ],
      });
      const receipt = { outcome: "delivered", errorId: 0, atMs: NOW, mccMnc: null, to: null } as const;
      await store.received({ carrierId: CARRIER, receipts: [{ ...receipt, carrierMessageId: "nobody's" }] });
      const part = { from: "41790000001", text: "Hello", concatenation: null, atMs: NOW };
      await store.incoming({ carrierId: CARRIER, parts: [{ ...part, to: "nobody" }], nowMs: NOW });

      const { items } = await store.quarantined({ limit: 10 });
      const discard = (kind: AsideKind, ...ids: unknown[]) => store.discard({ ...made, kind, ids: ids.map(String) });
      assert.deepEqual(await discard("quarantine", items[0]!.id, items[0]!.id, 999_999), { discarded: 1 });
      assert.deepEqual(
        (await store.quarantined({ limit: 10 })).items.map(({ subject }) => subject),
        ["one"],
      );
      const { receipts } = await store.parkedReceipts({ limit: 10 });
      assert.deepEqual(await discard("receipt", receipts[0]!.id), { discarded: 1 });
      const { messages } = await store.unmatchedIncoming({ limit: 10 });
      assert.deepEqual(await discard("incoming", messages[0]!.messageId), { discarded: 1 });
      assert.deepEqual(await discard("incoming", messages[0]!.messageId), { discarded: 0 });
      await bench.restart();
      assert.equal((await bench.store.parkedReceipts({ limit: 1 })).count, 0);
      assert.equal((await bench.store.unmatchedIncoming({ limit: 1 })).count, 0);
      const search = { resellerId: null, kind: null, subject: null, actor: "OPERATOR", beforeId: null, limit: 10 };
      const noted = await bench.store.audit(search);
      assert.deepEqual(
        noted.map(({ action, kind }) => [action, kind]),
        [
          ["delete", "incoming"],
          ["delete", "receipt"],
          ["delete", "quarantine"],
        ],
      );
    });

    test("what waits is counted up to a bound, and the nodes are told", async (t) => {
      const bench = await Bench.start(t, make);
      const { store } = bench;
      const ages = { oldestDueAtMs: null, oldestReportDueAtMs: null };
      const none = { queued: 0, scheduled: 0, due: 0, reports: 0, deadReports: 0, ...ages };
      assert.deepEqual(await store.backlog({ nowMs: NOW, limit: 10 }), none);
      const later = { sendAtMs: NOW + HOUR, dueAtMs: NOW + HOUR };
      await bench.accept(
        Array.from({ length: 5 }, () => bench.message()),
        later,
      );
      // What is behind the journal is counted once it is in its table.
      await bench.restart();
      assert.deepEqual(await bench.store.backlog({ nowMs: NOW, limit: 10 }), { ...none, scheduled: 5 });
      const due = { scheduled: 3, due: 3, oldestDueAtMs: NOW + HOUR };
      assert.deepEqual(await bench.store.backlog({ nowMs: NOW + HOUR, limit: 3 }), { ...none, ...due });
      const { nodes, gone, storage } = await bench.store.nodes({ storage: false });
      assert.deepEqual([nodes.length, nodes[0]!.isSelf, nodes[0]!.isAlive, gone, storage], [1, true, true, [], null]);
      assert.ok((await bench.store.nodes({ storage: true })).storage!.octets > 0);
    });
  });
}
