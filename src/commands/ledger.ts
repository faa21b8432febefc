/** Money: postings between wallets, and the check that they agree. */
import type { AlertFacts } from "../message/message.ts";
import { MAX_WALLET, money } from "../money/amounts.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { ManagedAccount } from "../store/port/accounts.ts";
import { CARRIED } from "../store/retention.ts";
import type { Tables } from "../store/tables.ts";
import type { Unit } from "../store/unit.ts";
import type { Wallet } from "../store/wallet.ts";
import { commands } from "./entry.ts";

/** An account's balance goes down: whoever watches it is told at the moment when it passes the mark. */
export function alertBelow(
  { tables, unit }: Pick<CommandParts, "tables" | "unit">,
  accountId: number,
  wallet: Wallet,
  amountMicros: bigint,
  atMs: number,
): void {
  const { alert, currency } = wallet;
  if (alert === null) return;
  const { belowMicros } = alert;
  const balanceMicros = wallet.balanceMicros - amountMicros;
  if (wallet.balanceMicros < belowMicros) tables.wallets.relyOn(wallet, { most: belowMicros - 1n });
  else if (balanceMicros >= belowMicros) tables.wallets.relyOn(wallet, { least: belowMicros + amountMicros });
  else {
    tables.wallets.relyOn(wallet, { least: wallet.balanceMicros, most: wallet.balanceMicros });
    tellAlert(unit(), accountId, alert, { balanceMicros, currency, atMs });
  }
}

/** An alert is set on a balance that is below its mark already: nothing would pass that any more, so it is told at once. */
export function alertWhenSet(
  unit: Unit,
  { id, key, alert }: Pick<ManagedAccount, "id" | "key" | "alert">,
  { balanceMicros, currency }: Pick<Wallet, "balanceMicros" | "currency">,
  atMs: number,
): void {
  if (alert === null || balanceMicros >= alert.belowMicros) return;
  tellAlert(unit, id, { accountKey: key, ...alert }, { balanceMicros, currency, atMs });
}

function tellAlert(
  unit: Unit,
  accountId: number,
  { accountKey, belowMicros, url }: NonNullable<Wallet["alert"]>,
  now: Pick<AlertFacts, "balanceMicros" | "currency" | "atMs">,
): void {
  unit.tell("alert", { accountId, url, form: "application/json" }, { accountKey, belowMicros, ...now });
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
  tables.wallets.relyOn(wallet, { most: MAX_WALLET - amountMicros });
  const from = tables.wallets.ofService("revenue", wallet.currency);
  tables.wallets.post({ atMs, kind: "refund", from, to: wallet.id, amountMicros, messageKey, partCount });
  return true;
}

/**
 * Sums of amounts have no bound, and SQLite's sum() fails beyond 64 bits. So they are added up in two halves, the upper and the lower 32 bits,
 * which would take 2^31 rows to overflow. A sum is nothing when its lower half is so many times 2^32 and its upper half just as many less.
 */
const HALF = 4_294_967_296n;
const upper = (amount: string): string => `((${amount}) >> 32)`;
const lower = (amount: string): string => `((${amount}) & ${HALF - 1n})`;
const isNotNothing = (high: string, low: string): string =>
  `((${low}) % ${HALF} <> 0 OR (${high}) + (${low}) / ${HALF} <> 0)`;
/** `carried`: how many times 2^62 are to be added. */
export const halvesOf = (amount: string, name: string, carried = "0"): string =>
  `CAST(sum(${upper(amount)} + ${carried} * ${CARRIED / HALF}) AS BIGINT) AS ${name}_high, CAST(sum(${lower(amount)}) AS BIGINT) AS ${name}_low`;
export const whole = (high: string, low: string): bigint => BigInt(high) * HALF + BigInt(low);

interface WrongWallet {
  readonly id: number;
  /** An account's key, or which of the service's it is. */
  readonly name: string;
  readonly currency: string;
  readonly balance: string;
  readonly high: string;
  readonly low: string;
}

interface WrongCharges {
  /** The account's, or its number where it has none. */
  readonly key: string;
  readonly currency: string;
  readonly paidHigh: string;
  readonly paidLow: string;
  readonly costHigh: string;
  readonly costLow: string;
}

