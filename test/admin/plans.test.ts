/** The prices of a rate plan in pages: each page costs what is on it, however many prices a catalogue has. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { offeredPlan, offeredPlans, offeredPrices } from "../../src/admin/plans.ts";
import { Snapshot } from "../../src/catalogue/snapshot.ts";

const plan = (id: string, prefixes: readonly string[]) => ({
  kind: "ratePlan" as const,
  id,
  body: JSON.stringify({ id, currency: "EUR", rate: prefixes.map((prefix) => ({ prefix, price: "0.01" })) }),
});
const PREFIXES = { gold: ["49", "", "4917", "1", "41"], own: ["41", "4", "49179", "99"], other: ["7"] };
const snapshot = new Snapshot(
  Object.entries(PREFIXES).map(([id, prefixes]) => plan(id, prefixes)) as ConstructorParameters<typeof Snapshot>[0],
);
const reader = { kind: "client" as const, ratePlanId: "own", currency: "EUR" };

test("pages go through the prefixes of both plans in order, each once, wherever they begin", () => {
  for (const [id, all] of [
    ["gold", ["", "1", "4", "41", "49", "4917", "49179", "99"]],
    ["own", ["4", "41", "49179", "99"]],
  ] as const) {
    for (const limit of [1, 2, 3, 100]) {
      const seen: string[] = [];
      for (let after: string | null = null; ; after = seen.at(-1)!) {
        const page = offeredPrices(snapshot, reader, { id }, { after, limit });
        seen.push(...page.map(({ prefix }) => prefix));
        if (page.length < limit) break;
      }
      assert.deepEqual(seen, all, `${id} by ${limit}`);
    }
    const from48 = offeredPrices(snapshot, reader, { id }, { after: "48", limit: 2 });
    assert.deepEqual(
      from48.map(({ prefix }) => prefix),
      all.filter((prefix) => prefix > "48").slice(0, 2),
    );
  }
});

test("a plan is found without a look at the prices of any, and they are sorted once", (t) => {
  const looks = t.mock.method(snapshot, "pricedPrefixes");
  assert.equal(offeredPlan(snapshot, reader, "gold").prices, 5);
  assert.deepEqual(
    offeredPlans(snapshot, reader).map(({ id, prices, isOwn }) => [id, prices, isOwn]),
    [
      ["gold", 5, false],
      ["other", 1, false],
      ["own", 4, true],
    ],
  );
  assert.throws(() => offeredPlan(snapshot, reader, "none"), /there is no rate plan none/);
  assert.equal(looks.mock.callCount(), 0);
  assert.equal(snapshot.pricedPrefixes("gold"), snapshot.pricedPrefixes("gold"), "the same array");
});
