/**
 * The PostgreSQL engine of the store: runs a group of commands in one transaction.
 *
 *   BEGIN, the node's fence, what the group needs  ──▶  the commands, in memory  ──▶  what they changed, COMMIT
 *                     one round trip                                                     another
 *
 * Commands that find their rows by searching have a transaction of their own, and what only reads goes beside the others, over a pool.
 */
import type { PostgresConnectionOptions } from "../../drivers/postgres/attempts.ts";
import { PostgresConnection } from "../../drivers/postgres/connection.ts";
import { asDatabaseError, faultKind, firstFault, isLasting } from "../../drivers/postgres/faults.ts";
import type { Session } from "../../drivers/postgres/link.ts";
import { PostgresPool } from "../../drivers/postgres/pool.ts";
import { Lease } from "../../node/lease.ts";
import { ROLES, type Role } from "../../node/roles.ts";
import { type Backoff, backoffMs } from "../../runtime/backoff.ts";
import { type Clock, sleep, systemClock } from "../../runtime/clock.ts";
import { IdSource } from "../../runtime/ids.ts";
import type { Log } from "../../runtime/log.ts";
import { NO_KEYS, type SecretBox } from "../../runtime/secrets.ts";
import { type Rules, readSetOf, runCommands } from "../command-table.ts";
import { type Call, type CallOutcome, type Engine, type GroupResult, joinFeeds, runEach } from "../group.ts";
import { IdMark, startAfter } from "../id-mark.ts";
import { LaneAccounts, type LaneBounds } from "../lanes.ts";
import { COMMAND_MODES, type CommandMode } from "../modes.ts";
import { type Feed, type LaneName, NOTHING_FED } from "../port/delivery.ts";
import { StoreUnavailable } from "../port/errors.ts";
import type { CommandInput, CommandName, CommandOutput } from "../port/store.ts";
import { settledRow } from "../settled.ts";
import type { Unit } from "../unit.ts";
import { ConcurrentCommands, MAX_RACES } from "./concurrent.ts";
import { Heartbeat } from "./heartbeat.ts";
import { idMarks, raiseIdMark } from "./id-marks.ts";
import { MessagePurge } from "./message-purge.ts";
import { migrate } from "./migrate.ts";
import { Nodes } from "./nodes.ts";
import { OwnedMessages } from "./owned-messages.ts";
import { Partitions, partitionDays } from "./partitions.ts";
import { ServiceWallets } from "./service-wallets.ts";
import { leave, TakeOver } from "./takeover.ts";
import { FIRST_LANE, waitingLanes } from "./waiting-lanes.ts";
import { Watch, type WatchParts } from "./watch.ts";
import { Workspace } from "./workspace.ts";

export interface PostgresOptions {
  readonly rules: Rules;
  readonly url: string;
  readonly connections: number;
  readonly statementTimeoutMs: number;
  readonly leaseMs: number;
  /** How many days of messages a partition holds. */
  readonly partitionDays?: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly lanes: LaneBounds;
  /** "deliver" joins the nodes; "tool" is for the command line, which may work beside them and delivers nothing; "look" reads the schema that is there. */
  readonly mode: "deliver" | "tool" | "look";
  readonly roles?: readonly Role[];
  /** Seals secrets; without it they are kept as they are. */
  readonly secrets?: SecretBox;
  /** What this node is called, for people. */
  readonly name?: string;
  /** Told to whoever acts for this node. */
  readonly lease?: Lease;
}

/** Whoever lost a race to another node waits a little before the next, longer each time, and not as long as the other. */
const CONFLICT_BACKOFF: Backoff = { firstMs: 10, maxMs: 1_280, jitter: 1 };
/** Whoever has lost so often may have met something long, and waits for its locks. */
const MAX_HASTY_TRIES = 4;
/** How long callers wait to hear whether a commit went through whose answer was lost. */
const RESOLVE_MS = 3_000;
const RESOLVE_EVERY_MS = 100;

/** A commit whose answer was lost: it went through, or it did not. */
interface Unresolved {
  readonly group: number;
  readonly calls: readonly Call[];
  readonly result: GroupResult;
  readonly unit: Unit;
}

