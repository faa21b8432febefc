/**
 * The partitions of `message` and `incoming_message`: one a UTC day, made before its first message comes, and dropped whole when its last one
 * is over and old. Dropping a table costs nothing; deleting its rows would cost as much as writing them.
 */
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { type Random, systemRandom } from "../../runtime/random.ts";
import { StoreUnavailable } from "../port.ts";
import { faultKind, type Pool, type Session } from "./connection.ts";

const TABLES = ["message", "incoming_message"] as const;
type Table = (typeof TABLES)[number];

const DAY_MS = 86_400_000;
/** A key is its time in milliseconds, shifted by as much (runtime/ids.ts). */
const KEY_SHIFT = 21n;
const KEYS_A_DAY = BigInt(DAY_MS) << KEY_SHIFT;
const DAYS_AHEAD = 3;

/**
 * A day's messages are inserted once and updated two or three times within seconds, so what is dead is dead early. Waiting for a
 * fifth of ten million rows, the default, would leave the small indexes of what is queued and scheduled full of it.
 */
const STORAGE = `autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05`;

/**
 * Another node makes the same partition (unique violation in the catalogue, duplicate table or object, "tuple concurrently updated",
 * no longer a table to attach to or detach from, already a partition): look again.
 */
const RACES = new Set(["23505", "42P07", "42710", "XX000", "40001", "40P01", "42P01", "42809", "55P03"]);
const MOST_TRIES = 20;
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/** So many rows are summed up in one statement: each stays far below its time limit, however large the day was. */
const PAGE = 50_000;
/**
 * Detaching locks the whole table for a moment, and everyone who comes later queues up behind us while we wait for those who came
 * before. Shorter than the database's second until it looks for deadlocks, so that it is never a writer who has to give way.
 */
const DETACH_WAIT_MS = 500;

export class Partitions {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Days, counted from 1970, that are known to have a partition in both tables. */
  readonly #known = new Set<number>();

  constructor(pool: Pool, clock: Clock = systemClock, random: Random = systemRandom) {
    this.#pool = pool;
    this.#clock = clock;
    this.#random = random;
  }

  /** Whether there is a place for the key, as far as is known here. If not, `ensure` makes one. */
  covers(key: string): boolean {
    return this.#known.has(dayOfKey(key));
  }

  async ensure(keys: readonly string[]): Promise<void> {
    await this.#ensureDays(new Set(keys.map(dayOfKey)));
  }

  /** Today and the days to come, so that midnight is a moment like any other. */
  async ensureAhead(nowMs: number): Promise<void> {
    const today = Math.floor(nowMs / DAY_MS);
    await this.#ensureDays(new Set(Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => today + index)));
  }

  async #ensureDays(days: ReadonlySet<number>): Promise<void> {
    if ([...days].every((day) => this.#known.has(day))) return;
    await this.#pool.use(async (session) => {
      for (const table of TABLES) await this.#make(session, table, days);
    });
    for (const day of days) this.#known.add(day);
  }

  /** Makes what is missing, and looks again until nothing is: of several nodes that try, one succeeds. */
  async #make(session: Session, table: Table, days: ReadonlySet<number>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const there = new Set(await partitionsOf(session, table));
      const missing = [...days].filter((day) => !there.has(nameOf(table, day)));
      if (missing.length === 0) return;
      if (tries > MOST_TRIES) throw new StoreUnavailable("the partitions are being changed all the time");
      if (tries > 1) await this.#pause(tries);
      for (const day of missing) {
        try {
          await inTransaction(session, () => create(session, table, day));
        } catch (error) {
          if (!isRace(error)) throw error;
          break;
        }
      }
    }
  }

  async #pause(tries: number): Promise<void> {
    const longest = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** tries);
    await new Promise<void>((resolve) => this.#clock.after((longest / 2) * (1 + this.#random.next()), resolve));
  }

  /**
   * Drops the partitions that are wholly before this time and have nothing unfinished; the others stay for the next round. What their messages were
   * charged stays in the sums of `retired_charge`, their names are free again. Returns how many went.
   */
  async retire(beforeMs: number): Promise<number> {
    const firstKept = Math.floor(beforeMs / DAY_MS);
    return this.#pool.use(async (session) => {
      let gone = 0;
      for (const table of TABLES)
        for (const name of await partitionsOf(session, table)) {
          const day = dayOfName(table, name);
          if (day === null || day >= firstKept) continue;
          try {
            if (!(await inTransaction(session, () => retire(session, table, day)))) continue;
            this.#known.delete(day);
            gone += 1;
          } catch (error) {
            // Another node was there first, or the table was too busy: the next round sees to it.
            if (!isRace(error)) throw error;
          }
        }
      return gone;
    });
  }
}

