/**
 * The logs: an account's messages, newest first, by any filter. A filter may match rarely, and ten million messages may lie
 * between two that it matches. So one call looks at a bounded number of rows, in the order of time, and says where to go on; between two
 * calls other commands get their turn.
 *
 * A *walk* goes back in time along an index: over all of the account, over one bulk, or over the messages of all names that are asked for. Where there
 * are several, each looks ahead as far as its share of the rows goes, and the page ends where the first of them has to stop: above
 * that line every walk is complete. However many names there are, each index is asked once for all of them.
 */
import type { CommandParts } from "../store/command-parts.ts";
import { LOG_PAGE_ROWS, type LogPosition, type LogQuery } from "../store/port/tracking.ts";
import {
  FACTS_COLUMNS,
  type FactsRow,
  factsOf,
  IS_NOT_REJECTED,
  IS_REJECTED,
  keyOf,
  LAST_KEY,
  newestFirst,
  parseEncoding,
} from "../store/rows.ts";
import type { Awaitable, Value } from "../store/sql.ts";
import { commands } from "./entry.ts";
import { PLATFORM_FILTER, platformValues } from "./platform-filter.ts";

/** However many walks there are, each gets on. */
const FEWEST_ROWS = 20;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

interface LogRow extends FactsRow {
  readonly body: string;
  readonly written: string | null;
}

interface Walk {
  /** The place so many rows below `upper`, or null if there are fewer. */
  floor(upper: LogPosition, sinceMs: number, count: number): Promise<LogPosition | null>;
  /** What the filter leaves of the rows below `upper` down to `floor`, newest first. */
  rows(upper: LogPosition, floor: LogPosition, query: LogQuery, limit: number): Awaitable<LogRow[]>;
}

/** What lies below a place and not before a time, and the values of that. */
export const BELOW = "log_at_ms BETWEEN ? AND ? AND (log_at_ms < ? OR key < ?)";
export const below = ({ atMs, key }: LogPosition, sinceMs: number): Value[] => [sinceMs, atMs, atMs, BigInt(key)];
const NEWEST_FIRST = "ORDER BY log_at_ms DESC, message.key DESC";
/** What is found by names comes in their order. As long as PostgreSQL knows little of a table it would walk all of the account to be spared a sort. */
const SORTED = "ORDER BY log_at_ms + 0 DESC, message.key DESC";
const FILTER = `sender = coalesce(?, sender) AND recipient = coalesce(?, recipient)
  AND coalesce(CAST(? AS TEXT) LIKE '%,' || status_id || ',%', TRUE)
  AND coalesce(substr(mcc_mnc, 1, 3), '') = coalesce(?, substr(mcc_mnc, 1, 3), '')
  AND coalesce(substr(mcc_mnc, 4), '') = coalesce(?, substr(mcc_mnc, 4), '')`;

