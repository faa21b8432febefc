/** What Prometheus reads of dispatch: for each carrier how it stands and what it answered, and what is counted of all together. */
import type { HealthFacts } from "../carriers/facts.ts";
import {
  addDistributions,
  counter,
  type Distribution,
  gauge,
  histogram,
  type LabelNames,
  type Metric,
  OTHER,
  type Series,
  seriesBy,
} from "../runtime/metrics.ts";
import type { CarrierQueue } from "./carrier-queue.ts";

/** Of so many carriers each has series of its own; those beyond share one set. */
export const MAX_NAMED_CARRIERS = 200;

/** What is told of one carrier, or of all that share a name. */
interface CarrierNumbers {
  readonly isUp: number;
  readonly health: Readonly<Record<HealthFacts["state"], number>>;
  readonly healthSeconds: number;
  readonly share: number;
  readonly sick: Readonly<Record<string, number>>;
  readonly binds: { readonly bound: number; readonly unbound: number } | null;
  readonly windowUsed: number;
  readonly window: number;
  readonly waiting: number;
  readonly oldestSeconds: number;
  readonly submits: Readonly<Record<string, number>>;
  readonly parts: number;
  readonly throttled: number;
  readonly receipts: Readonly<Record<string, number>>;
  readonly answerSeconds: Distribution;
  readonly receiptSeconds: Distribution;
}

function numbersOf(queue: CarrierQueue, nowMs: number): CarrierNumbers {
  const { carrier, counts, handed, inFlight, oldestDueAtMs } = queue;
  const connections = carrier.connections?.() ?? null;
  const { state, sinceMs, share } = queue.health.facts;
  const bound = connections?.links.filter(({ isBound }) => isBound).length ?? 0;
  return {
    isUp: carrier.isUp() ? 1 : 0,
    health: { well: 0, slow: 0, sick: 0, [state]: 1 },
    healthSeconds: Math.max(0, nowMs - sinceMs) / 1_000,
    share,
    sick: { throttled: counts.sick.throttled, unanswered: counts.sick.unanswered, put_off: counts.sick["put off"] },
    binds: connections === null ? null : { bound, unbound: connections.links.length - bound },
    windowUsed: handed.unrecorded,
    window: carrier.window,
    waiting: queue.size - inFlight,
    oldestSeconds: oldestDueAtMs === null ? 0 : Math.max(0, nowMs - oldestDueAtMs) / 1_000,
    submits: {
      accepted: counts.messages,
      refused: counts.refused - counts.gaveUp,
      later: counts.later - counts.putOff,
      put_off: counts.putOff,
      unknown: counts.unknown,
      gave_up: counts.gaveUp,
    },
    parts: counts.parts,
    throttled: connections?.throttled ?? 0,
    receipts: { ...counts.receipts },
    answerSeconds: counts.answerSeconds.distribution,
    receiptSeconds: counts.receiptSeconds.distribution,
  };
}

/** Several as one: it is up when all are, its oldest message is the oldest of all, and it has the least share of any. */
function together(one: CarrierNumbers, other: CarrierNumbers): CarrierNumbers {
  return {
    isUp: Math.min(one.isUp, other.isUp),
    health: added(one.health, other.health),
    healthSeconds: Math.min(one.healthSeconds, other.healthSeconds),
    share: Math.min(one.share, other.share),
    sick: added(one.sick, other.sick),
    binds: one.binds === null || other.binds === null ? (one.binds ?? other.binds) : added(one.binds, other.binds),
    windowUsed: one.windowUsed + other.windowUsed,
    window: one.window + other.window,
    waiting: one.waiting + other.waiting,
    oldestSeconds: Math.max(one.oldestSeconds, other.oldestSeconds),
    submits: added(one.submits, other.submits),
    parts: one.parts + other.parts,
    throttled: one.throttled + other.throttled,
    receipts: added(one.receipts, other.receipts),
    answerSeconds: addDistributions(one.answerSeconds, other.answerSeconds),
    receiptSeconds: addDistributions(one.receiptSeconds, other.receiptSeconds),
  };
}

function added<Name extends string>(one: Readonly<Record<Name, number>>, other: Readonly<Record<Name, number>>) {
  const sums = Object.entries<number>(one).map(([name, value]) => [name, value + other[name as Name]]);
  return Object.fromEntries(sums) as Record<Name, number>;
}

