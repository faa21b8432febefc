/** Delivery's thread: dispatch, carriers and report push, fed by the store's thread and steered by the main one. */
import { type MessagePort, workerData } from "node:worker_threads";
import type { CalledBack } from "../carriers/http/callbacks.ts";
import { Delivery } from "../delivery.ts";
import { LiveTap } from "../events/live.ts";
import { Lease } from "../node/lease.ts";
import { WriteMark } from "../node/write-mark.ts";
import { systemClock } from "../runtime/clock.ts";
import { keepCompiled } from "../runtime/compiled-code.ts";
import { HeapRest } from "../runtime/heap-rest.ts";
import { createLog } from "../runtime/log.ts";
import { Phases } from "../runtime/phases.ts";
import { systemRandom } from "../runtime/random.ts";
import { outsideOf, TravelClock } from "../runtime/travel-clock.ts";
import type { Settings } from "../settings/settings.ts";
import { storeOver } from "../store/group.ts";
import type { LaneName } from "../store/port/delivery.ts";
import type { CommandName } from "../store/port/store.ts";
import { type PackedFeed, packInput, unpackFeed } from "./codec.ts";
import { ThreadMetrics } from "./process-metrics.ts";
import { serveCalls, ThreadCaller, type ThreadData } from "./rpc.ts";

export interface DeliveryThreadData extends ThreadData {
  readonly settings: Settings;
  readonly sandbox: boolean;
  readonly overflowed: readonly LaneName[];
  readonly store: MessagePort;
  readonly control: MessagePort;
}

/** Nothing follows from these. What a process that dies has not recorded of them is pushed again, as any report may be. */
const CAN_WAIT: ReadonlySet<string> = new Set<CommandName>(["reportsDelivered"]);
const MAX_WAIT_MS = 100;

const data = workerData as DeliveryThreadData;
const { settings, sandbox, overflowed, lease: memory, store: storePort, control, travel, startedAtMs } = data;

const log = createLog(settings.log.level, { part: "delivery" });
const phases = new Phases(log, startedAtMs);
const caller = new ThreadCaller(storePort, (feed) => {
  rest.stop();
  delivery.take(unpackFeed(feed as PackedFeed));
});
const store = storeOver(({ command, input }) =>
  caller.call(command, packInput(command, input), CAN_WAIT.has(command) ? MAX_WAIT_MS : 0),
);
const lease = new Lease(memory);
const travelClock = travel === null ? null : new TravelClock(systemClock, travel);
const clock = travelClock ?? systemClock;
const live = new LiveTap(data.live, (batch) => toEdge.tell(batch), outsideOf(clock));
const mark = data.mark === null ? null : new WriteMark(data.mark);
const delivery = new Delivery({ store, clock, random: systemRandom, log, settings, sandbox, lease, mark, live });
const thread = new ThreadMetrics("delivery", { collections: false });
const rest = new HeapRest({ clock: systemClock });

const COMMANDS: Readonly<Record<string, (input: unknown) => Promise<unknown>>> = {
  start: async () => {
    await delivery.start(overflowed);
    keepCompiled();
    phases.done("carriers and reports started");
  },
  metrics: async () => [...delivery.metrics(), ...thread.metrics()],
  reportsInMemory: async () => delivery.reportsInMemory,
  leftInDoubt: async () => delivery.dispatcher?.leftInDoubt ?? 0,
  carriers: async () => delivery.dispatcher?.facts() ?? [],
  heard: async (input) => {
    const { carrierId, said } = input as { carrierId: string; said: CalledBack };
    return delivery.dispatcher?.heard(carrierId, said) ?? false;
  },
  write: (message) => delivery.write(message as Parameters<Delivery["write"]>[0]),
  network: async (input) => {
    const { name, input: asked } = input as { name: never; input: never };
    return delivery.network?.ask(name, asked);
  },
  rearm: async () => travelClock?.rearm(),
  stop: async () => {
    thread.stop();
    rest.stop();
    return delivery.stop();
  },
};
// The main thread closes its end when it has heard that all is stopped; with both ports closed the thread ends.
control.on("close", () => storePort.close());
phases.done("modules loaded");
const toEdge = serveCalls(control, (name, input) => COMMANDS[name]!(input));
