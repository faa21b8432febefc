/** Sessions from before users were known go on, where it can be told whose they are. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { temporaryDirectory } from "../support/service.ts";

const MIGRATIONS = join(import.meta.dirname, "../../src/store/sqlite/migrations");

test("a session of an account with one user is that user's; of one with several it ends", async (t) => {
  const files = readdirSync(MIGRATIONS).sort();
  const before = files.slice(
    0,
    files.findIndex((name) => name.endsWith("-second-factor.sql")),
  );
  const db = openDatabase(await temporaryDirectory(t));
  t.after(() => db.close());
  for (const file of before) db.exec(readFileSync(join(MIGRATIONS, file), "utf8"));
  db.pragma(`user_version = ${before.length}`);
  for (const id of [1, 2]) {
    db.exec(`INSERT INTO account (id, key, kind, currency, rate_plan_id, credit_limit_micros, callback_secret, created_at_ms)
      VALUES (${id}, 'A${id}', 'client', 'EUR', 'standard', 0, 's', 0)`);
    db.exec(`INSERT INTO session (token_hash, account_id, created_at_ms, used_at_ms) VALUES ('t${id}', ${id}, 0, 0)`);
  }
  db.exec(
    "INSERT INTO login (username, account_id, password_hash) VALUES ('one', 1, 'h'), ('two', 2, 'h'), ('2', 2, 'h')",
  );
  migrate(db);
  assert.deepEqual(db.prepare("SELECT token_hash, username, with_factor FROM session").all(), [
    { token_hash: "t1", username: "one", with_factor: 0 },
  ]);
});
