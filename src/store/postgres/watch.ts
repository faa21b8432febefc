/**
 * What a node sees of the others all the time: who they are, what they have changed, and what waits in the store and nobody has in memory, which
 * it tells delivery. It looks several times a second at the least, and at once when another node says that there is something (LISTEN and
 * NOTIFY; a database without them is only looked at). A look is several steps, and each is made whatever becomes of the others.
 */
import type { Session } from "../../drivers/postgres/link.ts";
import { Listener } from "../../drivers/postgres/listener.ts";
import { LookFaults } from "../../drivers/postgres/look-faults.ts";
import type { Role } from "../../node/roles.ts";
import type { Timer } from "../../runtime/clock.ts";
import type { SendCall } from "../group.ts";
import { type Feed, type LaneName, NOTHING_FED } from "../port/delivery.ts";
import type { PartName } from "../port/receipts.ts";
import type { Unit } from "../unit.ts";
import { sendRows } from "./columns.ts";
import { LookStep } from "./look-step.ts";
import type { LoopParts } from "./nodes.ts";
import type { Partitions } from "./partitions.ts";
import { FIND } from "./statements.ts";
import type { NewNames } from "./tables.ts";
import { FIRST_LANE, type WaitingLane, waitingLanes } from "./waiting-lanes.ts";

export interface WatchParts extends LoopParts {
  readonly url: string;
  readonly roles: readonly Role[];
  readonly partitions: Partitions;
  /** Whether this node has a connection to the carrier. */
  readonly serves: (carrierId: string) => boolean;
  readonly onOverflowed: (lane: LaneName) => void;
  readonly onFeed: (feed: Feed) => void;
  /** Sends a command to this node's own store. */
  readonly send: SendCall;
}

const LOOK_EVERY_MS = 500;
/** However often there is news, so long it gathers. */
const NEWS_GATHER_MS = 20;
/** After so long without a look, what was seen is no sign that the database is there. */
const KNOWN_FOR_MS = 2_000;
/** Partitions are made days ahead, so an hour more or less does not matter. */
const PARTITIONS_EVERY_MS = 3_600_000;
const CHANNEL = "heliograph";
/** Each costs a round trip; the next look goes on where this one stopped. */
const LANES_A_LOOK = 200;

