/** What every engine of the store must do with API keys. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Bench, type MakeDatabase, NOW } from "./harness.ts";

const MINUTE = 60_000;
/** What a key has that never ends and may be used from anywhere. */
const UNBOUNDED = { expiresAtMs: null, allowedAddresses: null };

export function keysContract(engine: string, make: MakeDatabase): void {
  const key = (id: string, accountKey = "CLIENT") => ({
    id,
    keyHash: `hash of ${id}`,
    accountKey,
    name: null,
    atMs: NOW,
  });

  describe(`the store on ${engine}: API keys`, () => {
    test("a key finds its account, also after the process died, until it is revoked", async (t) => {
      const bench = await Bench.start(t, make);
      assert.equal(await bench.store.createApiKey(key("one")), "created");
      await bench.restart();
      const found = await bench.store.findApiKey({ keyHash: "hash of one", nowMs: NOW });
      assert.deepEqual([found?.id, found?.key, found?.suspended], [bench.accountId, "CLIENT", false]);
      assert.equal(await bench.store.findApiKey({ keyHash: "one", nowMs: NOW }), null);

      assert.deepEqual(await bench.store.apiKeyOwner({ id: "one" }), { accountId: bench.accountId, name: null });
      assert.equal(await bench.store.apiKeyOwner({ id: "hash of one" }), null);
      assert.equal(await bench.store.revokeApiKey({ id: "one" }), "revoked");
      assert.equal(await bench.store.apiKeyOwner({ id: "one" }), null);
      assert.equal(await bench.store.revokeApiKey({ id: "one" }), "unknown key");
      assert.equal(await bench.store.findApiKey({ keyHash: "hash of one", nowMs: NOW }), null);
    });

    test("an id and a hash belong to one key, and a key to an account that exists", async (t) => {
      const bench = await Bench.start(t, make);
      assert.equal(await bench.store.createApiKey(key("one", "NOBODY")), "unknown account");
      assert.equal(await bench.store.createApiKey(key("one")), "created");
      assert.equal(await bench.store.createApiKey({ ...key("one", "RESELLER"), keyHash: "another" }), "taken");
      assert.equal(await bench.store.createApiKey({ ...key("two", "RESELLER"), keyHash: "hash of one" }), "taken");
      assert.equal((await bench.store.findApiKey({ keyHash: "hash of one", nowMs: NOW }))?.key, "CLIENT");
    });

    test("keys are listed account by account, with when each was last used, and the note is made at most once a minute", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.store.createApiKey({ ...key("b"), name: "for the shop" });
      await bench.store.createApiKey(key("a"));
      await bench.store.createApiKey(key("c", "RESELLER"));
      const use = (nowMs: number) => bench.store.findApiKey({ keyHash: "hash of a", nowMs });
      const usedAt = async () => (await bench.store.apiKeys({ accountKey: "CLIENT" })).map(({ usedAtMs }) => usedAtMs);

      await use(NOW + 1);
      assert.deepEqual(await usedAt(), [NOW + 1, null]);
      await use(NOW + MINUTE);
      assert.deepEqual(await usedAt(), [NOW + 1, null]);
      await use(NOW + 1 + MINUTE);
      assert.deepEqual(await usedAt(), [NOW + 1 + MINUTE, null]);

      const a = {
        id: "a",
        accountKey: "CLIENT",
        name: null,
        scopes: null,
        ...UNBOUNDED,
        createdAtMs: NOW,
        usedAtMs: NOW + 1 + MINUTE,
      };
      const b = {
        id: "b",
        accountKey: "CLIENT",
        name: "for the shop",
        scopes: null,
        ...UNBOUNDED,
        createdAtMs: NOW,
        usedAtMs: null,
      };
      const c = {
        id: "c",
        accountKey: "RESELLER",
        name: null,
        scopes: null,
        ...UNBOUNDED,
        createdAtMs: NOW,
        usedAtMs: null,
      };
      assert.deepEqual(await bench.store.apiKeys({ accountKey: "CLIENT" }), [a, b]);
      assert.deepEqual(await bench.store.apiKeys({ accountKey: null }), [c, a, b]);
      assert.deepEqual(await bench.store.apiKeys({ accountKey: "NOBODY" }), []);
    });

    test("a key has an end and networks of its own, also after the process died, and is not noted as used from its end on", async (t) => {
      const bench = await Bench.start(t, make);
      const bounds = { expiresAtMs: NOW + MINUTE, allowedAddresses: ["192.0.2.0/24", "2001:db8::/32"] };
      await bench.store.createApiKey({ ...key("one"), ...bounds, scopes: ["send"] });
      await bench.store.createApiKey(key("two"));
      await bench.restart();
      const found = (name: string, nowMs: number) => bench.store.findApiKey({ keyHash: `hash of ${name}`, nowMs });
      const before = await found("one", NOW + MINUTE - 1);
      assert.deepEqual([before?.apiKey, before?.scopes], [{ id: "one", ...bounds }, ["send"]]);
      const [used] = await bench.store.apiKeys({ accountKey: "CLIENT" });
      const later = await found("one", NOW + 10 * MINUTE);
      assert.deepEqual(later?.apiKey, { id: "one", ...bounds }, "whoever looks sees that it has ended");
      assert.deepEqual((await found("two", NOW + MINUTE))?.apiKey, { id: "two", ...UNBOUNDED });
      const [listed] = await bench.store.apiKeys({ accountKey: "CLIENT" });
      assert.deepEqual([listed?.expiresAtMs, listed?.allowedAddresses], [bounds.expiresAtMs, bounds.allowedAddresses]);
      assert.equal(listed?.usedAtMs, used?.usedAtMs);
      assert.equal(await bench.store.revokeApiKey({ id: "one" }), "revoked", "one that has expired can be taken away");
    });

    test("making and revoking a key is a change that a service notices, and using one is not", async (t) => {
      const bench = await Bench.start(t, make);
      const counts = [await bench.store.changeCounter()];
      await bench.store.createApiKey(key("one"));
      counts.push(await bench.store.changeCounter());
      await bench.store.findApiKey({ keyHash: "hash of one", nowMs: NOW });
      counts.push(await bench.store.changeCounter());
      await bench.store.revokeApiKey({ id: "one" });
      counts.push(await bench.store.changeCounter());
      const [first = 0] = counts;
      assert.deepEqual(counts, [first, first + 1, first + 1, first + 2]);
    });
  });
}
