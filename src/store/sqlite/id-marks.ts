/** The marks of ids (store/id-mark.ts) on SQLite. */
import type { Db } from "../../drivers/sqlite/database.ts";
import { EVERY_NODE, HIGHEST_STORED, marksWith, restoredMark } from "../id-mark.ts";

export class IdMarks {
  readonly #all;
  readonly #highest;
  readonly #raise;
  readonly #takeRestored;

  constructor(db: Db) {
    this.#all = db.prepare<[], { node: bigint; highest: bigint }>("SELECT node, highest FROM id_mark").safeIntegers();
    this.#highest = db.prepare<[], string | null>(HIGHEST_STORED).pluck();
    this.#raise = db.prepare<[number, bigint]>(
      `INSERT INTO id_mark (node, highest) VALUES (?, ?)
       ON CONFLICT (node) DO UPDATE SET highest = max(highest, excluded.highest)`,
    );
    this.#takeRestored = db.prepare("UPDATE counter SET is_backup = 0 WHERE is_backup = 1");
  }

  /** To be asked when all that is in the journal is in its tables. */
  all(): ReadonlyMap<number, bigint> {
    const marks = new Map(this.#all.all().map(({ node, highest }) => [Number(node), highest]));
    return marksWith(marks, this.#highest.get() ?? null);
  }

  raise(node: number, mark: bigint): void {
    this.#raise.run(node, mark);
  }

  /** A service starts. If the data is a backup, it goes on as the store itself from now on. */
  noteRestored(nowMs: number): void {
    if (this.#takeRestored.run().changes > 0) this.raise(EVERY_NODE, restoredMark(nowMs));
  }
}
