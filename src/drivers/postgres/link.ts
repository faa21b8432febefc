/**
 * One connection to the database, from its first settings to its end. Statements go out without waiting for the answers to those
 * before them, those of one turn of the event loop in one packet, and the database executes them in order. Within a transaction they
 * are answered together as well (batch.ts).
 */
import pg from "pg";
import { type Clock, systemClock, type Timer } from "../../runtime/clock.ts";
import { DatabaseUnavailable } from "../errors.ts";
import { Batch, type Columns, type StatementAnswer } from "./batch.ts";
import { BEHIND_A_FAILURE } from "./faults.ts";
import { asText } from "./values.ts";

export interface Session {
  /** False once the connection is lost: what became of a statement under way is then not known. */
  readonly alive: boolean;
  /**
   * Sends a statement at once, without waiting for those before it. `text` uses $1…; each text is prepared once a connection.
   * A failure that nobody waits for is no unhandled one: what was sent behind it in its transaction fails with it.
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<{ rows: Row[]; count: number }>;
  /** One statement or several, without values, that come too seldom to be worth preparing. */
  script(text: string): Promise<void>;
}

export interface LinkOptions {
  readonly url: string;
  /** 0 for none. */
  readonly statementTimeoutMs: number;
  readonly leaseMs: number;
  /** It reads whole tables, in one go: the settings for lookups by key would make it crawl. */
  readonly readsAll?: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** How much longer than a statement may take we wait for its answer: for a network that swallows everything. */
const GRACE_MS = 5_000;
/** More texts than this mean that some are made up as they come; those are not kept. */
const MAX_PREPARED = 1_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

const INT8 = 20;
/** Keys and amounts are cast to text where they are read; every other bigint (times, counts, row ids) is below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format as "text"),
};

/**
 * A lookup by key stays a lookup, also when a table has grown a thousandfold since its statistics were taken: scans of whole tables, and the joins
 * that want them, are for what has no index. One plan for all values, because planning costs more than most statements here take.
 */
const PLANNER = ["plan_cache_mode = force_generic_plan", "jit = off"];
const NO_SCANS = ["enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off"];
/** What a database says that does not know a setting, or will not have it changed: undefined object, not supported, invalid value, no right to. */
const UNKNOWN_SETTING = new Set(["42704", "0A000", "22023", "42501", "55P02"]);

const BEGINS_TRANSACTION = /^\s*(BEGIN|START)\b/i;
const ENDS_SCOPE = /^\s*(COMMIT|END|ROLLBACK|ABORT)\b/i;

/**
 * A prepared text. Until the database has said that it has it, the name is used only where the preparation's failure is the
 * failure of all: in the same transaction. Behind that the text goes without a name, or it would fail in a transaction that is sound, because
 * the one before it had failed and took no statements any more.
 */
interface Statement {
  readonly name: string;
  readonly scope: number;
  ready: boolean;
  /** Of its rows; undefined until the database has told. */
  columns: Columns | null | undefined;
}

export class PostgresLink implements Session {
  readonly #client: pg.Client;
  readonly #options: LinkOptions;
  readonly #clock: Clock;
  readonly #statements = new Map<string, Statement>();
  #namesMade = 0;
  /** Grows with everything that ends a transaction or takes a part of it back. */
  #scope = 0;
  #inTransaction = false;
  /** What failed first in a transaction. */
  #firstFault: { readonly scope: number; readonly error: Error } | null = null;
  /** What this turn of the event loop has sent of a transaction. */
  #batch: Batch | null = null;
  #alive = false;
  #onLost: () => void = () => {};
  #corked = false;
  #outstanding = 0;
  #progressAt = 0;
  #patienceMs = CONNECT_TIMEOUT_MS;
  #watch: Timer | null = null;

