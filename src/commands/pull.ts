/**
 * Reports that are fetched and not pushed: a mark on the message's row.
 *
 *   final ──▶ waiting ──fetched──▶ handed out ──confirmed──▶ gone
 *                                    │    ▲
 *                                    └────┘ not confirmed in time: handed out again
 *
 * The mark is set in the transaction that makes the message final. What was handed out is gone only when it is known to have been
 * written to whoever asked, so neither a crash nor a broken connection loses a report. Marks of reports that nobody fetched in time
 * stay: an entry each in an index, below what is ever looked at.
 *
 * Few may match a filter of very many that wait. So a search looks at a bounded number of rows, in the order in which they are handed out, and says where
 * to go on. It changes nothing and waits for nobody.
 */
import type { ReportFacts } from "../message/message.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { Entry } from "../store/command-table.ts";
import type { PullPosition, ReportFetch } from "../store/port/reports.ts";
import { LOG_PAGE_ROWS, type PlatformFilter } from "../store/port/tracking.ts";
import {
  compareKeys,
  FACTS_COLUMNS,
  type FactsRow,
  factsOf,
  IS_NOT_REJECTED,
  IS_REJECTED,
  keyOf,
  LAST_KEY,
} from "../store/rows.ts";
import type { Sql, Value } from "../store/sql.ts";
import { commands } from "./entry.ts";
import { PLATFORM_FILTER, platformValues } from "./platform-filter.ts";

const WAITING = 0;
const HANDED_OUT = 1;
/** Of the messages that were rejected under one name, how many are looked at. */
const NEWEST_REJECTED = 100;

interface PullRow extends FactsRow {
  readonly pull: number;
  readonly pull_at_ms: number;
}

const COLUMNS = `${FACTS_COLUMNS}, pull, pull_at_ms`;

export function pullCommands({ sql }: CommandParts) {
  const { dialect } = sql;
  const inOrder = `pull = ? AND pull_at_ms > ? AND pull_at_ms <= ? ORDER BY pull_at_ms, message.key LIMIT ? ${dialect.lockFree()}`;
  const ofAccount = sql.prepare<[number, number, number, number, number], PullRow>(
    `SELECT ${COLUMNS} FROM message ${dialect.along("message_to_pull")} WHERE account_id = ? AND ${inOrder}`,
  );
  const ofBulk = sql.prepare<[number, string, number, number, number, number], PullRow>(
    `SELECT ${COLUMNS} FROM message ${dialect.along("message_to_pull_of_bulk")} WHERE account_id = ? AND bulk_id = ? AND ${inOrder}`,
  );
  const ready = "pull_at_ms > ? AND (pull = 0 OR pull = 1 AND pull_at_ms <= ?)";
  const unnamed = sql.prepare<[bigint, number, number, number], PullRow>(
    `SELECT ${COLUMNS} FROM message WHERE key = ? AND account_id = ? AND client_message_id IS NULL AND ${ready}`,
  );
  const named = sql.prepare<[number, string, number, number], PullRow>(
    `SELECT ${COLUMNS} FROM message ${dialect.along("message_named_by_client")}
     WHERE account_id = ? AND client_message_id = ? AND ${IS_NOT_REJECTED} AND ${ready}`,
  );
  const rejected = sql.prepare<[number, string, number, number, number], PullRow>(
    `SELECT * FROM (
       SELECT ${COLUMNS} FROM message ${dialect.along("message_rejected_by_name")}
       WHERE account_id = ? AND client_message_id = ? AND ${IS_REJECTED} ORDER BY log_at_ms DESC LIMIT ?) AS newest
     WHERE ${ready}`,
  );
  const byKey = sql.prepare<[bigint, number, number, number], PullRow>(
    `SELECT ${COLUMNS} FROM message WHERE key = ? AND account_id = ? AND ${ready}`,
  );
  const handOut = sql.prepare<[number, bigint]>(
    "UPDATE message SET pull = 1, pull_at_ms = ? WHERE key = ? AND pull IS NOT NULL",
  );
  const confirm = sql.prepare<[bigint]>(
    "UPDATE message SET pull = NULL, pull_at_ms = NULL WHERE key = ? AND pull IS NOT NULL",
  );

  async function candidates(fetch: ReportFetch): Promise<PullRow[]> {
    const { accountId, bulkIds, messageIds, keys = null, sinceMs, nowMs, limit } = fetch;
    if (keys !== null)
      return (await Promise.all(keys.map((key) => byKey.all(BigInt(key), accountId, sinceMs, nowMs)))).flat();
    if (messageIds !== null) {
      const found = [...new Set(messageIds)].flatMap((messageId) => {
        const key = keyOf(messageId);
        return [
          named.all(accountId, messageId, sinceMs, nowMs),
          rejected.all(accountId, messageId, NEWEST_REJECTED, sinceMs, nowMs),
          ...(key === null ? [] : [unnamed.all(key, accountId, sinceMs, nowMs)]),
        ];
      });
      const rows = (await Promise.all(found)).flat();
      return bulkIds === null ? rows : rows.filter((row) => bulkIds.includes(row.bulk_id));
    }
    // A clock that steps back must not hide what waits; what was handed out can wait for it.
    const turns: [number, number, number, number][] = [
      [HANDED_OUT, sinceMs, nowMs, limit],
      [WAITING, sinceMs, Number.MAX_SAFE_INTEGER, limit],
    ];
    const found =
      bulkIds === null
        ? turns.map((turn) => ofAccount.all(accountId, ...turn))
        : [...new Set(bulkIds)].flatMap((bulkId) => turns.map((turn) => ofBulk.all(accountId, bulkId, ...turn)));
    return (await Promise.all(found)).flat();
  }

  return commands({
    async fetchReports(fetch) {
      const { platform = null } = fetch;
      const candidatesOf = await candidates(fetch);
      const wanted = platform === null ? candidatesOf : candidatesOf.filter(matches(platform));
      const found = wanted.sort(oldestFirst).slice(0, fetch.limit);
      const handed = await Promise.all(found.map(({ key }) => handOut.run(fetch.againAtMs, BigInt(key))));
      // What was confirmed meanwhile, to another node, is gone.
      const rows = found.filter((_, index) => handed[index]! > 0);
      return { keys: rows.map(({ key }) => key), reports: rows.map((row) => factsOf(row) as ReportFacts) };
    },

    async confirmReports({ keys }) {
      await Promise.all(keys.map((key) => confirm.run(BigInt(key))));
    },

    searchReports: pullSearch(sql),
  });
}

