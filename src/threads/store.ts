/** The store's thread: an engine and its group commit, with a port to each side of the service. */
import { hostname } from "node:os";
import { type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { systemClock } from "../runtime/clock.ts";
import { Lease } from "../runtime/lease.ts";
import { createLog } from "../runtime/log.ts";
import type { Role } from "../runtime/roles.ts";
import type { Settings } from "../runtime/settings.ts";
import { callsOf, GroupCommit, type Urgency } from "../store/group.ts";
import type { LaneBounds } from "../store/lanes.ts";
import { openStore } from "../store/open.ts";
import type { Feed, LaneName } from "../store/port/delivery.ts";
import type { CommandName } from "../store/port/store.ts";
import { CheckpointTurn } from "../store/sqlite/checkpoint-turn.ts";
import type { CheckpointFault, CheckpointThreadData } from "./checkpoint.ts";
import { packFeed, unpackInput } from "./codec.ts";
import { serveCalls } from "./rpc.ts";

export interface StoreThreadData {
  readonly settings: Pick<Settings, "store" | "node">;
  readonly roles: readonly Role[];
  /** The memory of the lease, which this thread renews. */
  readonly lease: SharedArrayBuffer;
  readonly lanes: LaneBounds;
  readonly logLevel: string;
  readonly edge: MessagePort;
  readonly delivery: MessagePort;
}

/** The first thing that the thread says. */
export type StoreGreeting =
  | {
      kind: "ready";
      overflowed: LaneName[];
      /** Of the source of this node's ids: its number, and the memory in which the threads count together. */
      ids: { readonly node: number; readonly memory: SharedArrayBuffer };
    }
  | { kind: "failed"; reason: string };

/** What it may say after that: others have taken this node for dead, and all that was its own is theirs; or nothing more can be kept here. */
export interface StoreNews {
  readonly kind: "fenced" | "lost";
  readonly reason: string;
}

/** A few milliseconds are nothing to whoever waits for a flush to disk, and less to what carriers and receivers have said. */
const GROUP_PAUSE_MS = { awaited: 2, soon: 4 };

/** Starts the thread for the checkpoints of the embedded store, and returns how it is stopped. Without it commits do them, as they must. */
function startCheckpoints(leave: (turn: CheckpointTurn | null) => void): () => Promise<void> {
  const turn = new CheckpointTurn();
  const data: CheckpointThreadData = { directory: settings.store.data, turn: turn.memory };
  const worker = new Worker(new URL("./checkpoint.ts", import.meta.url), { name: "checkpoint", workerData: data });
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => {
      leave(null);
      resolve();
    });
  });
  worker.on("error", (error) =>
    log.warn({ err: error }, "the thread for checkpoints failed; commits do them from now on"),
  );
  worker.on("message", ({ message }: CheckpointFault) =>
    log.warn(`the log could not be brought into the database file: ${message}`),
  );
  leave(turn);
  return () => {
    worker.postMessage("stop");
    return ended;
  };
}

const { settings, roles, lease, lanes, edge, delivery, logLevel } = workerData as StoreThreadData;

const log = createLog(logLevel, { part: "store" });

try {
  const store = await openStore({
    settings,
    clock: systemClock,
    log,
    deliver: { lanes, roles, lease: new Lease(lease) },
    name: `heliograph ${hostname()} ${process.pid}`,
  });
  const onFeed = (feed: Feed): void => toDelivery.tell(packFeed(feed));
  const group = new GroupCommit(store.engine, onFeed, { clock: systemClock, ms: GROUP_PAUSE_MS });
  const send = callsOf(group);
  const handler = (urgency: Urgency): ((command: string, input: unknown) => Promise<unknown>) => {
    const send = { awaited: callsOf(group, "awaited"), soon: callsOf(group, "soon") };
    return (name, packed) => {
      const command = name as CommandName;
      const input = unpackInput(command, packed);
      const isAwaited = (input as { awaited?: boolean } | undefined)?.awaited === true;
      return send[isAwaited ? "awaited" : urgency]({ command, input });
    };
  };
  const stopCheckpoints = store.leaveCheckpoints === null ? null : startCheckpoints(store.leaveCheckpoints);
  serveCalls(edge, handler("awaited"));
  const toDelivery = serveCalls(delivery, handler("soon"));
  parentPort!.once("message", async () => {
    await stopCheckpoints?.();
    await group.settled();
    await store.close();
    edge.close();
    delivery.close();
    parentPort!.close();
  });
  const { node, memory } = store.ids;
  const greeting: StoreGreeting = { kind: "ready", overflowed: [...store.overflowed], ids: { node, memory } };
  parentPort!.postMessage(greeting);
  store.start({
    onFeed,
    send,
    onFenced: (reason) => parentPort!.postMessage({ kind: "fenced", reason } satisfies StoreNews),
    onLost: (reason) => parentPort!.postMessage({ kind: "lost", reason } satisfies StoreNews),
  });
} catch (error) {
  parentPort!.postMessage({ kind: "failed", reason: (error as Error).message } satisfies StoreGreeting);
}