async function partitionsOf(session: Session, table: Table): Promise<string[]> {
  const { rows } = await session.query<{ name: string }>(
    `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent = CAST($1 AS regclass) ORDER BY relname`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** A table of its own that is then attached, because PARTITION OF would lock out whoever reads or writes the others. */
async function create(session: Session, table: Table, day: number): Promise<void> {
  const name = nameOf(table, day);
  await session.script(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (${STORAGE})`);
  await session.script(
    `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${firstKey(day)}) TO (${firstKey(day + 1)})`,
  );
}

async function retire(session: Session, table: Table, day: number): Promise<boolean> {
  const name = nameOf(table, day);
  // One node at a time: two that have read the partition would wait for each other to let go of it. Nobody else writes this table.
  await session.script("LOCK TABLE retired_charge IN SHARE ROW EXCLUSIVE MODE NOWAIT");
  const finished = table === "message" ? await retireMessages(session, day) : await allFetched(session, day);
  if (!finished) return false;
  await session.script(`SET LOCAL lock_timeout = ${DETACH_WAIT_MS}`);
  await session.script(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
  await session.script(`DROP TABLE ${name}`);
  return true;
}

/** Adds up the charges of a day and forgets its names; says no at the first page with a message that is not done. */
async function retireMessages(session: Session, day: number): Promise<boolean> {
  const end = firstKey(day + 1).toString();
  const charges = new Map<string, bigint>();
  const pages: { from: string; to: string }[] = [];
  for (let from = firstKey(day).toString(); ; ) {
    const { rows } = await session.query<{ account: string; charged: string; last: string; unfinished: number }>(
      `SELECT CAST(account_id AS text) AS account, CAST(sum(charged_micros) AS text) AS charged, CAST(max(max(key)) OVER () AS text) AS last,
         count(*) FILTER (WHERE state <> 4) AS unfinished
       FROM (SELECT key, account_id, charged_micros, state FROM message WHERE key >= $1 AND key < $2 ORDER BY key LIMIT ${PAGE}) AS page
       GROUP BY account_id`,
      [from, end],
    );
    const [first] = rows;
    if (first === undefined) break;
    if (rows.some(({ unfinished }) => unfinished > 0)) return false;
    for (const { account, charged } of rows) charges.set(account, (charges.get(account) ?? 0n) + BigInt(charged));
    const next = (BigInt(first.last) + 1n).toString();
    pages.push({ from, to: next });
    from = next;
  }
  for (const [account, charged] of charges)
    if (charged !== 0n)
      await session.query(
        `INSERT INTO retired_charge (account_id, charged_micros) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET charged_micros = retired_charge.charged_micros + excluded.charged_micros`,
        [account, charged.toString()],
      );
  for (const { from, to } of pages)
    await session.query("DELETE FROM message_name WHERE message_key >= $1 AND message_key < $2", [from, to]);
  return true;
}

/** Of messages from phones, those wait that somebody has yet to fetch. */
async function allFetched(session: Session, day: number): Promise<boolean> {
  const { rows } = await session.query(
    "SELECT 1 FROM incoming_message WHERE key >= $1 AND key < $2 AND to_fetch = 1 LIMIT 1",
    [firstKey(day).toString(), firstKey(day + 1).toString()],
  );
  return rows.length === 0;
}

async function inTransaction<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  await session.script("BEGIN");
  try {
    const result = await work();
    await session.script("COMMIT");
    return result;
  } catch (error) {
    await session.script("ROLLBACK");
    throw error;
  }
}

function isRace(error: unknown): boolean {
  return faultKind(error) === "again" || RACES.has((error as { code?: string }).code ?? "");
}

function dayOfKey(key: string): number {
  return Number(BigInt(key) / KEYS_A_DAY);
}

function firstKey(day: number): bigint {
  return BigInt(day) * KEYS_A_DAY;
}

function nameOf(table: Table, day: number): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** Null for a partition that is not one of ours. */
function dayOfName(table: Table, name: string): number | null {
  const date = new RegExp(`^${table}_(\\d{4})(\\d{2})(\\d{2})$`).exec(name);
  if (date === null) return null;
  return Date.UTC(Number(date[1]), Number(date[2]) - 1, Number(date[3])) / DAY_MS;
}