export function carrierMetrics(queues: Iterable<CarrierQueue>, names: LabelNames, nowMs: number): Metric[] {
  const byName = new Map<string, CarrierNumbers>();
  for (const queue of queues) {
    const name = names.of(queue.carrier.id);
    const known = byName.get(name);
    const numbers = numbersOf(queue, nowMs);
    byName.set(name, known === undefined ? numbers : together(known, numbers));
  }
  const of = (value: (numbers: CarrierNumbers) => Series["value"]): Series[] =>
    [...byName].map(([carrier, numbers]) => ({ labels: { carrier }, value: value(numbers) }));
  const by = (label: string, values: (numbers: CarrierNumbers) => Readonly<Record<string, number>> | null): Series[] =>
    [...byName].flatMap(([carrier, numbers]) => seriesBy(label, values(numbers) ?? {}, { carrier }));
  return [
    gauge(
      "heliograph_carrier_up",
      `Whether the carrier takes messages from this node (${OTHER}: whether all do)`,
      of(({ isUp }) => isUp),
    ),
    gauge(
      "heliograph_carrier_binds",
      "Connections of this node to the carrier, by whether they are bound",
      by("state", ({ binds }) => binds),
    ),
    gauge(
      "heliograph_carrier_health",
      "How well the carrier is by what it answers: 1 for the state that it is in",
      by("state", ({ health }) => health),
    ),
    gauge(
      "heliograph_carrier_health_seconds",
      "How long it has been in that state",
      of(({ healthSeconds }) => healthSeconds),
    ),
    gauge(
      "heliograph_carrier_share",
      "Share of the new messages of its routes that it gets: 0 while it is sick, and more as it comes back",
      of(({ share }) => share),
    ),
    counter(
      "heliograph_carrier_sick_total",
      "How often the carrier became sick, by what made it so",
      by("reason", ({ sick }) => sick),
    ),
    gauge(
      "heliograph_carrier_window_used",
      "Parts with the carrier whose outcome is not recorded",
      of(({ windowUsed }) => windowUsed),
    ),
    gauge(
      "heliograph_carrier_window_size",
      "How many parts that may be",
      of(({ window }) => window),
    ),
    gauge(
      "heliograph_carrier_messages_waiting",
      "Messages in memory that wait for the carrier",
      of(({ waiting }) => waiting),
    ),
    gauge(
      "heliograph_carrier_oldest_waiting_seconds",
      "How long the oldest of them has been due; 0 when none waits",
      of(({ oldestSeconds }) => oldestSeconds),
    ),
    counter(
      "heliograph_carrier_submits_total",
      "Messages handed to the carrier, by what it answered",
      by("outcome", ({ submits }) => submits),
    ),
    counter(
      "heliograph_carrier_parts_total",
      "Parts that the carrier took",
      of(({ parts }) => parts),
    ),
    counter(
      "heliograph_carrier_throttled_total",
      "Answers of the carrier that it is sent too much",
      of(({ throttled }) => throttled),
    ),
    histogram(
      "heliograph_carrier_answer_seconds",
      "How long the carrier took to answer a message of one part",
      of(({ answerSeconds }) => answerSeconds),
    ),
    counter(
      "heliograph_carrier_receipts_total",
      "Receipts from the carrier, by what they say",
      by("state", ({ receipts }) => receipts),
    ),
    histogram(
      "heliograph_carrier_receipt_seconds",
      "How long receipts came after the answer, of at most twenty messages a second",
      of(({ receiptSeconds }) => receiptSeconds),
    ),
  ];
}

/** What is counted of all carriers together, and what is in memory now. */
interface DispatchNumbers {
  readonly counts: Readonly<
    Record<
      | "expired"
      | "rerouted"
      | "quarantined"
      | "incomingParts"
      | "receiptsUnmatched"
      | "receiptsForeign"
      | "receiptsDoubtful"
      | "receiptsLater"
      | "receiptsRepeated",
      number
    >
  >;
  readonly inMemory: number;
  readonly inDoubt: number;
}

export function dispatchMetrics({ counts, inMemory, inDoubt }: DispatchNumbers): Metric[] {
  const { receiptsUnmatched: unmatched, receiptsForeign: foreign, receiptsDoubtful: doubtful } = counts;
  return [
    counter(
      "heliograph_dispatch_expired_total",
      "Messages whose validity ended before a carrier took them",
      counts.expired,
    ),
    counter(
      "heliograph_dispatch_rerouted_total",
      "Messages that went to another carrier because their own was down, sick or gone",
      counts.rerouted,
    ),
    counter(
      "heliograph_receipts_unapplied_total",
      "Receipts that changed no message, by the reason",
      seriesBy("reason", {
        unmatched: unmatched - foreign - doubtful,
        foreign,
        doubtful,
        later: counts.receiptsLater,
        repeated: counts.receiptsRepeated,
      }),
    ),
    counter(
      "heliograph_dispatch_quarantined_total",
      "What carriers said and the store refused: it is kept aside",
      counts.quarantined,
    ),
    counter("heliograph_incoming_parts_total", "Messages from phones, and parts of such", counts.incomingParts),
    gauge("heliograph_dispatch_messages_in_memory", "Messages in memory, waiting or on the wire", inMemory),
    gauge(
      "heliograph_dispatch_messages_in_doubt",
      "Messages handed to carriers of which the store does not know yet what became of them",
      inDoubt,
    ),
  ];
}
