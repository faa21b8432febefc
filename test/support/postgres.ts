/**
 * A database of its own for each test that wants one, on a real PostgreSQL server. One server serves a whole `npm test` (test/run.ts
 * starts it); a test file that runs alone starts its own.
 */
import { randomBytes } from "node:crypto";
import { command, type PostgresServer, SHARED_URL, startPostgres, TEMPLATE } from "./postgres-server.ts";

export { PATIENT_MS } from "./patience.ts";
export { type PostgresServer, startPostgres } from "./postgres-server.ts";

let own: Promise<PostgresServer> | null = null;

async function sharedUrl(): Promise<URL> {
  const given = process.env[SHARED_URL];
  if (given !== undefined) return new URL(given);
  own ??= startPostgres({ durable: false });
  return new URL((await own).url);
}

function inDatabase(url: URL, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** Databases of tests that are over. A test's hooks run in the order in which they were set, so its own would be too early. */
const left = new Set<string>();

const OBJECT_IN_USE = "55006";
const FREE_TRIES = 12;

/** The server gives those who still use a database five seconds to leave, which on a busy machine is little. */
async function whenFree(url: string, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) {
    for (let tries = 1; ; tries += 1) {
      try {
        await command(url, statement);
        break;
      } catch (error) {
        if (tries === FREE_TRIES || (error as { code?: string }).code !== OBJECT_IN_USE) throw error;
      }
    }
  }
}

/** Drops the databases of tests that are over. Called by the next test that wants one, or as the last hook of whoever had one. */
export async function dropLeft(): Promise<void> {
  const drops = [...left].map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  left.clear();
  if (drops.length > 0) await whenFree(inDatabase(await sharedUrl(), "postgres"), ...drops);
}

/** The URL of a database that only this test has: with the schema, or `empty`. */
export async function postgresUrl(
  t: { after(clean: () => Promise<void>): void },
  options: { empty?: boolean } = {},
): Promise<string> {
  await dropLeft();
  const server = await sharedUrl();
  const name = `test_${randomBytes(8).toString("hex")}`;
  const template = options.empty === true ? "template0" : TEMPLATE;
  // Copied as files: 26 ms here, against some 45 through the log.
  await whenFree(inDatabase(server, "postgres"), `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  t.after(async () => {
    left.add(name);
  });
  return inDatabase(server, name);
}
