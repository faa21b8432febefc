/**
 * Renews the node's lease, on a connection of its own: whatever keeps the others waiting (a long takeover, a busy pool, thousands of lanes),
 * the others must not take this node for dead.
 */
import type { PostgresConnection } from "../../drivers/postgres/connection.ts";
import { faultKind } from "../../drivers/postgres/faults.ts";
import { LookFaults } from "../../drivers/postgres/look-faults.ts";
import { Interval } from "../../runtime/clock.ts";
import type { LoopParts } from "./nodes.ts";

export interface HeartbeatParts extends Omit<LoopParts, "pool"> {
  readonly connection: PostgresConnection;
  readonly onFenced: () => void;
}

const MAX_PAUSE_MS = 1_000;

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #faults: LookFaults;
  readonly #interval: Interval;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#faults = new LookFaults(parts);
    this.#interval = new Interval(parts.clock, Math.min(MAX_PAUSE_MS, parts.leaseMs / 10), () => this.#beat());
  }

  /** Never rejects: a database that is away is asked again in a moment. */
  async #beat(): Promise<void> {
    const { connection, nodes, onFenced } = this.#parts;
    try {
      if (!(await nodes.renew(await connection.session()))) onFenced();
    } catch (error) {
      // Also when it was slow: nothing here waits for others, so the database stood still.
      if (faultKind(error) === "away") nodes.lostTouch();
      this.#faults.note("renew the lease", error);
    }
  }

  async stop(): Promise<void> {
    await this.#interval.stop();
    await this.#parts.connection.close();
  }
}
