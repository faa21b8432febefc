/**
 * Messages by any filter, for people. It goes back in time along an index, as the logs do (logs.ts), looks at no more than SEARCH_ROWS rows, and
 * answers what it has found in them with the place at which to go on. Nothing is sorted and nothing is counted, however many messages there are.
 *
 * The messages of one account are in the order of the logs. Those of all accounts are in the order in which they were accepted, which is that of their
 * keys: no index has them all by another time.
 */
import { firstIdAt } from "../runtime/ids.ts";
import { STATUS } from "../sms/statuses.ts";
import type { CommandParts } from "../store/command-parts.ts";
import {
  type FoundMessage,
  type MessageCounts,
  type MessageSearch,
  SEARCH_ROWS,
} from "../store/port/message-search.ts";
import type { LogPosition } from "../store/port/tracking.ts";
import { IS_NOT_REJECTED, IS_REJECTED, keyOf, LAST_KEY, newestFirst } from "../store/rows.ts";
import { STATE_NUMBER } from "../store/schema/message.ts";
import type { Value } from "../store/sql.ts";
import { commands } from "./entry.ts";
import { BELOW, below } from "./logs.ts";

/** The beginning of a text that a list shows. */
const TEXT_LENGTH = 160;
/** Rows that are read at once where their whole texts are. */
const TEXT_ROWS = 200;

const { scheduled, queued, submitted } = STATE_NUMBER;
const ENROUTE = STATUS.PENDING_ENROUTE.id;
/** A carrier put it off, did not answer, or has a part of it only. */
const IS_RETRYING = `(state = ${scheduled} AND status_id = ${ENROUTE}
  OR state IN (${scheduled}, ${queued}) AND (unknown_count > 0 OR taken IS NOT NULL))`;
/** Its time came a while ago, and no carrier has it: one that throttles leaves nothing else in the row. */
const IS_OVERDUE = `(state = ${queued} AND due_at_ms < ?)`;
/** What the word `retrying` finds. */
const IS_NOT_TAKEN = `(${IS_RETRYING} OR ${IS_OVERDUE})`;
/** It should have gone, or have had its last word. */
const IS_STUCK = `(state IN (${queued}, ${submitted}) AND coalesce(sent_at_ms, due_at_ms) < ?)`;
const IS_SCHEDULED = `(state = ${scheduled} AND status_id <> ${ENROUTE})`;
/** Only for rows that are shown: it looks at the row of the bulk. */
const IS_PAUSED = `(${IS_SCHEDULED} AND EXISTS (SELECT 1 FROM bulk AS own
  WHERE own.account_id = message.account_id AND own.bulk_id = message.bulk_id AND own.state = 'paused'))`;
const FAILED_IDS = Object.values(STATUS)
  .filter(({ final, groupName }) => final && groupName !== "DELIVERED")
  .map(({ id }) => id);
const IS_FAILED = `status_id IN (${FAILED_IDS.join(", ")})`;

/** A text that is given whole, and one that is the beginning. */
const matches = (column: string): string =>
  `${column} = coalesce(CAST(? AS TEXT), ${column}) AND substr(${column}, 1, CAST(? AS INTEGER)) = CAST(? AS TEXT)`;
const oneOf = (column: string): string => `coalesce(CAST(? AS TEXT) LIKE '%,' || ${column} || ',%', TRUE)`;
const FILTER = `${matches("recipient")} AND ${matches("sender")} AND ${oneOf("status_id")} AND ${oneOf("error_id")}
  AND coalesce(carrier_id, '') = coalesce(CAST(? AS TEXT), carrier_id, '')
  AND bulk_id = coalesce(CAST(? AS TEXT), bulk_id)
  AND coalesce(client_message_id, CAST(key AS TEXT)) = coalesce(CAST(? AS TEXT), client_message_id, CAST(key AS TEXT))
  AND CASE CAST(? AS TEXT) WHEN 'retrying' THEN ${IS_NOT_TAKEN} WHEN 'stuck' THEN ${IS_STUCK}
    WHEN 'scheduled' THEN ${IS_SCHEDULED} ELSE TRUE END`;

