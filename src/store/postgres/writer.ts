/**
 * A line of groups, each in one transaction:
 *
 *   BEGIN, the node's fence, what the group needs  ──▶  the commands, in memory  ──▶  what they changed, COMMIT
 *                     one round trip                                                     another
 *
 * While the database works for one line, the node works for another. What one line has not committed the others do not see: they are to each other
 * as two nodes are.
 *
 * A line may have two places, each with a connection. Then the next group is made ready while the one before it is committed, if it locks nothing by that:
 * what it writes goes when that one has ended. So groups end in their order, and of one at most it may have to be looked up whether it did.
 */
import type { PostgresConnection } from "../../drivers/postgres/connection.ts";
import { asDatabaseError, faultKind, firstFault, isLasting } from "../../drivers/postgres/faults.ts";
import type { Session } from "../../drivers/postgres/link.ts";
import type { PostgresPool } from "../../drivers/postgres/pool.ts";
import { type Backoff, backoffMs } from "../../runtime/backoff.ts";
import { type Clock, sleep, systemClock } from "../../runtime/clock.ts";
import { readSetOf, runCommands } from "../command-table.ts";
import { type Call, type GroupResult, joinFeeds, runEach } from "../group.ts";
import type { IdMark } from "../id-mark.ts";
import { COMMAND_MODES, type CommandMode } from "../modes.ts";
import { type Feed, NOTHING_FED } from "../port/delivery.ts";
import { StoreUnavailable } from "../port/errors.ts";
import type { CommandOutput } from "../port/store.ts";
import { settledRow } from "../settled.ts";
import type { ReadSet } from "../tables.ts";
import type { Unit } from "../unit.ts";
import { MAX_RACES } from "./concurrent.ts";
import { raiseIdMark } from "./id-marks.ts";
import type { Nodes } from "./nodes.ts";
import type { OwnedMessages } from "./owned-messages.ts";
import type { NewNames } from "./tables.ts";
import type { Workspace } from "./workspace.ts";

export const FENCED = "another node took over what this one had, because its lease had run out";

/** Whether the node may still write. */
export class Standing {
  /** Others have taken over what it had. */
  isFenced = false;
  isClosing = false;
  isClosed = false;

  require(): void {
    if (this.isFenced) throw new StoreUnavailable(FENCED);
    if (this.isClosing) throw new StoreUnavailable("the store is being closed");
  }
}

interface Place {
  /** Its number among all of the node's. */
  readonly number: number;
  readonly connection: PostgresConnection;
  readonly workspace: Workspace;
}

/** Where a group has its turn, behind those that end before it. */
interface Turn {
  readonly place: Place;
  readonly before: Promise<void>;
  readonly onHandedOver: () => void;
}

export interface WriterParts {
  readonly places: readonly Place[];
  readonly pool: PostgresPool;
  readonly nodes: Nodes;
  readonly idMark: IdMark;
  readonly owned: OwnedMessages;
  readonly clock: Clock;
  /** A tool is no node: nothing fences it, and nobody can say what became of a commit whose answer was lost. */
  readonly delivers: boolean;
  readonly standing: Standing;
  readonly onFenced: () => void;
  /** What a commit has for delivery that its callers did not wait for. */
  readonly onFeed: (feed: Feed) => void;
  readonly onCommitted: (unit: Unit, names: NewNames) => void;
}

/** Whoever lost a race to another waits a little before the next, longer each time, and not as long as the other. */
const CONFLICT_BACKOFF: Backoff = { firstMs: 10, maxMs: 1_280, jitter: 1 };
/** Whoever has lost so often may have met something long, and waits for its locks. */
const MAX_HASTY_TRIES = 4;
/** How long callers wait to hear whether a commit went through whose answer was lost. */
const RESOLVE_MS = 3_000;
const RESOLVE_EVERY_MS = 100;
const IN_USE_MS = 60_000;

