/** Money: postings between wallets, and the check that they agree. */

import { exchange, MAX_AMOUNT, MAX_WALLET } from "../../money/amounts.ts";
import type { Tables } from "../tables.ts";
import type { Unit } from "../unit.ts";
import type { Wallet } from "../wallet.ts";
import { commands } from "./entry.ts";
import type { CommandParts } from "./parts.ts";
import { findReplay, keepReplay, replayNames } from "./replays.ts";

/** An account's balance goes down: whoever watches it is told at the moment when it passes the mark. */
export function alertBelow(unit: Unit, accountId: number, wallet: Wallet, amountMicros: bigint, atMs: number): void {
  const { alert, currency } = wallet;
  const balanceMicros = wallet.balanceMicros - amountMicros;
  if (alert === null || wallet.balanceMicros < alert.belowMicros || balanceMicros >= alert.belowMicros) return;
  const { accountKey, belowMicros, url } = alert;
  unit.alert(
    { accountId, url, contentType: "application/json" },
    { accountKey, balanceMicros, belowMicros, currency, atMs },
  );
}

/**
 * Gives a message's charge back to its account, and says whether it could. A wallet that cannot hold it stays as it is, and the message charged:
 * a message's end must not fail for it, and with it those of others.
 */
export function refund(
  tables: Tables,
  message: { accountId: number; key: string; amountMicros: bigint; partCount: number },
  atMs: number,
): boolean {
  const { accountId, key: messageKey, amountMicros, partCount } = message;
  if (amountMicros === 0n) return true;
  const wallet = tables.wallets.ofAccount(accountId);
  if (wallet.balanceMicros + amountMicros > MAX_WALLET) return false;
  const from = tables.wallets.ofService("revenue", wallet.currency);
  tables.wallets.post({ atMs, kind: "refund", from, to: wallet.id, amountMicros, messageKey, partCount });
  return true;
}

/**
 * Sums of amounts have no bound, and SQLite's sum() fails beyond 64 bits. So they are added up in two halves, the upper and the lower 32 bits,
 * which would take 2^31 rows to overflow. A sum is nothing when its lower half is so many times 2^32 and its upper half just as many less.
 */
const HALF = 4_294_967_296n;
const CARRIED = 2n ** 62n;
const upper = (amount: string): string => `((${amount}) >> 32)`;
const lower = (amount: string): string => `((${amount}) & ${HALF - 1n})`;
const isNotNothing = (high: string, low: string): string =>
  `((${low}) % ${HALF} <> 0 OR (${high}) + (${low}) / ${HALF} <> 0)`;
/** `carried`: how many times 2^62 are to be added. */
const halvesOf = (amount: string, name: string, carried = "0"): string =>
  `CAST(sum(${upper(amount)} + ${carried} * ${CARRIED / HALF}) AS BIGINT) AS ${name}_high, CAST(sum(${lower(amount)}) AS BIGINT) AS ${name}_low`;
const whole = (high: string, low: string): bigint => BigInt(high) * HALF + BigInt(low);

/**
 * Adds to what the messages of an account have cost that have left the store. In its whole life an account may spend more than 64 bits hold: at 2^62
 * one is carried. Both databases take the statement, with their own marks for the values.
 */
export const keepCharge = (account: string, charged: string): string =>
  `INSERT INTO retired_charge (account_id, charged_micros) VALUES (${account}, ${charged})
   ON CONFLICT (account_id) DO UPDATE SET charged_micros = (retired_charge.charged_micros & ${CARRIED - 1n}) + excluded.charged_micros,
     carried = retired_charge.carried + (retired_charge.charged_micros >> 62)`;

/** An amount in as many pieces as that statement needs to take it. */
export function* chargePieces(amountMicros: bigint): Generator<bigint> {
  let left = amountMicros;
  for (; left > CARRIED; left -= CARRIED) yield CARRIED;
  if (left > 0n) yield left;
}

