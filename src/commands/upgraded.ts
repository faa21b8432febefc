/**
 * Rows that an older Heliograph has left, without what this one keeps of them: those that a migration could not fill in, those that were in its journal
 * when it was killed, and those that a node of before still writes beside nodes of today. A timer fills them in, a page at a time; indexes have just those.
 */
import { hostOf } from "../runtime/urls.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { commands } from "./entry.ts";

export function upgradedCommands({ sql }: CommandParts) {
  const withoutHost = sql.prepare<[number], { id: string; url: string }>(
    `SELECT CAST(report.id AS TEXT) AS id, url FROM report ${sql.dialect.along("report_without_host")}
     WHERE host IS NULL AND (attempts > 0 OR dead_at_ms IS NOT NULL) ORDER BY report.id LIMIT ?`,
  );
  const giveHost = sql.prepare<[string, bigint]>("UPDATE report SET host = ? WHERE id = ? AND host IS NULL");
  const withoutTime = sql.prepare<[number], { accountId: number; bulkId: string; sendAtMs: number }>(
    `SELECT account_id AS "accountId", bulk_id AS "bulkId", send_at_ms AS "sendAtMs" FROM bulk ${sql.dialect.along("bulk_without_time")}
     WHERE made_at_ms = 0 ORDER BY account_id, bulk_id LIMIT ?`,
  );
  const firstMessage = sql.prepare<[number, string], { receivedAtMs: number }>(
    `SELECT received_at_ms AS "receivedAtMs" FROM message ${sql.dialect.along("message_of_bulk")}
     WHERE account_id = ? AND bulk_id = ? ORDER BY message.key LIMIT 1`,
  );
  const giveTime = sql.prepare<[number, number, string]>(
    "UPDATE bulk SET made_at_ms = ? WHERE account_id = ? AND bulk_id = ? AND made_at_ms = 0",
  );

  return commands({
    async fillIn({ limit }) {
      const reports = await withoutHost.all(limit);
      for (const { id, url } of reports) await giveHost.run(hostOf(url), BigInt(id));
      const bulks = await withoutTime.all(limit);
      for (const { accountId, bulkId, sendAtMs } of bulks) {
        const madeAtMs = (await firstMessage.get(accountId, bulkId))?.receivedAtMs ?? sendAtMs;
        await giveTime.run(Math.max(1, madeAtMs), accountId, bulkId);
      }
      return { more: reports.length === limit || bulks.length === limit };
    },
  });
}
