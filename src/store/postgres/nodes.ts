/**
 * The nodes that share the database. Each has an *epoch*, a number that no other start ever had, under which it owns messages, reports and
 * carriers' connections, and a lease that it renews. Whose lease is over is fenced: its row goes, and with it all that it may do. What it owned
 * is then freed by whoever lives (takeover.ts).
 *
 *   join ──▶ renew, renew, renew ──▶ leave
 *                 ├── too late ──▶ fenced: every transaction of the node changes a row that goes with the node's, and so finds that it is gone
 *                 └── the database lacks what was committed ──▶ leave: what is in memory is not what is stored
 *
 * Leases are compared on the database's clock. A node fences others only when it has itself been in touch with the database for a whole
 * lease: after an outage everyone's lease is over, and whoever comes first must not take the others for dead.
 */
import { inTransaction, type Session } from "../../drivers/postgres/link.ts";
import type { PostgresPool } from "../../drivers/postgres/pool.ts";
import { Lease } from "../../node/lease.ts";
import { ROLES, type Role } from "../../node/roles.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { TOOL_NODE } from "../../runtime/ids.ts";
import type { Log } from "../../runtime/log.ts";
import { publicId } from "../../runtime/random.ts";
import { EVERY_NODE, farAhead, restoredMark } from "../id-mark.ts";
import type { BindClaim, BindShare, Cluster, ClusterFacts } from "../port/nodes.ts";
import { TOLD_LINES } from "../told-lines.ts";
import { CommittedGroups, type LastGroup, type Setback } from "./committed-groups.ts";
import { raiseIdMark } from "./id-marks.ts";
import { requireSchema } from "./schema-version.ts";

/** So many places the line of clients has (writer.ts). */
export const CLIENT_PLACES = 2;
/** So many transactions a node has under way that write groups. */
export const WRITERS = CLIENT_PLACES + TOLD_LINES;

const LOST_KEPT_MS = 90 * 86_400_000;

export interface NodeOptions {
  /** For people: which machine and process. */
  readonly name: string;
  readonly roles: readonly Role[];
  readonly leaseMs: number;
  readonly lease: Lease;
}

/** What those have who do something for the node all the time. */
export interface LoopParts {
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly pool: PostgresPool;
  readonly nodes: Nodes;
}

interface NodeRow {
  readonly epoch: number;
  readonly roles: string;
}

const JOIN_COUNTER = "UPDATE counter SET starts = starts + 1 RETURNING starts AS epoch, is_backup";
const RESTORED = "UPDATE counter SET is_backup = 0";
// In turn, and last those whose ids are far ahead of this node's clock (id-mark.ts).
const JOIN_NODE = `INSERT INTO node (epoch, slot, name, roles, alive_until, word)
  SELECT CAST($1 AS bigint), free.slot, $2, $3, clock_timestamp() + $4 * interval '1 millisecond', $6
  FROM generate_series(0, ${TOOL_NODE - 1}) AS free (slot) LEFT JOIN id_mark ON id_mark.node = free.slot
  WHERE NOT EXISTS (SELECT 1 FROM node WHERE node.slot = free.slot)
  ORDER BY coalesce(id_mark.highest, 0) > CAST($5 AS bigint), (free.slot - CAST($1 AS bigint) % ${TOOL_NODE} + ${TOOL_NODE}) % ${TOOL_NODE} LIMIT 1
  RETURNING slot`;
const RENEW =
  "UPDATE node SET alive_until = clock_timestamp() + $2 * interval '1 millisecond' WHERE epoch = $1 AND word = $3";
const JOIN_WRITERS =
  "INSERT INTO node_writer (epoch, writer, word) SELECT CAST($1 AS bigint), generate_series(0, CAST($2 AS integer) - 1), $3";
const COMMITTING =
  "UPDATE node_writer SET last_group = $3 WHERE epoch = $1 AND writer = $2 AND word = $4 AND last_group = $5";
const LAST_GROUPS = 'SELECT writer, last_group AS "group" FROM node_writer WHERE epoch = $1 AND word = $2';
const LAST_GROUP = `${LAST_GROUPS} AND writer = $3 FOR UPDATE`;
const FORGET_LOST = "DELETE FROM lost_commit WHERE at_ms < $1";
const LOST = "INSERT INTO lost_commit (at_ms, node, groups, from_ms, until_ms) VALUES ($1, $2, $3, $4, $5)";
const DEAD =
  "SELECT epoch, name FROM node WHERE alive_until < clock_timestamp() AND epoch <> $1 FOR UPDATE SKIP LOCKED";