export function logCommands({ sql }: CommandParts) {
  /** The index is named: without statistics SQLite takes the account's for the bulk's. */
  function walkAlong(index: string | null, where: string, order = NEWEST_FIRST): (...name: Value[]) => Walk {
    const along = sql.dialect.along(index);
    const floorOf = sql.prepare<Value[], LogPosition>(
      `SELECT log_at_ms AS "atMs", CAST(key AS TEXT) AS key FROM message ${along}
       WHERE ${where} AND ${BELOW} ${order} LIMIT 1 OFFSET ?`,
    );
    const rowsWith = (more: string) =>
      sql.prepare<Value[], LogRow>(
        `SELECT ${FACTS_COLUMNS}, body, encoding, written FROM message ${along}
         WHERE ${where} AND ${BELOW} AND (log_at_ms > ? OR key >= ?) AND ${FILTER} ${more} ${order} LIMIT ?`,
      );
    const rowsOf = rowsWith("");
    const rowsOfPlatform = rowsWith(PLATFORM_FILTER);
    return (...name) => ({
      floor: async (upper, sinceMs, count) => (await floorOf.get(...name, ...below(upper, sinceMs), count - 1)) ?? null,
      rows(upper, floor, { from, to, statusIds, mcc, mnc, platform }, limit) {
        const statuses = statusIds === null ? null : `,${statusIds.join(",")},`;
        const range = [...below(upper, floor.atMs), floor.atMs, BigInt(floor.key)];
        const filter = [from, to, statuses, mcc, mnc];
        if (platform == null) return rowsOf.all(...name, ...range, ...filter, limit);
        return rowsOfPlatform.all(...name, ...range, ...filter, ...platformValues(platform), limit);
      },
    });
  }

  const all = walkAlong("message_by_time", "account_id = ?");
  const bulk = walkAlong("message_of_bulk_by_time", "account_id = ? AND bulk_id = ?");
  const { amongTexts, amongKeys, items } = sql.dialect;
  const named = walkAlong(
    "message_named_by_client",
    `account_id = ? AND client_message_id ${amongTexts} AND ${IS_NOT_REJECTED}`,
    SORTED,
  );
  const unnamed = walkAlong(null, `account_id = ? AND key ${amongKeys} AND client_message_id IS NULL`);
  const ofRejected = walkAlong(
    "message_rejected_by_name",
    `account_id = ? AND client_message_id ${amongTexts} AND ${IS_REJECTED}`,
    SORTED,
  );
  /** Of each name the place so many rows below: any number may have been rejected under it. */
  const rejectedFloors = sql.prepare<Value[], { place: string | null }>(
    `SELECT (SELECT log_at_ms || ' ' || key FROM message ${sql.dialect.along("message_rejected_by_name")}
       WHERE account_id = ? AND client_message_id = item.value ->> 0 AND ${IS_REJECTED} AND ${BELOW}
       ${NEWEST_FIRST} LIMIT 1 OFFSET ?) AS place
     FROM ${items}`,
  );

  function rejected(accountId: number, names: readonly string[]): Walk {
    const one = JSON.stringify(names.map((name) => [name]));
    return {
      ...ofRejected(accountId, JSON.stringify(names)),
      async floor(upper, sinceMs, count) {
        const share = Math.max(FEWEST_ROWS, Math.floor(count / names.length));
        const found = await rejectedFloors.all(accountId, ...below(upper, sinceMs), share - 1, one);
        const floors = found.flatMap(({ place }) => (place === null ? [] : [placeIn(place)]));
        return floors.sort(newestFirst)[0] ?? null;
      },
    };
  }

  function walksOf({ accountId, bulkIds, messageIds }: LogQuery): Walk[] {
    if (messageIds !== null) {
      const names = [...new Set(messageIds.map(storableName))];
      const keys = names.flatMap((name) => keyOf(name)?.toString() ?? []);
      const byName = [named(accountId, JSON.stringify(names)), rejected(accountId, names)];
      return keys.length === 0 ? byName : [...byName, unnamed(accountId, JSON.stringify(keys))];
    }
    if (bulkIds !== null) return [...new Set(bulkIds)].map((bulkId) => bulk(accountId, bulkId));
    return [all(accountId)];
  }

  return commands({
    async logs(query) {
      const { sinceMs, untilMs, limit, bulkIds, messageIds } = query;
      const upper = query.after ?? { atMs: untilMs, key: String(LAST_KEY) };
      const walks = walksOf(query);
      const share = Math.max(FEWEST_ROWS, Math.floor(LOG_PAGE_ROWS / walks.length));
      const looked = await Promise.all(walks.map((walk) => walk.floor(upper, sinceMs, share)));
      const floors = looked.filter((floor) => floor !== null).sort(newestFirst);
      const floor = floors[0] ?? null;
      const bottom = floor ?? { atMs: sinceMs, key: "0" };

      // Bulks narrow down what names have found, so these are not cut off before.
      const byBoth = bulkIds !== null && messageIds !== null;
      const found = await Promise.all(walks.map((walk) => walk.rows(upper, bottom, query, byBoth ? NO_LIMIT : limit)));
      const rows = found
        .flat()
        .filter((row) => !byBoth || bulkIds.includes(row.bulk_id))
        .sort((first, second) => newestFirst(placeOf(first), placeOf(second)))
        .slice(0, limit);
      return {
        messages: rows.map((row) => ({
          ...factsOf(row),
          key: row.key,
          text: row.body,
          written: row.written === null ? null : JSON.parse(row.written),
          encoding: parseEncoding(row.encoding),
        })),
        next: rows.length < limit ? floor : placeOf(rows.at(-1)!),
      };
    },
  });
}

/** No database has a name that a JSON array could not carry to it. */
function storableName(name: string): string {
  return name.toWellFormed().replaceAll("\0", "\ufffd");
}

function placeIn(text: string): LogPosition {
  const [atMs, key] = text.split(" ") as [string, string];
  return { atMs: Number(atMs), key };
}

function placeOf(row: LogRow): LogPosition {
  return { atMs: row.log_at_ms, key: row.key };
}
