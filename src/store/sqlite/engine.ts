/**
 * The SQLite engine of the store: runs a group of commands in one transaction. It is synchronous, so in the service it lives on a
 * thread of its own (threads/store.ts).
 */
import {
  canBeRead,
  type Db,
  failsForAll,
  isRefusal,
  lockDirectory,
  lockIfFree,
  openDatabase,
  openToRead,
} from "../../drivers/sqlite/database.ts";
import { type LogEvents, WriteAheadLog } from "../../drivers/sqlite/write-ahead-log.ts";
import type { Clock } from "../../runtime/clock.ts";
import { IdSource, TOOL_NODE } from "../../runtime/ids.ts";
import { NO_KEYS, type SecretBox } from "../../runtime/secrets.ts";
import type { CommandParts } from "../command-parts.ts";
import { type CommandTable, type Rules, runCommand, runCommands } from "../command-table.ts";
import { type Call, type CallOutcome, type Engine, type GroupResult, runEach } from "../group.ts";
import { chooseNumber, IdMark, startAfter } from "../id-mark.ts";
import { LaneAccounts, type LaneBounds } from "../lanes.ts";
import { COMMAND_MODES, type CommandMode, READS } from "../modes.ts";
import type { LaneName } from "../port/delivery.ts";
import { StoreUnavailable } from "../port/errors.ts";
import { NextReferences } from "../references.ts";
import { settledRow } from "../settled.ts";
import { Unit } from "../unit.ts";
import { idMarks, noteRestored, raiseIdMark } from "./id-marks.ts";
import { replayJournal } from "./journal.ts";
import { isMigrated, migrate, migrateAlone } from "./migrate.ts";
import { ownCommands } from "./own.ts";
import { SqliteSql } from "./sql.ts";
import { SqliteTables } from "./tables.ts";

export interface SqliteOptions extends LogEvents {
  readonly rules: Rules;
  readonly directory: string;
  readonly clock: Clock;
  readonly lanes: LaneBounds;
  /**
   * "deliver" takes the directory for this process and hands accepted messages on; "tool" is for the command line, which may
   * work beside a running service and delivers nothing. "look" reads the tables as they are, and what is only in the journal is not in them.
   */
  readonly mode: "deliver" | "tool" | "look";
  /** Told after a commit that has changed something, and by `lookForOthers` when another process has. */
  readonly onWrite?: () => void;
  /** Seals secrets; without it they are kept as they are. */
  readonly secrets?: SecretBox;
  /** Told of what went wrong while nobody waited. */
  readonly onFault?: (error: unknown) => void;
}

/** What is answered while nothing can be written. */
const ANSWERED_UNKEPT: ReadonlySet<CommandMode> = new Set([...READS, "touch"]);

export class SqliteEngine implements Engine {
  readonly #options: SqliteOptions;
  readonly #db: Db;
  readonly #tables: SqliteTables;
  readonly #delivers: boolean;
  readonly #looks: boolean;
  readonly #unlock: () => void;
  readonly #parts: CommandParts;
  readonly #commands: CommandTable;
  readonly #lanes: LaneAccounts;
  readonly #onFault: (error: unknown) => void;
  readonly #totalChanges;
  #knownChanges = 0;
  readonly #dataVersion;
  #knownVersion: number;
  readonly log: WriteAheadLog;
  /** Why the last transaction that wrote failed for everybody; null when it did not. */
  #blocked: unknown = null;
  readonly #insertSettled;
  readonly #idMark: IdMark;
  /** Names what is made here; the edge takes from it too. */
  readonly ids: IdSource;
  #unit = new Unit();