const NODES =
  "SELECT epoch, slot, name, roles, alive_until > clock_timestamp() AS alive FROM node ORDER BY epoch LIMIT 1000";
const BINDS = `SELECT epoch, carrier_id AS "carrierId", CAST(count(*) AS integer) AS count FROM carrier_bind
  GROUP BY epoch, carrier_id ORDER BY carrier_id LIMIT 5000`;
const ALL = "SELECT epoch, roles FROM node ORDER BY epoch";

function hasRole(roles: string, role: Role): boolean {
  return roles.split(",").includes(role);
}

/** The oldest of those that talk to carriers; without any, of all. */
function leaderOf(rows: readonly NodeRow[]): NodeRow | undefined {
  return rows.find(({ roles }) => hasRole(roles, "dispatch")) ?? rows[0];
}

export class Nodes {
  readonly #options: NodeOptions;
  readonly committed = new CommittedGroups(WRITERS);
  /** Other than any other node's. */
  readonly #word = publicId(8);
  #epoch = 0;
  #slot = TOOL_NODE;
  /** When the database last began to answer without a gap. */
  #inTouchSince: bigint | null = null;
  #lastTouch = 0n;
  /** The nodes as they were at the last look, and the shares that were given out for them. */
  #members = "";
  #cluster: Cluster | null = null;
  #hasOthers = false;
  #shared: { readonly members: string; readonly claims: string; readonly shares: BindShare[] } | null = null;

