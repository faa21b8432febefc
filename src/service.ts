/**
 * The service whole: builds the parts, starts them in order (store, delivery, edge) and stops them in reverse. Only this file knows
 * that they stand on three threads:
 *
 *      edge (this thread) ──commands──▶ store ──feed──▶ delivery
 *                                        ▲──commands──────┘
 */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { CarrierFacts } from "./carriers/facts.ts";
import { Edge } from "./edge.ts";
import { type LiveBatch, LiveHub } from "./events/live.ts";
import { Lease } from "./node/lease.ts";
import { WriteMark } from "./node/write-mark.ts";
import { type Clock, systemClock, within } from "./runtime/clock.ts";
import { neverGuessLives } from "./runtime/compiled-code.ts";
import { HeapRest } from "./runtime/heap-rest.ts";
import { IdSource } from "./runtime/ids.ts";
import { createLog } from "./runtime/log.ts";
import type { Metric } from "./runtime/metrics.ts";
import { Phases } from "./runtime/phases.ts";
import { keptOffsetMs, TimeTravel } from "./runtime/time-travel.ts";
import { TravelClock } from "./runtime/travel-clock.ts";
import type { Settings } from "./settings/settings.ts";
import { rolesOf } from "./settings/words.ts";
import { storeOver } from "./store/group.ts";
import type { Store } from "./store/port/store.ts";
import { packInput, unpackAcceptance } from "./threads/codec.ts";
import type { DeliveryThreadData } from "./threads/delivery.ts";
import { ThreadCaller, type ThreadData } from "./threads/rpc.ts";
import type { StoreGreeting, StoreNews, StoreOrder, StoreThreadData } from "./threads/store.ts";
import { KEEPS_CALL, METRICS_CALL } from "./threads/store-metrics.ts";

export interface ServiceOptions {
  readonly settings: Settings;
  readonly sandbox: boolean;
  /** Looks at the store, and may put something there, before anything is delivered or served. What it throws is why the service does not start. */
  readonly prepare: (store: Store) => Promise<void>;
  /** A thread died, or other nodes have taken over (Fenced), or nothing can be kept (StoreLost): nothing works any more, and the process should end. */
  readonly onFailure: (error: Error) => void;
}

export interface Service {
  readonly url: string;
  /** What happens to messages, for whoever watches. */
  readonly live: LiveHub;
  /** Rejects with LeftInDoubt when all is stopped, but what became of some messages is not known. */
  stop(): Promise<void>;
}

/** The service cannot start; the message says what to do. */
class StartFault extends Error {}

/** Other nodes have taken over what this one had. It may do nothing any more, and should be started anew, as another node. */
export class Fenced extends Error {}

/** The service has stopped, and carriers did not say what became of some messages, or the store could not be told. They go again with the next start. */
export class LeftInDoubt extends Error {
  readonly messages: number;

  constructor(messages: number) {
    super(`it is not known what became of ${messages} messages that were handed to carriers`);
    this.messages = messages;
  }
}

/** The store can keep nothing more, and may be able to after a new start. */
export class StoreLost extends Error {
  /** Of so many messages that were handed to carriers it could not be recorded what became of them; null where nobody said in time. */
  readonly inDoubt: number | null;

  constructor(reason: string, inDoubt: number | null) {
    super(reason);
    this.inDoubt = inDoubt;
  }
}

/** How long an end waits for delivery to say what is in doubt. */
const COUNT_WAIT_MS = 1_000;

/** Listens to what the store's thread says after its greeting. From the first word of being fenced, or of a lost store, on nothing is sent. */
export function watchStoreThread(
  thread: Pick<Worker, "on">,
  lease: Lease,
  countInDoubt: () => Promise<number>,
  onEnd: (error: Error) => void,
  clock: Pick<Clock, "after"> = systemClock,
): void {
  thread.on("message", (news: StoreNews) => {
    if (news.kind !== "fenced" && news.kind !== "lost") return;
    lease.end();
    if (news.kind === "fenced") {
      onEnd(new Fenced(news.reason));
      return;
    }
    const counted = countInDoubt().catch(() => null);
    void within(clock, COUNT_WAIT_MS, counted, null).then((inDoubt) => onEnd(new StoreLost(news.reason, inDoubt)));
  });
}

