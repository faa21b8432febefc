/** What every engine of the store must keep about money at its bounds. Each case has a database of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MAX_AMOUNT, MAX_WALLET, money } from "../../src/money/amounts.ts";
import { STATUS } from "../../src/sms/statuses.ts";
import { PURGE_START } from "../../src/store/port/delivery.ts";
import fc, { cases } from "../support/chance.ts";
import { Bench, type MakeDatabase, NOW } from "./harness.ts";

const MAX_STORED = 2n ** 63n - 1n;
const ACCEPTED = STATUS.PENDING_ENROUTE.id;

let accounts = 0;

async function addClient(bench: Bench, openingBalanceMicros = 0n, creditLimitMicros = 0n) {
  const key = `WALLET${++accounts}`;
  const made = await bench.store.createAccount({
    key,
    kind: "client",
    parentKey: "RESELLER",
    currency: "EUR",
    ratePlanId: "standard",
    defaultSender: null,
    creditLimitMicros,
    openingBalanceMicros,
    callbackSecret: "whsec_AA==",
    username: key,
    passwordHash: "x",
    atMs: NOW,
  });
  if (made.kind !== "created") throw new Error(made.kind);
  return { key, id: made.account.id };
}

async function fund(bench: Bench, accountKey: string, amountMicros: bigint): Promise<string> {
  const { resellerId } = bench;
  const money = { amountMicros, currency: null, ratesMicros: {}, description: "x" };
  const funded = await bench.store.fund({ resellerId, accountKey, ...money, atMs: bench.clock.now(), replay: null });
  return funded.kind;
}

async function balanceOf(bench: Bench, accountId: number): Promise<bigint> {
  return (await bench.store.balance({ accountId })).balanceMicros;
}

/** A version without these bounds has given the account so much, and the world outside is that much poorer. */
async function givenEarlier(bench: Bench, key: string, amountMicros: bigint): Promise<void> {
  assert.deepEqual(await bench.store.verifyLedger(), []);
  await bench.close();
  const isPayments = "name = 'payments' AND account_id IS NULL AND shard >= 0";
  await bench.rows(
    `INSERT INTO posting (at_ms, kind, from_wallet, to_wallet, amount_micros, description)
     SELECT 0, 'funds', min(payments.id), wallet.id, ${amountMicros}, 'earlier' FROM wallet AS payments, wallet AS wallet
     WHERE payments.name = 'payments' AND payments.account_id IS NULL AND payments.shard >= 0 AND wallet.name = '${key}'
     GROUP BY wallet.id RETURNING 1`,
  );
  await bench.rows(
    `UPDATE wallet SET balance_micros = balance_micros - ${amountMicros} WHERE id = (SELECT min(id) FROM wallet WHERE ${isPayments}) RETURNING 1`,
  );
  await bench.rows(
    `UPDATE wallet SET balance_micros = balance_micros + ${amountMicros} WHERE name = '${key}' RETURNING 1`,
  );
  await bench.open();
}

/** The books agree, and no money was made or lost. */
async function assertWhole(bench: Bench): Promise<void> {
  assert.deepEqual(await bench.store.verifyLedger(), []);
  const balances = await bench.rows("SELECT CAST(balance_micros AS TEXT) AS balance FROM wallet");
  assert.equal(
    balances.reduce((sum, { balance }) => sum + BigInt(balance as string), 0n),
    0n,
  );
}

