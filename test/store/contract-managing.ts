/** Accounts, catalogue and money as those who manage them see and change them, on every engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SentCost, SentPosition, TrafficRange } from "../../src/money/postings.ts";
import type { AccountChange, Actor, NewAccount, Tenant } from "../../src/store/port/accounts.ts";
import { Bench, HOUR, type MakeDatabase, NOW } from "./harness.ts";

const BY: Actor = { name: "OPERATOR", address: "192.0.2.1" };
const ALL: Tenant = { resellerId: null };

/** A client of the reseller. */
function newAccount(key: string, username: string): NewAccount {
  return {
    key,
    kind: "client",
    parentKey: "RESELLER",
    currency: "EUR",
    ratePlanId: "standard",
    defaultSender: null,
    creditLimitMicros: 0n,
    openingBalanceMicros: 0n,
    callbackSecret: "whsec_AAAA",
    username,
    passwordHash: "hash",
    atMs: NOW,
  };
}

export function managingContract(engine: string, make: MakeDatabase): void {
  const change = async (bench: Bench, what: AccountChange, version: number | null = null, tenant: Tenant = ALL) =>
    bench.store.changeAccount({ ...tenant, key: "CLIENT", version, change: what, by: BY, atMs: NOW });

  describe(`managing on ${engine}: accounts`, () => {
    test("accounts are listed by key, filtered and in pages, and a reseller sees its own only", async (t) => {
      const bench = await Bench.start(t, make);
      const everything = { kind: null, suspended: null, afterKey: null, limit: 10 };
      const keys = async (input: Partial<Parameters<typeof bench.store.accounts>[0]>) =>
        (await bench.store.accounts({ ...ALL, ...everything, ...input })).map(({ key }) => key);
      assert.deepEqual(await keys({}), ["CLIENT", "RESELLER"]);
      assert.deepEqual(await keys({ limit: 1 }), ["CLIENT"]);
      assert.deepEqual(await keys({ afterKey: "CLIENT" }), ["RESELLER"]);
      assert.deepEqual(await keys({ kind: "reseller" }), ["RESELLER"]);
      assert.deepEqual(await keys({ suspended: true }), []);
      assert.deepEqual(await keys({ resellerId: bench.resellerId }), ["CLIENT"]);
      assert.deepEqual(await keys({ resellerId: bench.accountId }), []);
      assert.equal(await bench.store.account({ key: "CLIENT", resellerId: bench.accountId }), null);
    });

    test("a change is whole, counted, and refused to whoever has not seen the last one", async (t) => {
      const bench = await Bench.start(t, make);
      const first = await bench.store.account({ key: "CLIENT", ...ALL });
      assert.equal(first?.version, 1);
      assert.deepEqual(
        [first?.usernames, first?.parentKey, first?.balanceMicros],
        [["client"], "RESELLER", 1_000_000_000n],
      );
      const wanted: AccountChange = {
        defaultSender: "Acme",
        allowedSenders: ["Acme", "447700900000"],
        allowedAddresses: ["192.0.2.0/24"],
        limits: { messagesPerSecond: 50 },
        alert: { belowMicros: 5_000_000n, url: "https://example.com/low" },
        retryMinutes: [1, 5],
        creditLimitMicros: 7n,
      };
      const changed = await change(bench, wanted, 1);
      assert.equal(changed.kind, "changed");
      const after = await bench.store.account({ key: "CLIENT", ...ALL });
      const { defaultSender, allowedSenders, allowedAddresses, limits, alert, retryMinutes, creditLimitMicros } =
        after!;
      assert.deepEqual(
        { defaultSender, allowedSenders, allowedAddresses, limits, alert, retryMinutes, creditLimitMicros },
        wanted,
      );
      assert.deepEqual([after!.version, after!.ratePlanId], [2, "standard"]);
      const late = await change(bench, { defaultSender: "Other" }, 1);
      assert.deepEqual([late.kind, late.kind === "outdated" && late.account.version], ["outdated", 2]);
      assert.equal((await change(bench, { defaultSender: null }, 2, { resellerId: bench.accountId })).kind, "unknown");
      assert.deepEqual((await bench.store.findLogin({ username: "client" }))?.account.limits, {
        messagesPerSecond: 50,
      });
    });

    test("a credit limit cannot be taken from under a debt", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n, creditLimitMicros: 20_000n });
      await bench.accept([bench.message()]);
      assert.equal((await change(bench, { creditLimitMicros: 9_999n })).kind, "owes more");
      assert.equal((await change(bench, { creditLimitMicros: 10_000n })).kind, "changed");
      assert.deepEqual(await bench.store.verifyLedger(), []);
    });

    test("a suspended account loses its sessions, a retired one its keys too, for good", async (t) => {
      const bench = await Bench.start(t, make);
      const alive = { tokenHash: "t", nowMs: NOW, idleMs: HOUR, maxMs: HOUR };
      const open = () => bench.store.createSession(bench.session("t"));
      await bench.store.createApiKey({
        id: "k",
        keyHash: "h",
        accountKey: "CLIENT",
        name: null,
        scopes: ["send"],
        atMs: NOW,
      });
      const before = await bench.store.changeCounter();
      await open();
      await change(bench, { suspended: true });
      assert.equal(await bench.store.findSession(alive), null);
      const byKey = await bench.store.findApiKey({ keyHash: "h", nowMs: NOW });
      assert.deepEqual([byKey?.suspended, byKey?.scopes], [true, ["send"]]);
      assert.ok((await bench.store.changeCounter()) > before);
      await change(bench, { suspended: false });
      await open();
      const ended = await bench.store.endSessions({ ...ALL, accountKey: "CLIENT", by: BY, atMs: NOW });
      assert.deepEqual(ended, { ended: 1 });
      await change(bench, { retired: true, settlement: { kind: "paidOut" } });
      assert.equal(await bench.store.findApiKey({ keyHash: "h", nowMs: NOW }), null);
      assert.equal((await bench.store.findLogin({ username: "client" }))?.account.suspended, true);
      assert.equal((await change(bench, { suspended: false })).kind, "unknown");
      assert.equal((await bench.store.account({ key: "CLIENT", ...ALL }))?.retiredAtMs, NOW);
    });

    test("a password is changed by who may, and ends what was open under the old one", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.store.createSession(bench.session("t"));
      const set = (username: string, resellerId: number | null) =>
        bench.store.setPassword({ username, resellerId, passwordHash: "new", by: BY, atMs: NOW });
      assert.equal(await set("nobody", null), "unknown user");
      assert.equal(await set("reseller", bench.resellerId), "unknown user");
      assert.equal(await set("client", bench.resellerId), "done");
      assert.equal((await bench.store.findLogin({ username: "client" }))?.passwordHash, "new");
      assert.equal(await bench.store.findSession({ tokenHash: "t", nowMs: NOW, idleMs: HOUR, maxMs: HOUR }), null);
    });

    test("a password is marked as the reseller's from when a reseller set it until somebody else did", async (t) => {
      const bench = await Bench.start(t, make);
      const marks = async () => {
        await bench.store.createSession(bench.session("t"));
        const session = await bench.store.findSession({ tokenHash: "t", nowMs: NOW, idleMs: HOUR, maxMs: HOUR });
        const login = await bench.store.findLogin({ username: "client" });
        return [login?.account.passwordOfReseller, session?.passwordOfReseller];
      };
      const set = (resellerId: number | null) =>
        bench.store.setPassword({ username: "client", resellerId, passwordHash: "new", by: BY, atMs: NOW });
      assert.deepEqual(await marks(), [false, false]);
      await set(bench.resellerId);
      await bench.restart();
      assert.deepEqual(await marks(), [true, true]);
      const key = { id: "k", keyHash: "h", accountKey: "CLIENT", name: null, atMs: NOW };
      await bench.store.createApiKey(key);
      assert.equal((await bench.store.findApiKey({ keyHash: "h", nowMs: NOW }))?.passwordOfReseller, false);
      await set(null);
      assert.deepEqual(await marks(), [false, false]);
      const made = await bench.store.createAccount({ ...newAccount("RESELLER-NEW", "new"), byReseller: true });
      assert.equal(made.kind, "created");
      assert.equal((await bench.store.findLogin({ username: "new" }))?.account.passwordOfReseller, true);
    });

    test("names that begin with a reseller's key are for its clients, in any letter case", async (t) => {
      const bench = await Bench.start(t, make);
      const create = async (input: ReturnType<typeof newAccount>) => (await bench.store.createAccount(input)).kind;
      const nobodys = { parentKey: null };
      for (const [key, username] of [
        ["RESELLER-A", "a"],
        ["reseller-a", "a"],
        ["RESELLER-A-B", "a"],
        ["A", "reseller-a"],
        ["A", "Reseller.a"],
        ["A", "RESELLER_a"],
      ] as const) {
        assert.equal(await create({ ...newAccount(key, username), ...nobodys }), "name reserved", `${key} ${username}`);
      }
      assert.equal(await create(newAccount("RESELLER-A", "reseller-a")), "created");
      assert.equal(await create(newAccount("RESELLER-A", "reseller-b")), "key taken");
      assert.equal(await create(newAccount("RESELLER-B", "reseller-a")), "username taken");
      assert.equal(await create({ ...newAccount("RESELLERS", "resellers"), ...nobodys }), "created", "no dash");
      assert.equal(await create({ ...newAccount("reseller", "r"), ...nobodys }), "created", "a client is no reseller");

      const reseller = (key: string) => create({ ...newAccount(key, `of ${key}`), ...nobodys, kind: "reseller" });
      assert.equal(await reseller("Reseller"), "name reserved", "two resellers with the same names");
      assert.equal(await create({ ...newAccount("FREE-A", "shop.a"), ...nobodys }), "created");
      assert.equal(await reseller("free"), "namespace taken");
      assert.equal(await reseller("SHOP"), "namespace taken");
      assert.equal(await reseller("FREE-A-B"), "created");
    });

    test("every change is in the audit, newest first, without secrets, and a reseller reads of its clients", async (t) => {
      const bench = await Bench.start(t, make);
      await change(bench, { defaultSender: "Acme" });
      await bench.store.setPassword({ ...ALL, username: "client", passwordHash: "secret-hash", by: BY, atMs: NOW + 1 });
      await bench.store.createApiKey({
        id: "k",
        keyHash: "secret-key",
        accountKey: "CLIENT",
        name: "n",
        by: BY,
        atMs: NOW,
      });
      await bench.store.revokeApiKey({ id: "k", by: BY, atMs: NOW + 2 });
      await bench.store.putItem({
        kind: "route",
        id: "41",
        body: '{"prefix":"41"}',
        version: 0,
        by: BY,
        atMs: NOW + 3,
      });
      const everything = { kind: null, subject: null, actor: null, beforeId: null, limit: 10 };
      const entries = await bench.store.audit({ ...ALL, ...everything });
      assert.deepEqual(
        entries.map(({ action, kind, subject }) => `${action} ${kind} ${subject}`),
        ["create route 41", "delete apiKey k", "create apiKey k", "change password client", "change account CLIENT"],
      );
      assert.ok(entries.every(({ actor, address }) => actor === "OPERATOR" && address === "192.0.2.1"));
      assert.ok(!JSON.stringify(entries).includes("secret"));
      const [account] = await bench.store.audit({ ...ALL, ...everything, kind: "account", subject: "CLIENT" });
      assert.deepEqual(
        [JSON.parse(account!.before!).defaultSender, JSON.parse(account!.after!).defaultSender],
        [null, "Acme"],
      );
      const own = await bench.store.audit({ resellerId: bench.resellerId, ...everything });
      assert.equal(own.length, 4);
      assert.deepEqual(await bench.store.audit({ resellerId: bench.accountId, ...everything }), []);
      assert.equal((await bench.store.audit({ ...ALL, ...everything, beforeId: entries[3]!.id })).length, 1);
    });
  });

  describe(`managing on ${engine}: catalogue and money`, () => {
    test("an item is written over the version that was seen, and over no other", async (t) => {
      const bench = await Bench.start(t, make);
      const put = (body: string, version: number) =>
        bench.store.putItem({ kind: "ratePlan", id: "p", body, version, by: BY, atMs: NOW });
      assert.deepEqual(await put("1", 0), { kind: "written", version: 1 });
      assert.deepEqual(await put("2", 0), { kind: "outdated", version: 1 });
      assert.deepEqual(await put("2", 1), { kind: "written", version: 2 });
      assert.deepEqual(await bench.store.catalogue(), [{ kind: "ratePlan", id: "p", body: "2", version: 2 }]);
      const remove = (version: number | null) =>
        bench.store.deleteItem({ kind: "ratePlan", id: "p", version, by: BY, atMs: NOW });
      assert.equal(await remove(1), "outdated");
      assert.equal(await remove(2), "deleted");
      assert.equal(await remove(null), "unknown");
    });

    test("nodes say how they stand with their carriers, and operators have a carrier tried by all of them", async (t) => {
      const bench = await Bench.start(t, make);
      const note = (body: string) => ({ node: "host 1", body });
      const goneMs = HOUR;
      const say = (body: string | null) =>
        bench.store.noteCarriers({ note: body === null ? null : note(body), goneMs });
      await say("[1]");
      await say("[2]");
      assert.deepEqual(await bench.store.carrierNotes({ goneMs }), [note("[2]")]);
      await bench.rows(`UPDATE carrier_state SET seen_ms = seen_ms - ${2 * HOUR} RETURNING 1`);
      assert.deepEqual(await bench.store.carrierNotes({ goneMs }), [], "who has said nothing for long is gone");
      await bench.restart();
      await say("[3]");
      assert.deepEqual(await bench.rows("SELECT body FROM carrier_state"), [{ body: "[3]" }]);
      await say(null);
      assert.deepEqual(await bench.store.carrierNotes({ goneMs }), []);

      const order = (id: string) => bench.store.reconnectCarrier({ id, by: BY, atMs: NOW });
      const changes = await bench.store.changeCounter();
      assert.equal(await order("acme"), false);
      const body = JSON.stringify({ id: "acme", kind: "simulator" });
      await bench.store.putItem({ kind: "carrier", id: "acme", body, version: 0, by: BY, atMs: NOW });
      assert.deepEqual(await bench.store.reconnects(), []);
      assert.deepEqual([await order("acme"), await order("acme")], [true, true]);
      assert.deepEqual(await bench.store.reconnects(), [{ carrierId: "acme", times: 2 }]);
      assert.equal(await bench.store.changeCounter(), changes + 3, "every node looks again");
      const filter = { kind: "carrier", subject: "acme", actor: null, beforeId: null, limit: 1 };
      const [entry] = await bench.store.audit({ ...ALL, ...filter });
      assert.deepEqual([entry!.action, entry!.actor], ["reconnect", "OPERATOR"]);
      await bench.store.deleteItem({ kind: "carrier", id: "acme", version: null, by: BY, atMs: NOW });
      assert.deepEqual(await bench.store.reconnects(), []);
    });

    test("a whole catalogue leaves what is the same as it was", async (t) => {
      const bench = await Bench.start(t, make);
      const item = (id: string, body: string) => ({ kind: "ratePlan" as const, id, body });
      await bench.store.putCatalogue({ items: [item("a", "1"), item("b", "1")], by: BY, atMs: NOW });
      await bench.store.putCatalogue({ items: [item("a", "1"), item("b", "2"), item("c", "1")], by: BY, atMs: NOW });
      assert.deepEqual(
        (await bench.store.catalogue()).map(({ id, version }) => [id, version]),
        [
          ["a", 1],
          ["b", 2],
          ["c", 1],
        ],
      );
    });

    test("postings add up to the balance, in the order of time and in pages", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 100_000n });
      await bench.accept([bench.message(), bench.message()]);
      const [message] = bench.takeMessages();
      await bench.clock.advance(HOUR);
      const atMs = bench.clock.now();
      await bench.store.finish({ endings: [{ key: message!.key, event: "refused", errorId: 1, atMs }] });
      const range = { accountId: bench.accountId, sinceMs: 0, untilMs: atMs + 1, after: null, limit: 10 };
      const postings = await bench.store.postings(range);
      assert.deepEqual(
        postings.map(({ kind, amountMicros }) => [kind, amountMicros]),
        [
          ["funds", 100_000n],
          ["charge", -20_000n],
          ["refund", 10_000n],
        ],
      );
      const [first] = await bench.store.postings({ ...range, limit: 1 });
      const rest = await bench.store.postings({ ...range, after: { atMs: first!.atMs, id: first!.id } });
      assert.deepEqual(rest, postings.slice(1));
      assert.deepEqual(await bench.store.turnover(range), { amountMicros: await bench.balance(), next: null });
      const page = await bench.store.turnover({ ...range, limit: 2 });
      assert.equal(page.amountMicros, 80_000n);
      assert.deepEqual(await bench.store.turnover({ ...range, limit: 2, after: page.next }), {
        amountMicros: 10_000n,
        next: null,
      });
      assert.deepEqual((await bench.store.postings({ ...range, sinceMs: atMs })).length, 1);
    });

    test("the balance behind a posting is told with the one of now, and of the same moment", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 10_000_000n });
      await bench.accept([bench.message(), bench.message()]);
      const { accountId } = bench;
      const range = { accountId, sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, after: null, limit: 10 };
      const [funds, charge] = await bench.store.postings(range);
      const behind = (place: { atMs: number; id: number }) => bench.store.balanceBehind({ accountId, place });
      const nowMicros = 9_980_000n;
      assert.deepEqual(await behind({ atMs: NOW, id: -1 }), { nowMicros, thenMicros: 0n });
      assert.deepEqual(await behind(funds!), { nowMicros, thenMicros: 10_000_000n });
      assert.deepEqual(await behind(charge!), { nowMicros, thenMicros: nowMicros });
      assert.deepEqual(await behind({ atMs: NOW + 1, id: -1 }), { nowMicros, thenMicros: nowMicros });

      let charging = true;
      const charges = (async () => {
        while (charging) await bench.accept([bench.message()]);
      })();
      const seen = new Set<bigint>();
      for (let times = 0; times < 100; times++) seen.add((await behind(charge!)).thenMicros);
      charging = false;
      await charges;
      assert.deepEqual([...seen], [nowMicros]);
    });

    test("postings come newest first too, and add up by hours, each once whichever way one goes", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 100_000n });
      await bench.accept([bench.message(), bench.message()]);
      const [message] = bench.takeMessages();
      await bench.clock.advance(HOUR);
      const atMs = bench.clock.now();
      await bench.store.finish({ endings: [{ key: message!.key, event: "refused", errorId: 1, atMs }] });
      const range = { accountId: bench.accountId, sinceMs: 0, untilMs: atMs + 1, after: null, limit: 10 };
      const onwards = await bench.store.postings(range);
      assert.equal(onwards.length, 3);
      const back = await bench.store.postings({ ...range, newestFirst: true });
      assert.deepEqual(back, onwards.toReversed());
      const [newest] = back;
      const older = { ...range, newestFirst: true, after: { atMs: newest!.atMs, id: newest!.id } };
      assert.deepEqual(await bench.store.postings(older), back.slice(1));

      const startMs = (at: number) => at - (at % HOUR);
      const whole = [
        { startMs: startMs(NOW), chargedMicros: 20_000n, refundedMicros: 0n, fundedMicros: 100_000n, postings: 2 },
        { startMs: startMs(atMs), chargedMicros: 0n, refundedMicros: 10_000n, fundedMicros: 0n, postings: 1 },
      ];
      const byStart = (one: { startMs: number }, other: { startMs: number }) => one.startMs - other.startMs;
      for (const newestFirst of [false, true]) {
        const all = await bench.store.turnoverSteps({ ...range, stepMs: HOUR, newestFirst });
        assert.deepEqual(all.steps.toSorted(byStart), whole);
        assert.equal(all.next, null);
        let postings = 0;
        let after: Awaited<ReturnType<typeof bench.store.turnoverSteps>>["next"] = null;
        do {
          const page = await bench.store.turnoverSteps({ ...range, after, limit: 1, stepMs: HOUR, newestFirst });
          assert.ok(page.steps.length <= 1, "a page of one posting has one step");
          postings += page.steps[0]?.postings ?? 0;
          after = page.next;
        } while (after !== null);
        assert.equal(postings, 3);
      }
    });

    test("what sent messages cost is told by country and carrier, in pages that look at so many messages", async (t) => {
      const bench = await Bench.start(t, make);
      const to = ["41790000001", "41790000002", "4917600000001", "12045550100", "99990000001"];
      await bench.accept(to.map((number) => bench.message({ to: number })));
      const queued = bench.takeMessages();
      const range = { accountId: bench.accountId, sinceMs: 0, untilMs: NOW + HOUR, after: null, stepMs: HOUR };
      const ask = (limit: number, newestFirst: boolean, after: SentPosition | null = null) =>
        bench.store.sentCosts({ ...range, limit, newestFirst, after });
      assert.deepEqual(await ask(10, false), { costs: [], next: null }, "what no carrier has yet is not counted");

      const last = queued.pop()!;
      await bench.submit(queued);
      await bench.store.finish({ endings: [{ key: last.key, event: "refused", errorId: 1, atMs: NOW }] });
      const byCountry = (costs: readonly SentCost[]) =>
        costs
          .map(({ country, messages, parts, amountMicros }) => `${country} ${messages} ${parts} ${amountMicros}`)
          .sort();
      const whole = ["CA 1 1 10000", "CH 2 2 20000", "DE 1 1 10000"];
      for (const newestFirst of [false, true]) {
        assert.deepEqual(byCountry((await ask(10, newestFirst)).costs), whole);
        const seen: SentCost[] = [];
        let pages = 0;
        let after: SentPosition | null = null;
        do {
          const page: Awaited<ReturnType<typeof ask>> = await ask(2, newestFirst, after);
          seen.push(...page.costs);
          after = page.next;
          pages++;
        } while (after !== null);
        assert.equal(pages, 3, "five messages, two a page");
        const messages = seen.reduce((sum, cost) => sum + cost.messages, 0);
        assert.equal(messages, 4, "each is counted once");
      }
      const other = await bench.store.sentCosts({
        ...range,
        accountId: bench.resellerId,
        limit: 10,
        newestFirst: true,
      });
      assert.deepEqual(other.costs, []);
    });

    test("where sent messages went is told by how their numbers begin, in pages that look at so many messages", async (t) => {
      const bench = await Bench.start(t, make);
      const to = ["41790000001", "41790000002", "41440000001", "4917600000001", "99990000001"];
      const free = bench.message({ to: "41790000003", pricePerPartMicros: 0n });
      await bench.accept([...to.map((number) => bench.message({ to: number })), free]);
      const queued = bench.takeMessages();
      const range = { accountId: bench.accountId, sinceMs: 0, untilMs: NOW + HOUR, prefix: "", digits: 4 };
      const walked = async (more: Partial<TrafficRange>) => {
        const sums = new Map<string, number[]>();
        let pages = 0;
        let after: SentPosition | null = null;
        do {
          const page: Awaited<ReturnType<typeof bench.store.sentTraffic>> = await bench.store.sentTraffic({
            ...{ ...range, after, limit: 2 },
            ...more,
          });
          for (const { begins, country, currency, messages, parts, amountMicros } of page.traffic) {
            const name = `${begins} ${country} ${currency}`;
            const sum = sums.get(name) ?? [0, 0, 0];
            sums.set(name, [sum[0]! + messages, sum[1]! + parts, sum[2]! + Number(amountMicros)]);
          }
          after = page.next;
          pages++;
        } while (after !== null);
        return { pages, sums: Object.fromEntries([...sums].sort()) };
      };
      assert.deepEqual((await walked({})).sums, {}, "what no carrier has yet is not counted");

      const last = queued.splice(4, 1)[0]!;
      await bench.submit(queued);
      await bench.store.finish({ endings: [{ key: last.key, event: "refused", errorId: 1, atMs: NOW }] });
      const { pages, sums } = await walked({});
      assert.equal(pages, 4, "six messages, two a page, and a look at whether there are more");
      assert.deepEqual(sums, {
        "4144 CH EUR": [1, 1, 10_000],
        "4179 CH EUR": [3, 3, 20_000],
        "4917 DE EUR": [1, 1, 10_000],
      });
      assert.deepEqual((await walked({ prefix: "4179", digits: 0 })).sums, { " CH EUR": [3, 3, 20_000] });
      assert.deepEqual((await walked({ accountId: bench.resellerId })).sums, {});
      assert.deepEqual((await walked({ untilMs: 1 })).sums, {});
    });

    test("opt-outs are found by how they begin", async (t) => {
      const bench = await Bench.start(t, make);
      for (const number of ["4179", "41790000001", "41791", "4917600000001"])
        await bench.store.optOut({ accountKey: "CLIENT", number, atMs: NOW });
      const find = async (prefix: string, after = "") => {
        const found = await bench.store.optOuts({ accountKey: "CLIENT", after, prefix, limit: 10 });
        return found === "unknown account" ? found : found.map(({ number }) => number);
      };
      assert.deepEqual(await find("4179"), ["4179", "41790000001", "41791"]);
      assert.deepEqual(await find("4179", "4179"), ["41790000001", "41791"]);
      assert.deepEqual(await find("5"), []);
    });

    test("opt-outs and secrets are in the audit when somebody changes them, and no secret is", async (t) => {
      const bench = await Bench.start(t, make);
      const by = { by: BY, atMs: NOW };
      for (const accountKey of ["CLIENT", null]) {
        await bench.store.optOut({ accountKey, number: "41790000001", ...by });
        await bench.store.optOut({ accountKey, number: "41790000001", ...by });
      }
      await bench.store.optIn({ accountKey: "CLIENT", number: "41790000001", ...by });
      await bench.store.rotateCallbackSecret({ accountKey: "CLIENT", secret: "whsec_secret", ...by });
      await bench.store.dropOldCallbackSecret({ accountKey: "CLIENT", ...by });
      const everything = { kind: null, subject: null, actor: null, beforeId: null, limit: 10 };
      const entries = await bench.store.audit({ ...ALL, ...everything });
      assert.deepEqual(
        entries.map(({ action, kind, subject }) => `${action} ${kind} ${subject}`),
        [
          "change callbackSecret CLIENT",
          "change callbackSecret CLIENT",
          "delete optOut CLIENT 41790000001",
          "create optOut service 41790000001",
          "create optOut CLIENT 41790000001",
        ],
      );
      assert.ok(!JSON.stringify(entries).includes("whsec"));
      assert.equal((await bench.store.audit({ resellerId: bench.resellerId, ...everything })).length, 4);
    });

    test("whoever watches a balance is told once when it passes the mark, and again after it was filled up", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 100_000n });
      await change(bench, { alert: { belowMicros: 75_000n, url: "https://example.com/low" } });
      const send = async (count: number): Promise<void> => {
        await bench.accept(Array.from({ length: count }, () => bench.message()));
      };
      await send(2);
      assert.deepEqual(bench.alerts, []);
      await send(1);
      await send(1);
      const facts = { accountKey: "CLIENT", belowMicros: 75_000n, currency: "EUR", atMs: NOW };
      assert.deepEqual(
        bench.alerts.splice(0).map(({ url, items }) => ({ url, items })),
        [{ url: "https://example.com/low", items: [{ ...facts, balanceMicros: 70_000n }] }],
      );
      const funding = { resellerId: bench.resellerId, accountKey: "CLIENT", currency: null, ratesMicros: {} };
      const fund = async (amountMicros: bigint): Promise<void> => {
        await bench.store.fund({ ...funding, amountMicros, description: "d", replay: null, atMs: NOW });
      };
      await fund(40_000n);
      assert.deepEqual(bench.alerts, []);
      await fund(-40_000n);
      assert.deepEqual(
        bench.alerts.flatMap(({ items }) => items),
        [{ ...facts, balanceMicros: 60_000n }],
      );
      await bench.restart();
      const { batches } = await bench.store.dueReports({ nowMs: NOW, limit: 10 });
      assert.deepEqual(
        batches.map(({ kind, items }) => [kind, items]),
        [
          ["alert", [{ ...facts, balanceMicros: 70_000n }]],
          ["alert", [{ ...facts, balanceMicros: 60_000n }]],
        ],
      );
    });

    test("an alert that is set below its mark is told at once, and not again until the balance was above", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 100_000n });
      const url = "https://example.com/low";
      const balances = () =>
        bench.alerts.splice(0).flatMap(({ items }) => items.map(({ balanceMicros }) => balanceMicros));
      await change(bench, { alert: { belowMicros: 200_000n, url } });
      assert.deepEqual(balances(), [100_000n]);
      await change(bench, { alert: { belowMicros: 200_000n, url } });
      await change(bench, { defaultSender: "Other" });
      await bench.accept([bench.message()]);
      assert.deepEqual(balances(), [], "it is the same, and the charge passes nothing");
      await change(bench, { alert: { belowMicros: 90_000n, url } });
      assert.deepEqual(balances(), [], "the balance is at the mark");
      await bench.accept([bench.message()]);
      assert.deepEqual(balances(), [80_000n]);
      await change(bench, { alert: null });
      assert.deepEqual(balances(), []);
    });

    test("what is told of a client's balance is signed with its reseller's secrets, and tried as the client's reports are", async (t) => {
      const bench = await Bench.start(t, make);
      await change(bench, { retryMinutes: [7] });
      await bench.store.rotateCallbackSecret({ accountKey: "RESELLER", secret: "whsec_BBBB" });
      const client = await bench.store.callbackPolicy({ accountId: bench.accountId });
      const reseller = await bench.store.callbackPolicy({ accountId: bench.resellerId });
      assert.notDeepEqual(client.secrets, reseller.secrets);
      assert.deepEqual(await bench.store.callbackPolicy({ accountId: bench.accountId, forAlert: true }), {
        secrets: reseller.secrets,
        retryMinutes: [7],
      });
      assert.deepEqual(await bench.store.callbackPolicy({ accountId: bench.resellerId, forAlert: true }), reseller);
    });

    test("numbers are looked up on the service's list and on one account's", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.store.optOut({ accountKey: null, number: "411", atMs: NOW });
      await bench.store.optOut({ accountKey: "CLIENT", number: "412", atMs: NOW });
      const { id } = (await bench.store.account({ resellerId: null, key: "CLIENT" }))!;
      const numbers = ["410", "411", "412", "4120", "'", ""];
      assert.deepEqual(await bench.store.optedOut({ accountId: id, numbers }), [
        { number: "411", list: "service" },
        { number: "412", list: "account" },
      ]);
      assert.deepEqual(await bench.store.optedOut({ accountId: id + 1_000, numbers }), [
        { number: "411", list: "service" },
      ]);
      assert.deepEqual(await bench.store.optedOut({ accountId: id, numbers: [] }), []);
      const many = Array.from({ length: 100 }, (_, index) => `4${index}`);
      assert.equal((await bench.store.optedOut({ accountId: id, numbers: many })).length, 2);
      await assert.rejects(
        bench.store.optedOut({ accountId: id, numbers: [...many, "1"] }),
        /101 numbers, at most 100/,
      );
    });

    test("a list of opt-outs is read in pages", async (t) => {
      const bench = await Bench.start(t, make);
      for (const number of ["3", "1", "2"]) await bench.store.optOut({ accountKey: "CLIENT", number, atMs: NOW });
      const list = (accountKey: string | null, after: string) => bench.store.optOuts({ accountKey, after, limit: 2 });
      assert.deepEqual(await list("CLIENT", ""), [
        { number: "1", atMs: NOW },
        { number: "2", atMs: NOW },
      ]);
      assert.deepEqual(await list("CLIENT", "2"), [{ number: "3", atMs: NOW }]);
      assert.deepEqual(await list(null, ""), []);
      assert.equal(await list("NOBODY", ""), "unknown account");
    });
  });
}
