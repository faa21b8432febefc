/** What statements were asked for in a transaction, found or not: nothing is asked for twice. */
import type { Session } from "../../drivers/postgres/link.ts";
import { type RowsStatement, sendRows } from "./columns.ts";

export class Found {
  readonly #session: () => Session;
  readonly #asked = new Map<RowsStatement, Set<string>>();

  constructor(session: () => Session) {
    this.#session = session;
  }

  clear(): void {
    this.#asked.clear();
  }

  /** Those that the statement was not asked for before. */
  fresh<Item extends object>(statement: RowsStatement, items: readonly Item[]): readonly Item[] {
    if (items.length === 0) return items;
    const asked = this.#asked.get(statement) ?? new Set();
    this.#asked.set(statement, asked);
    return items.filter((item) => {
      let id = "";
      for (const { name } of statement.sent) id += `${(item as Record<string, unknown>)[name]}\n`;
      if (asked.has(id)) return false;
      asked.add(id);
      return true;
    });
  }

  /** What it finds for them. */
  async find<Row>(statement: RowsStatement, items: readonly object[]): Promise<Row[]> {
    return (await sendRows<Row>(this.#session(), statement, this.fresh(statement, items))).rows;
  }
}
