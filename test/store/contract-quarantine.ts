/** What every engine of the store must do with what it cannot record. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_QUARANTINED } from "../../src/store/commands/quarantine.ts";
import { Bench, type MakeDatabase, NOW } from "./harness.ts";

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
  });
}
