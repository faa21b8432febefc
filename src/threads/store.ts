/** The store's thread: the SQLite engine and its group commit, with a port to each side of the service. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../runtime/clock.ts";
import type { Settings } from "../runtime/settings.ts";
import { GroupCommit } from "../store/group.ts";
import type { LaneBounds } from "../store/lanes.ts";
import type { CommandName, LaneName, Role } from "../store/port.ts";
import { SqliteEngine } from "../store/sqlite/engine.ts";
import { serveCalls, tell } from "./rpc.ts";

export interface StoreThreadData {
  readonly settings: Pick<Settings, "store" | "node">;
  readonly roles: readonly Role[];
  /** The memory of the lease, which this thread renews. */
  readonly lease: SharedArrayBuffer;
  readonly lanes: LaneBounds;
  readonly edge: MessagePort;
  readonly delivery: MessagePort;
}

/** The first thing that the thread says. */
export type StoreGreeting =
  | {
      kind: "ready";
      lastKey: string;
      spilled: LaneName[];
      /** The node's number for ids; 0 unless there are others. */
      node?: number;
    }
  | { kind: "failed"; reason: string };

/** What it may say after that: others have taken this node for dead, and all that was its own is theirs. */
export interface StoreNews {
  readonly kind: "deposed";
  readonly reason: string;
}

const { settings, lanes, edge, delivery } = workerData as StoreThreadData;

try {
  const engine = new SqliteEngine({ directory: settings.store.data, lanes, clock: systemClock, mode: "deliver" });
  const group = new GroupCommit(engine, (feed) => tell(delivery, feed));
  const handle = (command: string, input: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      group.add({ command: command as CommandName, input }, (outcome) => {
        if (outcome.ok) resolve(outcome.value);
        else reject(outcome.error);
      });
    });
  serveCalls(edge, handle);
  serveCalls(delivery, handle);
  parentPort!.once("message", () => {
    engine.close();
    edge.close();
    delivery.close();
    parentPort!.close();
  });
  parentPort!.postMessage({
    kind: "ready",
    lastKey: engine.lastKey(),
    spilled: engine.spilledLanes(),
  } satisfies StoreGreeting);
} catch (error) {
  parentPort!.postMessage({ kind: "failed", reason: (error as Error).message } satisfies StoreGreeting);
}
