/** Reports to push, and a Push with everything around it, taken down when the test ends. */

import type { TestContext } from "node:test";
import { carriedOf } from "../../src/message/fields.ts";
import type { DeliveryBatch, ReportBatch, ReportFacts } from "../../src/message/message.ts";
import { Lease } from "../../src/node/lease.ts";
import { Push } from "../../src/reports/pushing/push.ts";
import { PUSH_DEFAULTS, type PushOptions, type PushSettings } from "../../src/reports/pushing/push-settings.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { seededRandom } from "../../src/runtime/random.ts";
import { ReportReceiver, type Tls } from "../support/report-receiver.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { MemoryReportStore } from "./memory-store.ts";

export const MINUTE_MS = 60_000;

export function factsOf(changes: Partial<ReportFacts> = {}): ReportFacts {
  return {
    bulkId: "1770890300323000001",
    messageId: "1770890300323000002",
    to: "41793026727",
    from: "InfoSMS",
    sentAtMs: Date.UTC(2026, 1, 12, 9, 58, 20, 323),
    doneAtMs: Date.UTC(2026, 1, 12, 9, 58, 21, 5),
    smsCount: 1,
    mccMnc: "22801",
    ...carriedOf({ callbackData: "order 7" }),
    pricePerPartMicros: 7_500n,
    currency: "EUR",
    statusId: 5,
    errorId: 0,
    ...changes,
  };
}

let batchCount = 0;

export function batchFor(url: string, changes: Partial<DeliveryBatch> = {}): DeliveryBatch {
  batchCount++;
  const items = [factsOf({ messageId: `message-${batchCount}` })];
  return {
    id: `batch-${batchCount}`,
    kind: "delivery",
    accountId: 1,
    url,
    form: "application/json",
    items,
    attempts: 0,
    ...changes,
  };
}

export function batchesFor(url: string, count: number, changes: Partial<DeliveryBatch> = {}): DeliveryBatch[] {
  return Array.from({ length: count }, () => batchFor(url, changes));
}

export interface Pushing {
  readonly clock: VirtualClock;
  readonly store: MemoryReportStore;
  readonly push: Push;
  /** Commits batches and passes them on. */
  send(...batches: ReportBatch[]): void;
}

type Changes = Omit<Partial<PushOptions>, "settings" | "store" | "clock"> & {
  settings?: Partial<PushSettings>;
  startMs?: number;
};

/** Time stands still until the test moves it; sockets are real. */
export function startPush(t: TestContext, changes: Changes = {}): Pushing {
  const clock = new VirtualClock(changes.startMs);
  const store = new MemoryReportStore(clock);
  const push = new Push({
    lease: Lease.endless(),
    clock,
    random: seededRandom(1),
    log: silentLog,
    policy: { allowLoopback: true, allowPrivate: false },
    ...changes,
    store,
    // One batch a request unless a test wants otherwise: so that batches can be counted.
    settings: { ...PUSH_DEFAULTS, jitter: 0, requestItems: 1, ...changes.settings },
  });
  // Time passes while it stops: it may be waiting for a receiver that never answers.
  t.after(() => Promise.all([push.stop(), clock.advance(MINUTE_MS)]));
  return { clock, store, push, send: (...batches) => push.take(store.commit(batches)) };
}

export async function startReceiver(t: TestContext, tls: Tls | null = null): Promise<ReportReceiver> {
  const receiver = await ReportReceiver.start(tls);
  t.after(() => receiver.stop());
  return receiver;
}
