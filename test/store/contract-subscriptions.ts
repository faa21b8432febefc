/** What every engine of the store must do for an account's subscriptions and profile. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SubscriptionChange, SubscriptionWish } from "../../src/message/subscription.ts";
import { Bench, type MakeDatabase, NOW } from "./harness.ts";

const WISH: SubscriptionWish = {
  kind: "delivery",
  address: "InfoSMS",
  criteria: null,
  notifyUrl: "http://a.test/",
  callbackData: null,
  format: null,
  correlator: "c",
};
const BY = { by: { name: "test", address: null }, atMs: NOW };

export function subscriptionsContract(engine: string, make: MakeDatabase): void {
  describe(`subscriptions on ${engine}`, () => {
    test("they are made once, sent elsewhere and taken away, each a change that nodes follow", async (t) => {
      const bench = await Bench.start(t, make);
      const { accountId, store } = bench;
      const change = (wanted: SubscriptionChange, id = accountId) =>
        store.changeSubscriptions({ accountId: id, change: wanted, ...BY });
      const changes = await store.changeCounter();
      const made = { kind: "done", subscription: { id: "s1", ...WISH } };
      assert.deepEqual(await change({ kind: "make", wish: WISH }), made);
      assert.equal(await store.changeCounter(), changes + 1);
      assert.deepEqual(await change({ kind: "make", wish: { ...WISH, correlator: "d" } }), made);
      assert.equal(await store.changeCounter(), changes + 1);
      const other = { ...WISH, criteria: "QUIZ" };
      assert.deepEqual(await change({ kind: "make", wish: other }), { kind: "conflict" });
      const second = await change({ kind: "make", wish: { ...other, kind: "inbound", correlator: null } });
      assert.equal(second.kind === "done" && second.subscription.id, "m2");
      const moved = await change({ kind: "redirect", id: "s1", notifyUrl: "http://b.test/" });
      assert.equal(moved.kind === "done" && moved.subscription.notifyUrl, "http://b.test/");
      // Ids are an account's own.
      assert.deepEqual(await change({ kind: "remove", id: "s1" }, bench.resellerId), { kind: "unknown" });
      assert.equal((await change({ kind: "remove", id: "m2" })).kind, "done");
      assert.deepEqual(await change({ kind: "remove", id: "m2" }), { kind: "unknown" });
      const third = await change({ kind: "make", wish: other });
      assert.deepEqual(third, { kind: "conflict" });
      const fourth = await change({ kind: "make", wish: { ...other, correlator: "e" } });
      assert.equal(fourth.kind === "done" && fourth.subscription.id, "s3");
    });

    test("a profile keeps what it is not told anew, and is seen within its tenant", async (t) => {
      const bench = await Bench.start(t, make);
      const { accountId, resellerId, store } = bench;
      const found = await store.profile({ accountId, resellerId: null });
      assert.deepEqual(found?.profile, {});
      await store.changeProfile({ accountId, change: { city: "Bern", countryId: 756 } });
      const after = await store.changeProfile({ accountId, change: { city: "Basel" } });
      assert.deepEqual(after, { city: "Basel", countryId: 756 });
      assert.deepEqual((await store.profile({ accountId, resellerId }))?.profile, after);
      assert.equal(await store.profile({ accountId, resellerId: accountId }), null);
    });
  });
}
