/**
 * Old messages leave with their partition, when all in it are over: dropping a table costs nothing, while deleting its rows costs as much as writing
 * them. Some messages end months after the others of their day, because they were scheduled, or are never fetched. A partition waits for such
 * stragglers for some days; after that the others are deleted row by row, a page at a time, and the stragglers alone stay.
 *
 *   accepted … ended ──retention──▶ over: the partition goes as soon as all are
 *                                     └── and STRAGGLER_DAYS later at the latest the row
 *
 * What the messages were charged is added to `retired_charge`, and their names are free again, in the transaction in which they leave. What was said
 * of them after their end goes with them.
 */
import { isSlow } from "../../drivers/postgres/faults.ts";
import { inTransaction, type Session } from "../../drivers/postgres/link.ts";
import { timeOfIds } from "../../runtime/ids.ts";
import { PURGE_START } from "../port/delivery.ts";
import type { CommandInput, CommandOutput } from "../port/store.ts";
import { chargePieces, isOver, keepCharge, unfetchedBefore } from "../retention.ts";
import {
  DAY_MS,
  firstKey,
  isRace,
  type Partitions,
  partitionsOf,
  type Range,
  TABLES,
  type Table,
} from "./partitions.ts";

/** What is not scheduled ends within two days of its acceptance, and its report can be fetched for two more. */
const STRAGGLER_DAYS = 5;
/** So many rows are looked at, or summed up, in one statement: each stays far below its time limit, however large the day was. */
const PAGE = 10_000;
/**
 * Detaching locks the whole table for a moment, and everyone who comes later queues up behind us while we wait for those who came
 * before. Shorter than the database's second until it looks for deadlocks, so that it is never a writer who has to give way.
 */
const DETACH_WAIT_MS = 500;

/** When a row may go. Of messages from phones, those stay that somebody has yet to fetch. */
const GONE: Record<Table, string> = { message: isOver("$3", "$4"), incoming_message: "to_fetch = 0" };

/** What `$3` and `$4` are: before when a message has ended, and before when its report can no longer be fetched. */
type Moments = readonly number[];

const LOOK = Object.fromEntries(
  TABLES.map((table) => [
    table,
    `SELECT CAST(max(key) AS text) AS last, count(*) AS looked, CAST(min(key) FILTER (WHERE (gone) IS NOT TRUE) AS text) AS straggler
     FROM (SELECT key, ${GONE[table]} AS gone FROM ${table} WHERE key >= $1 AND key < $2 ORDER BY key LIMIT ${PAGE}) AS page`,
  ]),
) as Record<Table, string>;

const DELETE: Record<Table, string> = {
  message: `WITH gone AS (DELETE FROM message WHERE key > $1 AND key <= $2 AND ${GONE.message} RETURNING key, account_id, charged_micros),
      freed AS (DELETE FROM message_name USING gone WHERE message_name.message_key = gone.key),
      later AS (DELETE FROM later_receipt USING gone WHERE later_receipt.message_key = gone.key)
    SELECT CAST(account_id AS text) AS account, CAST(sum(charged_micros) AS text) AS charged FROM gone GROUP BY account_id`,
  incoming_message: `DELETE FROM incoming_message WHERE key > $1 AND key <= $2 AND ${GONE.incoming_message}`,
};

export class MessagePurge {
  readonly #partitions: Partitions;
  /** Of partitions that cannot go yet: the first of its messages that has to stay. What is before it need not be looked at again. */
  readonly #stragglers = new Map<string, string>();

  constructor(partitions: Partitions) {
    this.#partitions = partitions;
  }

  /** A pass begins with the partitions that can go whole; then each call deletes a page of what has waited too long for stragglers. */
  async purgeMessages(
    session: Session,
    { beforeMs, nowMs, limit, cursor }: CommandInput<"purgeMessages">,
  ): Promise<CommandOutput<"purgeMessages">> {
    const lastDay = Math.floor(timeOfIds(beforeMs) / DAY_MS);
    const moments = [beforeMs, unfetchedBefore(nowMs)];
    if (cursor.message === PURGE_START.message && cursor.incoming === PURGE_START.incoming)
      await this.dropWhole(session, firstKey(lastDay), moments);
    const bound = firstKey(lastDay - STRAGGLER_DAYS);
    const message = await this.#deletePage(session, "message", { after: cursor.message, bound, limit }, moments);
    const incoming = await this.#deletePage(session, "incoming_message", { after: cursor.incoming, bound, limit }, []);
    if (message === null && incoming === null) return { cursor: PURGE_START, more: false };
    return { cursor: { message: message ?? bound.toString(), incoming: incoming ?? bound.toString() }, more: true };
  }

