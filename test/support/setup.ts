/** Before and after all tests of a run (`node --test --test-global-setup`): the PostgreSQL server and the empty embedded store that they share. */
import { type PostgresServer, SHARED_URL, startPostgres } from "./postgres-server.ts";
import { makeSqliteTemplate, SHARED_TEMPLATE, type SqliteTemplate } from "./sqlite-template.ts";

let server: PostgresServer | null = null;
let template: SqliteTemplate | null = null;

export async function globalSetup(): Promise<void> {
  template = makeSqliteTemplate();
  process.env[SHARED_TEMPLATE] = template.directory;
  server = await startPostgres({ durable: false });
  process.env[SHARED_URL] = server.url;
}

export async function globalTeardown(): Promise<void> {
  template?.remove();
  await server?.remove();
}
