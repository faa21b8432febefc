/** What a node does all the time, whatever is asked of it: it looks at the others, takes over from the dead, and renews its lease. */
import type { PostgresConnectionOptions } from "../../drivers/postgres/attempts.ts";
import { PostgresConnection } from "../../drivers/postgres/connection.ts";
import { ROLES, type Role } from "../../node/roles.ts";
import { systemClock } from "../../runtime/clock.ts";
import { Heartbeat } from "./heartbeat.ts";
import { TakeOver } from "./takeover.ts";
import { Watch, type WatchParts } from "./watch.ts";

export interface NodeLoopsParts extends PostgresConnectionOptions, Omit<WatchParts, "clock" | "roles"> {
  readonly roles?: readonly Role[];
  readonly name?: string;
  readonly onFenced: () => void;
}

export class NodeLoops {
  readonly watch: Watch;
  readonly #takeOver: TakeOver;
  readonly #heartbeat: Heartbeat;

  constructor(options: NodeLoopsParts) {
    // Leases run on real time, whatever a test makes the messages believe.
    const parts = { ...options, clock: systemClock };
    this.watch = new Watch({ ...parts, roles: options.roles ?? ROLES });
    this.watch.start();
    this.#takeOver = new TakeOver({ ...parts, onFreed: () => this.watch.tell() });
    const connection = new PostgresConnection(options, `${options.name ?? "heliograph"} heartbeat`);
    this.#heartbeat = new Heartbeat({ ...parts, connection });
  }

  async stop(): Promise<void> {
    await this.watch.stop();
    await this.#takeOver.stop();
    await this.#heartbeat.stop();
  }
}
