/** What every engine of the store must do with messages of octets. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Bench, CARRIER, type MakeDatabase } from "./harness.ts";

export function octetsContract(engine: string, make: MakeDatabase): void {
  describe(`the store on ${engine}: octets`, () => {
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
  });
}