function matches({ entityId, applicationId, campaignReferenceIds: campaigns }: PlatformFilter) {
  return (row: PullRow): boolean =>
    (entityId === null || row.entityId === entityId) &&
    (applicationId === null || row.applicationId === applicationId) &&
    (campaigns === null || (row.campaignReferenceId !== null && campaigns.includes(row.campaignReferenceId)));
}

/** What was handed out before comes first: it is older than whatever still waits. */
function oldestFirst(first: PullRow, second: PullRow): number {
  return second.pull - first.pull || first.pull_at_ms - second.pull_at_ms || compareKeys(first.key, second.key);
}

type Place = Omit<PullPosition, "pull">;

/** Which of the reports that wait a filter matches (PullSearch): what it finds is handed out by its key. */
function pullSearch(sql: Sql): Entry<"searchReports"> {
  const after = "pull = ? AND pull_at_ms BETWEEN ? AND ? AND (pull_at_ms > ? OR key > ?)";
  const inOrder = "ORDER BY pull_at_ms, message.key";
  const statements = (index: string, where: string) => {
    const from = `FROM message ${sql.dialect.along(index)} WHERE ${where} AND ${after}`;
    const place = 'pull_at_ms AS "atMs", CAST(key AS TEXT) AS key';
    return {
      end: sql.prepare<Value[], Place>(`SELECT ${place} ${from} ${inOrder} LIMIT 1 OFFSET ?`),
      found: sql.prepare<Value[], Place>(
        `SELECT ${place} ${from} AND (pull_at_ms < ? OR key <= ?) ${PLATFORM_FILTER} ${inOrder} LIMIT ?`,
      ),
    };
  };
  const ofAccount = statements("message_to_pull", "account_id = ?");
  const ofBulk = statements("message_to_pull_of_bulk", "account_id = ? AND bulk_id = ?");

  return async ({ accountId, bulkId, platform, sinceMs, nowMs, limit, after: from }) => {
    const { pull, atMs, key } = from ?? { pull: HANDED_OUT, atMs: sinceMs, key: String(LAST_KEY) };
    const { end, found } = bulkId === null ? ofAccount : ofBulk;
    const names = bulkId === null ? [accountId] : [accountId, bulkId];
    // A clock that steps back must not hide what waits; what was handed out can wait for it.
    const untilMs = pull === HANDED_OUT ? nowMs : Number.MAX_SAFE_INTEGER;
    const until = (lastMs: number): Value[] => [...names, pull, atMs, lastMs, atMs, BigInt(key)];
    const last = (await end.get(...until(untilMs), LOG_PAGE_ROWS - 1)) ?? null;
    const bottom = last ?? { atMs: untilMs, key: String(LAST_KEY) };
    const page = [...until(bottom.atMs), bottom.atMs, BigInt(bottom.key)];
    const rows = await found.all(...page, ...platformValues(platform), limit);
    const keys = rows.map((row) => row.key);
    if (rows.length >= limit) return { keys, next: { pull, ...rows.at(-1)! } };
    if (last !== null) return { keys, next: { pull, ...last } };
    return { keys, next: pull === WAITING ? null : { pull: WAITING, atMs: sinceMs, key: String(LAST_KEY) } };
  };
}