export function ledgerCommands({ sql, tables, unit }: CommandParts) {
  const clientOf = sql.prepare<[string, number], { id: number; currency: string }>(
    "SELECT id, currency FROM account WHERE key = ? AND parent_id = ? AND kind = 'client' AND retired_at_ms IS NULL",
  );
  const balanceOf = sql.prepare<[number], { balance: string; currency: string }>(
    "SELECT CAST(balance_micros AS TEXT) AS balance, currency FROM wallet WHERE account_id = ?",
  );
  const wrongWallets = sql.prepare<[], { faulty: number; balance: string; high: string; low: string }>(
    `SELECT wallet.id AS faulty, CAST(balance_micros AS TEXT) AS balance, CAST(posted_high AS TEXT) AS high, CAST(posted_low AS TEXT) AS low
     FROM (SELECT wallet_id, ${halvesOf("moved_micros", "posted")} FROM (
         SELECT to_wallet AS wallet_id, amount_micros AS moved_micros FROM posting
         UNION ALL SELECT from_wallet, -amount_micros FROM posting
         UNION ALL SELECT id, 0 FROM wallet) AS moves GROUP BY wallet_id) AS sums
       JOIN wallet ON wallet.id = sums.wallet_id
     WHERE ${isNotNothing(`${upper("balance_micros")} - posted_high`, `${lower("balance_micros")} - posted_low`)}`,
  );
  const belowLimit = sql.prepare<[], { fault: string }>(
    `SELECT 'account ' || account.key || ' is below its credit limit' AS fault
     FROM wallet JOIN account ON account.id = wallet.account_id WHERE balance_micros < -credit_limit_micros`,
  );
  // Status 12, 14 and the like never cost anything; everything else was charged once and given back at most once.
  const wrongCharges = sql.prepare<
    [],
    { faulty: number; paidHigh: string; paidLow: string; costHigh: string; costLow: string }
  >(
    `SELECT account_id AS faulty, CAST(paid_high AS TEXT) AS "paidHigh", CAST(paid_low AS TEXT) AS "paidLow",
       CAST(cost_high AS TEXT) AS "costHigh", CAST(cost_low AS TEXT) AS "costLow"
     FROM (SELECT account_id, ${halvesOf("paid_micros", "paid")}, ${halvesOf("cost_micros", "cost", "carried")} FROM (
         SELECT account_id, amount_micros AS paid_micros, 0 AS cost_micros, 0 AS carried FROM posting JOIN wallet ON wallet.id = from_wallet
           WHERE kind = 'charge'
         UNION ALL SELECT account_id, -amount_micros, 0, 0 FROM posting JOIN wallet ON wallet.id = to_wallet WHERE kind = 'refund'
         UNION ALL SELECT account_id, 0, charged_micros, 0 FROM message
         UNION ALL SELECT account_id, 0, charged_micros, carried FROM retired_charge) AS sides GROUP BY account_id) AS sums
     WHERE ${isNotNothing("paid_high - cost_high", "paid_low - cost_low")}`,
  );

  return commands({
    async balance({ accountId }) {
      const row = await balanceOf.get(accountId);
      if (row === undefined) throw new Error(`account ${accountId} has no wallet`);
      return { balanceMicros: BigInt(row.balance), currency: row.currency };
    },

    async fund(input) {
      const names = replayNames(input.resellerId, input.replay, null);
      await tables.load({ replays: names });
      const earlier = findReplay<{ transactionId: number }>(tables, names, input.atMs);
      if (earlier === "conflict") return { kind: "conflict" };
      if (earlier !== null) return { kind: "posted", transactionId: earlier.transactionId };

      const client = await clientOf.get(input.accountKey, input.resellerId);
      if (client === undefined) return { kind: "unknown account" };
      let amountMicros = input.amountMicros;
      if (input.currency !== null && input.currency !== client.currency) {
        const rate = input.ratesMicros[client.currency];
        if (rate === undefined) return { kind: "no rate", currency: client.currency };
        amountMicros = exchange(amountMicros, rate);
      }
      if (amountMicros === 0n) return { kind: "nothing left" };
      await tables.load({ wallets: [client.id] });
      const wallet = tables.wallets.ofAccount(client.id);
      const balanceAfter = wallet.balanceMicros + amountMicros;
      if (amountMicros < 0n && balanceAfter < 0n) return { kind: "below zero" };
      if (balanceAfter > MAX_AMOUNT) return { kind: "too large" };
      const outside = tables.wallets.ofService("payments", client.currency);
      const transactionId = await tables.wallets.postNumbered({
        atMs: input.atMs,
        kind: "funds",
        from: amountMicros > 0n ? outside : wallet.id,
        to: amountMicros > 0n ? wallet.id : outside,
        amountMicros: amountMicros > 0n ? amountMicros : -amountMicros,
        description: input.description,
        actorId: input.resellerId,
      });
      alertBelow(unit(), client.id, wallet, -amountMicros, input.atMs);
      keepReplay(tables, names, { transactionId }, input.atMs);
      return { kind: "posted", transactionId };
    },

    async verifyLedger() {
      const wallets = (await wrongWallets.all()).map(({ faulty, balance, high, low }) => {
        return `wallet ${faulty} holds ${balance} but its postings sum to ${whole(high, low)}`;
      });
      const limits = (await belowLimit.all()).map(({ fault }) => fault);
      const charges = (await wrongCharges.all()).map(({ faulty, paidHigh, paidLow, costHigh, costLow }) => {
        return `account ${faulty} paid ${whole(paidHigh, paidLow)} for messages that cost ${whole(costHigh, costLow)}`;
      });
      return [...wallets, ...limits, ...charges];
    },
  });
}
