/** The store's thread: an engine and its group commit, with a port to each side of the service. */
import { hostname } from "node:os";
import { type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { openStore } from "../commands/open.ts";
import { CheckpointTurn } from "../drivers/sqlite/checkpoint-turn.ts";
import { inWords } from "../drivers/store-trouble.ts";
import { LiveTap } from "../events/live.ts";
import { Lease } from "../node/lease.ts";
import type { Role } from "../node/roles.ts";
import { WriteMark } from "../node/write-mark.ts";
import { Interval, systemClock } from "../runtime/clock.ts";
import { keepCompiled } from "../runtime/compiled-code.ts";
import { HeapRest } from "../runtime/heap-rest.ts";
import { createLog } from "../runtime/log.ts";
import type { Metric } from "../runtime/metrics.ts";
import { Phases } from "../runtime/phases.ts";
import { outsideOf, TravelClock } from "../runtime/travel-clock.ts";
import type { Settings } from "../settings/settings.ts";
import {
  type Call,
  type Caller,
  callsOf,
  type Engine,
  GroupCommit,
  type SendCall,
  type Urgency,
} from "../store/group.ts";
import type { LaneBounds } from "../store/lanes.ts";
import { type EmbeddedStore, storeName } from "../store/open.ts";
import type { Feed, LaneName } from "../store/port/delivery.ts";
import type { AcceptanceOutcome } from "../store/port/messages.ts";
import type { CommandName } from "../store/port/store.ts";
import { lineOfCall } from "../store/told-lines.ts";
import type { CheckpointFault, CheckpointOrder, CheckpointThreadData } from "./checkpoint.ts";
import { packAcceptance, packFeed, unpackInput } from "./codec.ts";
import { ThreadMetrics } from "./process-metrics.ts";
import { serveCalls, type ThreadData } from "./rpc.ts";
import { diskMetrics, GroupMetrics, KEEPS_CALL, METRICS_CALL } from "./store-metrics.ts";

export interface StoreThreadData extends ThreadData {
  readonly settings: Pick<Settings, "store" | "node">;
  readonly roles: readonly Role[];
  readonly lanes: LaneBounds;
  readonly logLevel: string;
  readonly edge: MessagePort;
  readonly delivery: MessagePort;
}

/** What the thread is told: that the service listens, and there will be something to write; that its clock was moved; or to end. */
export type StoreOrder = "serving" | "rearm" | "close";

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

/** A few milliseconds are nothing to whoever waits for a flush to disk, and less to what carriers have said. */
const GROUP_PAUSE_MS = { awaited: 3, soon: 6 };

/** So many calls of delivery, of up to a hundred items each, are no more than a group. */
const FEW_CALLS = 8;
const MANY_FOR_MS = 1_000;

/** How often the embedded store looks for what others have written, and writes what was left for later. Others are heard within a second (catalogue.ts). */
const LOOK_AROUND_MS = 950;
/** How often the log is looked at for what other processes have written to it. */
const LOG_LOOK_MS = 10_000;

/** Errors that say by themselves what is wrong and what to do. By their names: the classes of an engine are loaded with it. */
const PLAIN_FAULTS = new Set(["DataDirectoryInUse", "SecretFault"]);

/** Why it cannot start, in a sentence. */
function reasonOf(error: Error): string {
  return PLAIN_FAULTS.has(error.constructor.name)
    ? error.message
    : `the data in ${storeName(settings)} cannot be opened: ${inWords(error, settings.store)}`;
}

/**
 * Leaves the checkpoints of the embedded store to a thread of their own, which is started when the first one is due, and returns how it is stopped.
 * Without it commits do them, as they must.
 */
function leaveToThread(log: EmbeddedStore["log"]): () => Promise<void> {
  const memory = CheckpointTurn.memory();
  let thread: { readonly worker: Worker; readonly ended: Promise<void> } | null = null;
  const wake = (): void => {
    thread ??= startCheckpoints(memory, () => log.leaveCheckpoints(null));
    thread.worker.postMessage("due" satisfies CheckpointOrder);
  };
  log.leaveCheckpoints(new CheckpointTurn(memory, wake));
  const looking = new Interval(systemClock, LOG_LOOK_MS, async () => log.look());
  return async () => {
    await looking.stop();
    if (thread === null) log.leaveCheckpoints(null);
    thread?.worker.postMessage("stop" satisfies CheckpointOrder);
    await thread?.ended;
  };
}

function startCheckpoints(turn: SharedArrayBuffer, onEnd: () => void) {
  const data: CheckpointThreadData = { directory: settings.store.data, turn };
  const worker = new Worker(new URL("./checkpoint.ts", import.meta.url), { name: "checkpoint", workerData: data });
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => {
      onEnd();
      resolve();
    });
  });
  worker.on("error", (error) =>
    log.warn({ err: error }, "the thread for checkpoints failed; commits do them from now on"),
  );
  worker.on("message", ({ message }: CheckpointFault) =>
    log.warn(`the log could not be brought into the database file: ${message}`),
  );
  return { worker, ended };
}

