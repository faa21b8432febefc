/**
 * The SQLite engine of the store: runs a group of commands in one transaction. It is synchronous, so in the service it lives on a
 * thread of its own (threads/store.ts).
 */
import type { Clock } from "../../runtime/clock.ts";
import { IdSource, TOOL_NODE } from "../../runtime/ids.ts";
import { NO_KEYS, type SecretBox } from "../../runtime/secrets.ts";
import { allCommands } from "../commands/all.ts";
import { LOOKS } from "../commands/looks.ts";
import type { CommandParts } from "../commands/parts.ts";
import { settledRow } from "../commands/repeats.ts";
import { flushReports } from "../commands/reports.ts";
import { type Call, type Engine, type GroupResult, joinFeeds, type Outcome } from "../group.ts";
import { chooseNumber, IdMark, startAfter } from "../id-mark.ts";
import { LaneAccounts, type LaneBounds } from "../lanes.ts";
import { type CommandHandlers, type Feed, type LaneName, StoreUnavailable } from "../port.ts";
import { Unit } from "../unit.ts";
import { type Db, failsForAll, isRefusal, lockDirectory, migrate, openDatabase } from "./database.ts";
import { IdMarks } from "./id-marks.ts";
import { catchUp } from "./journal.ts";
import { ownCommands } from "./own.ts";
import { SqliteSql } from "./sql.ts";
import { SqliteTables } from "./tables.ts";

export interface SqliteOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly lanes: LaneBounds;
  /**
   * "deliver" takes the directory for this process and hands accepted messages on; "tool" is for the command line, which may
   * work beside a running service and delivers nothing.
   */
  readonly mode: "deliver" | "tool";
  /** Seals secrets; without it they are kept as they are. */
  readonly secrets?: SecretBox;
  /** Told of what went wrong while nobody waited. */
  readonly onFault?: (error: unknown) => void;
}

/** Pages of SQLite's log that a commit brings into the file: SQLite's own choice, and what may be left to another thread. */
const CHECKPOINT_PAGES = { own: 1_000, left: 8_000 };

export class SqliteEngine implements Engine {
  readonly #db: Db;
  readonly #tables: SqliteTables;
  readonly #delivers: boolean;
  readonly #unlock: () => void;
  readonly #parts: CommandParts;
  readonly #handlers: CommandHandlers;
  readonly #lanes: LaneAccounts;
  readonly #onFault: (error: unknown) => void;
  readonly #insertSettled;
  readonly #idMarks: IdMarks;
  readonly #idMark: IdMark;
  /** Names what is made here; the edge takes from it too. */
  readonly ids: IdSource;
  #unit = new Unit();

