/** Reports that nobody took in time: listed for people, and sent again when they say so. */
import type { DeadLetter } from "../port/reports.ts";
import { commands } from "./entry.ts";
import type { CommandParts } from "./parts.ts";

interface DeadLetterRow extends Omit<DeadLetter, "history"> {
  readonly history: string;
}

const LAST_ID = 2n ** 63n - 1n;

export function deadLetterCommands({ sql }: CommandParts) {
  const found = `FROM report CROSS JOIN account WHERE account.id = report.account_id AND dead_at_ms IS NOT NULL
    AND account.key = coalesce(?, account.key) AND report.url = coalesce(?, report.url)`;
  const list = sql.prepare<[string | null, string | null, bigint, number], DeadLetterRow>(
    `SELECT CAST(report.id AS TEXT) AS id, account.key AS "accountKey", report.url,
       json_array_length(${sql.dialect.json("items")}) AS "itemCount", attempts, dead_at_ms AS "deadAtMs",
       coalesce(reason, '') AS reason, history
     ${found} AND report.id < ? ORDER BY report.id DESC LIMIT ?`,
  );
  const select = sql.prepare<[string | null, string | null, number], { id: string }>(
    `SELECT CAST(report.id AS TEXT) AS id ${found} ORDER BY report.id LIMIT ?`,
  );
  // As new: the schedule begins again, and what happened before stays to be seen.
  const revive = sql.prepare<[number, bigint]>(
    "UPDATE report SET dead_at_ms = NULL, attempts = 0, tried = 1, due_at_ms = ?, held_by = NULL WHERE id = ? AND dead_at_ms IS NOT NULL",
  );

  return commands({
    async deadLetters({ accountKey, url, beforeId, limit }) {
      const rows = await list.all(accountKey, url, beforeId === null ? LAST_ID : BigInt(beforeId), limit);
      return rows.map((row) => ({ ...row, history: JSON.parse(row.history) }));
    },

    async replayDeadLetters(input) {
      const { nowMs, limit } = input;
      const ids =
        "ids" in input ? input.ids : (await select.all(input.accountKey, input.url, limit)).map(({ id }) => id);
      const revived = await Promise.all(ids.slice(0, limit).map((id) => revive.run(nowMs, BigInt(id))));
      return { replayed: revived.reduce((sum, count) => sum + count, 0) };
    },
  });
}
