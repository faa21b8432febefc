/** Money: postings between purses, and the check that they agree. */
import { exchange, LARGEST_AMOUNT } from "../../ledger/money.ts";
import type { CommandHandlers } from "../port.ts";
import type { Purse, Tables } from "../tables.ts";
import type { Unit } from "../unit.ts";
import type { CommandParts } from "./parts.ts";
import { findReplay, keepReplay, replayNames } from "./replays.ts";

/** An account's balance goes down: whoever watches it is told at the moment when it passes the mark. */
export function alertBelow(unit: Unit, accountId: number, purse: Purse, amountMicros: bigint, atMs: number): void {
  const { alert, currency } = purse;
  const balanceMicros = purse.balanceMicros - amountMicros;
  if (alert === null || purse.balanceMicros < alert.belowMicros || balanceMicros >= alert.belowMicros) return;
  const { accountKey, belowMicros, url } = alert;
  unit.alert(
    { accountId, url, contentType: "application/json" },
    { accountKey, balanceMicros, belowMicros, currency, atMs },
  );
}

/** Gives a message's charge back to its account. */
export function refund(
  tables: Tables,
  message: { accountId: number; key: string; amountMicros: bigint; partCount: number },
  atMs: number,
): void {
  const { accountId, key: messageKey, amountMicros, partCount } = message;
  if (amountMicros === 0n) return;
  const purse = tables.purse(accountId);
  const from = tables.servicePurse("revenue", purse.currency);
  tables.post({ atMs, kind: "refund", from, to: purse.id, amountMicros, messageKey, partCount });
}

export function ledgerCommands({
  sql,
  tables,
  unit,
}: CommandParts): Pick<CommandHandlers, "balance" | "fund" | "verifyLedger"> {
  const clientOf = sql.prepare<[string, number], { id: number; currency: string }>(
    "SELECT id, currency FROM account WHERE key = ? AND parent_id = ? AND kind = 'client' AND retired_at_ms IS NULL",
  );
  const balanceOf = sql.prepare<[number], { balance: string; currency: string }>(
    "SELECT CAST(balance_micros AS TEXT) AS balance, currency FROM purse WHERE account_id = ?",
  );
  const wrongPurses = sql.prepare<[], { fault: string }>(
    `SELECT 'purse ' || purse.id || ' holds ' || balance_micros || ' but its postings sum to ' || posted AS fault
     FROM (SELECT purse_id, sum(moved_micros) AS posted FROM (
         SELECT to_purse AS purse_id, amount_micros AS moved_micros FROM posting
         UNION ALL SELECT from_purse, -amount_micros FROM posting
         UNION ALL SELECT id, 0 FROM purse) AS moves GROUP BY purse_id) AS sums
       JOIN purse ON purse.id = sums.purse_id
     WHERE balance_micros <> posted`,
  );
  const belowLimit = sql.prepare<[], { fault: string }>(
    `SELECT 'account ' || account.key || ' is below its credit limit' AS fault
     FROM purse JOIN account ON account.id = purse.account_id WHERE balance_micros < -credit_limit_micros`,
  );
  // Status 12, 14 and the like never cost anything; everything else was charged once and given back at most once.
  const wrongCharges = sql.prepare<[], { fault: string }>(
    `SELECT 'account ' || account_id || ' paid ' || paid || ' for messages that cost ' || cost AS fault
     FROM (SELECT account_id, sum(paid_micros) AS paid, sum(cost_micros) AS cost FROM (
         SELECT account_id, amount_micros AS paid_micros, 0 AS cost_micros FROM posting JOIN purse ON purse.id = from_purse
           WHERE kind = 'charge'
         UNION ALL SELECT account_id, -amount_micros, 0 FROM posting JOIN purse ON purse.id = to_purse WHERE kind = 'refund'
         UNION ALL SELECT account_id, 0, charged_micros FROM message
         UNION ALL SELECT account_id, 0, charged_micros FROM retired_charge) AS sides GROUP BY account_id) AS sums
     WHERE paid <> cost`,
  );

  return {
    async balance({ accountId }) {
      const row = await balanceOf.get(accountId);
      if (row === undefined) throw new Error(`account ${accountId} has no purse`);
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
      await tables.load({ purses: [client.id] });
      const purse = tables.purse(client.id);
      const balanceAfter = purse.balanceMicros + amountMicros;
      if (amountMicros < 0n && balanceAfter < 0n) return { kind: "below zero" };
      if (balanceAfter > LARGEST_AMOUNT) return { kind: "too large" };
      const outside = tables.servicePurse("payments", client.currency);
      const transactionId = await tables.postNumbered({
        atMs: input.atMs,
        kind: "funds",
        from: amountMicros > 0n ? outside : purse.id,
        to: amountMicros > 0n ? purse.id : outside,
        amountMicros: amountMicros > 0n ? amountMicros : -amountMicros,
        description: input.description,
        actorId: input.resellerId,
      });
      alertBelow(unit(), client.id, purse, -amountMicros, input.atMs);
      keepReplay(tables, names, { transactionId }, input.atMs);
      return { kind: "posted", transactionId };
    },

    async verifyLedger() {
      const faults = [await wrongPurses.all(), await belowLimit.all(), await wrongCharges.all()];
      return faults.flat().map(({ fault }) => fault);
    },
  };
}
