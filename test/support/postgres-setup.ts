/** Before and after all tests of a run (`node --test --test-global-setup`): the PostgreSQL server that they share. */
import { type PostgresServer, SHARED_URL, startPostgres } from "./postgres-server.ts";

let server: PostgresServer | null = null;

export async function globalSetup(): Promise<void> {
  server = await startPostgres({ durable: false });
  process.env[SHARED_URL] = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.remove();
}
