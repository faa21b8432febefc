/** What every engine of the store must keep when an operator moves money, and when an account is retired that has some. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_AMOUNT } from "../../src/money/amounts.ts";
import type { FundsMoveKind, PostingKind, Settlement } from "../../src/money/postings.ts";
import type { FundsMove } from "../../src/store/port/money.ts";
import fc, { cases } from "../support/chance.ts";
import { Bench, type MakeDatabase, NOW } from "./harness.ts";

const BY = { by: { name: "OPERATOR", address: null }, atMs: NOW };
const UNIT = 1_000_000n;

function move(bench: Bench, kind: FundsMoveKind, amountMicros: bigint, more: Partial<FundsMove> = {}) {
  const whose = { operatorId: bench.resellerId, accountKey: "CLIENT", reason: "why", replay: null };
  return bench.store.moveFunds({ ...whose, kind, amountMicros, ...BY, ...more });
}

function retire(bench: Bench, key: string, settlement?: Settlement, resellerId: number | null = null) {
  const change = { retired: true as const, ...(settlement === undefined ? {} : { settlement }) };
  return bench.store.changeAccount({ key, resellerId, version: null, change, ...BY });
}

async function addClient(bench: Bench, key: string, balanceMicros = 0n, more: object = {}): Promise<number> {
  const made = await bench.store.createAccount({
    key,
    kind: "client",
    parentKey: "RESELLER",
    currency: "EUR",
    ratePlanId: "standard",
    defaultSender: null,
    creditLimitMicros: 0n,
    openingBalanceMicros: balanceMicros,
    callbackSecret: "whsec_AA==",
    username: key,
    passwordHash: "x",
    ...BY,
    ...more,
  });
  if (made.kind !== "created") throw new Error(made.kind);
  return made.account.id;
}

async function postings(bench: Bench, accountId: number): Promise<[PostingKind, bigint, string | null][]> {
  const range = { accountId, sinceMs: 0, untilMs: NOW * 2, after: null, limit: 100 };
  const found = await bench.store.postings(range);
  return found.map(({ kind, amountMicros, description }) => [kind, amountMicros, description]);
}

async function audited(bench: Bench, subject: string, resellerId: number | null = null) {
  const found = await bench.store.audit({
    resellerId,
    kind: "funds",
    subject,
    actor: null,
    beforeId: null,
    limit: 100,
  });
  return found.map(({ actor, action, before, after }) => [actor, action, JSON.parse(before!), JSON.parse(after!)]);
}

/** The books agree, and no money was made or lost. */
async function assertWhole(bench: Bench): Promise<void> {
  assert.deepEqual(await bench.store.verifyLedger(), []);
  const { faults, isWhole } = await bench.store.checkWallets({ limit: 1_000 });
  assert.deepEqual([faults, isWhole], [[], true]);
}

