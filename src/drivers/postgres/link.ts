/**
 * One connection to the database, from its first settings to its end. Statements go out without waiting for the answers to those
 * before them, those of one turn of the event loop in one packet, and the database executes them in order. Within a transaction they
 * are answered together as well (batch.ts).
 */
import pg from "pg";
import { type Clock, systemClock, type Timer } from "../../runtime/clock.ts";
import { publicId } from "../../runtime/random.ts";
import { DatabaseUnavailable } from "../errors.ts";
import { Batch, type Columns, type StatementAnswer } from "./batch.ts";
import { BEHIND_A_FAILURE, codeOf, isAnswer, ReadOnlyServer } from "./faults.ts";
import { connectTimeoutMs, type Server, serversOf, tookWrites } from "./servers.ts";
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
  /** Of the servers that it names the one is taken that takes writes. */
  readonly url: string;
  /** 0 for none. */
  readonly statementTimeoutMs: number;
  readonly leaseMs: number;
  /** It reads whole tables, in one go: the settings for lookups by key would make it crawl. */
  readonly readsAll?: boolean;
  /** A server that takes no writes will do, where none is there that does. */
  readonly onlyReads?: boolean;
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

/** Each session has a mark of its own. One that has another's is shared: a pool gives it out for a transaction, or a statement. */
const MARK = "current_setting('heliograph.session', true)";
const STANDING = `SELECT current_setting('transaction_read_only') AS "readOnly", ${MARK} AS mark`;
/** A server that takes no writes, and a session that has lost what was prepared on it. Neither gets better by waiting. */
const ENDS_CONNECTION = new Set(["25006", "26000"]);
/**
 * Warnings at a commit: PostgreSQL has committed, but has given up to wait for the standby (canceled, or told to end). The next one to
 * serve may know nothing of it.
 */