/** A commit whose answer was lost: it went through, or it did not. */
interface Unresolved {
  readonly place: Place;
  readonly group: number;
  readonly calls: readonly Call[];
  readonly result: GroupResult;
  readonly unit: Unit;
}

/** What is read without a lock on anything. */
const UNLOCKED: ReadonlySet<string> = new Set<keyof ReadSet>([
  "wallets",
  "bulks",
  "replays",
  "names",
  "numbers",
  "newKeys",
]);

function locksNothing(wanted: ReadSet): boolean {
  return Object.entries(wanted).every(
    ([name, rows]) => UNLOCKED.has(name) || (Array.isArray(rows) && rows.length === 0),
  );
}

const isGrouped = ({ command }: Call): boolean => (COMMAND_MODES[command] as CommandMode) === "grouped";

export class Writer {
  readonly #parts: WriterParts;
  #unresolved: Unresolved | null = null;
  /** Resolves when all groups so far have ended; and by places, when all have up to the last that was in it. */
  #ended: Promise<void> = Promise.resolve();
  readonly #endedIn: Promise<void>[] = [];
  #groups = 0;
  #beganAtMs = Number.NEGATIVE_INFINITY;
  #transactions = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** It may have a group under way, or has had one while others were, however long those last. */
  get isInUse(): boolean {
    return systemClock.monotonic() - this.#beganAtMs < IN_USE_MS;
  }

