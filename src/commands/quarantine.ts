/**
 * What could not be recorded as it was said: a receipt, a carrier's answer or a row of the journal that the database refuses. It is kept
 * aside, so that nothing waits for it and somebody can look at it. Bounded in rows and in what each of them holds. What is of the journal was
 * promised to a client: there is no other copy of it, so it is kept whole and until somebody deletes it. Its bound is the journal's own. What holds a
 * message is kept until somebody has decided whether it goes again: nobody knows whether its phone has it.
 */
import type { CommandParts } from "../store/command-parts.ts";
import type { Quarantined } from "../store/port/quarantine.ts";
import { QUARANTINE_COLUMNS, quarantineValues } from "../store/quarantine.ts";
import { commands } from "./entry.ts";

/** Rows that are kept; the oldest go. */
export const MAX_QUARANTINED = 1_000;

export function quarantineCommands({ sql }: CommandParts) {
  const insert = sql.prepare<[number, string, string, string, string, bigint | null], { id: number }>(
    `INSERT INTO quarantine (${QUARANTINE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  const dropUpTo = sql.prepare<[number]>(
    "DELETE FROM quarantine WHERE id <= ? AND command <> 'journal' AND held_key IS NULL",
  );
  const newest = sql.prepare<[number], Quarantined>(
    `SELECT id, at_ms AS "atMs", command, subject, reason, detail, CAST(held_key AS TEXT) AS "heldKey" FROM quarantine ORDER BY id DESC LIMIT ?`,
  );
  const count = sql.prepare<[], { count: number; promised: number; held: number }>(
    "SELECT count(*) AS count, count(CASE command WHEN 'journal' THEN 1 END) AS promised, count(held_key) AS held FROM quarantine",
  );
  return commands({
    async quarantine({ items }) {
      let last = 0;
      for (const item of items) last = (await insert.get(...quarantineValues(item)))!.id;
      await dropUpTo.run(last - MAX_QUARANTINED);
    },
    quarantined: async ({ limit }) => ({ ...(await count.get())!, items: await newest.all(limit) }),
  });
}