export class Watch {
  readonly #parts: WatchParts;
  readonly #listener: Listener;
  readonly #faults: LookFaults;
  readonly #steps;
  #timer: Timer | null = null;
  #telling: Timer | null = null;
  #looking: Promise<void> = Promise.resolve();
  #lookAgain = false;
  #news = false;
  /** Where the last look stopped among the lanes. */
  #lane: LaneName = FIRST_LANE;
  #isLooking = false;
  #partitionsAtMs = 0;
  #changes: number | null = null;
  /** How often this node has made changes itself: a look that began before one of them knows nothing of it. */
  #ownChanges = 0;
  #lookedAtMs = 0;
  #stopped = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    const { nodes, clock } = parts;
    this.#listener = new Listener({ ...parts, channel: CHANNEL, onNews: () => this.#soon() });
    this.#faults = new LookFaults(parts);
    this.#steps = {
      cluster: this.#step("see which nodes there are", (session) => nodes.cluster(session)),
      changes: this.#step(
        "see what others have changed",
        (session) => this.#seeChanges(session),
        () => {
          this.#changes = null;
        },
      ),
      lanes: this.#step("see which lanes wait in the store", (session) => this.#seeLanes(session)),
      due: this.#step("see which messages are due", earliestDue),
      reports: this.#step("see which reports are due", anyReportDue),
      partitions: new LookStep(
        clock,
        () => this.#makePartitions(),
        (error) => this.#faults.note("make the partitions of the coming days", error),
      ),
    };
  }

  /** Each has a session of its own: one that is slow keeps it, and the next gets another. */
  #step<Found>(
    what: string,
    work: (session: Session) => Promise<Found>,
    onFault: () => void = () => undefined,
  ): LookStep<Found> {
    const { clock, pool } = this.#parts;
    return new LookStep(
      clock,
      () => pool.use(work),
      (error) => {
        onFault();
        this.#faults.note(what, error);
      },
    );
  }

  start(): void {
    this.#listener.start();
    this.#look();
  }

  /** How often accounts or catalogue were changed, as of the last look; null when it has to be asked, as when the database is away. */
  get knownChanges(): number | null {
    return this.#parts.clock.monotonic() - this.#lookedAtMs > KNOWN_FOR_MS ? null : this.#changes;
  }

  /** This node has changed accounts or catalogue. */
  changed(): void {
    this.#changes = null;
    this.#ownChanges++;
    this.tell();
  }

  /** A transaction of this node has been committed: the others hear of what is not for this one. */
  committed(unit: Unit, { ids, others }: NewNames): void {
    const { roles, serves } = this.#parts;
    if (ids.length + others.length > 0) void this.#match(ids, others);
    const dispatches = roles.includes("dispatch");
    const forOthers =
      unit.reportsWait ||
      (!dispatches && unit.earliestDueAtMs !== null) ||
      [...unit.overflowed.values()].some(({ carrierId }) => !dispatches || !serves(carrierId));
    if (forOthers) this.tell();
  }

  /**
   * A part here and its receipt on another node may have missed each other: whoever commits last sees both. Nearly no part has any that is parked, and that
   * is told without a lock.
   */
  async #match(ids: readonly PartName[], others: readonly PartName[]): Promise<void> {
    const { pool, send } = this.#parts;
    try {
      const { rows } = await pool.use((session) => sendRows<PartName>(session, FIND.anyParked, ids));
      const names = [...rows, ...others];
      if (names.length > 0) await send({ command: "matchParked", input: { names } });
    } catch (error) {
      this.#faults.note("match receipts that came to another node", error);
    }
  }

  /** The others hear that there is something, and so does this node. */
  tell(): void {
    if (this.#telling !== null || this.#stopped) return;
    const { clock, pool } = this.#parts;
    this.#telling = clock.after(NEWS_GATHER_MS, () => {
      this.#telling = null;
      // Whoever does not hear of it looks for himself soon.
      pool.use((session) => session.query("SELECT pg_notify($1, '')", [CHANNEL])).catch(() => undefined);
    });
  }

  /** The first news sets the time of the look; what comes after gathers, and does not put it off. */
  #soon(): void {
    if (this.#isLooking) this.#lookAgain = true;
    else if (!this.#news) this.#schedule(NEWS_GATHER_MS);
    this.#news = true;
  }

  #schedule(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(afterMs, () => this.#look());
  }

  #look(): void {
    this.#timer = null;
    this.#news = false;
    this.#isLooking = true;
    this.#looking = this.#lookAround().finally(() => {
      this.#isLooking = false;
      const soon = this.#lookAgain;
      this.#lookAgain = false;
      this.#schedule(soon ? NEWS_GATHER_MS : Math.min(LOOK_EVERY_MS, this.#parts.leaseMs / 5));
    });
  }

  /** Never rejects: what failed is tried again at the next look. */
  async #lookAround(): Promise<void> {
    const { roles, onFeed } = this.#parts;
    const { cluster, changes, lanes, due, reports, partitions } = this.#steps;
    const dispatches = roles.includes("dispatch");
    await cluster.take();
    await changes.take();
    const overflowed = dispatches ? this.#ours((await lanes.take()) ?? []) : [];
    const dueAtMs = dispatches ? ((await due.take())?.atMs ?? null) : null;
    const reportsWait = roles.includes("reports") && (await reports.take()) === true;
    // Also with nothing in it the feed is a sign that the lease was renewed.
    onFeed({ ...NOTHING_FED, overflowed, earliestDueAtMs: dueAtMs, ...(reportsWait ? { reportsWait } : {}) });
    await partitions.take();
  }

  async #seeChanges(session: Session): Promise<void> {
    const ownChanges = this.#ownChanges;
    const changes = await changeCounter(session);
    this.#changes = ownChanges === this.#ownChanges ? changes : null;
    this.#lookedAtMs = this.#parts.clock.monotonic();
  }

  async #seeLanes(session: Session): Promise<WaitingLane[]> {
    const lanes = await waitingLanes(session, this.#lane, LANES_A_LOOK);
    this.#lane = lanes.length < LANES_A_LOOK ? FIRST_LANE : lanes.at(-1)!;
    return lanes;
  }

  /** What waits for a carrier that is gone from the catalogue is the leader's to send elsewhere. */
  #ours(lanes: readonly WaitingLane[]): LaneName[] {
    const { serves, onOverflowed, nodes } = this.#parts;
    const leads = nodes.knownCluster?.leads === true;
    const ours = lanes
      .filter(({ carrierId, isKnown }) => serves(carrierId) || (leads && !isKnown))
      .map(({ accountId, carrierId }) => ({ accountId, carrierId }));
    for (const lane of ours) onOverflowed(lane);
    return ours;
  }

  async #makePartitions(): Promise<void> {
    const { partitions, clock } = this.#parts;
    if (clock.monotonic() < this.#partitionsAtMs) return;
    await partitions.ensureAhead(clock.now());
    this.#partitionsAtMs = clock.monotonic() + PARTITIONS_EVERY_MS;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#telling?.cancel();
    await this.#listener.stop();
    await this.#looking;
    await Promise.all(Object.values(this.#steps).map((step) => step.ended()));
  }
}

async function changeCounter(session: Session): Promise<number> {
  const { rows } = await session.query<{ changes: number }>("SELECT changes FROM counter");
  return rows[0]!.changes;
}

/** When the next message is due, or 0 when a bulk's messages have to follow it. */
async function earliestDue(session: Session): Promise<{ readonly atMs: number | null }> {
  const { rows } = await session.query<{ due: number | null; turns: boolean }>(
    `SELECT (SELECT min(due_at_ms) FROM message WHERE waits = 0) AS due,
       EXISTS (SELECT 1 FROM bulk WHERE turn IS NOT NULL) AS turns`,
  );
  const { due, turns } = rows[0]!;
  return { atMs: turns ? 0 : due };
}

async function anyReportDue(session: Session): Promise<boolean> {
  const { rows } = await session.query(
    `SELECT 1 FROM report WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL
       AND due_at_ms <= extract(epoch FROM clock_timestamp()) * 1000 ORDER BY due_at_ms, id LIMIT 1`,
  );
  return rows.length > 0;
}