export class PostgresEngine implements Engine {
  readonly #options: PostgresOptions;
  readonly #parts: EngineParts;
  readonly #lanes: LaneAccounts;
  readonly #writing: Workspace;
  readonly #concurrent: ConcurrentCommands;
  readonly #owned: OwnedMessages;
  readonly #idMark: IdMark;
  /** Names what is made here; the edge takes from it too. */
  readonly ids: IdSource;
  #group = 0;
  #unresolved: Unresolved | null = null;
  /** What it does all the time, whatever is asked of it: it looks at the others, takes over from the dead, and renews its lease. */
  #loops: { readonly watch: Watch; readonly takeOver: TakeOver; readonly heartbeat: Heartbeat } | null = null;
  #onFenced: (reason: string) => void = () => undefined;
  #onFeed: (feed: Feed) => void = () => undefined;
  #fenced = false;
  #closing = false;
  #closed = false;

  private constructor(options: PostgresOptions, parts: EngineParts) {
    const { pool, nodes, ids, partitions } = parts;
    this.#options = options;
    this.#parts = parts;
    const { roles = ROLES, mode, lanes, clock } = options;
    const delivers = mode === "deliver";
    this.#lanes = new LaneAccounts(delivers && roles.includes("dispatch") ? lanes : { lane: 0, total: 0 });
    const serviceWallets = new ServiceWallets(pool, nodes.slot);
    const messagePurge = new MessagePurge(partitions);
    this.#owned = new OwnedMessages(nodes.epoch);
    this.ids = ids;
    this.#idMark = new IdMark(ids);
    const makeWorkspace = (): Workspace =>
      new Workspace({
        rules: options.rules,
        lanes: this.#lanes,
        ids,
        epoch: nodes.epoch,
        pushes: delivers && roles.includes("reports"),
        now: () => clock.now(),
        secrets: options.secrets ?? NO_KEYS,
        nodes,
        partitions,
        messagePurge,
        serviceWallets,
        owned: this.#owned,
      });
    this.#writing = makeWorkspace();
    this.#concurrent = new ConcurrentCommands(pool, options, makeWorkspace);
  }

  /** Brings the schema up to date and joins the nodes. */
  static async open(options: PostgresOptions): Promise<PostgresEngine> {
    const { url, connections, statementTimeoutMs, leaseMs, log, mode } = options;
    const connecting: PostgresConnectionOptions = { url, connections, statementTimeoutMs, leaseMs, log };
    if (mode !== "look") await migrate({ url, leaseMs });
    const name = options.name ?? `heliograph ${mode}`;
    const connection = new PostgresConnection(connecting, name);
    const pool = new PostgresPool(connecting, name);
    const lease = options.lease ?? new Lease();
    const nodes = new Nodes({ name, roles: options.roles ?? ROLES, leaseMs, lease });
    const partitions = new Partitions(pool, options.partitionDays ?? partitionDays(0));
    try {
      if (mode === "deliver") {
        await partitions.ensureAhead(options.clock.now());
        await nodes.join(await connection.session(), options.clock.now());
      }
      // Only now that the number is this node's: whoever had it before raises its mark no more.
      const marks = await pool.use((session) => idMarks(session));
      const ids = new IdSource(options.clock, nodes.slot, startAfter(marks, nodes.slot, options.clock.now()));
      return new PostgresEngine(options, { connection, pool, nodes, lease, ids, partitions });
    } catch (error) {
      await connection.close();
      await pool.close();
      throw asDatabaseError(error);
    }
  }

  get epoch(): number {
    return this.#parts.nodes.epoch;
  }