function filterValues(search: MessageSearch): Value[] {
  const match = (wanted: MessageSearch["to"]): Value[] => {
    if (wanted === null) return [null, 0, ""];
    return wanted.isPrefix ? [null, wanted.text.length, wanted.text] : [wanted.text, 0, ""];
  };
  const list = (ids: readonly number[] | null): Value => (ids === null ? null : `,${ids.join(",")},`);
  const { to, from, statusIds, errorIds, carrierId, bulkId, messageId, life } = search;
  const lists = [list(statusIds), list(errorIds)];
  return [...match(to), ...match(from), ...lists, carrierId, bulkId, messageId, life ?? "", ...momentValues(search)];
}

type Moments = Pick<MessageSearch, "stuckBeforeMs" | "overdueBeforeMs">;
/** As the conditions want them, wherever both stand. */
const momentValues = ({ overdueBeforeMs, stuckBeforeMs }: Moments): [number, number] => [
  overdueBeforeMs,
  stuckBeforeMs,
];

/**
 * Whether a message has the text that is looked for. It is compared here and not by the database: which letters SQLite and PostgreSQL know as capitals
 * of others depends on how they were built, and on the locale of the database.
 */
function textMatcher({ text }: MessageSearch): (row: FoundRow) => boolean {
  if (text === null) return () => true;
  const wanted = folded(text);
  return ({ body }) => folded(body ?? "").includes(wanted);
}

/** Without letter case. By way of small letters, for a few signs are a capital of a letter that has another one; σ and ς are both Σ. */
function folded(text: string): string {
  return text.toLowerCase().toUpperCase();
}

/** What is told of each message that is found, in the order in which the columns stand. */
const FLAGS = {
  isRetrying: IS_RETRYING,
  isOverdue: IS_OVERDUE,
  isStuck: IS_STUCK,
  isScheduled: IS_SCHEDULED,
  isPaused: IS_PAUSED,
} as const;
const FLAG_NAMES = Object.keys(FLAGS) as (keyof typeof FLAGS)[];

interface FoundRow extends Omit<FoundMessage, keyof typeof FLAGS>, Readonly<Record<keyof typeof FLAGS, number>> {
  /** Null where no text is looked for. */
  readonly body: string | null;
}

const asNumber = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;
const COLUMNS = `CAST(message.key AS TEXT) AS key, (SELECT account.key FROM account WHERE account.id = message.account_id) AS "accountKey",
  received_at_ms AS "receivedAtMs", done_at_ms AS "doneAtMs", due_at_ms AS "dueAtMs", sender AS "from", recipient AS "to",
  substr(body, 1, ${TEXT_LENGTH}) AS text, status_id AS "statusId", error_id AS "errorId", part_count AS "partCount",
  bulk_id AS "bulkId", carrier_id AS "carrierId", ${FLAG_NAMES.map((name) => `${asNumber(FLAGS[name])} AS "${name}"`)},
  CASE WHEN CAST(? AS INTEGER) = 1 THEN body END AS body`;

function columnValues(search: MessageSearch): Value[] {
  return [...momentValues(search), search.text === null ? 0 : 1];
}

function foundOf({ body: _, ...row }: FoundRow): FoundMessage {
  const flags = Object.fromEntries(FLAG_NAMES.map((name) => [name, row[name] === 1]));
  return { ...row, ...(flags as Record<keyof typeof FLAGS, boolean>) };
}

/** One way back in time, from `upper` down. */
interface Walk {
  /** The place so many rows below `upper`, or null if there are fewer. */
  floor(upper: LogPosition, search: MessageSearch): Promise<LogPosition | null>;
  count(upper: LogPosition, search: MessageSearch): Promise<number>;
  rows(upper: LogPosition, floor: LogPosition | null, search: MessageSearch): Promise<FoundMessage[]>;
}

type NewestCounts = Pick<MessageCounts, "examined" | "failed" | "stuck">;
type WaitingCounts = Omit<MessageCounts, "failed" | "isAllWaiting">;

interface WalkSql {
  /** SQLite is told which; without statistics it may take another. */
  readonly index: string | null;
  readonly where: string;
  readonly order: string;
  /** The time that its place has. */
  readonly at: string;
  /** Not below this place; its values are those of `floorValues`. */
  readonly aboveFloor: string;
  readonly values: (upper: LogPosition, search: MessageSearch) => Value[];
  readonly floorValues: (floor: LogPosition) => Value[];
}