  /**
   * Looks at a page of rows, of partitions that lie wholly before the bound, and deletes those that may go. Returns the last one that it has
   * looked at; null behind the last page.
   */
  async #deletePage(
    session: Session,
    table: Table,
    { after, bound, limit }: { after: string; bound: bigint; limit: number },
    values: Moments,
  ): Promise<string | null> {
    const ends = (await partitionsOf(session, table)).map(({ to }) => to).filter((to) => to <= bound);
    const end = ends.toSorted((one, other) => (one < other ? -1 : 1)).at(-1) ?? 0n;
    const { rows } = await session.query<{ last: string | null; looked: number }>(
      `SELECT CAST(max(key) AS text) AS last, count(*) AS looked
       FROM (SELECT key FROM ${table} WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3) AS page`,
      [after, end.toString(), limit],
    );
    const { last, looked } = rows[0]!;
    if (last === null) return null;
    try {
      await inTransaction(session, async () => {
        await lockCharges(session);
        type Gone = { account: string; charged: string };
        const { rows: gone } = await session.query<Gone>(DELETE[table], [after, last, ...values]);
        await keepCharges(
          session,
          gone.map(({ account, charged }) => [account, BigInt(charged)]),
        );
      });
    } catch (error) {
      // Somebody holds one of them: the next pass comes by again.
      if (!isRace(error) && !isSlow(error)) throw error;
    }
    return looked < limit ? null : last;
  }

  /** Drops the partitions that lie before this key and have no straggler. Returns how many went. */
  async dropWhole(session: Session, firstKept: bigint, moments: Moments): Promise<number> {
    let gone = 0;
    for (const table of TABLES)
      for (const range of await partitionsOf(session, table)) {
        if (range.to > firstKept) continue;
        const values = table === "message" ? moments : [];
        const straggler = await firstStraggler(session, table, range, this.#stragglers.get(range.name) ?? null, values);
        this.#stragglers.set(range.name, straggler ?? range.to.toString());
        if (straggler !== null) continue;
        try {
          const isGone = await inTransaction(session, () => drop(session, table, range, values));
          this.#stragglers.delete(range.name);
          if (!isGone) continue;
          this.#partitions.dropped(table, range);
          gone += 1;
        } catch (error) {
          // Another node was there first, or the table was too busy: the next pass sees to it.
          if (!isRace(error) && !isSlow(error)) throw error;
        }
      }
    return gone;
  }
}

/** The first message of the partition that has to stay, from the one on that had to stay the last time; null when there is none. */
async function firstStraggler(
  session: Session,
  table: Table,
  { from, to }: Range,
  known: string | null,
  values: Moments,
): Promise<string | null> {
  for (let first = known ?? from.toString(); ; ) {
    const { rows } = await session.query<{ last: string | null; looked: number; straggler: string | null }>(
      LOOK[table],
      [first, to.toString(), ...values],
    );
    const { last, looked, straggler } = rows[0]!;
    if (straggler !== null) return straggler;
    if (looked < PAGE) return null;
    first = (BigInt(last!) + 1n).toString();
  }
}

async function drop(session: Session, table: Table, range: Range, values: Moments): Promise<boolean> {
  const { name } = range;
  await lockCharges(session);
  const finished = table === "message" ? await sumUp(session, range, values) : await noneToFetch(session, range);
  if (!finished) return false;
  await session.script(`SET LOCAL lock_timeout = ${DETACH_WAIT_MS}`);
  await session.script(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
  await session.script(`DROP TABLE ${name}`);
  return true;
}

/** One node at a time: two that have read a partition would wait for each other to let go of it. Nobody else writes this table. */
function lockCharges(session: Session): Promise<void> {
  return session.script("LOCK TABLE retired_charge IN SHARE ROW EXCLUSIVE MODE NOWAIT");
}

/** Adds up the charges of a partition and forgets its names; says no at the first page with a message that has to stay. */
async function sumUp(session: Session, range: Range, moments: Moments): Promise<boolean> {
  const end = range.to.toString();
  const charges = new Map<string, bigint>();
  const pages: { from: string; to: string }[] = [];
  for (let from = range.from.toString(); ; ) {
    const { rows } = await session.query<{ account: string; charged: string; last: string; stays: number }>(
      `SELECT CAST(account_id AS text) AS account, CAST(sum(charged_micros) AS text) AS charged, CAST(max(max(key)) OVER () AS text) AS last,
         count(*) FILTER (WHERE (gone) IS NOT TRUE) AS stays
       FROM (SELECT key, account_id, charged_micros, ${GONE.message} AS gone FROM message
         WHERE key >= $1 AND key < $2 ORDER BY key LIMIT ${PAGE}) AS page
       GROUP BY account_id`,
      [from, end, ...moments],
    );
    const [first] = rows;
    if (first === undefined) break;
    if (rows.some(({ stays }) => stays > 0)) return false;
    for (const { account, charged } of rows) charges.set(account, (charges.get(account) ?? 0n) + BigInt(charged));
    const next = (BigInt(first.last) + 1n).toString();
    pages.push({ from, to: next });
    from = next;
  }
  await keepCharges(session, charges);
  for (const { from, to } of pages)
    for (const table of ["message_name", "later_receipt"])
      await session.query(`DELETE FROM ${table} WHERE message_key >= $1 AND message_key < $2`, [from, to]);
  return true;
}

async function keepCharges(session: Session, charges: Iterable<readonly [string, bigint]>): Promise<void> {
  for (const [account, charged] of charges)
    for (const piece of chargePieces(charged)) await session.query(keepCharge("$1", "$2"), [account, piece.toString()]);
}

async function noneToFetch(session: Session, { from, to }: Range): Promise<boolean> {
  const { rows } = await session.query(
    "SELECT 1 FROM incoming_message WHERE key >= $1 AND key < $2 AND to_fetch = 1 LIMIT 1",
    [from.toString(), to.toString()],
  );
  return rows.length === 0;
}