export function ledgerCommands({ sql }: CommandParts) {
  const balanceOf = sql.prepare<[number], { balance: string; currency: string }>(
    "SELECT CAST(balance_micros AS TEXT) AS balance, currency FROM wallet WHERE account_id = ?",
  );
  const wrongWallets = sql.prepare<[], WrongWallet>(
    `SELECT wallet.id, name, currency, CAST(balance_micros AS TEXT) AS balance, CAST(posted_high AS TEXT) AS high, CAST(posted_low AS TEXT) AS low
     FROM (SELECT wallet_id, ${halvesOf("moved_micros", "posted")} FROM (
         SELECT to_wallet AS wallet_id, amount_micros AS moved_micros FROM posting
         UNION ALL SELECT from_wallet, -amount_micros FROM posting
         UNION ALL SELECT id, 0 FROM wallet) AS moves GROUP BY wallet_id) AS sums
       JOIN wallet ON wallet.id = sums.wallet_id
     WHERE ${isNotNothing(`${upper("balance_micros")} - posted_high`, `${lower("balance_micros")} - posted_low`)}`,
  );
  const belowLimitIn = (wallets: string): string =>
    `SELECT 'account ' || account.key || ' is below its credit limit' AS fault
     FROM ${wallets} JOIN account ON account.id = account_id WHERE balance_micros < -credit_limit_micros`;
  const belowLimit = sql.prepare<[], { fault: string }>(belowLimitIn("wallet"));
  const someWallets = "(SELECT id, account_id, currency, balance_micros FROM wallet ORDER BY id LIMIT ?) AS looked";
  const sumsOfWallets = sql.prepare<[number], { currency: string; count: number; high: string; low: string }>(
    `SELECT currency, count, CAST(held_high AS TEXT) AS high, CAST(held_low AS TEXT) AS low
     FROM (SELECT currency, count(*) AS count, ${halvesOf("balance_micros", "held")} FROM ${someWallets} GROUP BY currency) AS sums
     ORDER BY currency`,
  );
  const someBelowLimit = sql.prepare<[number], { fault: string }>(belowLimitIn(someWallets));
  // Status 12, 14 and the like never cost anything; everything else was charged once and given back at most once.
  const wrongCharges = sql.prepare<[], WrongCharges>(
    `SELECT coalesce(account.key, CAST(account_id AS TEXT)) AS key, coalesce(account.currency, '') AS currency, CAST(paid_high AS TEXT) AS "paidHigh", CAST(paid_low AS TEXT) AS "paidLow",
       CAST(cost_high AS TEXT) AS "costHigh", CAST(cost_low AS TEXT) AS "costLow"
     FROM (SELECT account_id, ${halvesOf("paid_micros", "paid")}, ${halvesOf("cost_micros", "cost", "carried")} FROM (
         SELECT account_id, amount_micros AS paid_micros, 0 AS cost_micros, 0 AS carried FROM posting JOIN wallet ON wallet.id = from_wallet
           WHERE kind = 'charge'
         UNION ALL SELECT account_id, -amount_micros, 0, 0 FROM posting JOIN wallet ON wallet.id = to_wallet WHERE kind = 'refund'
         UNION ALL SELECT account_id, 0, charged_micros, 0 FROM message
         UNION ALL SELECT account_id, 0, charged_micros, carried FROM retired_charge) AS sides GROUP BY account_id) AS sums
       LEFT JOIN account ON account.id = sums.account_id
     WHERE ${isNotNothing("paid_high - cost_high", "paid_low - cost_low")}`,
  );

  return commands({
    async balance({ accountId }) {
      const row = await balanceOf.get(accountId);
      if (row === undefined) throw new Error(`account ${accountId} has no wallet`);
      return { balanceMicros: BigInt(row.balance), currency: row.currency };
    },

    async verifyLedger() {
      const wallets = (await wrongWallets.all()).map(({ id, name, currency, balance, high, low }) => {
        const posted = money(whole(high, low), currency);
        return `wallet ${id} (${name}) holds ${money(BigInt(balance), currency)} but its postings sum to ${posted}`;
      });
      const limits = (await belowLimit.all()).map(({ fault }) => fault);
      const charges = (await wrongCharges.all()).map(({ key, currency, paidHigh, paidLow, costHigh, costLow }) => {
        const cost = money(whole(costHigh, costLow), currency);
        return `account ${key} paid ${money(whole(paidHigh, paidLow), currency)} for messages that cost ${cost}`;
      });
      return [...wallets, ...limits, ...charges];
    },

    async checkWallets({ limit }) {
      const sums = await sumsOfWallets.all(limit + 1);
      const count = sums.reduce((all, sum) => all + sum.count, 0);
      const isWhole = count <= limit;
      // What one wallet gives another gets, so all of a currency hold nothing together.
      const unequal = sums.flatMap(({ currency, high, low }) => {
        const sum = whole(high, low);
        const says = `the wallets in ${currency} hold ${money(sum, currency)} together, and not nothing`;
        return !isWhole || sum === 0n ? [] : [says];
      });
      const limits = (await someBelowLimit.all(limit)).map(({ fault }) => fault);
      return { faults: [...unequal, ...limits], wallets: Math.min(count, limit), isWhole };
    },
  });
}
