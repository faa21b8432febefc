/**
 * What was promised and has no place any more: a row that its table refuses, or an entry of the journal that cannot be read. It goes whole into
 * the table `quarantine`, so that nothing behind it waits. Where that fails, whatever was being done fails with it, and nothing is lost.
 */
import { type Db, isRefusal } from "../../drivers/sqlite/database.ts";
import { QUARANTINE_COLUMNS, quarantineValues } from "../quarantine.ts";
import type { Value } from "../sql.ts";

/** Told when something was put there: it is neither in its table nor in the journal any more. */
export class KeptAside extends Error {}

export class Aside {
  readonly #insert;
  readonly #now;
  readonly #onFault: (error: unknown) => void;

  constructor(db: Db, onFault: (error: unknown) => void) {
    this.#insert = db.prepare<Value[]>(`INSERT INTO quarantine (${QUARANTINE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
    this.#now = db.prepare<[], number>("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)").pluck();
    this.#onFault = onFault;
  }

  keep(subject: string, reason: string, detail: string): void {
    const item = { atMs: this.#now.get()!, command: "journal", subject, reason, detail };
    this.#insert.run(...quarantineValues(item, Number.POSITIVE_INFINITY));
    this.#onFault(new KeptAside(`${subject} was refused, and is kept aside in the table quarantine: ${reason}`));
  }

  /**
   * Writes what was promised, and says whether that went well. What is refused would be so every time, and nothing behind it in the
   * journal would reach its table any more. `write` fails before it has changed anything.
   */
  promised(table: string, id: string | number | null, row: unknown, write: () => void): boolean {
    try {
      write();
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // Put together only here: nearly always all goes well.
      this.keep(id === null ? table : `${table} ${id}`, (error as Error).message, JSON.stringify(row));
      return false;
    }
  }
}
