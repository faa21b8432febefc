/** An account's postings, in the order of time, and what they come to: what a statement is made of. */
import {
  type Posting,
  type PostingPosition,
  type PostingRange,
  postingKindOf,
  type StoredKind,
  type TurnoverStep,
} from "../money/postings.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { commands } from "./entry.ts";
import { halvesOf, whole } from "./ledger.ts";

interface PostingRow extends Omit<Posting, "kind" | "amountMicros" | "messageKey"> {
  readonly kind: StoredKind;
  /** Of funds: where they come from or go to. The name of a wallet of the service's, or "" for an account's. */
  readonly other: string | null;
  readonly amount: string;
  readonly messageKey: string | null;
}

const BEFORE_ALL: PostingPosition = { atMs: -1, id: -1 };
const BEHIND_ALL: PostingPosition = { atMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };

/** Where the page after this one begins, if there may be one. */
function nextOf(rows: readonly PostingRow[], limit: number): PostingPosition | null {
  const last = rows.length === limit ? rows.at(-1)! : null;
  return last === null ? null : { atMs: last.atMs, id: last.id };
}

export function statementCommands({ sql }: CommandParts) {
  const walletOf = sql.prepare<[number], { id: number }>("SELECT id FROM wallet WHERE account_id = ?");
  const side = (wallet: string, other: string, sign: string, kind: string, comes: string, order: string) =>
    sql.prepare<[number, number, number, number, number, number], PostingRow>(
      `SELECT id, at_ms AS "atMs", kind, CAST(${sign}amount_micros AS TEXT) AS amount, CAST(message_key AS TEXT) AS "messageKey",
         part_count AS "partCount", description,
         CASE kind WHEN 'funds' THEN (SELECT CASE WHEN account_id IS NULL THEN name ELSE '' END FROM wallet WHERE wallet.id = ${other}) END AS other
       FROM posting WHERE ${wallet} = ? AND kind <> '${kind}' AND at_ms >= ? AND at_ms < ? AND (at_ms, id) ${comes} (?, ?)
       ORDER BY at_ms ${order}, id ${order} LIMIT ?`,
    );
  /** What leaves the wallet, and what arrives in it: each has its index. */
  const walk = (comes: string, order: string) => [
    side("from_wallet", "to_wallet", "-", "refund", comes, order),
    side("to_wallet", "from_wallet", "", "charge", comes, order),
  ];
  const onwards = walk(">", "ASC");
  const back = walk("<", "DESC");

  const page = async ({ accountId, sinceMs, untilMs, after, limit, newestFirst }: PostingRange) => {
    const wallet = await walletOf.get(accountId);
    if (wallet === undefined) return [];
    const start = newestFirst === true ? BEHIND_ALL : BEFORE_ALL;
    const { atMs, id } = after ?? start;
    const range = [wallet.id, sinceMs, untilMs, atMs, id, limit] as const;
    const rows: PostingRow[] = [];
    for (const statement of newestFirst === true ? back : onwards) rows.push(...(await statement.all(...range)));
    const sign = newestFirst === true ? -1 : 1;
    return rows.sort((one, other) => sign * (one.atMs - other.atMs || one.id - other.id)).slice(0, limit);
  };

  const since = (wallet: string, sign: string, kind: string) =>
    `SELECT ${sign}amount_micros AS moved_micros FROM posting
     WHERE ${wallet} = ? AND kind <> '${kind}' AND at_ms >= ? AND (at_ms, id) > (?, ?)`;
  // One statement, and so one moment: between two, money may move.
  const balanceSince = sql.prepare<number[], { now: string; high: string; low: string }>(
    `SELECT (SELECT CAST(balance_micros AS TEXT) FROM wallet WHERE id = ?) AS now,
       CAST(coalesce(moved_high, 0) AS TEXT) AS high, CAST(coalesce(moved_low, 0) AS TEXT) AS low
     FROM (SELECT ${halvesOf("moved_micros", "moved")} FROM (
       ${since("from_wallet", "-", "refund")} UNION ALL ${since("to_wallet", "", "charge")}) AS moves) AS sums`,
  );

  return commands({
    async balanceBehind({ accountId, place: { atMs, id } }) {
      const wallet = await walletOf.get(accountId);
      if (wallet === undefined) throw new Error(`account ${accountId} has no wallet`);
      const range = [wallet.id, atMs, atMs, id];
      const { now, high, low } = (await balanceSince.get(wallet.id, ...range, ...range))!;
      return { nowMicros: BigInt(now), thenMicros: BigInt(now) - whole(high, low) };
    },

    async postings(range) {
      const rows = await page(range);
      return rows.map(({ kind, other, amount, ...row }) => {
        return { ...row, kind: postingKindOf(kind, other), amountMicros: BigInt(amount) };
      });
    },

    async turnover(range) {
      const rows = await page(range);
      return {
        amountMicros: rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
        next: nextOf(rows, range.limit),
      };
    },

    async turnoverSteps({ stepMs, ...range }) {
      const rows = await page(range);
      const steps = new Map<number, StepSums>();
      for (const { atMs, kind, amount } of rows) {
        const startMs = atMs - (atMs % stepMs);
        const step = steps.get(startMs) ?? { startMs, charge: 0n, refund: 0n, funds: 0n, postings: 0 };
        step[kind] += BigInt(amount);
        step.postings++;
        steps.set(startMs, step);
      }
      return { steps: [...steps.values()].map(shown), next: nextOf(rows, range.limit) };
    },
  });
}

/** What the balance changed by, by the kind of posting. */
interface StepSums extends Record<StoredKind, bigint> {
  readonly startMs: number;
  postings: number;
}

function shown({ startMs, charge, refund, funds, postings }: StepSums): TurnoverStep {
  return { startMs, chargedMicros: -charge, refundedMicros: refund, fundedMicros: funds, postings };
}