const data = workerData as StoreThreadData;
const { settings, roles, lease, lanes, edge, delivery, logLevel, travel } = data;
const clock = travel === null ? systemClock : new TravelClock(systemClock, travel);

const log = createLog(logLevel, { part: "store" });
const phases = new Phases(log, data.startedAtMs);
phases.done("modules loaded");

try {
  const store = await openStore(
    {
      settings,
      clock,
      log,
      deliver: { lanes, roles, lease: new Lease(lease), mark: data.mark === null ? null : new WriteMark(data.mark) },
      name: `heliograph ${hostname()} ${process.pid}`,
    },
    new LiveTap(data.live, (batch) => toEdge.tell(batch), outsideOf(clock)),
  );
  keepCompiled();
  phases.done("store opened");
  const onFeed = (feed: Feed): void => toDelivery.tell(packFeed(feed));
  const groups = new GroupMetrics(systemClock);
  const thread = new ThreadMetrics("store", { collections: false });
  const metrics = async (): Promise<Metric[]> => [
    ...groups.metrics(),
    store.finished.metric(),
    ...(settings.store.url === "" ? diskMetrics(settings.store.data) : []),
    ...thread.metrics(),
  ];
  const rest = new HeapRest({ clock: systemClock });
  const line = (engine: Engine): GroupCommit =>
    new GroupCommit(engine, onFeed, { clock: systemClock, ms: GROUP_PAUSE_MS }, groups);
  const group = line(store.engine);
  const told = store.engine.beside?.map(line) ?? [group];
  /** Calls of delivery without an answer. While they are few, one line has them all: two would make twice as many commits of them. */
  let toldCalls = 0;
  let manyUntilMs = 0;
  const toldLine = (call: Call): number => {
    const nowMs = systemClock.monotonic();
    if (toldCalls > FEW_CALLS) manyUntilMs = nowMs + MANY_FOR_MS;
    return nowMs < manyUntilMs ? lineOfCall(call, told.length) : 0;
  };
  const answered = (): void => {
    toldCalls--;
  };
  const handler = (urgency: Urgency, caller: Caller): ((command: string, input: unknown) => Promise<unknown>) => {
    const sendersOf = (one: GroupCommit): Record<Urgency, SendCall> => ({
      awaited: callsOf(one, "awaited", caller),
      soon: callsOf(one, "soon", caller),
    });
    const toClients = sendersOf(group);
    const toTold = told.map(sendersOf);
    return (name, packed) => {
      const command = name as CommandName;
      const input = unpackInput(command, packed);
      const isAwaited = (input as { awaited?: boolean } | undefined)?.awaited === true;
      // Receipts stay behind what was told of their messages, whoever a carrier has told them.
      const isTold = caller === "delivery" || command === "received";
      const send = isTold ? toTold[toldLine({ command, input })]! : toClients;
      const answer = send[isAwaited ? "awaited" : urgency]({ command, input });
      if (isTold) {
        toldCalls++;
        void answer.then(answered, answered);
      }
      if (command !== "accept") return answer;
      rest.stop();
      return answer.then((outcome) => packAcceptance(outcome as AcceptanceOutcome));
    };
  };
  let stopCheckpoints: (() => Promise<void>) | null = null;
  const forEdge = handler("awaited", "clients");
  const ofThread: Record<string, () => Promise<unknown>> = {
    [METRICS_CALL]: metrics,
    [KEEPS_CALL]: async () => store.embedded!.keeps,
  };
  const toEdge = serveCalls(edge, (name, packed) => ofThread[name]?.() ?? forEdge(name, packed));
  const toDelivery = serveCalls(delivery, handler("soon", "delivery"));
  parentPort!.on("message", async (order: StoreOrder) => {
    if (order === "serving") {
      if (store.embedded !== null) stopCheckpoints = leaveToThread(store.embedded.log);
      return;
    }
    if (order === "rearm") {
      if (clock instanceof TravelClock) clock.rearm();
      return;
    }
    thread.stop();
    rest.stop();
    await looking?.stop();
    await stopCheckpoints?.();
    await Promise.all([group, ...told].map((one) => one.settled()));
    await store.close();
    edge.close();
    delivery.close();
    parentPort!.close();
  });
  // Those who would ask the store again and again wait for the mark instead, so the store looks around by itself.
  const { embedded } = store;
  const lookAround = async (): Promise<void> => {
    embedded!.lookForOthers();
    group.seeToWhatWaits();
  };
  const looking = embedded === null ? null : new Interval(systemClock, LOOK_AROUND_MS, lookAround);
  const { node, memory } = store.ids;
  const greeting: StoreGreeting = { kind: "ready", overflowed: [...store.overflowed], ids: { node, memory } };
  parentPort!.postMessage(greeting);
  store.start({
    onFeed,
    send: callsOf(told[0]!, "soon", "delivery"),
    onFenced: (reason) => parentPort!.postMessage({ kind: "fenced", reason } satisfies StoreNews),
    onLost: (reason) => parentPort!.postMessage({ kind: "lost", reason } satisfies StoreNews),
  });
} catch (error) {
  parentPort!.postMessage({ kind: "failed", reason: reasonOf(error as Error) } satisfies StoreGreeting);
}
