/** What every engine of the store must do with messages of octets, and with those of several parts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Bench, CARRIER, type MakeDatabase } from "./harness.ts";

export function partsContract(engine: string, make: MakeDatabase): void {
  describe(`the store on ${engine}: octets and parts`, () => {
    test("a binary message is what it was after the process died, beside one of text", async (t) => {
      const bench = await Bench.start(t, make);
      const octets = { text: "0fc2", encoding: { dataCoding: 4, esmClass: 64 } };
      await bench.accept([bench.message({ to: "41790000001" })], octets);
      await bench.accept([bench.message({ to: "41790000002" })], { text: "octets 4 64", encoding: "gsm7" });
      const before = bench.takeMessages();
      assert.deepEqual(
        before.map(({ text, encoding }) => ({ text, encoding })),
        [octets, { text: "octets 4 64", encoding: "gsm7" }],
      );
      await bench.restart();
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 10 });
      assert.deepEqual(bench.takeMessages(), before);
    });

    test("a long message keeps its reference when the process dies, however many the phone got before", async (t) => {
      const count = 200;
      const bench = await Bench.start(t, make, { lanes: { lane: 2 * count, total: 2 * count } });
      for (let nth = 0; nth < count; nth++) await bench.accept([bench.message()], { text: `${nth}`, partCount: 2 });
      await bench.accept([bench.message()]);
      const before = bench.takeMessages();
      assert.equal(new Set(before.map(({ reference }) => reference)).size, count + 1);
      assert.equal(before.at(-1)!.reference, null, "one of a single part needs none");
      await bench.restart();
      await bench.store.claimLane({ accountId: bench.accountId, carrierId: CARRIER, limit: 2 * count });
      const again = bench.takeMessages().toSorted((one, other) => Number(BigInt(one.key) - BigInt(other.key)));
      assert.deepEqual(again, before);
    });
  });
}