  constructor(options: SqliteOptions) {
    const { directory } = options;
    this.#options = options;
    this.#delivers = options.mode === "deliver";
    this.#looks = options.mode === "look";
    this.#onFault = options.onFault ?? (() => undefined);
    const lock = this.#delivers ? lockDirectory : this.#looks ? () => null : lockIfFree;
    const unlock = lock(directory);
    let db: Db;
    let log: WriteAheadLog | null = null;
    try {
      db = this.#looks ? openToRead(directory) : openDatabase(directory);
      log = new WriteAheadLog({ ...options, db, checkpoints: unlock !== null });
      if (unlock !== null) log.begin(!this.#delivers);
      if (this.#delivers) migrate(db);
      else if (!this.#looks) {
        unlock?.();
        if (!log.isTrusted && !isMigrated(db)) throw log.reason;
        migrateAlone(db, directory);
      }
      if (log.isTrusted && !this.#looks) this.#replayJournal(db);
    } catch (error) {
      log?.noteError(error);
      log?.close();
      unlock?.();
      throw error;
    }
    this.log = log;
    this.#db = db;
    this.#totalChanges = db.prepare<[], number>("SELECT total_changes()").pluck();
    this.#dataVersion = db.prepare<[], number>("PRAGMA data_version").pluck();
    this.#knownVersion = this.#dataVersion.get()!;
    this.#unlock = this.#delivers ? unlock! : () => undefined;
    // What is sealed anew must not stay behind in the file as it was.
    if (options.secrets !== undefined && options.secrets.keyIds.length > 0) db.pragma("secure_delete = FAST");
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
    const epoch = options.mode === "deliver" ? this.#takeOver(options.clock.now()) : 0;
    const marks = idMarks(db);
    const node = options.mode === "deliver" ? chooseNumber(marks, options.clock.now()) : TOOL_NODE;
    this.ids = new IdSource(options.clock, node, startAfter(marks, node, options.clock.now()));
    this.#idMark = new IdMark(this.ids);
    this.#parts = {
      sql: new SqliteSql(db, this.#tables),
      tables: this.#tables,
      lanes: this.#lanes,
      unit: () => this.#unit,
      ids: this.ids,
      references: new NextReferences(),
      epoch,
      pushes: options.mode === "deliver",
      hasOthers: () => false,
      now: () => options.clock.now(),
      secrets: options.secrets ?? NO_KEYS,
    };
    this.#commands = options.rules.commandTable(this.#parts, ownCommands(db, this.#tables));
  }

  /** A tool that cannot write may still read. */
  #replayJournal(db: Db): void {
    try {
      replayJournal(db, this.#onFault);
    } catch (error) {
      if (this.#delivers || !canBeRead(error)) throw error;
    }
  }

  /** This process is the only one here (it has the lock), so whatever an earlier one owned is free. */
  #takeOver(nowMs: number): number {
    return this.#db
      .transaction(() => {
        noteRestored(this.#db, nowMs);
        this.#db.exec("UPDATE counter SET starts = starts + 1");
        this.#db.exec("UPDATE message SET owner = NULL WHERE state = 1 AND owner IS NOT NULL");
        this.#db.exec("UPDATE report SET held_by = NULL, tried = 1 WHERE held_by IS NOT NULL");
        return (this.#db.prepare("SELECT starts FROM counter").get() as { starts: number }).starts;
      })
      .immediate();
  }

  /** Lanes with messages that no process has in memory, found by hops along the index, however many messages wait. */
  overflowedLanes(): LaneName[] {
    const next = this.#db.prepare<[string, number], LaneName>(
      `SELECT carrier_id AS carrierId, account_id AS accountId FROM message
       WHERE state = 1 AND owner IS NULL AND (carrier_id, account_id) > (?, ?) ORDER BY carrier_id, account_id LIMIT 1`,
    );
    const lanes: LaneName[] = [];
    for (let lane = next.get("", 0); lane !== undefined; lane = next.get(lane.carrierId, lane.accountId)) {
      this.#lanes.setOverflowed(lane, true);
      lanes.push(lane);
    }
    return lanes;
  }

  /** The last transaction that wrote went through, and nothing has spoken against the log since. */
  get keeps(): boolean {
    return this.#blocked === null && this.log.isTrusted;
  }

  async run(calls: readonly Call[]): Promise<GroupResult> {
    const reads = calls.every(({ command }) => READS.has(COMMAND_MODES[command]));
    if (!this.log.isTrusted) {
      if (!this.log.restore()) return this.#answerReads(calls, this.log.reason);
      this.#tables.behind.reset();
    }
    if (reads && this.#blocked !== null) return this.#answerReads(calls, this.#blocked);
    try {
      return await this.#transaction(calls, reads);
    } catch (error) {
      // A database that is busy, full or broken is so for all of them, and trying each would block everyone for long.
      if (canBeRead(error)) {
        this.#blocked = error;
        return this.#answerReads(calls, error);
      }
      if (calls.length === 1 || failsForAll(error)) return { outcomes: failedFor(calls, error), feed: null };
      return runEach(this, calls);
    }
  }

  async #transaction(calls: readonly Call[], reads: boolean): Promise<GroupResult> {
    const unit = new Unit();
    this.#unit = unit;
    // Whoever only reads, such as a long check of the ledger from the command line, must not hold the writer's place. For that the tables have to
    // be whole: the service, where nobody waits for that place, does it if a statement wants it, and the command line before it reads.
    const writes = !reads || (this.#delivers && this.#tables.behind.isBehind);
    try {
      this.log.synchronous("FULL");
      if (reads && !this.#delivers && !this.#looks) replayJournal(this.#db, this.#onFault);
      this.#db.exec(writes ? "BEGIN IMMEDIATE" : "BEGIN");
      if (writes) this.#tables.begin();
      const outcomes = await runCommands(this.#commands, calls);
      const reports = this.#options.rules.flushReports(this.#parts, unit);
      const settled = settledRow(unit.settled);
      if (settled !== null) this.#insertSettled.run(this.#parts.now(), settled.count, settled.names);
      const mark = writes ? this.#idMark.due() : null;
      if (mark !== null) raiseIdMark(this.#db, this.ids.node, mark);
      if (writes) this.#tables.behind.commit();
      this.#db.exec("COMMIT");
      if (mark !== null) this.#idMark.raised(mark);
      const feed = unit.feed(reports);
      if (!writes) {
        unit.committed();
        return { outcomes, feed };
      }
      this.#blocked = null;
      this.#noteChanges();
      // The other thread may have failed meanwhile. Then this is done, and may be lost again: nobody is told that it is kept.
      if (!this.log.restore()) return { outcomes: failedFor(calls, this.log.reason), feed };
      unit.committed();
      this.log.checkpointIfDue();
      return { outcomes, feed };
    } catch (error) {
      this.log.noteError(error);
      this.#rollback();
      unit.rollback();
      throw error;
    }
  }

  #noteChanges(): void {
    const changes = this.#totalChanges.get()!;
    if (changes === this.#knownChanges) return;
    this.#knownChanges = changes;
    this.#options.onWrite?.();
  }

  /** The command line may write beside the service, and tells nobody. */
  lookForOthers(): void {
    if (!this.#db.open) return;
    try {
      const version = this.#dataVersion.get()!;
      if (version === this.#knownVersion) return;
      this.#knownVersion = version;
    } catch {
      // What cannot be looked at may have changed. Whoever asks then is told what is wrong.
    }
    this.#options.onWrite?.();
  }

  /** Whatever memory has is read anew from the journal. A transaction that cannot be ended makes the log suspect, and is ended when that is mended. */
  #rollback(): void {
    this.#tables.behind.reset();
    if (!this.#db.inTransaction) return;
    try {
      this.#db.exec("ROLLBACK");
    } catch (error) {
      this.log.distrust(error);
    }
  }

  /**
   * Nothing can be written, so only reads are answered. What the tables lack is brought into a transaction that is rolled back: all its pages stay
   * in memory, and not a byte goes to the disk.
   */
  async #answerReads(calls: readonly Call[], error: unknown): Promise<GroupResult> {
    const outcomes = failedFor(calls, error);
    const answered = calls.flatMap((call, index) =>
      ANSWERED_UNKEPT.has(COMMAND_MODES[call.command]) ? [{ call, index }] : [],
    );
    if (answered.length === 0 || !this.#db.open) return { outcomes, feed: null };
    this.#unit = new Unit();
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      this.#db.pragma("cache_spill = OFF");
      for (const { call, index } of answered) {
        // An error such as one of the disk may have ended the transaction, and with it what the tables lacked is gone again.
        if (!this.#db.inTransaction) this.#beginUnkept();
        try {
          const value = await runCommand(this.#commands, call);
          if (!this.#db.inTransaction) throw new StoreUnavailable("the transaction was ended by an error");
          outcomes[index] = { ok: true, value };
        } catch (fault) {
          this.log.noteError(fault);
          outcomes[index] = { ok: false, error: asStoreError(fault) };
        }
      }
    } catch (fault) {
      this.log.noteError(fault);
      const error = asStoreError(fault);
      for (const { index } of answered) if (!outcomes[index]!.ok) outcomes[index] = { ok: false, error };
    } finally {
      this.#rollback();
      this.#unit.rollback();
      this.#db.pragma("cache_spill = ON");
    }
    return { outcomes, feed: null };
  }

  #beginUnkept(): void {
    this.#tables.behind.reset();
    this.#db.exec("BEGIN IMMEDIATE");
    this.#tables.begin();
  }

  onIdle(): boolean {
    const { behind } = this.#tables;
    return behind.isDue && this.#writeSome(() => behind.flushIdle()) && behind.isDue;
  }

  makeRoom({ command }: Call): boolean {
    const { behind } = this.#tables;
    return behind.isFullFor(command === "accept" ? "rows" : "search") && this.#writeSome(() => behind.flushFull());
  }

  /**
   * Writes some of what is only in the journal to its tables, if that is possible. It is not flushed: what a power cut takes of it is still in the
   * journal, and the next flush is for all before it.
   */
  #writeSome(write: () => void): boolean {
    if (!this.#db.open || !this.log.isTrusted) return false;
    try {
      this.log.synchronous("NORMAL");
      this.#db.exec("BEGIN IMMEDIATE");
      this.#tables.begin();
      write();
      this.#db.exec("COMMIT");
      // To whoever reads the tables as they are, what was only in memory is new.
      this.#noteChanges();
      this.log.checkpointIfDue();
      return true;
    } catch (error) {
      // From the journal it is tried once more, with the next command.
      this.#onFault(error);
      this.log.noteError(error);
      this.#rollback();
      return false;
    }
  }

  /** Writes what is only in the journal to its tables. Where nothing can be written it stays there. */
  settle(): void {
    if (this.#looks) return;
    this.#tables.behind.reset();
    if (!this.log.restore()) return;
    try {
      replayJournal(this.#db, this.#onFault);
    } catch (error) {
      if (!canBeRead(error)) throw error;
      this.#onFault(error);
      this.log.noteError(error);
    }
  }

  close(): void {
    try {
      this.log.close();
    } finally {
      this.#unlock();
    }
  }
}

function failedFor(calls: readonly Call[], error: unknown): CallOutcome[] {
  const told = asStoreError(error);
  return calls.map(() => ({ ok: false, error: told }));
}

/** What may work later becomes StoreUnavailable; what is refused stays what it is. */
function asStoreError(error: unknown): unknown {
  if (isRefusal(error) || error instanceof StoreUnavailable) return error;
  const { code, message } = error as Error & { code?: string };
  return new StoreUnavailable(code === undefined ? message : `${code}: ${message}`, code ?? null);
}
