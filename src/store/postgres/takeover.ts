/**
 * Takes over from nodes that are gone, in two steps. First the node is fenced (nodes.ts): its row goes, in a short transaction, and from then
 * on it can do nothing. Then what it owned is freed, a page at a time. `gone_node` names the fenced nodes that still own something, so any node
 * can go on where another one died.
 *
 *   lease over, or leave ──▶ fenced: in gone_node ──▶ page, page, page ──▶ nothing left: not in gone_node any more
 *
 * All this has a loop of its own: however long it takes, the looks of the watch go on. An owner that is neither a node nor gone is nobody, however that
 * came about (a database that was put together from parts, a row that somebody has deleted): now and then such are looked for, and are gone too.
 */
import { asDatabaseError } from "../../drivers/postgres/faults.ts";
import { inTransaction, type Session } from "../../drivers/postgres/link.ts";
import { LookFaults } from "../../drivers/postgres/look-faults.ts";
import { Interval } from "../../runtime/clock.ts";
import type { LoopParts } from "./nodes.ts";

export interface TakeOverParts extends LoopParts {
  /** Something is free that others may want. */
  readonly onFreed: () => void;
}

export interface GoneNode {
  readonly epoch: number;
  readonly name: string;
}

const LOOK_EVERY_MS = 500;
/** How often owners are looked for that are nobody. */
const NOBODY_EVERY_MS = 30_000;
/** Messages, and as many reports, that one transaction frees: far below a statement's time limit on any database. */
const PAGE = 500;
/** How long a node that ends frees what it owned. The others do the rest. */
const LEAVE_MS = 5_000;

const GONE = "SELECT epoch, name FROM gone_node ORDER BY epoch";
/** The owners there are, by hops along an index: as many steps as there are owners, however much they own. */
const ownersIn = (name: string, table: string, column: string, where: string): string => `${name} AS (
    SELECT min(${column}) AS epoch FROM ${table} WHERE ${column} IS NOT NULL ${where}
    UNION ALL
    SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > ${name}.epoch ${where}) FROM ${name} WHERE ${name}.epoch IS NOT NULL)`;
/** In one snapshot: whoever owns something there and has no row cannot come back. */
const NOBODIES = `WITH RECURSIVE ${ownersIn("of_messages", "message", "owner", "AND waits = 1")},
    ${ownersIn("of_reports", "report", "held_by", "")}
  INSERT INTO gone_node (epoch, name) SELECT epoch, 'a node without a row' FROM
    (SELECT epoch FROM of_messages UNION SELECT epoch FROM of_reports UNION SELECT epoch FROM carrier_bind) AS owners
  WHERE epoch IS NOT NULL AND NOT EXISTS (SELECT 1 FROM node WHERE node.epoch = owners.epoch)
  ON CONFLICT DO NOTHING`;
const FREE_BINDS = "DELETE FROM carrier_bind WHERE epoch = $1";
/** One node frees at a time; the others pass on. */
const TAKE = "SELECT 1 FROM gone_node WHERE epoch = $1 FOR UPDATE SKIP LOCKED";
// What another transaction has locked waits for the next page: nothing here waits for anybody.
const FREE_MESSAGES = `WITH page AS MATERIALIZED (
    SELECT key FROM message WHERE waits = 1 AND owner = $1 LIMIT ${PAGE} FOR UPDATE SKIP LOCKED)
  UPDATE message SET owner = NULL FROM page WHERE message.key = page.key`;
const FREE_REPORTS = `WITH page AS MATERIALIZED (
    SELECT id FROM report WHERE held_by = $1 LIMIT ${PAGE} FOR UPDATE SKIP LOCKED)
  UPDATE report SET held_by = NULL, tried = 1 FROM page WHERE report.id = page.id`;
const NOTHING_LEFT = `DELETE FROM gone_node WHERE epoch = $1
  AND NOT EXISTS (SELECT 1 FROM message WHERE waits = 1 AND owner = $1) AND NOT EXISTS (SELECT 1 FROM report WHERE held_by = $1)`;