export function messageSearchCommands({ sql }: CommandParts) {
  function walkAlong({ index, where, order, at, aboveFloor, values, floorValues }: WalkSql): Walk {
    const from = `FROM message ${index === null ? "" : sql.dialect.along(index)} WHERE ${where}`;
    const floorOf = sql.prepare<Value[], LogPosition>(
      `SELECT ${at} AS "atMs", CAST(key AS TEXT) AS key ${from} ORDER BY ${order} LIMIT 1 OFFSET ${SEARCH_ROWS - 1}`,
    );
    const countOf = sql.prepare<Value[], { examined: number }>(
      `SELECT count(*) AS examined FROM (SELECT key ${from} ORDER BY ${order} LIMIT ${SEARCH_ROWS}) AS looked`,
    );
    const rowsOf = sql.prepare<Value[], FoundRow>(
      `SELECT ${COLUMNS}, ${at} AS "atMs" ${from} AND ${aboveFloor} AND ${FILTER} ORDER BY ${order} LIMIT ?`,
    );
    return {
      floor: async (upper, search) => (await floorOf.get(...values(upper, search))) ?? null,
      count: async (upper, search) => (await countOf.get(...values(upper, search)))!.examined,
      async rows(upper, floor, search) {
        const { limit, text } = search;
        const atOnce = text === null ? limit : TEXT_ROWS;
        const isWanted = textMatcher(search);
        const found: FoundMessage[] = [];
        for (let from = upper; ; ) {
          const range = [...values(from, search), ...floorValues(floor ?? { atMs: 0, key: "0" })];
          const rows = await rowsOf.all(...columnValues(search), ...range, ...filterValues(search), atOnce);
          found.push(...rows.filter(isWanted).map(foundOf));
          const last = rows.at(-1);
          if (last === undefined || rows.length < atOnce || found.length >= limit) return found.slice(0, limit);
          from = { atMs: last.atMs, key: last.key };
        }
      },
    };
  }

  const ofAccount = (index: string, name: string, nameOf: (search: MessageSearch) => Value[]): Walk =>
    walkAlong({
      index,
      where: `account_id = ? ${name} AND ${BELOW}`,
      order: "log_at_ms DESC, message.key DESC",
      at: "log_at_ms",
      aboveFloor: "(log_at_ms > ? OR key >= ?)",
      values: (upper, search) => [search.accountId, ...nameOf(search), ...below(upper, search.sinceMs)],
      floorValues: (floor) => [floor.atMs, BigInt(floor.key)],
    });

  const account = ofAccount("message_by_time", "", () => []);
  const bulk = ofAccount("message_of_bulk_by_time", "AND bulk_id = ?", ({ bulkId }) => [bulkId]);
  const everybody = walkAlong({
    index: null,
    where: "key >= ? AND key < ?",
    order: "message.key DESC",
    at: "received_at_ms",
    aboveFloor: "key >= ?",
    values: (upper, search) => [firstIdAt(Math.max(0, search.sinceMs)), BigInt(upper.key)],
    floorValues: (floor) => [BigInt(floor.key)],
  });

  /** By their names there are few, and each has an index. */
  const byKey = sql.prepare<Value[], FoundRow>(
    `SELECT ${COLUMNS}, log_at_ms AS "atMs" FROM message WHERE key = ? AND account_id = coalesce(CAST(? AS BIGINT), account_id)
       AND client_message_id IS NULL AND ${FILTER}`,
  );
  const nameAlong = (index: string, isMeant: string) =>
    sql.prepare<Value[], FoundRow>(
      `SELECT ${COLUMNS}, log_at_ms AS "atMs" FROM message ${sql.dialect.along(index)}
       WHERE account_id = ? AND client_message_id = ? AND ${isMeant} AND ${FILTER} LIMIT ?`,
    );
  const byName = [
    nameAlong("message_named_by_client", IS_NOT_REJECTED),
    nameAlong("message_rejected_by_name", IS_REJECTED),
  ];
  async function named(search: MessageSearch, messageId: string): Promise<FoundMessage[]> {
    const { accountId, limit } = search;
    const columns = columnValues(search);
    const key = keyOf(messageId);
    const filter = filterValues(search);
    const unnamed = key === null ? [] : await byKey.all(...columns, key, accountId, ...filter);
    const own =
      accountId === null
        ? []
        : await Promise.all(byName.map((each) => each.all(...columns, accountId, messageId, ...filter, limit)));
    return [...unnamed, ...own.flat()].filter(textMatcher(search)).map(foundOf).sort(newestFirst).slice(0, limit);
  }

  function walkOf({ accountId, bulkId }: MessageSearch): Walk {
    if (accountId === null) return everybody;
    return bulkId === null ? account : bulk;
  }

  const sumsOf = (conditions: Readonly<Record<string, string>>): string =>
    Object.entries(conditions)
      .map(([name, condition]) => `CAST(coalesce(sum(${asNumber(condition)}), 0) AS INTEGER) AS ${name}`)
      .join(", ");
  const looked = "account_id, state, status_id, unknown_count, taken, sent_at_ms, due_at_ms";
  const countNewest = (from: string): string =>
    `SELECT count(*) AS examined, ${sumsOf({ failed: IS_FAILED, stuck: `state = ${submitted} AND ${IS_STUCK}` })}
     FROM (SELECT ${looked} ${from} LIMIT ${SEARCH_ROWS}) AS newest`;
  const newestOfAccount = sql.prepare<[number, number], NewestCounts>(
    countNewest(
      `FROM message ${sql.dialect.along("message_by_time")} WHERE account_id = ? ORDER BY log_at_ms DESC, message.key DESC`,
    ),
  );
  const newestOfAll = sql.prepare<[number], NewestCounts>(countNewest("FROM message ORDER BY message.key DESC"));
  // What waits is in two indexes that finished messages have left, so few rows are looked at however many are stored.
  const own = (condition: string): string => `account_id = coalesce(CAST(? AS BIGINT), account_id) AND ${condition}`;
  const countWaiting = (index: string, state: number, order: string) =>
    sql.prepare<Value[], WaitingCounts>(
      `SELECT count(*) AS examined,
         ${sumsOf({ scheduled: own(IS_SCHEDULED), retrying: own(IS_NOT_TAKEN), stuck: own(IS_STUCK) })}
       FROM (SELECT ${looked} FROM message ${sql.dialect.along(index)} WHERE ${sql.dialect.waits} = ${state} ORDER BY ${order}
         LIMIT ${SEARCH_ROWS}) AS waiting`,
    );
  const waitingCounts = [
    countWaiting("message_scheduled", scheduled, "due_at_ms, message.key"),
    countWaiting("message_queued", queued, "owner, carrier_id, account_id, message.key"),
  ];

  return commands({
    async findMessages(search) {
      const { accountId, messageId, untilMs, limit } = search;
      if (messageId !== null) {
        const messages = await named(search, messageId);
        return { messages, next: null, examined: messages.length };
      }
      const newest = accountId === null ? firstIdAt(untilMs + 1) : LAST_KEY;
      const upper = search.after ?? { atMs: untilMs, key: String(newest) };
      const walk = walkOf(search);
      const floor = await walk.floor(upper, search);
      const messages = await walk.rows(upper, floor, search);
      const last = messages.at(-1);
      if (messages.length === limit && last !== undefined)
        return { messages, next: { atMs: last.atMs, key: last.key }, examined: SEARCH_ROWS };
      return { messages, next: floor, examined: floor === null ? await walk.count(upper, search) : SEARCH_ROWS };
    },

    async countMessages({ accountId, ...of }) {
      const { overdueBeforeMs, stuckBeforeMs } = of;
      const newest = (await (accountId === null
        ? newestOfAll.get(stuckBeforeMs)
        : newestOfAccount.get(stuckBeforeMs, accountId)))!;
      const counts = { ...newest, retrying: 0, scheduled: 0, isAllWaiting: true };
      for (const statement of waitingCounts) {
        const found = (await statement.get(accountId, accountId, overdueBeforeMs, accountId, stuckBeforeMs))!;
        for (const name of ["retrying", "scheduled", "stuck"] as const) counts[name] += found[name];
        counts.isAllWaiting &&= found.examined < SEARCH_ROWS;
      }
      return counts;
    },
  });
}
