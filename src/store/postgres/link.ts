/**
 * One connection to the database, from its first settings to its end. Statements go out without waiting for the answers to those
 * before them, those of one turn of the event loop in one packet, and the database executes them in order.
 */
import pg from "pg";
import { type Clock, systemClock, type Timer } from "../../runtime/clock.ts";
import { StoreUnavailable } from "../port.ts";

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
}

const CONNECT_TIMEOUT_MS = 5_000;
/** How much longer than a statement may take we wait for its answer: for a network that swallows everything. */
const GRACE_MS = 5_000;
/** More texts than this mean that some are made up as they come; those are not kept. */
const MOST_PREPARED = 1_000;
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
const PLANNER = [
  "enable_seqscan = off",
  "enable_hashjoin = off",
  "enable_mergejoin = off",
  "plan_cache_mode = force_generic_plan",
  "jit = off",
];
/** What a database says that does not know a setting, or will not have it changed: undefined object, not supported, invalid value, no right to. */
const UNKNOWN_SETTING = new Set(["42704", "0A000", "22023", "42501", "55P02"]);

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
}

export class Link implements Session {
  readonly #client: pg.Client;
  readonly #options: LinkOptions;
  readonly #clock: Clock;
  readonly #statements = new Map<string, Statement>();
  #namesMade = 0;
  /** Grows with everything that ends a transaction or takes a part of it back. */
  #scope = 0;
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
      // The error of a URL that cannot be read may carry the URL, and with it the password.
      const { code } = error as { code?: string };
      throw new Error(`the database's URL cannot be used${code === undefined ? "" : ` (${code})`}`);
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
    if (!this.#alive) throw new StoreUnavailable("the database closed the connection");
    const { statementTimeoutMs } = this.#options;
    this.#patienceMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + GRACE_MS;
    this.#watch?.cancel(); // it was set for the settings, which have less time
    this.#watch = null;
    this.#onLost = onLost;
  }

  async #set(): Promise<void> {
    const { statementTimeoutMs, leaseMs } = this.#options;
    const limits = [
      `statement_timeout = ${Math.round(statementTimeoutMs)}`,
      // Whoever waits for a lock hears of it before its own time is over.
      `lock_timeout = ${Math.round(statementTimeoutMs / 2)}`,
      // A process that was stopped must not hold its locks longer than its lease.
      `idle_in_transaction_session_timeout = ${Math.round(leaseMs)}`,
    ];
    const outcomes = await Promise.allSettled([...limits, ...PLANNER].map((setting) => this.script(`SET ${setting}`)));
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
    const config = { text, values: values as unknown[] };
    const known = this.#statements.get(text);
    if (known === undefined) {
      if (this.#namesMade === MOST_PREPARED) return this.#send<Row>(config);
      this.#namesMade += 1;
      const made: Statement = { name: `s${this.#namesMade}`, ready: false, scope: this.#scope };
      this.#statements.set(text, made);
      return this.#send<Row>({ ...config, name: made.name }, (failed) => this.#learn(text, made, failed));
    }
    const certain = known.ready || known.scope === this.#scope;
    return this.#send<Row>(certain ? { ...config, name: known.name } : config);
  }

  script(text: string): Promise<void> {
    const done = this.#send({ text }).then(() => {});
    done.catch(() => {});
    return done;
  }

  /** Whether the database has a statement is known when its first use is answered. After a failure it gets another name. */
  #learn(text: string, statement: Statement, failed: boolean): void {
    const { parsedStatements } = this.#client.connection as unknown as { parsedStatements: Record<string, string> };
    if (!failed || parsedStatements[statement.name] !== undefined) statement.ready = true;
    else this.#statements.delete(text);
  }

  #send<Row>(
    config: { name?: string; text: string; values?: unknown[] },
    settled?: (failed: boolean) => void,
  ): Promise<{ rows: Row[]; count: number }> {
    this.#cork();
    if (ENDS_SCOPE.test(config.text)) this.#scope += 1;
    if (this.#outstanding === 0) this.#progressAt = this.#clock.monotonic();
    this.#outstanding += 1;
    const answer = new Promise<{ rows: Row[]; count: number }>((resolve, reject) => {
      // Once, because the driver may call twice for values that it cannot write.
      let open = true;
      this.#client.query(config, (error: Error | null, result: pg.QueryResult) => {
        if (!open) return;
        open = false;
        this.#outstanding -= 1;
        this.#progressAt = this.#clock.monotonic();
        settled?.(error != null);
        if (error != null) reject(error);
        else resolve({ rows: result.rows as Row[], count: result.rowCount ?? 0 });
      });
    });
    answer.catch(() => {});
    this.#wait();
    return answer;
  }

  #cork(): void {
    if (this.#corked) return;
    this.#corked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
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
      else this.#client.connection.stream.destroy(new StoreUnavailable("the database does not answer"));
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
