/**
 * The PostgreSQL engine of the store. Groups of commands are written in lines beside each other (writer.ts): one of what clients ask for, and those of what
 * delivery tells (told-lines.ts). What only reads goes beside them, over a pool.
 */
import type { PostgresConnectionOptions } from "../../drivers/postgres/attempts.ts";
import { PostgresConnection } from "../../drivers/postgres/connection.ts";
import { asDatabaseError } from "../../drivers/postgres/faults.ts";
import { PostgresPool } from "../../drivers/postgres/pool.ts";
import { Lease } from "../../node/lease.ts";
import { ROLES, type Role } from "../../node/roles.ts";
import { type Clock, sleep, systemClock } from "../../runtime/clock.ts";
import { IdSource, TOOL_NODE } from "../../runtime/ids.ts";
import type { Log } from "../../runtime/log.ts";
import { NO_KEYS, type SecretBox } from "../../runtime/secrets.ts";
import type { Rules } from "../command-table.ts";
import type { Call, CallOutcome, Engine, GroupResult } from "../group.ts";
import { IdMark, startAfter } from "../id-mark.ts";
import { LaneAccounts, type LaneBounds } from "../lanes.ts";
import { COMMAND_MODES, type CommandMode } from "../modes.ts";
import type { Feed, LaneName } from "../port/delivery.ts";
import type { CommandInput, CommandName } from "../port/store.ts";
import { NextReferences } from "../references.ts";
import { type Setback, toldSetback } from "./committed-groups.ts";
import { ConcurrentCommands } from "./concurrent.ts";
import { Heartbeat } from "./heartbeat.ts";
import { idMarks } from "./id-marks.ts";
import { MessagePurge } from "./message-purge.ts";
import { migrate } from "./migrate.ts";
import { CLIENT_PLACES, Nodes, WRITERS } from "./nodes.ts";
import { OwnedMessages } from "./owned-messages.ts";
import { Partitions, partitionDays } from "./partitions.ts";
import { ServiceWallets } from "./service-wallets.ts";
import { NO_NAMES } from "./tables.ts";
import { leave, TakeOver } from "./takeover.ts";
import { FIRST_LANE, waitingLanes } from "./waiting-lanes.ts";
import { Watch, type WatchParts } from "./watch.ts";
import { Workspace } from "./workspace.ts";
import { FENCED, Standing, Writer } from "./writer.ts";

/** How long a fenced node, which does nothing any more, asks why that is. */
const WHY_MS = 10_000;
const WHY_EVERY_MS = 200;

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

export class PostgresEngine implements Engine {
  readonly #options: PostgresOptions;
  readonly #parts: EngineParts;
  readonly #lanes: LaneAccounts;
  readonly #ofClients: Writer;
  readonly #ofDelivery: readonly Writer[];
  readonly #concurrent: ConcurrentCommands;
  /** Names what is made here; the edge takes from it too. */
  readonly ids: IdSource;
  readonly overlaps = true;
  /** What it does all the time, whatever is asked of it: it looks at the others, takes over from the dead, and renews its lease. */
  #loops: { readonly watch: Watch; readonly takeOver: TakeOver; readonly heartbeat: Heartbeat } | null = null;
  #onFenced: (reason: string) => void = () => undefined;
  #onFeed: (feed: Feed) => void = () => undefined;
  readonly #standing = new Standing();

  private constructor(options: PostgresOptions, parts: EngineParts) {
    const { pool, nodes, ids, partitions, lines } = parts;
    this.#options = options;
    this.#parts = parts;
    const { roles = ROLES, mode, lanes, clock } = options;
    const delivers = mode === "deliver";
    this.#lanes = new LaneAccounts(delivers && roles.includes("dispatch") ? lanes : { lane: 0, total: 0 });
    const messagePurge = new MessagePurge(partitions);
    const owned = new OwnedMessages(nodes.epoch);
    const idMark = new IdMark(ids);
    this.ids = ids;
    const references = new NextReferences();
    const makeWorkspace = (line = 0): Workspace =>
      new Workspace({
        rules: options.rules,
        lanes: this.#lanes,
        ids,
        references,
        epoch: nodes.epoch,
        pushes: delivers && roles.includes("reports"),
        now: () => clock.now(),
        secrets: options.secrets ?? NO_KEYS,
        nodes,
        partitions,
        messagePurge,
        serviceWallets: new ServiceWallets(pool, nodes.slot + line * (TOOL_NODE + 1)),
        owned,
      });
    const standing = this.#standing;
    const writer = (line: number, numbers: readonly number[]): Writer =>
      new Writer({
        ...parts,
        places: numbers.map((number) => ({ number, connection: lines[number]!, workspace: makeWorkspace(line) })),
        idMark,
        owned,
        clock,
        delivers,
        standing,
        onFenced: () => this.#fence(),
        onFeed: (feed) => this.#onFeed(feed),
        onCommitted: (unit, names) => {
          // Meanwhile another line may have claimed all that it could see of the lane.
          for (const lane of unit.overflowed.values()) this.#lanes.setOverflowed(lane, true);
          const isAlone = !nodes.hasOthers && this.#ofDelivery.filter(({ isInUse }) => isInUse).length < 2;
          this.#loops?.watch.committed(unit, isAlone ? NO_NAMES : names);
          if (unit.changed) this.#loops?.watch.changed();
        },
      });
    const ofDelivery = lines.slice(CLIENT_PLACES);
    this.#ofClients = writer(0, [...lines.slice(0, CLIENT_PLACES).keys()]);
    this.#ofDelivery = ofDelivery.map((_, told) => writer(1 + told, [CLIENT_PLACES + told]));
    this.#concurrent = new ConcurrentCommands(pool, options, makeWorkspace);
  }

