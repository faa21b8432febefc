/** Commands that need not wait for their turn among the others: each has a connection of the pool and a workspace to itself. */
import { COMMANDS, type CommandMode } from "../commands/modes.ts";
import type { Call, Outcome } from "../group.ts";
import { asStoreError, type ConnectionOptions, faultKind, type Pool, type Session } from "./connection.ts";
import { Link } from "./link.ts";
import type { Workspace } from "./workspace.ts";

/** Whoever loses a race to another node so often is told so. */
export const MAX_TRIES = 8;

const IN_TRANSACTION: ReadonlySet<CommandMode> = new Set(["concurrent", "touch"]);

export class ConcurrentCommands {
  readonly #pool: Pool;
  readonly #options: Pick<ConnectionOptions, "url" | "leaseMs">;
  readonly #makeWorkspace: () => Workspace;
  readonly #idle: Workspace[] = [];

  constructor(pool: Pool, options: Pick<ConnectionOptions, "url" | "leaseMs">, makeWorkspace: () => Workspace) {
    this.#pool = pool;
    this.#options = options;
    this.#makeWorkspace = makeWorkspace;
  }

  async run(call: Call): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      try {
        const value = await this.#onSession(call, (session) => this.#inWorkspace(session, call));
        return { ok: true, value };
      } catch (error) {
        if (faultKind(error) !== "again" || tries >= MAX_TRIES) return { ok: false, error: asStoreError(error) };
      }
    }
  }

  /** What reads all there is has a connection without the limits that keep lookups short. */
  async #onSession<Result>(call: Call, work: (session: Session) => Promise<Result>): Promise<Result> {
    if (COMMANDS[call.command] !== "long read") return this.#pool.use(work);
    const { url, leaseMs } = this.#options;
    const link = new Link({ url, leaseMs, statementTimeoutMs: 0, readsAll: true }, "heliograph ledger");
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
      return await workspace.runOne(session, call, IN_TRANSACTION.has(COMMANDS[call.command]));
    } finally {
      this.#idle.push(workspace);
    }
  }
}
