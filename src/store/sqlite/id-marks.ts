/** The marks of ids (store/id-mark.ts) on SQLite. They are read at a start, and raised every few seconds. */
import type { Db } from "../../drivers/sqlite/database.ts";
import { EVERY_NODE, HIGHEST_STORED, marksWith, restoredMark } from "../id-mark.ts";

/** To be asked when all that is in the journal is in its tables. */
export function idMarks(db: Db): ReadonlyMap<number, bigint> {
  const all = db
    .prepare<[], { node: bigint; highest: bigint }>("SELECT node, highest FROM id_mark")
    .safeIntegers()
    .all();
  const highest = db.prepare<[], string | null>(HIGHEST_STORED).pluck().get() ?? null;
  return marksWith(new Map(all.map((mark) => [Number(mark.node), mark.highest])), highest);
}

export function raiseIdMark(db: Db, node: number, mark: bigint): void {
  const raise = db.prepare<[number, bigint]>(
    `INSERT INTO id_mark (node, highest) VALUES (?, ?)
     ON CONFLICT (node) DO UPDATE SET highest = max(highest, excluded.highest)`,
  );
  raise.run(node, mark);
}

/** A service starts. If the data is a backup, it goes on as the store itself from now on. */
export function noteRestored(db: Db, nowMs: number): void {
  const { changes } = db.prepare("UPDATE counter SET is_backup = 0 WHERE is_backup = 1").run();
  if (changes > 0) raiseIdMark(db, EVERY_NODE, restoredMark(nowMs));
}
