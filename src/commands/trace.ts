/** Steps of messages, noted for people (events/trace.ts): appended many at a time, and gone with their age. */
import { purging } from "../store/by-name.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { commands } from "./entry.ts";

export function traceCommands({ sql }: CommandParts) {
  // One statement for all of them, on either engine.
  const insert = sql.prepare<[string]>(
    `INSERT INTO trace (subject, at_ms, kind, detail)
     SELECT item.value ->> 'subject', CAST(item.value ->> 'atMs' AS BIGINT), item.value ->> 'kind', item.value ->> 'detail'
     FROM ${sql.dialect.items}`,
  );
  return commands({
    async keepTrace({ notes }) {
      if (notes.length > 0) await insert.run(JSON.stringify(notes));
    },
    purgeTrace: purging(sql, { table: "trace", key: "id", at: "at_ms" }),
  });
}