  constructor(options: SqliteOptions) {
    const db = openDatabase(options.directory);
    this.#db = db;
    try {
      this.#unlock = options.mode === "deliver" ? lockDirectory(options.directory) : () => undefined;
      migrate(db);
      catchUp(db, options.onFault);
    } catch (error) {
      db.close();
      throw error;
    }
    // What is sealed anew must not stay behind in the file as it was.
    if (options.secrets !== undefined && options.secrets.keyIds.length > 0) db.pragma("secure_delete = FAST");
    this.#delivers = options.mode === "deliver";
    this.#onFault = options.onFault ?? (() => undefined);
    this.#tables = new SqliteTables({
      db,
      now: () => options.clock.now(),
      writeBehind: this.#delivers,
      onFault: this.#onFault,
    });
    // A tool owns nothing: no message it might accept is taken into memory.
    this.#lanes = new LaneAccounts(options.mode === "deliver" ? options.lanes : { lane: 0, total: 0 });
    this.#insertSettled = db.prepare<[number, number, string]>(
      "INSERT INTO settled_receipt (at_ms, name_count, names) VALUES (?, ?, ?)",
    );
    this.#idMarks = new IdMarks(db);
    const epoch = options.mode === "deliver" ? this.#takeOver(options.clock.now()) : 0;
    const marks = this.#idMarks.all();
    const node = options.mode === "deliver" ? chooseNumber(marks, options.clock.now()) : TOOL_NODE;
    this.ids = new IdSource(options.clock, node, startAfter(marks, node, options.clock.now()));
    this.#idMark = new IdMark(this.ids);
    this.#parts = {
      sql: new SqliteSql(db, this.#tables),
      tables: this.#tables,
      lanes: this.#lanes,
      unit: () => this.#unit,
      ids: this.ids,
      epoch,
      pushes: options.mode === "deliver",
      now: () => options.clock.now(),
      secrets: options.secrets ?? NO_KEYS,
    };
    this.#handlers = allCommands(this.#parts, ownCommands(db, this.#tables));
  }

  /** This process is the only one here (it has the lock), so whatever an earlier one owned is free. */
  #takeOver(nowMs: number): number {
    return this.#db
      .transaction(() => {
        this.#idMarks.noteRestored(nowMs);
        this.#db.exec("UPDATE counter SET starts = starts + 1");
        this.#db.exec("UPDATE message SET owner = NULL WHERE state = 1 AND owner IS NOT NULL");
        this.#db.exec("UPDATE report SET held_by = NULL, tried = 1 WHERE held_by IS NOT NULL");
        return (this.#db.prepare("SELECT starts FROM counter").get() as { starts: number }).starts;
      })
      .immediate();
  }

  /** Lanes with messages that no process has in memory, found by hops along the index, however many messages wait. */
  spilledLanes(): LaneName[] {
    const next = this.#db.prepare<[string, number], LaneName>(
      `SELECT carrier_id AS carrierId, account_id AS accountId FROM message
       WHERE state = 1 AND owner IS NULL AND (carrier_id, account_id) > (?, ?) ORDER BY carrier_id, account_id LIMIT 1`,
    );
    const lanes: LaneName[] = [];
    for (let lane = next.get("", 0); lane !== undefined; lane = next.get(lane.carrierId, lane.accountId)) {
      this.#lanes.setSpilled(lane, true);
      lanes.push(lane);
    }
    return lanes;
  }

  async run(calls: readonly Call[]): Promise<GroupResult> {
    try {
      return await this.#transaction(calls);
    } catch (error) {
      // A database that is busy, full or broken is so for all of them, and trying each would block everyone for long.
      if (calls.length === 1 || failsForAll(error)) {
        const told = asStoreError(error);
        return { outcomes: calls.map(() => ({ ok: false, error: told })), feed: null };
      }
      // One command is bad: each on its own, so that only the bad ones fail.
      const outcomes: Outcome[] = [];
      let feed: Feed | null = null;
      for (const call of calls) {
        const result = await this.run([call]);
        outcomes.push(...result.outcomes);
        feed = joinFeeds(feed, result.feed);
      }
      return { outcomes, feed };
    }
  }

  async #transaction(calls: readonly Call[]): Promise<GroupResult> {
    const unit = new Unit();
    this.#unit = unit;
    const reads = calls.every(({ command }) => LOOKS.has(command));
    // Whoever only reads, such as a long check of the ledger from the command line, must not hold the writer's place. For that the tables have to
    // be whole: the service, where nobody waits for that place, does it if a statement wants it, and the command line before it reads.
    if (reads && !this.#delivers) catchUp(this.#db, this.#onFault);
    const writes = !reads || (this.#delivers && this.#tables.isBehind);
    this.#db.exec(writes ? "BEGIN IMMEDIATE" : "BEGIN");
    try {
      if (writes) this.#tables.begin();
      const outcomes: Outcome[] = [];
      for (const call of calls) {
        const handler = this.#handlers[call.command] as (input: unknown) => unknown;
        const answer = handler(call.input);
        outcomes.push({ ok: true, value: answer instanceof Promise ? await answer : answer });
      }
      const reports = flushReports(this.#parts, unit);
      const settled = settledRow(unit);
      if (settled !== null) this.#insertSettled.run(this.#parts.now(), settled.count, settled.names);
      const mark = writes ? this.#idMark.due() : null;
      if (mark !== null) this.#idMarks.raise(this.ids.node, mark);
      if (writes) this.#tables.commit();
      this.#db.exec("COMMIT");
      if (mark !== null) this.#idMark.raised(mark);
      return { outcomes, feed: unit.feed(reports) };
    } catch (error) {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      this.#tables.forget();
      unit.rollback();
      throw error;
    }
  }

  /**
   * Writes some of what is only in the journal to its tables. That is not flushed: what a power cut takes of it is still in the journal, and the
   * next flush is for all before it.
   */
  rest(): boolean {
    if (!this.#db.open || !this.#tables.isDue) return false;
    try {
      this.#db.pragma("synchronous = NORMAL");
      this.#db.exec("BEGIN IMMEDIATE");
      this.#tables.begin();
      this.#tables.writeSome();
      this.#db.exec("COMMIT");
      return this.#tables.isDue;
    } catch (error) {
      // From the journal it is tried once more, with the next command.
      this.#onFault(error);
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      this.#tables.forget();
      return false;
    } finally {
      this.#db.pragma("synchronous = FULL");
    }
  }

  /** Writes what is only in the journal to its tables. */
  settle(): void {
    catchUp(this.#db, this.#onFault);
    this.#tables.forget();
  }

  /** Another thread brings the log into the file (threads/checkpoint.ts), or has ceased to. */
  leaveCheckpoints(toAnother: boolean): void {
    if (!this.#db.open) return;
    this.#db.pragma(`wal_autocheckpoint = ${toAnother ? CHECKPOINT_PAGES.left : CHECKPOINT_PAGES.own}`);
  }

  close(): void {
    this.#db.close();
    this.#unlock();
  }
}

/** What may work later becomes StoreUnavailable; what is refused stays what it is. */
function asStoreError(error: unknown): unknown {
  if (isRefusal(error) || error instanceof StoreUnavailable) return error;
  const { code, message } = error as Error & { code?: string };
  return new StoreUnavailable(code === undefined ? message : `${code}: ${message}`);
}
