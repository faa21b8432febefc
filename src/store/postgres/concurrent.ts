/** Commands that need not wait for their turn among the others: each has a connection of the pool and a workspace to itself. */
import type { PostgresConnectionOptions } from "../../drivers/postgres/attempts.ts";
import { asDatabaseError, faultKind } from "../../drivers/postgres/faults.ts";
import { PostgresLink, type Session } from "../../drivers/postgres/link.ts";
import type { PostgresPool } from "../../drivers/postgres/pool.ts";
import type { Call, CallOutcome } from "../group.ts";
import { COMMAND_MODES, type CommandMode } from "../modes.ts";
import type { Workspace } from "./workspace.ts";

/** Whoever loses a race to another node so often is told so. */
export const MAX_RACES = 8;

const IN_TRANSACTION: ReadonlySet<CommandMode> = new Set(["concurrent", "touch"]);

export class ConcurrentCommands {
  readonly #pool: PostgresPool;
  readonly #options: Pick<PostgresConnectionOptions, "url" | "leaseMs">;
  readonly #makeWorkspace: () => Workspace;
  readonly #idle: Workspace[] = [];

  constructor(
    pool: PostgresPool,
    options: Pick<PostgresConnectionOptions, "url" | "leaseMs">,
    makeWorkspace: () => Workspace,
  ) {
    this.#pool = pool;
    this.#options = options;
    this.#makeWorkspace = makeWorkspace;
  }

  async run(call: Call): Promise<CallOutcome> {
    for (let tries = 1; ; tries++) {
      try {
        const value = await this.#onSession(call, (session) => this.#inWorkspace(session, call));
        return { ok: true, value };
      } catch (error) {
        if (faultKind(error) !== "again" || tries >= MAX_RACES) return { ok: false, error: asDatabaseError(error) };
      }
    }
  }

  /** What reads all there is has a connection without the limits that keep lookups short. */
  async #onSession<Result>(call: Call, work: (session: Session) => Promise<Result>): Promise<Result> {
    if (COMMAND_MODES[call.command] !== "long read") return this.#pool.use(work);
    const { url, leaseMs } = this.#options;
    const link = new PostgresLink({ url, leaseMs, statementTimeoutMs: 0, readsAll: true }, "heliograph ledger");
    try {
      await link.connect(() => undefined);
      return await work(link);
    } finally {
      link.destroy();
    }
  }

  async #inWorkspace(session: Session, call: Call): Promise<unknown> {
    const workspace = this.#idle.pop() ?? this.#makeWorkspace();
    try {
      return await workspace.runOne(session, call, IN_TRANSACTION.has(COMMAND_MODES[call.command]));
    } finally {
      this.#idle.push(workspace);
    }
  }
}
