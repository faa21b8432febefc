/**
 * What a PostgreSQL server did for one database: its dearest statements, what its connections waited for, and rows written by table. It is
 * asked over a connection to another database, so that this does not stand among what it tells.
 */
import pg from "pg";

/** All but the shares are a message. */
export interface ServerProfile {
  readonly statements: readonly StatementCost[];
  /** Of connections that were looked at while they had something to do: what they waited for, "CPU" if for nothing. */
  readonly waits: readonly { readonly event: string; readonly share: number }[];
  /** So many had something to do, when any had. */
  readonly busyConnections: number;
  readonly tables: readonly TableWrites[];
}

export interface StatementCost {
  readonly text: string;
  readonly micros: number;
  readonly calls: number;
  readonly rows: number;
}

export interface TableWrites {
  readonly table: string;
  readonly inserted: number;
  readonly updated: number;
  /** Of those updated, the ones that no index had to follow. */
  readonly hotUpdated: number;
  readonly deleted: number;
}

/** What the server has to be started with. */
export const PROFILE_SETTINGS = ["shared_preload_libraries=pg_stat_statements"];
const SAMPLE_EVERY_MS = 20;
/** A connection that idles tells what it has counted after 10 s at the latest. */
const COUNTED_MS = 10_500;
const SHOWN = 25;
const MIN_SHOWN = 0.0005;
const TEXT_LENGTH = 110;

const ACTIVE = `
  SELECT coalesce(wait_event_type || '/' || wait_event, 'CPU') AS event, count(*)::int AS count
  FROM pg_stat_activity WHERE datname = $1 AND state = 'active' GROUP BY 1`;
const STATEMENTS = `
  SELECT query AS text, total_exec_time * 1000 AS micros, calls::float8, rows::float8
  FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid WHERE datname = $1
  ORDER BY total_exec_time DESC LIMIT ${SHOWN}`;
/** Partitions are told with their table. */
const TABLES = `
  SELECT coalesce(pg_partition_root(relid), relid)::regclass::text AS table,
         sum(n_tup_ins)::float8 AS inserted, sum(n_tup_upd)::float8 AS updated,
         sum(n_tup_hot_upd)::float8 AS "hotUpdated", sum(n_tup_del)::float8 AS deleted
  FROM pg_stat_user_tables GROUP BY 1`;

export class ServerWatch {
  readonly #url: URL;
  readonly #database: string;
  readonly #client: pg.Client;
  readonly #events = new Map<string, number>();
  #looksWithAny = 0;
  #before: readonly TableWrites[] = [];
  #timer: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();
  #stopped = false;

  private constructor(url: string) {
    this.#url = new URL(url);
    this.#database = this.#url.pathname.slice(1);
    this.#client = new pg.Client({ connectionString: new URL("/postgres", url).href });
  }

  /** Begins when all that was done before has been counted. */
  static async begin(url: string): Promise<ServerWatch> {
    const watch = new ServerWatch(url);
    await watch.#client.connect();
    await new Promise((resolve) => setTimeout(resolve, COUNTED_MS));
    watch.#before = await watch.#tables();
    await watch.#client.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    await watch.#client.query("SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = $1", [
      watch.#database,
    ]);
    watch.#lookLater();
    return watch;
  }

  /** When whoever used the database is gone, for then all has been counted. */
  async end(messages: number): Promise<ServerProfile> {
    await this.#stopLooking();
    const { rows: statements } = await this.#client.query<StatementCost>(STATEMENTS, [this.#database]);
    while (await this.#isUsed()) await new Promise((resolve) => setTimeout(resolve, SAMPLE_EVERY_MS));
    const after = await this.#tables();
    await this.stop();
    const looks = [...this.#events.values()].reduce((sum, count) => sum + count, 0);
    return {
      statements: statements.map(({ text, micros, calls, rows }) => ({
        text: shortened(text),
        micros: micros / messages,
        calls: calls / messages,
        rows: rows / messages,
      })),
      waits: [...this.#events]
        .map(([event, count]) => ({ event, share: count / looks }))
        .toSorted((one, other) => other.share - one.share),
      busyConnections: looks / Math.max(1, this.#looksWithAny),
      tables: writesBetween(this.#before, after, messages),
    };
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.#stopLooking();
    await this.#client.end();
  }

  async #stopLooking(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().then(() => this.#lookLater());
    }, SAMPLE_EVERY_MS);
  }

  async #look(): Promise<void> {
    const { rows } = await this.#client.query<{ event: string; count: number }>(ACTIVE, [this.#database]);
    for (const { event, count } of rows) this.#events.set(event, (this.#events.get(event) ?? 0) + count);
    if (rows.length > 0) this.#looksWithAny++;
  }

  async #isUsed(): Promise<boolean> {
    const text = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'";
    return ((await this.#client.query(text, [this.#database])).rowCount ?? 0) > 0;
  }

  async #tables(): Promise<readonly TableWrites[]> {
    const client = new pg.Client({ connectionString: this.#url.href });
    await client.connect();
    try {
      return (await client.query<TableWrites>(TABLES)).rows;
    } finally {
      await client.end();
    }
  }
}

/** On one line, without long lists of columns and values: what differs between statements stands behind them. */
export function shortened(text: string): string {
  const line = text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/(?:unnest\(\$\d+::[\w ]+\[\]\)(?: AS "?\w+"?)?(?:, )?)+/g, "unnest(…)")
    .replace(/\bSELECT (?:(?!\bSELECT\b|\bFROM\b).){25,} FROM\b/g, "SELECT … FROM")
    .replace(/\((?:\w+, ?){3,}\w+\)/g, "(…)")
    .replace(/ SET .{25,}? (FROM|WHERE) /g, " SET … $1 ");
  return line.length <= TEXT_LENGTH ? line : `${line.slice(0, TEXT_LENGTH - 1)}…`;
}

/** A message's share of what was written between two counts, the most written first; tables without any are left out. */
export function writesBetween(
  before: readonly TableWrites[],
  after: readonly TableWrites[],
  messages: number,
): TableWrites[] {
  const total = ({ inserted, updated, deleted }: TableWrites): number => inserted + updated + deleted;
  return after
    .map((now) => {
      const then = before.find(({ table }) => table === now.table);
      const of = (name: Exclude<keyof TableWrites, "table">): number => (now[name] - (then?.[name] ?? 0)) / messages;
      const [inserted, updated, hotUpdated, deleted] = [of("inserted"), of("updated"), of("hotUpdated"), of("deleted")];
      return { table: now.table, inserted, updated, hotUpdated, deleted };
    })
    .filter((writes) => total(writes) >= MIN_SHOWN)
    .toSorted((one, other) => total(other) - total(one));
}