const IN_DOUBT = /^(01...|57P0.)$/;

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
  /** Of the server that is tried, or was taken; null before the first. */
  #client: pg.Client | null = null;
  readonly #name: string;
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
  #isDestroyed = false;
  #onLost: (reason: string | null) => void = () => {};
  #corked = false;
  #outstanding = 0;
  /** Of these, what ends a transaction, or is one by itself. */
  #commits = 0;
  #progressAt = 0;
  #patienceMs = CONNECT_TIMEOUT_MS;
  #watch: Timer | null = null;

  constructor(options: LinkOptions, name: string, clock: Clock = systemClock) {
    this.#options = options;
    this.#name = name;
    this.#clock = clock;
  }

  /** Tries the servers one after the other, each once; names are looked up anew each time. */
  async connect(onLost: (reason: string | null) => void): Promise<void> {
    const { url, statementTimeoutMs, onlyReads = false } = this.#options;
    let told: unknown = null;
    for (const needsWrites of onlyReads ? [true, false] : [true]) {
      for (const server of serversOf(url)) {
        try {
          await this.#take(server, needsWrites);
          this.#patienceMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + GRACE_MS;
          this.#watch?.cancel(); // it was set for the settings, which have less time
          this.#watch = null;
          this.#onLost = onLost;
          return;
        } catch (error) {
          if (this.#isDestroyed) throw error;
          this.#leave();
          // What a server has answered says more than that another cannot be reached.
          if (told === null || (isAnswer(error) && !isAnswer(told))) told = error;
        }
      }
    }
    throw told;
  }

  async #take(server: Server, needsWrites: boolean): Promise<void> {
    const { url } = this.#options;
    const client = this.#open(server);
    this.#client = client;
    // Also while nothing is asked: an error event without a listener would end the process.
    client.on("error", () => this.#client === client && this.#lost(null));
    client.on("end", () => this.#client === client && this.#lost(null));
    client.on("notice", ({ code }) => {
      if (this.#client !== client || this.#commits === 0 || !IN_DOUBT.test(code ?? "")) return;
      this.#leave(`the wait of a commit for the standby was given up (${code})`);
    });
    await client.connect();
    this.#alive = true;
    const { readOnly, isShared } = await this.#set(client);
    if (isShared)
      throw new DatabaseUnavailable(
        `the pool at ${server.name} gives one session to many (pool_mode = transaction or statement); it has to be session`,
        "pooled",
      );
    if (readOnly && needsWrites) throw new ReadOnlyServer(server.name);
    if (!this.#alive) throw new DatabaseUnavailable("the database closed the connection", "ECONNRESET");
    if (!readOnly) tookWrites(url, server);
  }

  #open({ url }: Server): pg.Client {
    try {
      return new pg.Client({
        connectionString: url,
        application_name: this.#name,
        pipeline: true,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
        connectionTimeoutMillis: connectTimeoutMs(url) ?? CONNECT_TIMEOUT_MS,
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
  }

  /** What stands there already, and our settings: all in one round trip. */
  async #set(client: pg.Client): Promise<{ readonly readOnly: boolean; readonly isShared: boolean }> {
    const own = publicId(8);
    const { statementTimeoutMs, leaseMs, readsAll = false } = this.#options;
    const settings = [
      `statement_timeout = ${Math.round(statementTimeoutMs)}`,
      // Whoever waits for a lock hears of it before its own time is over.
      `lock_timeout = ${Math.round(statementTimeoutMs / 2)}`,
      // A process that was stopped must not hold its locks longer than its lease.
      `idle_in_transaction_session_timeout = ${Math.round(leaseMs)}`,
      ...PLANNER,
      ...(readsAll ? [] : NO_SCANS),
      `heliograph.session = '${own}'`,
    ];
    const standing = client.query<{ readOnly: string; mark: string | null }>(STANDING);
    const set = settings.map((setting) => this.script(`SET ${setting}`));
    const marked = client.query<{ mark: string | null }>(`SELECT ${MARK} AS mark`);
    const outcomes = await Promise.allSettled([standing, marked, ...set]);
    for (const outcome of outcomes)
      if (outcome.status === "rejected" && !UNKNOWN_SETTING.has(outcome.reason?.code)) throw outcome.reason;
    const before = (await standing.catch(() => null))?.rows[0];
    // A pool that ends a session leaves "" there.
    const after = (await marked.catch(() => null))?.rows[0]?.mark || own;
    return { readOnly: before?.readOnly === "on", isShared: !!before?.mark || after !== own };
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Nothing is under way on it, and no transaction is open. */
  get atRest(): boolean {
    return this.#outstanding === 0 && this.#client?.getTransactionStatus() === "I";
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
      this.#client!.query({ text }, (error: Error | null) => (error == null ? resolve() : reject(error)));
    });
  }

  /** Hears of every notification on the channel, for as long as the connection lives. */
  listen(channel: string, onNews: () => void): Promise<void> {
    this.#client!.on("notification", onNews);
    return this.script(`LISTEN ${channel}`);
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
    const { parsedStatements } = this.#client!.connection as unknown as { parsedStatements: Record<string, string> };
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
    this.#client!.query(this.#batch);
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
    if (BEGINS_TRANSACTION.test(text)) this.#inTransaction = true;
    const isCommit = !this.#inTransaction || ENDS_SCOPE.test(text);
    if (isCommit) this.#commits += 1;
    const answer = new Promise<Result>((resolve, reject) => {
      const settled = (): void => {
        this.#outstanding -= 1;
        if (isCommit) this.#commits -= 1;
        this.#progressAt = this.#clock.monotonic();
      };
      send(
        (result) => {
          settled();
          // What comes behind a warning that ended the connection is not to be believed.
          if (this.#alive) resolve(result);
          else reject(new DatabaseUnavailable("the connection was lost", "08006"));
        },
        (error) => {
          settled();
          reject(error);
          const code = error instanceof Error ? codeOf(error) : null;
          if (code !== null && ENDS_CONNECTION.has(code)) this.#leave(code);
        },
      );
    });
    answer.catch(() => {});
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
    const { stream } = this.#client!.connection;
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
        this.#client!.connection.stream.destroy(
          new DatabaseUnavailable("the database does not answer", "timeout expired"),
        );
    });
  }

  #lost(reason: string | null): void {
    this.#watch?.cancel();
    this.#watch = null;
    if (!this.#alive) return;
    this.#alive = false;
    this.#onLost(reason);
  }

  /** At once; what is under way on it fails. */
  #leave(reason: string | null = null): void {
    this.#client?.connection.stream.destroy();
    this.#lost(reason);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#onLost = () => {};
    this.#leave();
  }

  /** After what is under way on it, but not longer than a statement may take. */
  async end(): Promise<void> {
    this.#onLost = () => {};
    const limit = this.#clock.after(this.#patienceMs || CONNECT_TIMEOUT_MS, () => this.destroy());
    await this.#client?.end();
    limit.cancel();
    this.#lost(null);
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
