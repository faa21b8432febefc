/**
 * The tables on SQLite, as the commands see them. Messages, parts, reports and postings are written behind the journal (behind-tables.ts), and all else
 * at once.
 */
import type { Db } from "../../drivers/sqlite/database.ts";
import { onceEach } from "../../runtime/lazy.ts";
import { BULK, REPLAY, type ReplayName, type ReplayRow } from "../schema/bulk.ts";
import type { NumberOnList, OptOutTable, ReplayTable, Tables } from "../tables.ts";
import { type BehindOptions, BehindTables } from "./behind-tables.ts";
import { SqliteMessages } from "./message-table.ts";
import { SqliteParts } from "./part-table.ts";
import { SqliteReceipts } from "./receipt-table.ts";
import { SqliteReports } from "./report-table.ts";
import { TableStatements } from "./table-statements.ts";
import { SqliteWallets } from "./wallet-table.ts";

export class SqliteTables implements Tables {
  /** What is written behind. */
  readonly behind: BehindTables;
  readonly messages: SqliteMessages;
  readonly parts: SqliteParts;
  readonly receipts: SqliteReceipts;
  readonly wallets: SqliteWallets;
  readonly bulks: TableStatements<typeof BULK>;
  readonly replays: SqliteReplays;
  readonly reports: SqliteReports;
  readonly optOuts: SqliteOptOuts;

  constructor(options: BehindOptions) {
    const { db, now } = options;
    this.behind = new BehindTables(options);
    this.messages = new SqliteMessages(db, this.behind);
    this.parts = new SqliteParts(db, this.behind, now);
    this.receipts = new SqliteReceipts(db);
    this.wallets = new SqliteWallets(this.behind);
    this.bulks = new TableStatements(db, BULK);
    this.replays = new SqliteReplays(db);
    this.reports = new SqliteReports(this.behind);
    this.optOuts = new SqliteOptOuts(db);
  }

  /** A transaction that may write has begun. */
  begin(): void {
    if (!this.behind.begin()) return;
    for (const table of [this.messages, this.parts, this.wallets, this.reports]) table.reset();
    this.dropRead();
  }

  /** A statement of SQL may have changed what was read. What is known of lanes is dear to find out again: only one that is about messages changes that. */
  dropRead({ ofMessages = true } = {}): void {
    if (ofMessages) this.messages.dropRead();
    for (const table of [this.parts, this.receipts, this.wallets, this.optOuts]) table.dropRead();
  }

  /** A row is read when it is asked for. */
  load(): void {}

  flush(): void {
    this.behind.flush();
  }
}

class SqliteReplays implements ReplayTable {
  readonly #statements: TableStatements<typeof REPLAY>;
  readonly #other;

  constructor(db: Db) {
    this.#statements = new TableStatements(db, REPLAY);
    this.#other = this.#statements.select<[number, string, string]>(
      "account_id = ? AND kind = 'key' AND token = ? AND body_hash <> ? LIMIT 1",
    );
  }

  answer({ accountId, kind, token, bodyHash }: ReplayName): string | undefined {
    return this.#statements.get(accountId, kind, token, bodyHash)?.answer;
  }

  hasOther({ accountId, token, bodyHash }: ReplayName): boolean {
    return this.#other.get(accountId, token, bodyHash) !== undefined;
  }

  insert(row: ReplayRow): void {
    this.#statements.insert(row);
  }
}

class SqliteOptOuts implements OptOutTable {
  /** Whether there is anybody on a list, as it was read. */
  readonly #lists = new Map<number, boolean>();
  readonly any;
  readonly #has;

  constructor(db: Db) {
    const any = db.prepare<[number], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? LIMIT 1");
    this.any = onceEach(this.#lists, (list) => any.get(list) !== undefined);
    this.#has = db.prepare<[number, string], unknown>("SELECT 1 FROM opt_out WHERE account_id = ? AND number = ?");
  }

  dropRead(): void {
    this.#lists.clear();
  }

  has({ list, number }: NumberOnList): boolean {
    return this.#has.get(list, number) !== undefined;
  }
}