  constructor(options: NodeOptions) {
    this.#options = options;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The node's number in the ids that it makes. */
  get slot(): number {
    return this.#slot;
  }

  async join(session: Session, nowMs: number): Promise<void> {
    const { name, roles, leaseMs, lease } = this.#options;
    const moment = Lease.moment();
    const joined = await inTransaction(session, async () => {
      // Another version may have migrated since this program looked. Then it finds no node, and this must not become one.
      await requireSchema(session);
      // The counter's row is held until the commit: of several nodes that start at once each finds another slot free.
      const { rows: starts } = await session.query<{ epoch: number; is_backup: number }>(JOIN_COUNTER);
      const { epoch, is_backup } = starts[0]!;
      if (is_backup === 1) {
        await session.query(RESTORED);
        await raiseIdMark(session, EVERY_NODE, restoredMark(nowMs));
      }
      const values = [epoch, name, roles.join(","), leaseMs, farAhead(nowMs).toString(), this.#word];
      const { rows } = await session.query<{ slot: number }>(JOIN_NODE, values);
      if (rows.length === 0) throw new Error(`there are ${TOOL_NODE} nodes already, and no room for one more`);
      await session.query(JOIN_WRITERS, [epoch, WRITERS, this.#word]);
      return { epoch, slot: rows[0]!.slot };
    });
    this.#epoch = joined.epoch;
    this.#slot = joined.slot;
    lease.renew(moment, leaseMs);
  }

  /** The first statement of a line's transaction. It says the number of the group, and fails when the node was fenced or the database is behind. */
  async fence(session: Session, writer: number, group: number): Promise<boolean> {
    const values = [this.#epoch, writer, group, this.#word, this.committed.lastOf(writer)];
    const { count } = await session.query(COMMITTING, values);
    return count === 1;
  }

  /** A group has been committed. */
  committedGroup(writer: number, group: number): void {
    this.committed.add(writer, group);
    this.#options.lease.committed();
  }

  /** The database has answered a renewal that was asked for at that moment. */
  touched(moment: bigint, now = Lease.moment()): void {
    const { lease, leaseMs } = this.#options;
    lease.renew(moment, leaseMs);
    // An answer that took long is a database that was away for a while, for the others as well.
    const away = now - moment > this.#leaseNs / 4n || moment - this.#lastTouch > this.#leaseNs / 2n;
    if (this.#inTouchSince === null || away) this.#inTouchSince = now;
    this.#lastTouch = moment;
  }

  get #leaseNs(): bigint {
    return BigInt(this.#options.leaseMs) * 1_000_000n;
  }

  /** The database was away, if only for a moment: others may still be looking for it, however long this node has been in touch before. */
  lostTouch(): void {
    this.#inTouchSince = null;
  }

  /** False when the node was fenced, or the database is behind. */
  async renew(session: Session): Promise<boolean> {
    const moment = Lease.moment();
    const before = this.committed.last;
    const [{ count }, { rows }] = await Promise.all([
      session.query(RENEW, [this.#epoch, this.#options.leaseMs, this.#word]),
      session.query<LastGroup>(LAST_GROUPS, [this.#epoch, this.#word]),
    ]);
    if (count === 0 || rows.some(({ writer, group }) => group < before[writer]!.group)) return false;
    this.touched(moment);
    return true;
  }

  /** What the database lacks of that which this node has committed; null when it lacks nothing, or the node was fenced. */
  async setback(session: Session): Promise<Setback | null> {
    const before = this.committed.last;
    const { rows } = await session.query<LastGroup>(LAST_GROUPS, [this.#epoch, this.#word]);
    const isBehind = rows.some(({ writer, group }) => group < before[writer]!.group);
    return isBehind ? this.committed.beyond(rows) : null;
  }

  /**
   * The last group that the database has of this line; null when the node was fenced. The lock waits for a transaction of the line whose
   * connection is lost here and still goes on there: what it comes to is known only then. It is a write, so its own end waits for the standby,
   * and what it found is there too.
   */
  async lastGroup(session: Session, writer: number): Promise<number | null> {
    const { rows } = await session.query<LastGroup>(LAST_GROUP, [this.#epoch, this.#word, writer]);
    return rows[0]?.group ?? null;
  }

  /** Fences the nodes whose lease is over: from the commit on they can do nothing. Returns their names. */
  async fenceDead(session: Session): Promise<string[]> {
    const asked = Lease.moment();
    if (this.#inTouchSince === null || asked - this.#inTouchSince < this.#leaseNs) return [];
    return inTransaction(session, async () => {
      const { rows } = await session.query<{ epoch: number; name: string }>(DEAD, [this.#epoch]);
      // What was answered late was asked of a database that stood still: the others' renewals may stand behind our question.
      const dead = Lease.moment() - asked > this.#leaseNs / 4n && this.#leaseNs > 0n ? [] : rows;
      for (const { epoch } of dead) await fence(session, epoch);
      return dead.map(({ name }) => name);
    });
  }

  /** The end of this node: it fences itself. What it still had is for `gone_node` to say, and what the database lacks for `lost_commit`. */
  async leave(session: Session, setback: Setback | null = null): Promise<void> {
    const { lease, name } = this.#options;
    lease.end();
    await inTransaction(session, async () => {
      // Another may have got this epoch from a database that had missed the start of this one.
      if (
        (await session.query("SELECT 1 FROM node WHERE epoch = $1 AND word = $2", [this.#epoch, this.#word])).count < 1
      )
        return;
      await fence(session, this.#epoch);
      if (setback === null) return;
      const { groups, fromMs, untilMs } = setback;
      await session.query(FORGET_LOST, [systemClock.now() - LOST_KEPT_MS]);
      await session.query(LOST, [systemClock.now(), name, groups, fromMs, untilMs]);
    });
  }

  /** As it was at the last look, which is not long ago; null before the first. */
  get knownCluster(): Cluster | null {
    return this.#cluster;
  }

  /** As of the last look. */
  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  async cluster(session: Session): Promise<Cluster> {
    const { rows } = await session.query<NodeRow>(ALL);
    this.#hasOthers = rows.some(({ epoch }) => epoch !== this.#epoch);
    this.#members = JSON.stringify(rows);
    this.#cluster = this.#clusterOf(rows);
    return this.#cluster;
  }

  /** The nodes one by one. */
  async facts(session: Session): Promise<Omit<ClusterFacts, "storage" | "replication">> {
    const { rows } = await session.query<NodeRow & { name: string; slot: number; alive: boolean }>(NODES);
    const { rows: binds } = await session.query<{ epoch: number; carrierId: string; count: number }>(BINDS);
    const { rows: gone } = await session.query<{ name: string }>("SELECT name FROM gone_node ORDER BY epoch LIMIT 100");
    const leader = leaderOf(rows);
    const nodes = rows.map(({ epoch, name, slot, roles, alive }) => ({
      name,
      roles: ROLES.filter((role) => hasRole(roles, role)),
      isSelf: epoch === this.#epoch,
      leads: epoch === leader?.epoch,
      isAlive: alive,
      slot,
      binds: binds.flatMap(({ epoch: of, carrierId, count }) => (of === epoch ? [{ carrierId, count }] : [])),
    }));
    return { engine: "postgres", nodes, gone: gone.map(({ name }) => name) };
  }

  #clusterOf(rows: readonly NodeRow[]): Cluster {
    const withRole = (role: Role): NodeRow[] => rows.filter(({ roles }) => hasRole(roles, role));
    const nodes = Object.fromEntries(ROLES.map((role) => [role, Math.max(1, withRole(role).length)]));
    return { nodes: nodes as Cluster["nodes"], leads: leaderOf(rows)?.epoch === this.#epoch };
  }

  /** The shares of the last time, while nodes and claims are the same and everybody has what is his; else null. */
  knownShares(claims: readonly BindClaim[]): BindShare[] | null {
    if (this.#shared === null || this.#shared.members !== this.#members) return null;
    return this.#shared.claims === JSON.stringify(claims) ? this.#shared.shares : null;
  }

  /** Each node has as many connections as its place among the others gives it: the counts differ by one at most. */
  async shareBinds(
    session: Session,
    claims: readonly BindClaim[],
    onCommit: (run: () => void) => void,
  ): Promise<BindShare[]> {
    const { rows: all } = await session.query<NodeRow>(ALL);
    const dispatching = all.filter(({ roles }) => roles.split(",").includes("dispatch"));
    const place = dispatching.findIndex(({ epoch }) => epoch === this.#epoch);
    const shares: BindShare[] = [];
    let settled = claims.every(({ closed }) => closed.length === 0);
    for (const { carrierId, binds, closed } of claims) {
      if (closed.length > 0) {
        await session.query(
          "DELETE FROM carrier_bind WHERE carrier_id = $1 AND epoch = $2 AND slot = ANY($3::integer[])",
          [carrierId, this.#epoch, closed],
        );
      }
      const { rows } = await session.query<{ slot: number; epoch: number }>(
        "SELECT slot, epoch FROM carrier_bind WHERE carrier_id = $1 ORDER BY slot",
        [carrierId],
      );
      const mine = rows.filter(({ slot, epoch }) => epoch === this.#epoch && slot < binds).map(({ slot }) => slot);
      const target = Math.floor(binds / dispatching.length) + (place < binds % dispatching.length ? 1 : 0);
      const taken = new Set(rows.map(({ slot }) => slot));
      const free = [...Array(binds).keys()].filter((slot) => !taken.has(slot));
      const wanted = free.slice(0, Math.max(0, target - mine.length));
      const { rows: got } = await session.query<{ slot: number }>(
        `INSERT INTO carrier_bind (carrier_id, slot, epoch) SELECT $1, wanted.slot, $2 FROM unnest($3::integer[]) AS wanted (slot)
         ON CONFLICT DO NOTHING RETURNING slot`,
        [carrierId, this.#epoch, wanted],
      );
      const slots = [...mine, ...got.map(({ slot }) => slot)].sort((a, b) => a - b);
      shares.push({ carrierId, slots, excess: Math.max(0, slots.length - target) });
      settled &&= slots.length === target;
    }
    const shared = settled ? { members: JSON.stringify(all), claims: JSON.stringify(claims), shares } : null;
    // Known only once the database has it.
    this.#shared = null;
    onCommit(() => {
      this.#shared = shared;
    });
    return shares;
  }
}

/**
 * The row first, and with it those of its lines: a transaction of the node that is under way holds one of them, and is over before we go on. All of
 * this is a few rows; what the node owned may be very many, and is freed later.
 */
export async function fence(session: Session, epoch: number): Promise<void> {
  await session.query(
    "WITH gone AS (DELETE FROM node WHERE epoch = $1 RETURNING epoch, name) INSERT INTO gone_node (epoch, name) SELECT epoch, name FROM gone",
    [epoch],
  );
  await session.query("DELETE FROM carrier_bind WHERE epoch = $1", [epoch]);
}
