/**
 * Moves a store from SQLite to PostgreSQL, for whoever outgrows one machine. Nobody may work on either side meanwhile. All rows keep their
 * ids; only what a running service had in memory is free again, as after any restart.
 */
import { RULES } from "../commands/table.ts";
import { asDatabaseError } from "../drivers/postgres/faults.ts";
import { PostgresPool } from "../drivers/postgres/pool.ts";
import { systemClock } from "../runtime/clock.ts";
import { silentLog } from "../runtime/log.ts";
import { localStore } from "../store/group.ts";
import { StoreUnavailable } from "../store/port/errors.ts";
import type { ColumnTypes } from "../store/postgres/columns.ts";
import { PostgresEngine } from "../store/postgres/engine.ts";
import { migrate } from "../store/postgres/migrate.ts";
import { Partitions, partitionDays } from "../store/postgres/partitions.ts";
import { type Comparison, compare, isDifferent, sameOrigin } from "./check.ts";
import { BY_DAY, COPIED, type CopiedTable, CopyRefused } from "./copied-tables.ts";
import { CopySource, fingerprints, type PageBounds } from "./copy-source.ts";
import { CopyTarget, PageWriter, type Stretch } from "./copy-target.ts";

export interface CopyOptions {
  /** The directory of the embedded store. */
  readonly from: string;
  /** postgres://… */
  readonly to: string;
  /** How the target is called in messages to people: without its password. */
  readonly toName: string;
  /** Rows in a page, and rows from which on a table is copied over several connections. */
  readonly pageRows?: number;
  readonly stretchRows?: number;
  readonly onStep?: (step: CopyStep) => void;
  /** After each page that is committed. */
  readonly onRows?: (progress: CopyProgress) => void;
}

export type CopyStep = "resuming" | "copying" | "checking";

export interface CopyProgress {
  readonly table: string;
  /** Rows that are there, those of earlier runs included, of how many. */
  readonly rows: number;
  readonly total: number;
  /** Of these, what earlier runs had copied. */
  readonly earlier: number;
}

export type CopyOutcome =
  /** `earlier`: how many of the rows an interrupted run had copied. */
  | { kind: "copied"; rows: number; earlier: number; comparisons: Comparison[] }
  /** No service can start on the target then. */
  | { kind: "different"; comparisons: Comparison[]; ledgerFaults: string[] }
  | { kind: "already there"; comparisons: Comparison[] };

const BOUNDS: PageBounds = { rows: 2_000, characters: 2_000_000 };
/** Pages on their way on one connection: the next is read and sent while the database writes the last. */
const PAGES_UNDER_WAY = 3;
/** A table with more rows than this is copied over several connections at once. */
const STRETCH_ROWS = 20_000;
const MAX_STRETCHES = 4;

export async function copyStore(options: CopyOptions): Promise<CopyOutcome> {
  const source = new CopySource(options.from);
  const target = new CopyTarget(options.to);
  try {
    await migrate({ url: options.to, leaseMs: 0 }).catch((error: Error) => {
      throw new CopyRefused(`the data in ${options.toName} cannot be opened: ${error.message}`);
    });
    return await new Copy(options, source, target).run();
  } catch (error) {
    throw told(error);
  } finally {
    await target.close();
    source.close();
  }
}

class Copy {
  readonly #options: CopyOptions;
  readonly #source: CopySource;
  readonly #target: CopyTarget;
  #rows = 0;
  #earlier = 0;
  #total = 0;
  #failed = false;

  constructor(options: CopyOptions, source: CopySource, target: CopyTarget) {
    this.#options = options;
    this.#source = source;
    this.#target = target;
  }

