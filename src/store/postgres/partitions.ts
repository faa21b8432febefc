/**
 * The partitions of `message` and `incoming_message`: some UTC days each, made before their first message comes, and dropped whole when all in them
 * is old (message-purge.ts).
 */
import { faultKind } from "../../drivers/postgres/faults.ts";
import { inTransaction, type Session } from "../../drivers/postgres/link.ts";
import type { PostgresPool } from "../../drivers/postgres/pool.ts";
import { type Backoff, backoffMs } from "../../runtime/backoff.ts";
import { sleep, systemClock } from "../../runtime/clock.ts";
import { timeOfIds } from "../../runtime/ids.ts";
import { StoreUnavailable } from "../port/errors.ts";

export const TABLES = ["message", "incoming_message"] as const;
export type Table = (typeof TABLES)[number];

export const DAY_MS = 86_400_000;
/** A key is its time in milliseconds, shifted by as much (runtime/ids.ts). */
const KEY_SHIFT = 21n;
const KEYS_A_DAY = BigInt(DAY_MS) << KEY_SHIFT;
const DAYS_AHEAD = 3;

/**
 * A day's messages are inserted once and updated two or three times within seconds, so what is dead is dead early. Waiting for a
 * fifth of ten million rows, the default, would leave the small indexes of what is queued and scheduled full of it. Room is left in each page for rows
 * that are written anew.
 */
const STORAGE = `fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05`;

/**
 * Another node makes the same partition (unique violation in the catalogue, duplicate table or object, "tuple concurrently updated",
 * no longer a table to attach to or detach from, already a partition): look again.
 */
const RACES = new Set(["23505", "42P07", "42710", "XX000", "40001", "40P01", "42P01", "42809", "55P03"]);
const MAX_TRIES = 20;
const RACE_BACKOFF: Backoff = { firstMs: 20, maxMs: 500, jitter: 0.5 };

/** A partition's keys: from the first on, and before the last. */
export interface Range {
  readonly name: string;
  readonly from: bigint;
  readonly to: bigint;
}

/** Messages leave with their partition, so where they are kept for some weeks only it holds one day. */
const DAYS_EACH = { short: 1, long: 30 };
const SHORT_RETENTION_DAYS = 90;

/** How many days a partition holds. Every statement pays for each of them, so there should be some dozens at most. */
export function partitionDays(retentionDays: number): number {
  return retentionDays > 0 && retentionDays <= SHORT_RETENTION_DAYS ? DAYS_EACH.short : DAYS_EACH.long;
}

export class Partitions {
  readonly #pool: PostgresPool;
  readonly #days: number;
  /** The partitions that are known of each table. */
  readonly #known = new Map<Table, readonly Range[]>(TABLES.map((table) => [table, []]));

  constructor(pool: PostgresPool, days: number) {
    this.#pool = pool;
    this.#days = days;
  }

  /** Whether there is a place for the key, as far as is known here. If not, `ensure` makes one. */
  covers(key: string): boolean {
    const wanted = BigInt(key);
    return TABLES.every((table) => holds(this.#known.get(table)!, wanted));
  }

  async ensure(keys: readonly string[]): Promise<void> {
    if (keys.every((key) => this.covers(key))) return;
    await this.#pool.use(async (session) => {
      for (const table of TABLES) await this.#make(session, table, keys.map(BigInt));
    });
  }

  /** Today and the days to come, so that midnight is a moment like any other. */
  async ensureAhead(nowMs: number): Promise<void> {
    const today = Math.floor(timeOfIds(nowMs) / DAY_MS);
    await this.ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => firstKey(today + index).toString()));
  }

  /** Makes what is missing, and looks again until nothing is: of several nodes that try, one succeeds. */
  async #make(session: Session, table: Table, keys: readonly bigint[]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const there = await partitionsOf(session, table);
      this.#known.set(table, there);
      const missing = keys.find((key) => !holds(there, key));
      if (missing === undefined) return;
      if (tries > MAX_TRIES + keys.length) throw new StoreUnavailable("the partitions are being changed all the time");
      try {
        await inTransaction(session, () => create(session, table, this.#rangeFor(missing, there)));
      } catch (error) {
        if (!isRace(error)) throw error;
        await sleep(systemClock, backoffMs(RACE_BACKOFF, tries));
      }
    }
  }

  /** The days around the key, as many as a partition has, without those that another one has already: it may have been made when they were fewer. */
  #rangeFor(key: bigint, there: readonly Range[]): Pick<Range, "from" | "to"> {
    const day = Number(key / KEYS_A_DAY);
    const first = day - (day % this.#days);
    let [from, to] = [firstKey(first), firstKey(first + this.#days)];
    for (const other of there) {
      if (other.to <= key && other.to > from) from = other.to;
      if (other.from > key && other.from < to) to = other.from;
    }
    return { from, to };
  }

  /** It is dropped. */
  dropped(table: Table, gone: Range): void {
    const left = this.#known.get(table)!.filter(({ name }) => name !== gone.name);
    this.#known.set(table, left);
  }
}

function holds(ranges: readonly Range[], key: bigint): boolean {
  return ranges.some(({ from, to }) => from <= key && key < to);
}

/** As they are now. Only those that are ours to judge: bounded by two keys. */
export async function partitionsOf(session: Session, table: Table): Promise<Range[]> {
  const { rows } = await session.query<{ name: string; bounds: string }>(
    `SELECT relname AS name, pg_get_expr(relpartbound, pg_class.oid) AS bounds
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = CAST($1 AS regclass) ORDER BY relname`,
    [table],
  );
  return rows.flatMap(({ name, bounds }) => {
    const [, from, to] = /FROM \('?(\d+)'?\) TO \('?(\d+)'?\)/.exec(bounds) ?? [];
    return from === undefined || to === undefined ? [] : [{ name, from: BigInt(from), to: BigInt(to) }];
  });
}

/** A table of its own that is then attached, because PARTITION OF would lock out whoever reads or writes the others. */
async function create(session: Session, table: Table, { from, to }: Pick<Range, "from" | "to">): Promise<void> {
  const name = `${table}_${new Date(Number(from / KEYS_A_DAY) * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
  await session.script(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (${STORAGE})`);
  await session.script(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`);
}

/** Another node was there first, or somebody held what was wanted. */
export function isRace(error: unknown): boolean {
  return faultKind(error) === "again" || RACES.has((error as { code?: string }).code ?? "");
}

/** The first key of a day, counted from 1970. */
export function firstKey(day: number): bigint {
  return BigInt(day) * KEYS_A_DAY;
}