export function fundsContract(engine: string, make: MakeDatabase): void {
  describe(`funds by an operator on ${engine}`, () => {
    test("money is given, taken and corrected, and the statement tells which it was", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n });
      const first = await move(bench, "topUp", 10n * UNIT);
      assert.ok(first.kind === "moved");
      assert.deepEqual(first.after, { balanceMicros: 10n * UNIT, currency: "EUR" });
      const second = await move(bench, "takeBack", -4n * UNIT, { reason: null });
      assert.ok(second.kind === "moved" && second.transactionId > first.transactionId);
      assert.equal((await move(bench, "correction", -1n)).kind, "moved");
      assert.equal((await move(bench, "correction", 2n)).kind, "moved");
      assert.equal(await bench.balance(), 6n * UNIT + 1n);
      assert.deepEqual(await postings(bench, bench.accountId), [
        ["funds", 10n * UNIT, "why"],
        ["funds", -4n * UNIT, null],
        ["correction", -1n, "why"],
        ["correction", 2n, "why"],
      ]);
      assert.deepEqual(await move(bench, "topUp", 1n, { accountKey: "NOBODY" }), { kind: "unknown account" });
      assert.equal((await move(bench, "topUp", 1n, { accountKey: "RESELLER" })).kind, "moved", "any account's");
      await assertWhole(bench);
      await bench.restart();
      assert.equal(await bench.balance(), 6n * UNIT + 1n);
      await assertWhole(bench);
    });

    test("no more is taken than there is with the credit limit, and no more given than an account may have", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 3n * UNIT, creditLimitMicros: 2n * UNIT });
      const now = { balanceMicros: 3n * UNIT, currency: "EUR" };
      for (const kind of ["takeBack", "correction"] as const)
        assert.deepEqual(await move(bench, kind, -5n * UNIT - 1n), {
          kind: "below limit",
          now,
          creditLimitMicros: 2n * UNIT,
        });
      assert.deepEqual(await move(bench, "topUp", MAX_AMOUNT), { kind: "too large", now });
      assert.deepEqual(await bench.store.audit({ ...AUDIT, subject: "CLIENT" }), [], "nothing happened");
      assert.equal((await move(bench, "takeBack", -5n * UNIT)).kind, "moved");
      assert.equal(await bench.balance(), -2n * UNIT);
      assert.equal((await move(bench, "topUp", MAX_AMOUNT + 2n * UNIT)).kind, "moved");
      assert.equal(await bench.balance(), MAX_AMOUNT);
      assert.equal((await move(bench, "correction", 1n)).kind, "too large");
      await assertWhole(bench);
    });

    test("the same request moves once under its key, and another request under it nothing", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n });
      const replay = { key: "k", bulk: false, bodyHash: "h" };
      const asked = Array.from({ length: 5 }, () => move(bench, "topUp", 7n, { replay }));
      const [first, ...others] = await Promise.all(asked);
      assert.equal(first!.kind, "moved");
      const repeated = { ...first!, isRepeat: true };
      for (const other of others) assert.deepEqual(other, repeated);
      await move(bench, "topUp", 1n);
      assert.deepEqual(await move(bench, "topUp", 7n, { replay }), repeated, "it is answered as it was then");
      const another = { ...replay, bodyHash: "other" };
      assert.deepEqual(await move(bench, "topUp", 7n, { replay: another }), { kind: "conflict" });
      const refused = { key: "r", bulk: false, bodyHash: "h" };
      assert.equal((await move(bench, "takeBack", -100n, { replay: refused })).kind, "below limit");
      await move(bench, "topUp", 100n);
      assert.equal((await move(bench, "takeBack", -100n, { replay: refused })).kind, "moved", "what failed is free");
      assert.equal(await bench.balance(), 8n);
      assert.equal((await audited(bench, "CLIENT")).length, 4);
    });

    test("funds by anyone are in the audit with the amount, the balance and the reason; a reseller sees its clients'", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n });
      await addClient(bench, "MADE", 5n * UNIT);
      const fund = { resellerId: bench.resellerId, accountKey: "MADE", currency: null, ratesMicros: {}, replay: null };
      const by = { name: "RESELLER", address: "192.0.2.1" };
      await bench.store.fund({ ...fund, amountMicros: UNIT, description: "invoice 7", by, atMs: NOW });
      await bench.store.fund({ ...fund, amountMicros: -UNIT, description: "too much", by, atMs: NOW });
      await move(bench, "correction", -UNIT / 2n, { accountKey: "MADE" });
      const entries = await audited(bench, "MADE", bench.resellerId);
      assert.deepEqual(
        entries.map(([actor, action, before, { transactionId: _, ...after }]) => [actor, action, before, after]),
        [
          ["OPERATOR", "correction", { balance: "5 EUR" }, { balance: "4.5 EUR", amount: "-0.5 EUR", reason: "why" }],
          ["RESELLER", "takeBack", { balance: "6 EUR" }, { balance: "5 EUR", amount: "-1 EUR", reason: "too much" }],
          ["RESELLER", "topUp", { balance: "5 EUR" }, { balance: "6 EUR", amount: "1 EUR", reason: "invoice 7" }],
          ["OPERATOR", "topUp", { balance: "0 EUR" }, { balance: "5 EUR", amount: "5 EUR", reason: "opening balance" }],
        ],
      );
      assert.deepEqual(await audited(bench, "MADE", bench.accountId), [], "nobody else's");
    });

    test("an account with money is not retired before it is said where that goes, and nothing of it is lost", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 3n * UNIT });
      const ids = { HEIR: await addClient(bench, "HEIR", UNIT), BAD: await addClient(bench, "BAD", 2n * UNIT) };
      assert.deepEqual(await retire(bench, "CLIENT"), { kind: "holds money", balanceMicros: 3n * UNIT });
      assert.equal((await bench.store.account({ key: "CLIENT", resellerId: null }))?.retiredAtMs, null);

      const moved = await retire(bench, "CLIENT", { kind: "transfer", toKey: "HEIR" });
      assert.ok(moved.kind === "changed");
      assert.deepEqual([moved.account.balanceMicros, moved.account.retiredAtMs], [0n, NOW]);
      const said = "balance of CLIENT, which is retired, to HEIR";
      assert.deepEqual((await postings(bench, bench.accountId)).at(-1), ["transfer", -3n * UNIT, said]);
      assert.deepEqual((await postings(bench, ids.HEIR)).at(-1), ["transfer", 3n * UNIT, said]);
      assert.deepEqual(
        [(await audited(bench, "CLIENT"))[0]?.[1], (await audited(bench, "HEIR"))[0]?.[3].balance],
        ["transfer", "4 EUR"],
      );

      assert.equal((await retire(bench, "BAD", { kind: "writeOff", reason: "gone" })).kind, "changed");
      assert.deepEqual((await postings(bench, ids.BAD)).at(-1), ["writeOff", -2n * UNIT, "gone"]);
      assert.equal((await retire(bench, "HEIR", { kind: "paidOut" })).kind, "changed");
      assert.deepEqual((await postings(bench, ids.HEIR)).at(-1), [
        "funds",
        -4n * UNIT,
        "paid out: the account is retired",
      ]);
      await assertWhole(bench);
    });

    test("a debt is written off, and neither paid out nor given away; who has nothing needs to say nothing", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: UNIT, creditLimitMicros: 5n * UNIT });
      await move(bench, "takeBack", -3n * UNIT);
      await addClient(bench, "HEIR");
      const owes = { kind: "holds money", balanceMicros: -2n * UNIT };
      assert.deepEqual(await retire(bench, "CLIENT"), owes);
      assert.deepEqual(await retire(bench, "CLIENT", { kind: "paidOut" }), owes);
      assert.deepEqual(await retire(bench, "CLIENT", { kind: "transfer", toKey: "HEIR" }), owes);
      assert.equal((await retire(bench, "CLIENT", { kind: "writeOff", reason: "gone" })).kind, "changed");
      assert.deepEqual((await postings(bench, bench.accountId)).at(-1), ["writeOff", 2n * UNIT, "gone"]);
      assert.equal((await retire(bench, "HEIR")).kind, "changed");
      await assertWhole(bench);
    });

    test("a balance goes to no account that is unknown, retired, the same, in another currency, full or another tenant's", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: UNIT });
      await addClient(bench, "GONE");
      await retire(bench, "GONE");
      await addClient(bench, "DOLLARS", 0n, { currency: "USD" });
      await addClient(bench, "FULL", MAX_AMOUNT);
      await addClient(bench, "OTHERS", 0n, { parentKey: null });
      const why = async (toKey: string, resellerId: number | null = null) => {
        const outcome = await retire(bench, "CLIENT", { kind: "transfer", toKey }, resellerId);
        return outcome.kind === "no heir" ? outcome.why : outcome.kind;
      };
      assert.equal(await why("NOBODY"), "unknown");
      assert.equal(await why("GONE"), "retired");
      assert.equal(await why("CLIENT"), "itself");
      assert.equal(await why("DOLLARS"), "other currency");
      assert.equal(await why("FULL"), "too large");
      assert.equal(await why("OTHERS", bench.resellerId), "unknown");
      assert.equal(await why("RESELLER", bench.resellerId), "unknown", "nor to the reseller itself");
      assert.equal(await bench.balance(), UNIT);
      assert.equal(await why("OTHERS"), "changed");
      await assertWhole(bench);
    });

    test("what comes back to a retired account can be taken out of it, and nothing be put in", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: UNIT });
      await bench.accept([bench.message()]);
      const { key } = bench.takeMessages()[0]!;
      assert.equal((await retire(bench, "CLIENT", { kind: "paidOut" })).kind, "changed");
      await bench.store.finish({ endings: [{ key, event: "no route", errorId: 0, atMs: NOW }] });
      assert.equal(await bench.balance(), 10_000n);
      assert.deepEqual(await move(bench, "topUp", 1n), { kind: "retired" });
      assert.deepEqual(await move(bench, "correction", 1n), { kind: "retired" });
      assert.equal((await move(bench, "takeBack", -4_000n)).kind, "moved");
      // Its reseller can do the same.
      const ofReseller = { resellerId: bench.resellerId, accountKey: "CLIENT", currency: null, ratesMicros: {} };
      const fund = (amountMicros: bigint) =>
        bench.store.fund({ ...ofReseller, amountMicros, description: "what came back", replay: null, ...BY });
      assert.equal((await fund(1n)).kind, "unknown account");
      assert.equal((await fund(-6_001n)).kind, "below zero");
      assert.equal((await fund(-6_000n)).kind, "posted");
      assert.equal(await bench.balance(), 0n);
      await assertWhole(bench);
    });

    test("a retired account has no credit: nothing makes a debt of it that nobody could make good", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n, creditLimitMicros: UNIT });
      assert.equal((await retire(bench, "CLIENT")).kind, "changed");
      for (const kind of ["takeBack", "correction"] as const)
        assert.equal((await move(bench, kind, -1n)).kind, "below limit");
      await bench.accept([bench.message()]);
      assert.equal(await bench.balance(), 0n);
      await assertWhole(bench);
    });

    test("whatever is moved in whatever order, the books agree and nothing is below its limit", async (t) => {
      const bench = await Bench.start(t, make, { balanceMicros: 0n, creditLimitMicros: 50n });
      const second = await addClient(bench, "SECOND");
      const step = fc.record({
        key: fc.constantFrom("CLIENT", "SECOND"),
        kind: fc.constantFrom<FundsMoveKind>("topUp", "takeBack", "correction"),
        amount: fc.bigInt({ min: 1n, max: 120n }),
        lowers: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
          let expected = [await bench.balance(), (await bench.store.balance({ accountId: second })).balanceMicros];
          for (const { key, kind, amount, lowers } of steps) {
            const signed = kind === "takeBack" || (kind === "correction" && lowers) ? -amount : amount;
            const at = key === "CLIENT" ? 0 : 1;
            const isLet = expected[at]! + signed >= (at === 0 ? -50n : 0n) || signed > 0n;
            const { kind: outcome } = await move(bench, kind, signed, { accountKey: key });
            assert.equal(outcome, isLet ? "moved" : "below limit");
            if (isLet) expected = expected.map((balance, index) => (index === at ? balance + signed : balance));
          }
          const balances = [await bench.balance(), (await bench.store.balance({ accountId: second })).balanceMicros];
          assert.deepEqual(balances, expected);
          await assertWhole(bench);
        }),
        { numRuns: cases(25) },
      );
    });
  });
}

const AUDIT = { resellerId: null, kind: "funds", actor: null, beforeId: null, limit: 100 } as const;
