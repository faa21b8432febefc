/** Statements are prepared when they are first used, perhaps on a day when nobody is there to see that one is wrong: so here, all of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RULES } from "../../src/commands/table.ts";
import { openDatabase } from "../../src/drivers/sqlite/database.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Rules } from "../../src/store/command-table.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { storeDirectory } from "../support/service.ts";

test("SQLite takes every statement of the commands", async (t) => {
  const directory = await storeDirectory(t);
  const texts: string[] = [];
  const rules: Rules = {
    ...RULES,
    commandTable: (parts, own) => {
      const { dialect } = parts.sql;
      const sql: typeof parts.sql = {
        dialect,
        prepare: (text) => {
          texts.push(text);
          return parts.sql.prepare(text);
        },
        prepareStaleRead: (text) => {
          texts.push(text);
          return parts.sql.prepareStaleRead(text);
        },
      };
      return RULES.commandTable({ ...parts, sql }, own);
    },
  };
  const lanes = { lane: 1, total: 1 };
  const engine = new SqliteEngine({ rules, directory, clock: systemClock, lanes, mode: "deliver" });
  t.after(() => engine.close());
  const db = openDatabase(directory);
  t.after(() => db.close());
  assert.ok(texts.length > 100, `only ${texts.length} statements`);
  for (const text of texts) assert.doesNotThrow(() => db.prepare(text), text);
});
