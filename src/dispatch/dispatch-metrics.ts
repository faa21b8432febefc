/** What Prometheus reads of dispatch: for each carrier how it stands and what it answered, and what is counted of all together. */
import {
  addDistributions,
  counter,
  gauge,
  type Histogram,
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

/** What is counted of all carriers together. */
export const zeroCounts = () => ({
  rerouted: 0,
  expired: 0,
  incomingParts: 0,
  /** Messages from phones to a number that is nobody's. */
  incomingUnmatched: 0,
  receiptsUnmatched: 0,
  receiptsForeign: 0,
  /** Receipts that could be about several messages of one id. */
  receiptsDoubtful: 0,
  /** Receipts that came after the last word about their message, and say something else. */
  receiptsLater: 0,
  /** Receipts that had come before. */
  receiptsRepeated: 0,
  /** What the store refused and was kept aside. */
  quarantined: 0,
});
export type DispatchCounts = ReturnType<typeof zeroCounts>;
type Dispatched = Record<"inMemory" | "inDoubt", number> & { readonly counts: DispatchCounts };

type Numbers = Readonly<Record<string, number>>;
/** What two carriers that share a name have together. */
type Join = (one: number, other: number) => number;

const sum: Join = (one, other) => one + other;
const least: Join = (one, other) => Math.min(one, other);
const most: Join = (one, other) => Math.max(one, other);

function added(one: Numbers, other: Numbers): Numbers {
  return Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value + other[name]!]));
}

function bindsOf({ carrier }: CarrierQueue): Numbers | null {
  const links = carrier.connections?.()?.links;
  if (links === undefined) return null;
  const bound = links.filter(({ isBound }) => isBound).length;
  return { bound, unbound: links.length - bound };
}

function submitsOf({ counts }: CarrierQueue): Numbers {
  return {
    accepted: counts.messages,
    refused: counts.refused - counts.gaveUp,
    later: counts.later - counts.putOff,
    put_off: counts.putOff,
    unknown: counts.unknown,
    gave_up: counts.gaveUp,
  };
}

export function carrierMetrics(queues: Iterable<CarrierQueue>, names: LabelNames, nowMs: number): Metric[] {
  const byName = [...Map.groupBy(queues, ({ carrier }) => names.of(carrier.id))];
  const secondsSince = (atMs: number): number => Math.max(0, nowMs - atMs) / 1_000;
  const of = (read: (queue: CarrierQueue) => number, join = sum): Series[] =>
    byName.map(([carrier, some]) => ({ labels: { carrier }, value: some.map(read).reduce(join) }));
  const spread = (read: (queue: CarrierQueue) => Histogram): Series[] =>
    byName.map(([carrier, some]) => {
      const value = some.map((queue) => read(queue).distribution).reduce(addDistributions);
      return { labels: { carrier }, value };
    });
  const by = (label: string, read: (queue: CarrierQueue) => Numbers | null): Series[] =>
    byName.flatMap(([carrier, some]) => {
      const [first = {}, ...others] = some.map(read).filter((values) => values !== null);
      return seriesBy(label, others.reduce(added, first), { carrier });
    });
  return [
    gauge(
      "heliograph_carrier_up",
      `Whether the carrier takes messages from this node (${OTHER}: whether all do)`,
      of(({ carrier }) => Number(carrier.isUp()), least),
    ),
    gauge(
      "heliograph_carrier_binds",
      "Connections of this node to the carrier, by whether they are bound",
      by("state", bindsOf),
    ),
    gauge(
      "heliograph_carrier_health",
      "How well the carrier is by what it answers: 1 for the state that it is in",
      by("state", ({ health }) => ({ well: 0, slow: 0, sick: 0, [health.state]: 1 })),
    ),
    gauge(
      "heliograph_carrier_health_seconds",
      "How long it has been in that state",
      of(({ health }) => secondsSince(health.facts.sinceMs), least),
    ),
    gauge(
      "heliograph_carrier_share",
      "Share of the new messages of its routes that it gets: 0 while it is sick, and more as it comes back",
      of(({ health }) => health.facts.share, least),
    ),
    counter(
      "heliograph_carrier_sick_total",
      "How often the carrier became sick, by what made it so",
      by("reason", ({ counts: { sick } }) => ({
        throttled: sick.throttled,
        unanswered: sick.unanswered,
        put_off: sick["put off"],
      })),
    ),
    gauge(
      "heliograph_carrier_window_used",
      "Parts with the carrier whose outcome is not recorded",
      of(({ handed }) => handed.unrecorded),
    ),
    gauge(
      "heliograph_carrier_window_size",
      "How many parts that may be",
      of(({ carrier }) => carrier.window),
    ),
    gauge(
      "heliograph_carrier_messages_waiting",
      "Messages in memory that wait for the carrier",
      of(({ size, inFlight }) => size - inFlight),
    ),
    gauge(
      "heliograph_carrier_oldest_waiting_seconds",
      "How long the oldest of them has been due; 0 when none waits",
      of(({ oldestDueAtMs }) => (oldestDueAtMs === null ? 0 : secondsSince(oldestDueAtMs)), most),
    ),
    counter(
      "heliograph_carrier_submits_total",
      "Messages handed to the carrier, by what it answered",
      by("outcome", submitsOf),
    ),
    counter(
      "heliograph_carrier_parts_total",
      "Parts that the carrier took",
      of(({ counts }) => counts.parts),
    ),
    counter(
      "heliograph_carrier_throttled_total",
      "Answers of the carrier that it is sent too much",
      of(({ carrier }) => carrier.connections?.()?.throttled ?? 0),
    ),
    histogram(
      "heliograph_carrier_answer_seconds",
      "How long the carrier took to answer a message of one part",
      spread(({ counts }) => counts.answerSeconds),
    ),
    counter(
      "heliograph_carrier_receipts_total",
      "Receipts from the carrier, by what they say",
      by("state", ({ counts }) => counts.receipts),
    ),
    histogram(
      "heliograph_carrier_receipt_seconds",
      "How long receipts came after the answer, of at most twenty messages a second",
      spread(({ counts }) => counts.receiptSeconds),
    ),
  ];
}

/** With what is in memory now. */
export function dispatchMetrics({ counts, inMemory, inDoubt }: Dispatched): Metric[] {
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
