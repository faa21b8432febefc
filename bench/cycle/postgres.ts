/** PostgreSQL for a run: a server of its own, durable as in production, or one that is given. Either way each service gets a database of its own. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { startPostgres } from "../../test/support/postgres-server.ts";
import type { Database } from "./heliograph.ts";
import type { DiskUsage } from "./subject.ts";

export interface Server {
  readonly url: string;
  readonly pid: number | null;
  /** Ours goes with all that is in it. */
  readonly ours: boolean;
}

/** Starts a server, unless one is given. */
export async function postgresServer(given: string | null, stack: AsyncDisposableStack): Promise<Server> {
  // A server that is given may be on another machine: what it uses is not looked at.
  if (given !== null) return { url: given, pid: null, ours: false };
  const server = await startPostgres({ durable: true });
  stack.defer(() => server.remove());
  return { url: server.url, pid: server.pid, ours: true };
}

export async function createDatabase({ url, pid, ours }: Server, stack: AsyncDisposableStack): Promise<Database> {
  const name = `heliograph_bench_${randomBytes(4).toString("hex")}`;
  await query(url, `CREATE DATABASE ${name} TEMPLATE template0`);
  stack.defer(async () => {
    if (!ours) await query(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, pid, disk: () => diskUsage(url) };
}

/** As the server counts it, its log included. Before version 18 the log was not; then nothing is told. */
async function diskUsage(url: string): Promise<DiskUsage> {
  const [row] = await query(
    url,
    `SELECT sum(fsyncs)::float8 AS flushes,
            sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0))::float8 AS bytes
     FROM pg_stat_io`,
  ).catch(() => []);
  return { writtenBytes: (row?.bytes as number) ?? null, flushes: (row?.flushes as number) ?? null };
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