export class TakeOver {
  readonly #parts: TakeOverParts;
  readonly #faults: LookFaults;
  readonly #interval: Interval;
  #stopped = false;
  #nobodiesAtMs = 0;

  constructor(parts: TakeOverParts) {
    this.#parts = parts;
    this.#faults = new LookFaults(parts);
    const { clock, leaseMs } = parts;
    this.#interval = new Interval(clock, Math.min(LOOK_EVERY_MS, leaseMs / 5), async () => {
      await this.#fence();
      await this.#findNobodies();
      await this.#freeAll();
    });
  }

  async #fence(): Promise<void> {
    const { nodes, pool, log } = this.#parts;
    try {
      for (const name of await pool.use((session) => nodes.fenceDead(session)))
        log.warn({ node: name }, "took over from a node that is gone");
    } catch (error) {
      this.#faults.note("fence nodes that are gone", error);
    }
  }

  async #findNobodies(): Promise<void> {
    const { clock, pool, log } = this.#parts;
    if (clock.monotonic() < this.#nobodiesAtMs) return;
    try {
      const { count } = await pool.use((session) => session.query(NOBODIES));
      if (count > 0) log.warn({ owners: count }, "messages, reports or connections belong to nobody; they are freed");
      this.#nobodiesAtMs = clock.monotonic() + NOBODY_EVERY_MS;
    } catch (error) {
      this.#faults.note("look for owners that are nobody", error);
    }
  }

  /** Each node's on its own: one whose rows are locked keeps nothing of the others. */
  async #freeAll(): Promise<void> {
    const { pool } = this.#parts;
    try {
      const gone = await pool.use(goneNodes);
      for (const node of gone) await this.#free(node);
    } catch (error) {
      this.#faults.note("look for nodes that are gone", error);
    }
  }

  async #free({ epoch, name }: GoneNode): Promise<void> {
    const { pool, log, onFreed } = this.#parts;
    try {
      for (let more = true; more && !this.#stopped; ) {
        // A session for each page: whoever reads gets his turn in between.
        const page = await pool.use((session) => freePage(session, epoch));
        if (page.freed > 0) onFreed();
        if (page.isLast) log.info({ node: name }, "all that a node which is gone had is free");
        more = page.more;
      }
    } catch (error) {
      this.#faults.note(`free what ${name} had`, error);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#interval.stop();
  }
}

export async function goneNodes(session: Session): Promise<GoneNode[]> {
  return (await session.query<GoneNode>(GONE)).rows;
}

export interface FreedPage {
  readonly freed: number;
  /** Another page may find something: this one was full. */
  readonly more: boolean;
  /** Nothing is left, and the node is forgotten. */
  readonly isLast: boolean;
}

/** Frees some of what the fenced node owned. */
export function freePage(session: Session, epoch: number): Promise<FreedPage> {
  return inTransaction(session, async () => {
    const { rows } = await session.query(TAKE, [epoch]);
    if (rows.length === 0) return { freed: 0, more: false, isLast: false };
    await session.query(FREE_BINDS, [epoch]);
    const { count: messages } = await session.query(FREE_MESSAGES, [epoch]);
    const { count: reports } = await session.query(FREE_REPORTS, [epoch]);
    const more = messages === PAGE || reports === PAGE;
    const isLast = !more && (await session.query(NOTHING_LEFT, [epoch])).count === 1;
    return { freed: messages + reports, more, isLast };
  });
}

/** The end of this node: it is fenced, and in the time that there is it frees what it had. */
export async function leave({ pool, nodes, clock, log }: Omit<LoopParts, "leaseMs">): Promise<void> {
  try {
    await pool.use((session) => nodes.leave(session));
  } catch (error) {
    log.warn({ err: asDatabaseError(error) }, "could not say goodbye; the lease will run out");
    return;
  }
  try {
    const untilMs = clock.monotonic() + LEAVE_MS;
    for (let more = true; more && clock.monotonic() < untilMs; )
      more = (await pool.use((session) => freePage(session, nodes.epoch))).more;
  } catch (error) {
    log.warn({ err: asDatabaseError(error) }, "could not free all that this node had; the next one to look does");
  }
}
