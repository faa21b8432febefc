/** How it stands with a carrier on this node, for whoever watches: put together when it is asked for. */
import type { CarrierFacts } from "../carriers/facts.ts";
import type { CarrierQueue } from "./carrier-queue.ts";

const MAX_REASONS = 20;

/** As far as its connections go. */
export function stateOf({ carrier, health, sinceMs }: CarrierQueue) {
  const connections = carrier.connections?.() ?? null;
  return { id: carrier.id, isUp: carrier.isUp(), sinceMs, health: health.facts, connections };
}

export function factsOf(queue: CarrierQueue): CarrierFacts {
  const { carrier, counts, handed, inFlight, putOff } = queue;
  const lanes = [...queue.ring.lanes()];
  const { messages, parts, refused, later, unknown, lastReceiptMs } = counts;
  const { held, delivered, ...otherwise } = counts.receipts;
  const failed = Object.values(otherwise).reduce((sum, count) => sum + count, 0);
  return {
    ...stateOf(queue),
    windowUsed: handed.unrecorded,
    window: carrier.window,
    waiting: lanes.reduce((sum, { length }) => sum + length, 0),
    putOff,
    inFlight,
    lanes: lanes.length,
    overflowedLanes: lanes.filter(({ overflowed }) => overflowed).length,
    isPaused: queue.pause !== null,
    messages,
    parts,
    refused,
    later,
    unknown,
    receipts: held + delivered + failed,
    delivered,
    failed,
    reasons: [...counts.reasons].sort(([, one], [, other]) => other - one).slice(0, MAX_REASONS),
    answerTimes: counts.answerTimes.summary,
    receiptTimes: counts.receiptTimes.summary,
    lastReceiptMs,
  };
}
