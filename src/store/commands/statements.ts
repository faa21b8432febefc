/** An account's postings, in the order of time, and what they come to: what a statement is made of. */
import type { Posting, PostingRange } from "../port/money.ts";
import { commands } from "./entry.ts";
import type { CommandParts } from "./parts.ts";

interface PostingRow extends Omit<Posting, "amountMicros" | "messageKey"> {
  readonly amount: string;
  readonly messageKey: string | null;
}

export function statementCommands({ sql }: CommandParts) {
  const walletOf = sql.prepare<[number], { id: number }>("SELECT id FROM wallet WHERE account_id = ?");
  const side = (wallet: string, sign: string, kind: string): string =>
    `SELECT id, at_ms AS "atMs", kind, CAST(${sign}amount_micros AS TEXT) AS amount, CAST(message_key AS TEXT) AS "messageKey",
       part_count AS "partCount", description
     FROM posting WHERE ${wallet} = ? AND kind <> '${kind}' AND at_ms >= ? AND at_ms < ? AND (at_ms, id) > (?, ?) ORDER BY at_ms, id LIMIT ?`;
  const outgoing = sql.prepare<[number, number, number, number, number, number], PostingRow>(
    side("from_wallet", "-", "refund"),
  );
  const arriving = sql.prepare<[number, number, number, number, number, number], PostingRow>(
    side("to_wallet", "", "charge"),
  );

  const page = async ({ accountId, sinceMs, untilMs, after, limit }: PostingRange): Promise<PostingRow[]> => {
    const wallet = await walletOf.get(accountId);
    if (wallet === undefined) return [];
    const { atMs, id } = after ?? { atMs: -1, id: -1 };
    const range = [wallet.id, sinceMs, untilMs, atMs, id, limit] as const;
    const rows = [...(await outgoing.all(...range)), ...(await arriving.all(...range))];
    return rows.sort((first, second) => first.atMs - second.atMs || first.id - second.id).slice(0, limit);
  };

  return commands({
    async postings(range) {
      const rows = await page(range);
      return rows.map(({ amount, ...row }) => ({ ...row, amountMicros: BigInt(amount) }));
    },

    async turnover(range) {
      const rows = await page(range);
      const last = rows.length === range.limit ? rows.at(-1)! : null;
      return {
        amountMicros: rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
        next: last === null ? null : { atMs: last.atMs, id: last.id },
      };
    },
  });
}