  /** Begins to renew the lease, to take over from the dead, and to tell delivery what waits in the store. */
  start({ onFeed, onFenced, send }: EngineEvents): void {
    this.#onFeed = onFeed;
    this.#onFenced = onFenced;
    const options = this.#options;
    const parts = {
      ...options,
      ...this.#parts,
      // Leases run on real time, whatever a test makes the messages believe.
      clock: systemClock,
      roles: options.roles ?? ROLES,
      serves: (carrierId: string) => this.#lanes.serves(carrierId),
      onOverflowed: (lane: LaneName) => this.#lanes.setOverflowed(lane, true),
      onFeed,
      onFenced: () => this.#fence(),
      send,
    };
    const watch = new Watch(parts);
    watch.start();
    const connection = new PostgresConnection(options, `${options.name ?? "heliograph"} heartbeat`);
    this.#loops = {
      watch,
      takeOver: new TakeOver({ ...parts, onFreed: () => watch.tell() }),
      heartbeat: new Heartbeat({ ...parts, connection }),
    };
  }

  async #stopLoops(): Promise<void> {
    await this.#loops?.watch.stop();
    await this.#loops?.takeOver.stop();
    await this.#loops?.heartbeat.stop();
  }

  /** Lanes with messages that no process has in memory. */
  async overflowedLanes(): Promise<LaneName[]> {
    const found = await this.#parts.pool.use((session) => waitingLanes(session, FIRST_LANE, Number.MAX_SAFE_INTEGER));
    const lanes = found.map(({ accountId, carrierId }) => ({ accountId, carrierId }));
    for (const lane of lanes) this.#lanes.setOverflowed(lane, true);
    return lanes;
  }

  ownTransaction(command: CommandName): boolean {
    return COMMAND_MODES[command] !== "grouped";
  }

  runConcurrently(call: Call): Promise<CallOutcome> | null {
    const known = this.#loops === null ? null : this.#known(call);
    if (known !== null) return Promise.resolve({ ok: true, value: known });
    const mode: CommandMode = COMMAND_MODES[call.command];
    if (mode === "grouped" || mode === "own transaction") return null;
    return this.#concurrent.run(call);
  }

  /** What is asked several times a second, and the watch has seen just now. */
  #known({ command, input }: Call): unknown {
    if (command === "changeCounter") return this.#loops!.watch.knownChanges;
    if (command === "cluster") return this.#parts.nodes.knownCluster;
    return command === "shareBinds"
      ? this.#parts.nodes.knownShares((input as CommandInput<"shareBinds">).claims)
      : null;
  }

  async run(calls: readonly Call[]): Promise<GroupResult> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#transaction(calls, tries > MAX_HASTY_TRIES);
      } catch (error) {
        const kind = this.#fenced ? "away" : faultKind(error);
        if (kind === "again" && tries < MAX_RACES) {
          await sleep(systemClock, backoffMs(CONFLICT_BACKOFF, tries));
          continue;
        }
        // One that fails always must not take the others with it.
        if (kind !== "away" && calls.length > 1) return runEach(this, calls);
        const told = kind === "again" && isLasting(error) ? firstFault(error) : asDatabaseError(error);
        return { outcomes: calls.map(() => ({ ok: false, error: told })), feed: null };
      }
    }
  }

  async #transaction(calls: readonly Call[], isPatient: boolean): Promise<GroupResult> {
    if (this.#fenced) throw new StoreUnavailable(FENCED);
    if (this.#closing) throw new StoreUnavailable(CLOSING);
    await this.#resolve();
    const session = await this.#parts.connection.session();
    // To connect takes a while, and a node that has left meanwhile would be taken for fenced.
    if (this.#closing) throw new StoreUnavailable(CLOSING);
    const moment = Lease.moment();
    const group = ++this.#group;
    const workspace = this.#writing;
    const unit = workspace.begin(session, isPatient);
    let committing = false;
    try {
      const begun = session.query("BEGIN");
      const fenced = this.#options.mode === "deliver" ? this.#parts.nodes.fence(session, group) : Promise.resolve(true);
      // Together: of several that fail, one that nobody waits for would end the process.
      const [isOurs] = await Promise.all([fenced, begun, workspace.tables.load(readSetOf(workspace.commands, calls))]);
      if (!isOurs) this.#fence();
      if (this.#fenced) throw new StoreUnavailable(FENCED);
      const outcomes = await runCommands(workspace.commands, calls);
      const reports = workspace.flushReports();
      const names = workspace.tables.namesToMatch;
      const owned = workspace.tables.messages.ownedNow;
      unit.onCommit(() => this.#owned.keep(owned));
      const flushed = Promise.all([
        workspace.tables.flush(),
        this.#noteSettled(session, unit),
        this.#promiseIds(session, unit),
      ]);
      committing = true;
      const result: GroupResult = { outcomes, feed: unit.feed(reports) };
      const committed = session.query("COMMIT");
      this.#unresolved = { group, calls, result, unit };
      await Promise.all([flushed, committed]);
      this.#unresolved = null;
      unit.committed();
      if (this.#options.mode === "deliver") this.#parts.nodes.touched(moment);
      this.#loops?.watch.committed(unit, names);
      if (unit.changed) this.#loops?.watch.changed();
      return result;
    } catch (error) {
      const kind = faultKind(error);
      const lost = kind === "away" || !session.alive;
      if (committing && lost && this.#options.mode === "deliver" && !this.#fenced) {
        this.#parts.connection.discard();
        return await this.#outcomeOfLostCommit(error);
      }
      this.#unresolved = null;
      unit.rollback();
      // What is still on its way on this connection fails in the transaction, which then ends.
      await session.query("ROLLBACK").catch(() => this.#parts.connection.discard());
      throw error;
    }
  }

  /** The receipts that this transaction has applied. */
  async #noteSettled(session: Session, unit: Unit): Promise<void> {
    const row = settledRow(unit.settled);
    if (row === null) return;
    const values = [this.#options.clock.now(), row.count, row.names];
    await session.query("INSERT INTO settled_receipt (at_ms, name_count, names) VALUES ($1, $2, $3)", values);
  }

  /** Raises the mark of this node's ids, if this transaction has to. */
  async #promiseIds(session: Session, unit: Unit): Promise<void> {
    const mark = this.#idMark.due();
    if (mark === null) return;
    unit.onCommit(() => this.#idMark.raised(mark));
    await raiseIdMark(session, this.ids.node, mark);
  }

  /** The connection died in the commit: the database knows whether it went through, as soon as it can be asked. */
  async #outcomeOfLostCommit(error: unknown): Promise<GroupResult> {
    const clock = systemClock;
    const { result } = this.#unresolved!;
    const until = clock.monotonic() + RESOLVE_MS;
    while (clock.monotonic() < until && !this.#closed) {
      try {
        const committed = await this.#settleLostCommit();
        if (committed) return result;
        throw error;
      } catch (again) {
        if (again === error || faultKind(again) !== "away" || this.#fenced) throw again;
      }
      await sleep(clock, RESOLVE_EVERY_MS);
    }
    throw error;
  }

  /** A commit whose outcome is still open is looked up before anything else is done: its messages may be ours to send. */
  async #resolve(): Promise<void> {
    if (this.#unresolved === null) return;
    const { calls, result } = this.#unresolved;
    if (!(await this.#settleLostCommit())) return;
    // Its callers were told that the store is not there; what it accepted goes out all the same, and so do the reports that it handed out.
    const reports = calls.flatMap(({ command }, index) => {
      const outcome = result.outcomes[index]!;
      return command === "dueReports" && outcome.ok ? (outcome.value as CommandOutput<"dueReports">).batches : [];
    });
    const feed = joinFeeds(result.feed, reports.length === 0 ? null : { ...NOTHING_FED, reports });
    if (feed !== null) this.#onFeed(feed);
  }

  async #settleLostCommit(): Promise<boolean> {
    const { group, unit } = this.#unresolved!;
    const last = await this.#parts.nodes.lastGroup(await this.#parts.connection.session());
    if (last === null) this.#fence();
    const committed = last === group;
    if (committed) unit.committed();
    else unit.rollback();
    this.#unresolved = null;
    return committed;
  }

  /** Another node has taken over what this one had: from now on nothing is done in its name. */
  #fence(): void {
    if (this.#fenced) return;
    this.#fenced = true;
    this.#parts.lease.end();
    this.#options.log.error({ epoch: this.#parts.nodes.epoch }, FENCED);
    this.#onFenced(FENCED);
  }

  /** Leaves the nodes, so that the others need not wait for the lease to run out. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#stopLoops();
    if (this.#options.mode === "deliver" && !this.#fenced && !this.#closed) {
      const { log } = this.#options;
      await leave({ pool: this.#parts.pool, nodes: this.#parts.nodes, clock: systemClock, log });
    }
    await this.abandon();
  }

  /** Ends as if the process had died. */
  async abandon(): Promise<void> {
    this.#closed = true;
    await this.#stopLoops();
    await this.#parts.connection.close();
    await this.#parts.pool.close();
  }
}

const CLOSING = "the store is being closed";
const FENCED = "another node took over what this one had, because its lease had run out";

export interface EngineEvents extends Pick<WatchParts, "onFeed" | "send"> {
  readonly onFenced: (reason: string) => void;
}

interface EngineParts {
  readonly connection: PostgresConnection;
  readonly pool: PostgresPool;
  readonly nodes: Nodes;
  readonly lease: Lease;
  readonly partitions: Partitions;
  readonly ids: IdSource;
}
