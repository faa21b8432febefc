/** The steps of the schema that this program knows. The number of those that were taken is the schema's version. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../../drivers/postgres/link.ts";

const MIGRATIONS = join(import.meta.dirname, "migrations");

export const NEWER_DATA = "the data is from a newer Heliograph than this one";

/** Names of the files, in the order in which they are applied. */
export const STEPS: readonly string[] = readdirSync(MIGRATIONS)
  .filter((name) => /^\d{3}-.*\.sql$/.test(name))
  .sort();

export function readStep(name: string): string {
  return readFileSync(join(MIGRATIONS, name), "utf8");
}

/**
 * Fails unless the schema is this program's, and keeps it so until the transaction is over: a migration holds the row from before its look at the
 * nodes until its commit.
 */
export async function requireSchema(session: Session): Promise<void> {
  const { rows } = await session.query<{ version: number }>("SELECT version FROM heliograph_schema FOR SHARE");
  const { version } = rows[0]!;
  if (version > STEPS.length) throw new Error(NEWER_DATA);
  if (version < STEPS.length) throw new Error("the data is from an older Heliograph than this one");
}