export function moneyContract(engine: string, make: MakeDatabase): void {
  describe(`money at its bounds on ${engine}`, () => {
    test("whatever accounts were given together, there is room for more: the service's own wallets follow each other", async (t) => {
      const bench = await Bench.start(t, make);
      const { key } = await addClient(bench);
      await givenEarlier(bench, key, MAX_STORED - 1_000_000_000n - MAX_AMOUNT / 2n);
      for (let count = 0; count < 3; count++) {
        const client = await addClient(bench, MAX_AMOUNT);
        assert.equal(await balanceOf(bench, client.id), MAX_AMOUNT);
        assert.equal(await fund(bench, client.key, -1n), "posted");
      }
      assert.deepEqual(await bench.accept([bench.message()]), [ACCEPTED]);
      await assertWhole(bench);
      await bench.restart();
      assert.equal(await fund(bench, "CLIENT", 1_000_000n), "posted");
      await assertWhole(bench);
      const payments = await bench.rows("SELECT 1 FROM wallet WHERE account_id IS NULL AND name = 'payments'");
      assert.equal(payments.length, 2);
    });

    test("a charge that its wallet cannot take back stays a charge, and the message comes to its end", async (t) => {
      const bench = await Bench.start(t, make);
      const full = await addClient(bench);
      await givenEarlier(bench, full.key, MAX_WALLET);
      const end = async (accountId: number): Promise<bigint> => {
        assert.deepEqual(await bench.accept([bench.message()], {}, { accountId }), [ACCEPTED]);
        const endings = bench
          .takeMessages()
          .map(({ key }) => ({ key, event: "no route" as const, errorId: 0, atMs: bench.clock.now() }));
        const before = await balanceOf(bench, accountId);
        await bench.store.finish({ endings });
        return (await balanceOf(bench, accountId)) - before;
      };
      assert.equal(await end(full.id), 10_000n, "what it has just paid fits again");
      await givenEarlier(bench, full.key, 1_000_000n);
      assert.equal(await end(full.id), 0n);
      assert.equal(await end(bench.accountId), 10_000n, "that of others is given back");
      await assertWhole(bench);
    });

    test("of wallets alone is seen whether they hold nothing together, and their limits, so many at most", async (t) => {
      const bench = await Bench.start(t, make);
      await bench.accept([bench.message()]);
      const well = await bench.store.checkWallets({ limit: 1_000 });
      assert.deepEqual([well.faults, well.isWhole], [[], true]);
      assert.deepEqual(await bench.store.checkWallets({ limit: 1 }), { faults: [], wallets: 1, isWhole: false });
      const id = bench.accountId;
      const [{ balance }] = (await bench.rows(
        `SELECT CAST(balance_micros AS TEXT) AS balance FROM wallet WHERE account_id = ${id}`,
      )) as [{ balance: string }];
      await bench.rows(`UPDATE wallet SET balance_micros = -7 WHERE account_id = ${id} RETURNING 1`);
      const { faults } = await bench.store.checkWallets({ limit: 1_000 });
      assert.deepEqual(faults, [
        `the wallets in EUR hold ${money(-7n - BigInt(balance), "EUR")} together, and not nothing`,
        "account CLIENT is below its credit limit",
      ]);
    });

    test("what an account's messages have cost that have left the store may be more than one number can hold", async (t) => {
      const bench = await Bench.start(t, make);
      const day = 86_400_000;
      const cost = 10_000n;
      const leave = async (): Promise<void> => {
        await bench.accept([bench.message()]);
        const messages = bench.takeMessages();
        await bench.submit(messages);
        await bench.receive(...messages.map(({ key }) => bench.receipt(`${key}.1`)));
        const later = bench.clock.now() + 3 * day;
        await bench.store.purgeMessages({ beforeMs: later, nowMs: later, limit: 100, cursor: PURGE_START });
        assert.deepEqual(await bench.rows("SELECT 1 FROM message"), []);
      };
      await leave();
      assert.deepEqual(await bench.store.verifyLedger(), []);
      const kept = `UPDATE retired_charge SET charged_micros = ${MAX_STORED} WHERE account_id = ${bench.accountId} RETURNING 1`;
      assert.equal((await bench.rows(kept)).length, 1);
      await leave();
      await leave();
      const [paid, due] = [money(3n * cost, "EUR"), money(MAX_STORED + 2n * cost, "EUR")];
      const says = `account CLIENT paid ${paid} for messages that cost ${due}`;
      assert.deepEqual(await bench.store.verifyLedger(), [says]);
    });

    test("what a wallet may never hold is refused before it is promised, and the others of the group go on", async (t) => {
      const bench = await Bench.start(t, make);
      const refused = assert.rejects(addClient(bench, MAX_WALLET + 1n), /no more than a wallet may hold/);
      const right = bench.accept([bench.message()]);
      await refused;
      assert.deepEqual(await right, [ACCEPTED]);
      await bench.restart();
      assert.equal(await bench.balance(), 1_000_000_000n - 10_000n);
      await assertWhole(bench);
    });

    test("a transfer, a charge or a refund never makes or loses money, however near the bounds", async (t) => {
      const bench = await Bench.start(t, make);
      const { key } = await addClient(bench);
      await givenEarlier(bench, key, MAX_STORED - 1_000_000_000n - 3n * MAX_AMOUNT);
      const near = [1n, 10_000n, MAX_AMOUNT / 2n, MAX_AMOUNT - 1n, MAX_AMOUNT, MAX_AMOUNT + 1n];
      const amount = fc.oneof(fc.constantFrom(...near), fc.bigInt(1n, MAX_AMOUNT));
      const who = fc.nat({ max: 1 });
      const step = fc.oneof(
        fc.record({ kind: fc.constant("give" as const), who, amount }),
        fc.record({ kind: fc.constant("take" as const), who, amount }),
        fc.record({ kind: fc.constant("transfer" as const), who, amount }),
        fc.record({ kind: fc.constant("send" as const), who, amount, refunded: fc.boolean() }),
        fc.constant({ kind: "restart" as const }),
      );
      const script = fc.record({
        opening: fc.constantFrom(0n, 1n, MAX_AMOUNT),
        credit: fc.constantFrom(0n, MAX_AMOUNT),
        steps: fc.array(step, { minLength: 1, maxLength: 12 }),
      });
      await fc.assert(
        fc.asyncProperty(script, async ({ opening, credit, steps }) => {
          const clients = [await addClient(bench, opening, credit), await addClient(bench)];
          const model = [opening, 0n];
          const credits = [credit, 0n];
          const move = async (index: number, amountMicros: bigint): Promise<boolean> => {
            const after = model[index]! + amountMicros;
            const expected =
              after > MAX_AMOUNT ? "too large" : amountMicros < 0n && after < 0n ? "below zero" : "posted";
            assert.equal(await fund(bench, clients[index]!.key, amountMicros), expected);
            if (expected === "posted") model[index] = after;
            return expected === "posted";
          };
          for (const one of steps) {
            if (one.kind === "restart") {
              await bench.restart();
              continue;
            }
            const { kind, who, amount } = one;
            if (kind === "give") await move(who, amount);
            else if (kind === "take") await move(who, -amount);
            else if (kind === "transfer") {
              if ((await move(who, -amount)) && !(await move(1 - who, amount))) await move(who, amount);
            } else {
              const fits = amount <= model[who]! + credits[who]!;
              const message = bench.message({ pricePerPartMicros: amount });
              const [status] = await bench.accept([message], {}, { accountId: clients[who]!.id });
              assert.equal(status, fits ? ACCEPTED : STATUS.REJECTED_NOT_ENOUGH_CREDITS.id);
              const endings = bench
                .takeMessages()
                .map(({ key }) => ({ key, event: "refused" as const, errorId: 1, atMs: bench.clock.now() }));
              // Behind others that a restart has left in the store it is nobody's yet.
              if (one.refunded && endings.length > 0) await bench.store.finish({ endings });
              else if (fits) model[who]! -= amount;
            }
          }
          for (const [index, { id }] of clients.entries()) assert.equal(await balanceOf(bench, id), model[index]);
          await assertWhole(bench);
        }),
        { numRuns: cases(12) },
      );
    });
  });
}