  /** Brings the schema up to date and joins the nodes. */
  static async open(options: PostgresOptions): Promise<PostgresEngine> {
    const { url, connections, statementTimeoutMs, leaseMs, log, mode } = options;
    const onlyReads = mode === "look";
    const connecting: PostgresConnectionOptions = { url, connections, statementTimeoutMs, leaseMs, log, onlyReads };
    if (mode !== "look") await migrate({ url, leaseMs });
    const name = options.name ?? `heliograph ${mode}`;
    const lines = Array.from({ length: WRITERS }, () => new PostgresConnection(connecting, name));
    const pool = new PostgresPool(connecting, name);
    const lease = options.lease ?? new Lease();
    const nodes = new Nodes({ name, roles: options.roles ?? ROLES, leaseMs, lease });
    const partitions = new Partitions(pool, options.partitionDays ?? partitionDays(0));
    try {
      if (mode === "deliver") {
        await partitions.ensureAhead(options.clock.now());
        await nodes.join(await lines[0]!.session(), options.clock.now());
      }
      // Only now that the number is this node's: whoever had it before raises its mark no more.
      const marks = await pool.use((session) => idMarks(session));
      const ids = new IdSource(options.clock, nodes.slot, startAfter(marks, nodes.slot, options.clock.now()));
      return new PostgresEngine(options, { lines, pool, nodes, lease, ids, partitions });
    } catch (error) {
      await lines[0]!.close();
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

  run(calls: readonly Call[], onHandedOver?: () => void): Promise<GroupResult> {
    return this.#ofClients.run(calls, onHandedOver);
  }

  /** What delivery tells is written beside what clients ask for. */
  get beside(): readonly Engine[] {
    return this.#ofDelivery.map((writer) => ({
      run: (calls) => writer.run(calls),
      ownTransaction: (command) => this.ownTransaction(command),
      runConcurrently: (call) => this.runConcurrently(call),
    }));
  }

  /** Another node has taken over what this one had, or the database is not as this one left it: from now on nothing is done in its name. */
  #fence(): void {
    if (this.#standing.isFenced) return;
    this.#standing.isFenced = true;
    this.#parts.lease.end();
    void this.#whyFenced().then((reason) => {
      this.#options.log.error({ epoch: this.#parts.nodes.epoch }, reason);
      this.#onFenced(reason);
    });
  }

  /** In a sentence. A node that the database is behind leaves at once: others send what is queued there in its name. */
  async #whyFenced(): Promise<string> {
    const { pool, nodes } = this.#parts;
    const untilMs = systemClock.monotonic() + WHY_MS;
    let setback: Setback | null = null;
    do {
      try {
        setback ??= await pool.use((session) => nodes.setback(session));
        if (setback === null) return FENCED;
        await pool.use((session) => nodes.leave(session, setback));
        return toldSetback(setback);
      } catch {
        // A server that is just being promoted may have answered the line, and nobody else yet.
        await sleep(systemClock, WHY_EVERY_MS);
      }
    } while (systemClock.monotonic() < untilMs && !this.#standing.isClosed);
    return setback === null ? FENCED : toldSetback(setback);
  }

  /** Leaves the nodes, so that the others need not wait for the lease to run out. */
  async close(): Promise<void> {
    this.#standing.isClosing = true;
    await this.#stopLoops();
    if (this.#options.mode === "deliver" && !this.#standing.isFenced && !this.#standing.isClosed) {
      const { log } = this.#options;
      await leave({ pool: this.#parts.pool, nodes: this.#parts.nodes, clock: systemClock, log });
    }
    await this.abandon();
  }

  /** Ends as if the process had died. */
  async abandon(): Promise<void> {
    this.#standing.isClosed = true;
    await this.#stopLoops();
    await Promise.all(this.#parts.lines.map((line) => line.close()));
    await this.#parts.pool.close();
  }
}

export interface EngineEvents extends Pick<WatchParts, "onFeed" | "send"> {
  readonly onFenced: (reason: string) => void;
}

interface EngineParts {
  /** The connections of its lines, by their numbers. */
  readonly lines: readonly PostgresConnection[];
  readonly pool: PostgresPool;
  readonly nodes: Nodes;
  readonly lease: Lease;
  readonly partitions: Partitions;
  readonly ids: IdSource;
}
