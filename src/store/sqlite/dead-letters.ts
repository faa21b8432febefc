/** Reports that nobody took in time, in SQLite: listed for people, and sent again when they say so. */
import type { CommandHandlers, DeadLetter } from "../port.ts";
import type { Db } from "./database.ts";

interface DeadLetterRow extends Omit<DeadLetter, "history"> {
  readonly history: string;
}

export function deadLetterCommands(db: Db): Pick<CommandHandlers, "deadLetters" | "replayDeadLetters"> {
  const condition = `dead_at_ms IS NOT NULL AND (@accountKey IS NULL OR account.key = @accountKey) AND (@url IS NULL OR report.url = @url)`;
  const list = db.prepare<
    { accountKey: string | null; url: string | null; beforeId: bigint; limit: number },
    DeadLetterRow
  >(
    `SELECT CAST(report.id AS TEXT) AS id, account.key AS accountKey, report.url, json_array_length(items) AS itemCount, attempts,
       dead_at_ms AS deadAtMs, coalesce(reason, '') AS reason, history
     FROM report CROSS JOIN account ON account.id = report.account_id
     WHERE ${condition} AND report.id < @beforeId ORDER BY report.id DESC LIMIT @limit`,
  );
  const select = db.prepare<{ accountKey: string | null; url: string | null; limit: number }, { id: string }>(
    `SELECT CAST(report.id AS TEXT) AS id FROM report CROSS JOIN account ON account.id = report.account_id
     WHERE ${condition} ORDER BY report.id LIMIT @limit`,
  );
  // As new: the schedule begins again, and what happened before stays to be seen.
  const revive = db.prepare<[number, bigint]>(
    "UPDATE report SET dead_at_ms = NULL, attempts = 0, tried = 1, due_at_ms = ?, held_by = NULL WHERE id = ? AND dead_at_ms IS NOT NULL",
  );

  return {
    deadLetters({ accountKey, url, beforeId, limit }) {
      const before = beforeId === null ? 2n ** 63n - 1n : BigInt(beforeId);
      return list
        .all({ accountKey, url, beforeId: before, limit })
        .map((row) => ({ ...row, history: JSON.parse(row.history) }));
    },

    replayDeadLetters(input) {
      const { nowMs, limit } = input;
      const ids =
        "ids" in input
          ? input.ids
          : select.all({ accountKey: input.accountKey, url: input.url, limit }).map(({ id }) => id);
      const replayed = ids.slice(0, limit).reduce((sum, id) => sum + revive.run(nowMs, BigInt(id)).changes, 0);
      return { replayed };
    },
  };
}