  run(calls: readonly Call[], onHandedOver: () => void = () => undefined): Promise<GroupResult> {
    const { places } = this.#parts;
    this.#beganAtMs = systemClock.monotonic();
    const index = this.#groups++ % places.length;
    const before = this.#ended;
    const turn = { place: places[index]!, before, onHandedOver };
    // One may fail while the group before it is still tried again, or looked up: it has not ended before that, and its place is not free.
    const run = (this.#endedIn[index] ?? before).then(() => this.#run(calls, turn));
    const ended = (): Promise<void> => before;
    this.#ended = run.then(ended, ended);
    this.#endedIn[index] = this.#ended;
    return run;
  }

  async #run(calls: readonly Call[], turn: Turn): Promise<GroupResult> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#transaction(calls, tries > MAX_HASTY_TRIES, turn);
      } catch (error) {
        const kind = this.#parts.standing.isFenced ? "away" : faultKind(error);
        if (kind === "again" && tries < MAX_RACES) {
          await sleep(systemClock, backoffMs(CONFLICT_BACKOFF, tries));
          continue;
        }
        // One that fails always must not take the others with it.
        const alone = { run: (one: readonly Call[]) => this.#run(one, turn) };
        if (kind !== "away" && calls.length > 1) return runEach(alone, calls);
        const told = kind === "again" && isLasting(error) ? firstFault(error) : asDatabaseError(error);
        return { outcomes: calls.map(() => ({ ok: false, error: told })), feed: null };
      }
    }
  }

  async #transaction(calls: readonly Call[], isPatient: boolean, turn: Turn): Promise<GroupResult> {
    const { place, before, onHandedOver } = turn;
    const { places, nodes, delivers, owned, standing, onFenced, onCommitted } = this.#parts;
    const { number, connection, workspace } = place;
    const areGrouped = calls.every(isGrouped);
    const wanted = readSetOf(workspace.commands, calls);
    // The place says by its last group what became of one of its own: another of them must not begin before that was heard.
    const isOpen = this.#unresolved?.place === place;
    const isEarly = places.length > 1 && areGrouped && !isPatient && !isOpen && locksNothing(wanted);
    if (!isEarly) await before;
    standing.require();
    if (!isEarly) await this.#resolve();
    const session = await connection.session();
    // To connect takes a while, and a node that has left meanwhile would be taken for fenced.
    standing.require();
    const group = ++this.#transactions;
    const unit = workspace.begin(session, { isPatient, locksWallets: isPatient || !areGrouped });
    let committing = false;
    try {
      const begun = session.query("BEGIN");
      const fenced = delivers ? nodes.fence(session, number, group) : Promise.resolve(true);
      // Together: of several that fail, one that nobody waits for would end the process.
      const [isOurs] = await Promise.all([fenced, begun, workspace.tables.load(wanted)]);
      if (!isOurs) onFenced();
      standing.require();
      const outcomes = await runCommands(workspace.commands, calls);
      const reports = workspace.flushReports();
      const names = workspace.tables.namesToMatch;
      const ownedNow = workspace.tables.messages.ownedNow;
      unit.onCommit(() => owned.keep(ownedNow));
      unit.onCommit(() => onCommitted(unit, names));
      await this.#promiseIds();
      if (isEarly) {
        await before;
        await this.#resolve();
      }
      onHandedOver();
      const flushed = Promise.all([this.#noteSettled(session, unit), workspace.tables.flush()]);
      committing = true;
      const result: GroupResult = { outcomes, feed: unit.feed(reports) };
      const committed = session.query("COMMIT");
      this.#unresolved = { place, group, calls, result, unit };
      await Promise.all([flushed, committed]);
      this.#unresolved = null;
      nodes.committedGroup(number, group);
      unit.committed();
      return result;
    } catch (error) {
      const lost = faultKind(error) === "away" || !session.alive;
      if (committing && lost && delivers && !standing.isFenced) {
        connection.discard();
        return await this.#outcomeOfLostCommit(error);
      }
      if (committing) this.#unresolved = null;
      unit.rollback();
      // What is still on its way on this connection fails in the transaction, which then ends.
      await session.query("ROLLBACK").catch(() => connection.discard());
      throw error;
    }
  }

  /** The receipts that this transaction has applied. */
  async #noteSettled(session: Session, unit: Unit): Promise<void> {
    const row = settledRow(unit.settled);
    if (row === null) return;
    const values = [this.#parts.clock.now(), row.count, row.names];
    await session.query("INSERT INTO settled_receipt (at_ms, name_count, names) VALUES ($1, $2, $3)", values);
  }

  /** Raises the mark of this node's ids, if it has to be, before what is written has them. On its own: the lines would wait for each other's end. */
  async #promiseIds(): Promise<void> {
    const { idMark, pool } = this.#parts;
    const mark = idMark.due();
    if (mark === null) return;
    await pool.use((session) => raiseIdMark(session, idMark.ids.node, mark));
    idMark.raised(mark);
  }

  /** The connection died in the commit: the database knows whether it went through, as soon as it can be asked. */
  async #outcomeOfLostCommit(error: unknown): Promise<GroupResult> {
    const clock = systemClock;
    const { standing } = this.#parts;
    const { result } = this.#unresolved!;
    const until = clock.monotonic() + RESOLVE_MS;
    while (clock.monotonic() < until && !standing.isClosed) {
      try {
        const committed = await this.#settleLostCommit();
        if (committed) return result;
        throw error;
      } catch (again) {
        if (again === error || faultKind(again) !== "away" || standing.isFenced) throw again;
      }
      await sleep(clock, RESOLVE_EVERY_MS);
    }
    throw error;
  }

  /** A commit whose outcome is still open is looked up before anything else is done here: its messages may be ours to send. */
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
    if (feed !== null) this.#parts.onFeed(feed);
  }

  async #settleLostCommit(): Promise<boolean> {
    const { place, group, unit } = this.#unresolved!;
    const { nodes, onFenced } = this.#parts;
    const last = await nodes.lastGroup(await place.connection.session(), place.number);
    const committed = last === group;
    // Neither this group nor the one before it: the database is another.
    if (!committed && last !== nodes.committed.lastOf(place.number)) onFenced();
    if (committed) {
      nodes.committedGroup(place.number, group);
      unit.committed();
    } else unit.rollback();
    this.#unresolved = null;
    return committed;
  }
}