  constructor(options: LinkOptions, name: string, clock: Clock = systemClock) {
    this.#options = options;
    this.#clock = clock;
    try {
      this.#client = new pg.Client({
        connectionString: options.url,
        application_name: name,
        pipeline: true,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        types,
      });
    } catch (error) {
      // The error of a URL that cannot be read may carry the URL, and with it the password. A file that the URL names may be gone for a while.
      const { code } = error as { code?: string };
      throw new DatabaseUnavailable(
        `the database's URL cannot be used${code === undefined ? "" : ` (${code})`}`,
        "url",
      );
    }
    // Also while nothing is asked: an error event without a listener would end the process.
    this.#client.on("error", () => this.#lost());
    this.#client.on("end", () => this.#lost());
  }

  async connect(onLost: () => void): Promise<void> {
    await this.#client.connect();
    this.#alive = true;
    try {
      await this.#set();
    } catch (error) {
      this.destroy();
      throw error;
    }
    if (!this.#alive) throw new DatabaseUnavailable("the database closed the connection", "ECONNRESET");
    const { statementTimeoutMs } = this.#options;
    this.#patienceMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + GRACE_MS;
    this.#watch?.cancel(); // it was set for the settings, which have less time
    this.#watch = null;
    this.#onLost = onLost;
  }

  async #set(): Promise<void> {
    const { statementTimeoutMs, leaseMs, readsAll = false } = this.#options;
    const settings = [
      `statement_timeout = ${Math.round(statementTimeoutMs)}`,
      // Whoever waits for a lock hears of it before its own time is over.
      `lock_timeout = ${Math.round(statementTimeoutMs / 2)}`,
      // A process that was stopped must not hold its locks longer than its lease.
      `idle_in_transaction_session_timeout = ${Math.round(leaseMs)}`,
      ...PLANNER,
      ...(readsAll ? [] : NO_SCANS),
    ];
    const outcomes = await Promise.allSettled(settings.map((setting) => this.script(`SET ${setting}`)));
    for (const outcome of outcomes)
      if (outcome.status === "rejected" && !UNKNOWN_SETTING.has(outcome.reason?.code)) throw outcome.reason;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Nothing is under way on it, and no transaction is open. */
  get atRest(): boolean {
    return this.#outstanding === 0 && this.#client.getTransactionStatus() === "I";
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<{ rows: Row[]; count: number }> {
    const known = this.#statements.get(text);
    const statement = known ?? this.#prepare(text);
    const certain = statement !== null && (statement.ready || statement.scope === this.#scope);
    const scope = this.#scope;
    return this.#track<StatementAnswer>(text, (resolve, reject) => {
      this.#join(text, {
        text,
        name: certain ? statement.name : "",
        isNew: known === undefined || !certain,
        values: values.map(asText),
        columns: statement?.columns,
        done: (answer, columns) => {
          if (certain) Object.assign(statement, { ready: true, columns });
          resolve(answer);
        },
        failed: (error) => {
          if (certain && !statement.ready) this.#unlearn(text, statement);
          this.#explain(error, scope);
          reject(error);
        },
      });
    }) as Promise<{ rows: Row[]; count: number }>;
  }

  script(text: string): Promise<void> {
    return this.#track(text, (resolve, reject) => {
      this.#sendBatch();
      this.#client.query({ text }, (error: Error | null) => (error == null ? resolve() : reject(error)));
    });
  }

  /** Null when there are too many already. */
  #prepare(text: string): Statement | null {
    if (this.#namesMade === MAX_PREPARED) return null;
    this.#namesMade += 1;
    const made = { name: `s${this.#namesMade}`, scope: this.#scope, ready: false, columns: undefined };
    this.#statements.set(text, made);
    return made;
  }

  /** Whoever hears only that the transaction has failed before learns by what: otherwise it would pass for something that may work later. */
  #explain(error: unknown, scope: number): void {
    if (!(error instanceof Error)) return;
    if ((error as { code?: unknown }).code !== BEHIND_A_FAILURE) this.#firstFault = { scope, error };
    else if (this.#firstFault?.scope === scope) error.cause ??= this.#firstFault.error;
  }

  /** Its first use has failed: unless the database has prepared it before that, it gets another name. */
  #unlearn(text: string, statement: Statement): void {
    const { parsedStatements } = this.#client.connection as unknown as { parsedStatements: Record<string, string> };
    if (parsedStatements[statement.name] !== undefined) statement.ready = true;
    else if (this.#statements.get(text) === statement) this.#statements.delete(text);
  }

  #join(text: string, statement: Parameters<Batch["add"]>[0]): void {
    // What ends a transaction has to be executed whatever became of it.
    if (!this.#inTransaction || ENDS_SCOPE.test(text)) this.#sendBatch();
    this.#batch ??= new Batch(types.getTypeParser);
    this.#batch.add(statement);
  }

  #sendBatch(): void {
    if (this.#batch === null) return;
    this.#client.query(this.#batch);
    this.#batch = null;
  }

  /** Sends something, and waits for what comes of it. */
  #track<Result>(
    text: string,
    send: (resolve: (result: Result) => void, reject: (error: unknown) => void) => void,
  ): Promise<Result> {
    this.#cork();
    if (this.#outstanding === 0) this.#progressAt = this.#clock.monotonic();
    this.#outstanding += 1;
    const answer = new Promise<Result>((resolve, reject) => {
      const settled = (): void => {
        this.#outstanding -= 1;
        this.#progressAt = this.#clock.monotonic();
      };
      send(
        (result) => {
          settled();
          resolve(result);
        },
        (error) => {
          settled();
          reject(error);
        },
      );
    });
    answer.catch(() => {});
    if (BEGINS_TRANSACTION.test(text)) this.#inTransaction = true;
    if (ENDS_SCOPE.test(text)) {
      this.#scope += 1;
      this.#inTransaction = false;
    }
    if (!this.#inTransaction) this.#sendBatch();
    this.#wait();
    return answer;
  }

  #cork(): void {
    if (this.#corked) return;
    this.#corked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
      this.#sendBatch();
      this.#corked = false;
      stream.uncork();
    });
  }

  /** Ends a connection on which nothing comes back: the database's own time limits do not help when the network is gone. */
  #wait(): void {
    if (!this.#alive || this.#watch !== null || this.#patienceMs === 0) return;
    const waited = this.#clock.monotonic() - this.#progressAt;
    this.#watch = this.#clock.after(this.#patienceMs - waited, () => {
      this.#watch = null;
      if (this.#outstanding === 0) return;
      if (this.#clock.monotonic() - this.#progressAt < this.#patienceMs) this.#wait();
      else
        this.#client.connection.stream.destroy(
          new DatabaseUnavailable("the database does not answer", "timeout expired"),
        );
    });
  }

  #lost(): void {
    this.#watch?.cancel();
    this.#watch = null;
    if (!this.#alive) return;
    this.#alive = false;
    this.#onLost();
  }

  /** At once; what is under way on it fails. */
  destroy(): void {
    this.#onLost = () => {};
    this.#client.connection.stream.destroy();
    this.#lost();
  }

  /** After what is under way on it, but not longer than a statement may take. */
  async end(): Promise<void> {
    this.#onLost = () => {};
    const limit = this.#clock.after(this.#patienceMs || CONNECT_TIMEOUT_MS, () => this.destroy());
    await this.#client.end();
    limit.cancel();
    this.#lost();
  }
}

/** Statements that come too seldom for a batch to matter. On a connection that is lost, its own error is told and not that of the rollback. */
export async function inTransaction<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  await session.script("BEGIN");
  try {
    const result = await work();
    await session.script("COMMIT");
    return result;
  } catch (error) {
    await session.script("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
