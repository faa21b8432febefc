/** Delivery's thread: dispatch, carriers and report push, fed by the store's thread and steered by the main one. */
import { type MessagePort, workerData } from "node:worker_threads";
import { Delivery } from "../delivery.ts";
import { systemClock } from "../runtime/clock.ts";
import { Lease } from "../runtime/lease.ts";
import { createLog } from "../runtime/log.ts";
import { systemRandom } from "../runtime/random.ts";
import type { Settings } from "../runtime/settings.ts";
import { storeOver } from "../store/group.ts";
import type { LaneName } from "../store/port/delivery.ts";
import { type PackedFeed, packInput, unpackFeed } from "./codec.ts";
import { serveCalls, ThreadCaller } from "./rpc.ts";

export interface DeliveryThreadData {
  readonly settings: Settings;
  readonly sandbox: boolean;
  readonly overflowed: readonly LaneName[];
  /** The memory of the lease, which the store's thread renews. */
  readonly lease: SharedArrayBuffer;
  readonly store: MessagePort;
  readonly control: MessagePort;
}

const { settings, sandbox, overflowed, lease: memory, store: storePort, control } = workerData as DeliveryThreadData;

const log = createLog(settings.log.level, { part: "delivery" });
const caller = new ThreadCaller(storePort, (feed) => delivery.take(unpackFeed(feed as PackedFeed)));
const store = storeOver(({ command, input }) => caller.call(command, packInput(command, input)));
const lease = new Lease(memory);
const delivery = new Delivery({ store, clock: systemClock, random: systemRandom, log, settings, sandbox, lease });

const COMMANDS: Readonly<Record<string, (input: unknown) => Promise<unknown>>> = {
  start: () => delivery.start(overflowed),
  metrics: async () => delivery.metrics(),
  write: (message) => delivery.write(message as Parameters<Delivery["write"]>[0]),
  stop: () => delivery.stop(),
};
// The main thread closes its end when it has heard that all is stopped; with both ports closed the thread ends.
control.on("close", () => storePort.close());
serveCalls(control, (name, input) => COMMANDS[name]!(input));