  async run(): Promise<CopyOutcome> {
    const { onStep } = this.#options;
    const there = await this.#begin();
    if (there !== null) return { kind: "already there", comparisons: there };

    const stretches = await this.#target.stretches();
    this.#earlier = stretches.reduce((sum, { rows }) => sum + rows, 0);
    this.#rows = this.#earlier;
    this.#total = COPIED.reduce((sum, { name }) => sum + this.#source.count(name), 0);
    onStep?.(this.#earlier > 0 ? "resuming" : "copying");
    await this.#makePartitions();
    for (const table of COPIED)
      await this.#copyTable(
        table,
        stretches.filter(({ name }) => name === table.name),
      );

    onStep?.("checking");
    const comparisons = await compare(this.#source, this.#target.reader);
    const ledgerFaults = await verifyLedger(this.#options.to);
    if (ledgerFaults.length > 0 || comparisons.some(isDifferent)) {
      return { kind: "different", comparisons, ledgerFaults };
    }
    const numbered = COPIED.filter((table) => table.numbered === true);
    await this.#target.finish(
      new Map(numbered.map(({ name }) => [name, this.#source.highestId(name)])),
      this.#source.counter(),
    );
    return { kind: "copied", rows: this.#rows, earlier: this.#earlier, comparisons };
  }

  /** Makes sure that the target is ours to fill. If it is full already, returns how it compares. */
  async #begin(): Promise<Comparison[] | null> {
    const { toName } = this.#options;
    const [node] = await this.#target.nodes();
    if (node !== undefined) {
      throw new CopyRefused(
        `a node runs on ${toName} (${node}): stop all nodes, wait until their lease is over, then copy`,
      );
    }
    const looks = fingerprints(this.#source);
    const earlier = await this.#target.begun();
    if (earlier !== null) {
      this.#requireSame(earlier, looks);
      return null;
    }
    const table = await this.#target.firstWithRows();
    if (table !== null) return this.#requireWhole(table);
    const purposes = [this.#source.counter().purpose, await this.#target.purpose()];
    if (!purposes.includes(null) && purposes[0] !== purposes[1]) {
      throw new CopyRefused(
        `${this.#source.directory} is for ${purposes[0]} and ${toName} for ${purposes[1]}: name an empty database with --to`,
      );
    }
    await this.#target.begin(looks, this.#stretches());
    return null;
  }

  #requireSame(earlier: ReadonlyMap<string, string>, looks: ReadonlyMap<string, string>): void {
    const changed = [...looks].filter(([name, look]) => earlier.get(name) !== look).map(([name]) => name);
    if (changed.length === 0) return;
    const { toName } = this.#options;
    throw new CopyRefused(
      `${toName} holds the beginning of a copy, and ${this.#source.directory} is not as it was then (${changed.join(", ")}): ` +
        "it was changed in between, or it is another directory. Copy from the same data, or begin anew with an empty database",
    );
  }

  async #requireWhole(table: string): Promise<Comparison[]> {
    const { toName } = this.#options;
    if (!(await sameOrigin(this.#source, this.#target.reader))) {
      throw new CopyRefused(
        `${toName} holds data that is not from ${this.#source.directory} (table ${table} has rows): name an empty database with --to`,
      );
    }
    const comparisons = await compare(this.#source, this.#target.reader);
    const different = comparisons.filter(isDifferent).map(({ what }) => what);
    if (different.length === 0) return comparisons;
    throw new CopyRefused(
      `${toName} was copied from ${this.#source.directory} before, and one of them was used since (${different.join(", ")}): ` +
        "nothing was changed. To copy again, name an empty database with --to",
    );
  }

  #stretches(): Stretch[] {
    const { stretchRows = STRETCH_ROWS } = this.#options;
    return COPIED.flatMap((table) => {
      const { name, key } = table;
      const count = this.#source.count(name);
      // Keys of one column are numbers wherever a table grows large, and can be parted.
      const pieces = key.length > 1 ? 1 : Math.max(1, Math.min(MAX_STRETCHES, Math.floor(count / stretchRows)));
      const ends = [...(pieces === 1 ? [] : this.#source.ends(table, pieces, count)), null];
      return ends.map((until, number) => ({ name, number, last: ends[number - 1] ?? [], until, rows: 0 }));
    });
  }

  async #makePartitions(): Promise<void> {
    const pool = new PostgresPool(
      { url: this.#options.to, connections: 2, statementTimeoutMs: 0, leaseMs: 0, log: silentLog },
      "heliograph copy",
    );
    try {
      await new Partitions(pool, partitionDays(0)).ensure(
        BY_DAY.flatMap((table) => this.#source.firstKeysOfDays(table)),
      );
    } finally {
      await pool.close();
    }
  }

  async #copyTable(table: CopiedTable, stretches: readonly Stretch[]): Promise<void> {
    const known = await this.#target.reader.types(table.name);
    const types: ColumnTypes = Object.fromEntries(
      this.#source.columns(table.name).map((column) => {
        const type = known[column];
        if (type === undefined) throw new Error(`${table.name} has no column ${column} on PostgreSQL`);
        return [column, type];
      }),
    );
    const copies = stretches.map((stretch) => this.#copyStretch(table, types, stretch));
    // All have ended before the connections are closed; the first failure is the one that is told.
    await Promise.allSettled(copies);
    await Promise.all(copies);
  }

  async #copyStretch(table: CopiedTable, types: ColumnTypes, stretch: Stretch): Promise<void> {
    const bounds = { ...BOUNDS, rows: this.#options.pageRows ?? BOUNDS.rows };
    const pages = this.#source.pages(table, types, stretch.last, stretch.until, bounds);
    let page = pages.next();
    if (page.done === true) return;
    try {
      const link = await this.#target.connect();
      // A power cut takes a page and its progress together; the commit at the end flushes them all.
      await link.script("SET synchronous_commit = off");
      const writer = new PageWriter(link, table, types, stretch);
      const underWay: Promise<void>[] = [];
      for (; page.done !== true && !this.#failed; page = pages.next()) {
        const { rows } = page.value;
        const written = writer.write(page.value).then(() => this.#advance(table, rows.length));
        written.catch(() => {});
        underWay.push(written);
        // What was read is on its way before the next page is read, which takes this thread for a while.
        await new Promise((resolve) => setImmediate(resolve));
        if (underWay.length >= PAGES_UNDER_WAY) await underWay.shift();
      }
      await Promise.all(underWay);
      await link.end();
    } catch (error) {
      this.#failed = true;
      throw inTable(error, table, this.#options.toName);
    }
  }

  #advance({ name: table }: CopiedTable, count: number): void {
    this.#rows += count;
    this.#options.onRows?.({ table, rows: this.#rows, total: this.#total, earlier: this.#earlier });
  }
}

/** As the service itself would find it. */
async function verifyLedger(url: string): Promise<string[]> {
  const engine = await PostgresEngine.open({
    rules: RULES,
    url,
    connections: 2,
    statementTimeoutMs: 0,
    leaseMs: 0,
    clock: systemClock,
    log: silentLog,
    lanes: { lane: 0, total: 0 },
    mode: "tool",
    name: "heliograph copy",
  });
  try {
    return await localStore(engine, () => undefined).verifyLedger();
  } finally {
    await engine.close();
  }
}

const UNIQUE_VIOLATION = "23505";

function inTable(error: unknown, { name }: CopiedTable, toName: string): unknown {
  if ((error as { code?: string }).code !== UNIQUE_VIOLATION) return error;
  return new CopyRefused(
    `${name} on ${toName} has a row already that is to be copied: somebody else writes to it. Begin anew with an empty database`,
  );
}

/** A database that is away is no reason to begin anew. */
function told(error: unknown): unknown {
  const known = asDatabaseError(error);
  if (!(known instanceof StoreUnavailable)) return error;
  return new CopyRefused(`${known.message}: run the same command again, it goes on where it stopped`);
}