export async function startService({ settings, sandbox, prepare, onFailure }: ServiceOptions): Promise<Service> {
  const log = createLog(settings.log.level, { part: "edge" });
  const phases = new Phases(log);
  phases.done("modules loaded, settings read");
  const edgeToStore = new MessageChannel();
  const deliveryToStore = new MessageChannel();
  const control = new MessageChannel();
  // The embedded store's is endless: its directory is locked, so there are no other nodes.
  const lease = settings.store.url === "" ? Lease.endless() : new Lease();
  // Where there are other nodes, nobody here knows what they write.
  const mark = settings.store.url === "" ? new WriteMark() : null;
  let stopping = false;
  // Only where this process is the only one that knows what time it is.
  const travelClock =
    sandbox && settings.store.url === ""
      ? new TravelClock(systemClock, TravelClock.memoryAt(keptOffsetMs(settings.store.data)))
      : null;
  const clock = travelClock ?? systemClock;

  const live = new LiveHub();
  const takeLive = (batch: unknown): void => live.take(batch as LiveBatch);

  const exits: Promise<void>[] = [];
  const startThread = <Data extends ThreadData>(
    name: "store" | "delivery",
    own: Omit<Data, keyof ThreadData>,
    transferList: MessagePort[],
  ): Worker => {
    const file = new URL("./threads/begin.ts", import.meta.url);
    const workerData = {
      ...own,
      lease: lease.memory,
      mark: mark?.memory ?? null,
      travel: travelClock?.memory ?? null,
      live: live.memory,
      startedAtMs: systemClock.monotonic(),
    };
    const worker = new Worker(file, { name, argv: [name], workerData, transferList });
    worker.on("error", onFailure);
    const ended = new Promise<void>((resolve) => {
      worker.on("exit", (code) => {
        if (!stopping) onFailure(new Error(`the thread ${name} ended with code ${code}`));
        resolve();
      });
    });
    exits.push(ended);
    return worker;
  };

  const storeThread = startThread<StoreThreadData>(
    "store",
    {
      settings: { store: settings.store, node: settings.node },
      roles: rolesOf(settings),
      lanes: { lane: settings.dispatch.laneMessages, total: settings.dispatch.memoryMessages },
      logLevel: settings.log.level,
      edge: edgeToStore.port2,
      delivery: deliveryToStore.port2,
    },
    [edgeToStore.port2, deliveryToStore.port2],
  );
  const greeting = await new Promise<StoreGreeting>((resolve) =>
    storeThread.once("message", (first: StoreGreeting) => {
      // Its end may be told before whoever waits here gets a turn, and is no failure of its own.
      if (first.kind === "failed") stopping = true;
      resolve(first);
    }),
  );
  if (greeting.kind === "failed") {
    await storeThread.terminate();
    throw new StartFault(greeting.reason);
  }
  let delivery: ThreadCaller | null = null;
  const countInDoubt = async (): Promise<number> =>
    delivery === null ? 0 : ((await delivery.call("leftInDoubt", null)) as number);
  watchStoreThread(storeThread, lease, countInDoubt, (error) => {
    // A stop that is under way ends the process too.
    if (!stopping) onFailure(error);
  });

  phases.done("store opened");
  const storeCaller = new ThreadCaller(edgeToStore.port1, takeLive);
  let rest: HeapRest | null = null;
  const store = storeOver(({ command, input }) => {
    const answer = storeCaller.call(command, packInput(command, input));
    if (command !== "accept") return answer;
    rest?.stop();
    return answer.then(unpackAcceptance);
  });
  const closeStore = async (): Promise<void> => {
    stopping = true;
    storeThread.postMessage("close" satisfies StoreOrder);
    await Promise.all(exits);
    edgeToStore.port1.close();
  };
  try {
    // By the thread that has the store open: to open it here too would load and compile all of it twice.
    await prepare(store);
  } catch (error) {
    await closeStore();
    throw error;
  }
  phases.done("store looked at");

  startThread<DeliveryThreadData>(
    "delivery",
    {
      settings,
      sandbox,
      overflowed: greeting.overflowed,
      store: deliveryToStore.port1,
      control: control.port2,
    },
    [deliveryToStore.port1, control.port2],
  );
  const deliveryCaller = new ThreadCaller(control.port1, takeLive);
  delivery = deliveryCaller;
  const timeTravel =
    travelClock === null
      ? null
      : new TimeTravel({
          clock: travelClock,
          directory: settings.store.data,
          before: (byMs) => store.moveSessions({ byMs }),
          rearmOthers: async () => {
            storeThread.postMessage("rearm" satisfies StoreOrder);
            await deliveryCaller.call("rearm", null);
          },
        });
  const edge = new Edge({
    store,
    clock,
    log,
    settings,
    mark,
    isServing: async () =>
      mark === null ? lease.isServing(settings.node.leaseMs) : ((await storeCaller.call(KEEPS_CALL, null)) as boolean),
    live,
    ids: new IdSource(clock, greeting.ids.node, 0n, greeting.ids.memory),
    sandbox: sandbox
      ? {
          write: (message) => deliveryCaller.call("write", message) as Promise<boolean>,
          network: (name, input) => deliveryCaller.call("network", { name, input }) as Promise<never>,
          travel: timeTravel,
        }
      : null,
    carriers: {
      facts: () => deliveryCaller.call("carriers", null) as Promise<CarrierFacts[]>,
      heard: (carrierId, said) => deliveryCaller.call("heard", { carrierId, said }) as Promise<boolean>,
    },
    reportsInMemory: () => deliveryCaller.call("reportsInMemory", null) as Promise<number>,
    metrics: {
      store: () => storeCaller.call(METRICS_CALL, null) as Promise<Metric[]>,
      delivery: () => deliveryCaller.call("metrics", null) as Promise<Metric[]>,
    },
    phases,
  });

  const stop = async (): Promise<void> => {
    stopping = true;
    rest?.stop();
    await edge.stop();
    let failure: Error | null = null;
    try {
      const inDoubt = (await deliveryCaller.call("stop", null)) as number;
      if (inDoubt > 0) failure = new LeftInDoubt(inDoubt);
    } catch (error) {
      failure = error as Error;
    }
    if (failure !== null) log.error({ err: failure }, "delivery did not stop in good order");
    control.port1.close();
    await closeStore();
    if (failure !== null) throw failure;
  };

  try {
    await deliveryCaller.call("start", null);
    // All threads have loaded what they need to start.
    neverGuessLives();
    phases.done("delivery started");
    const url = await edge.start();
    rest = new HeapRest({ clock: systemClock });
    storeThread.postMessage("serving" satisfies StoreOrder);
    return { url, live, stop };
  } catch (error) {
    await stop();
    throw new StartFault(startReason(error as NodeJS.ErrnoException, settings));
  }
}

function startReason(error: NodeJS.ErrnoException, { server }: Settings): string {
  const place = `${server.host}:${server.port}`;
  if (error.code === "EADDRINUSE")
    return `${place} is already in use: name another port with --port (0 takes any free one)`;
  if (error.code === "EADDRNOTAVAIL") return `${place} is not an address of this machine: name another with --host`;
  if (error.code === "ENOTFOUND" || error.code === "EAI_AGAIN") {
    return `${server.host} is not a name that this machine knows: name another with --host`;
  }
  if (error.code === "EACCES")
    return `${place} may not be listened on by this user: name a port from 1024 on with --port`;
  return error.message;
}
