/** PostgreSQL for a run: a server of its own, durable as in production, or one that is given. Either way each service gets a database of its own. */
import { randomBytes } from "node:crypto";
import { totalmem } from "node:os";
import pg from "pg";
import { eventually } from "../../test/support/patience.ts";
import { startPostgres } from "../../test/support/postgres-server.ts";
import type { Database } from "./heliograph.ts";
import type { Options, StandbyName } from "./options.ts";
import { PROFILE_SETTINGS, ServerWatch } from "./server-profile.ts";
import type { DiskUsage } from "./subject.ts";

export interface Server {
  readonly url: string;
  readonly pid: number | null;
  /** Ours goes with all that is in it. */
  readonly ours: boolean;
  readonly standby: StandbyName;
}

const MB = 2 ** 20;
const MAX_SHARED_BUFFERS_MB = 8 * 1024;

/**
 * What an operator sets on a server that is for this alone: a quarter of the memory, and so much log that checkpoints do not come every few seconds.
 * Tests have the rest as production does (but for 400 connections), and what is not named is PostgreSQL's default.
 */
export function serverSettings(memoryBytes: number): string[] {
  const buffersMb = Math.min(MAX_SHARED_BUFFERS_MB, Math.floor(memoryBytes / 4 / MB));
  return [`shared_buffers=${buffersMb}MB`, "max_wal_size=8GB", "huge_pages=off"];
}

/** Starts a server, unless one is given, and another one that follows it where that is wanted. */
export async function postgresServer(
  { url: given, profile }: Pick<Options, "url" | "profile">,
  stack: AsyncDisposableStack,
  standby: StandbyName = "none",
): Promise<Server> {
  // A server that is given may be on another machine: what it uses is not looked at.
  if (given !== null) return { url: given, pid: null, ours: false, standby };
  // A container may have less than the machine.
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const settings = [...serverSettings(memoryBytes), ...(profile ? PROFILE_SETTINGS : [])];
  const server = await startPostgres({ durable: true, settings });
  stack.defer(() => server.remove());
  if (standby !== "none") {
    const { hostname, port, username, password } = new URL(server.url);
    const follows = `primary_conninfo=host=${hostname} port=${port} user=${username} password=${password}`;
    const other = await startPostgres({ durable: true, settings: [...settings, follows], standbyOf: server });
    stack.defer(() => other.remove());
    // Until it is there no commit would end.
    await eventually(
      async () => (await query(server.url, "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'")).length > 0,
    );
    if (standby === "sync") {
      await query(server.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
      await query(server.url, "SELECT pg_reload_conf()");
      await eventually(
        async () => (await query(server.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length > 0,
      );
    }
  }
  return { url: server.url, pid: server.pid, ours: true, standby };
}

export async function createDatabase(
  { url, pid, ours, standby }: Server,
  stack: AsyncDisposableStack,
): Promise<Database> {
  const name = `heliograph_bench_${randomBytes(4).toString("hex")}`;
  await query(url, `CREATE DATABASE ${name} TEMPLATE template0`);
  stack.defer(async () => {
    if (!ours) await query(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  const own = new URL(url);
  own.pathname = `/${name}`;
  const watch = async (): Promise<ServerWatch> => stack.adopt(await ServerWatch.begin(own.href), (it) => it.stop());
  return { url: own.href, pid, standby, disk: () => diskUsage(url), watch: ours ? watch : null };
}

/** As the server counts it, its log included. Before version 18 the log was not; then nothing is told. The place in the log is that of this moment. */
async function diskUsage(url: string): Promise<DiskUsage> {
  const [row] = await query(
    url,
    `SELECT sum(fsyncs)::float8 AS flushes,
            sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0))::float8 AS bytes,
            pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS log
     FROM pg_stat_io`,
  ).catch(() => []);
  const { bytes = null, log = null, flushes = null } = (row ?? {}) as Record<string, number | null>;
  return { writtenBytes: bytes, logBytes: log, flushes };
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
