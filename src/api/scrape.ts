/**
 * The page at /metrics: what the parts of the service count, gathered when it is asked for. A part on a thread that is too busy to answer in time is
 * left out and said to be missing, so that the page comes also, and above all, when something is wrong.
 */
import { type Clock, within } from "../runtime/clock.ts";
import { expose, gauge, type Metric, seriesBy } from "../runtime/metrics.ts";
import type { Backlog, StorageFacts } from "../store/port/nodes.ts";
import { LAG_STEPS, type Lag, nearest, REPLICATION_MODES, type ReplicationFacts } from "../store/port/replication.ts";

/** Prometheus gives up after ten seconds, unless told otherwise. */
const ANSWER_WITHIN_MS = 2_000;

/** The threads beside the edge's. */
export type OtherThread = "store" | "delivery";

export interface ScrapeParts {
  readonly clock: Clock;
  /** Of the edge itself. */
  readonly own: () => readonly Metric[];
  readonly threads: Readonly<Record<OtherThread, () => Promise<readonly Metric[]>>>;
  /** What the store has, asked for through its port. */
  readonly backlog: () => Promise<Backlog>;
  readonly storage: () => Promise<StorageFacts | null>;
  readonly replication: () => Promise<ReplicationFacts | null>;
  /** By which messages are due. */
  readonly now: () => number;
}

export async function scrape({
  clock,
  own,
  threads,
  backlog,
  storage,
  replication,
  now,
}: ScrapeParts): Promise<string> {
  /** Null where there is no answer, or none in time. */
  const ask = <Answer>(question: () => Promise<Answer>): Promise<Answer | null> =>
    within(clock, ANSWER_WITHIN_MS, question(), null).catch(() => null);
  const [ofStore, ofDelivery, waiting, stored, replicated] = await Promise.all([
    ask(threads.store),
    ask(threads.delivery),
    ask(backlog),
    ask(storage),
    ask(replication),
  ]);
  const answered = { edge: 1, store: ofStore === null ? 0 : 1, delivery: ofDelivery === null ? 0 : 1 };
  return expose([
    ...own(),
    ...(ofStore ?? []),
    ...(ofDelivery ?? []),
    ...(waiting === null ? [] : backlogMetrics(waiting, ofDelivery ?? [], now())),
    ...(stored === null ? [] : storageMetrics(stored)),
    ...(replicated === null ? [] : replicationMetrics(replicated)),
    gauge(
      "heliograph_thread_answered",
      "Whether the thread told its metrics in time; if not, they are missing here",
      seriesBy("thread", answered),
    ),
  ]);
}

/** What waits in the store is the same for all nodes; what waits in memory is this node's. */
function backlogMetrics(backlog: Backlog, ofDelivery: readonly Metric[], nowMs: number): Metric[] {
  const valuesOf = (wanted: string): number[] =>
    ofDelivery
      .filter(({ name }) => name === wanted)
      .flatMap(({ series }) => series.map(({ value }) => value as number));
  const { queued, scheduled, due, reports, deadReports, oldestDueAtMs, oldestReportDueAtMs } = backlog;
  const inMemory = valuesOf("heliograph_carrier_messages_waiting").reduce((sum, count) => sum + count, 0);
  const ageOf = (atMs: number | null): number => (atMs === null ? 0 : Math.max(0, nowMs - atMs) / 1_000);
  const oldest = Math.max(ageOf(oldestDueAtMs), ...valuesOf("heliograph_carrier_oldest_waiting_seconds"));
  return [
    gauge(
      "heliograph_backlog_messages",
      "Messages that wait: in this node's memory, and in the store (each counted up to 10,000) for a carrier, or for their time (scheduled), which has come for some (due)",
      seriesBy("state", { in_memory: inMemory, queued, scheduled, due }),
    ),
    gauge(
      "heliograph_backlog_oldest_seconds",
      "How long the oldest message that may go has been due; 0 when none waits",
      oldest,
    ),
    gauge(
      "heliograph_backlog_reports",
      "Batches of reports in the store that wait for a try, or that nobody took (each counted up to 10,000)",
      seriesBy("state", { waiting: reports, dead: deadReports }),
    ),
    gauge(
      "heliograph_backlog_oldest_report_seconds",
      "How long the oldest batch of reports in the store has been due for a try; 0 when none is",
      ageOf(oldestReportDueAtMs),
    ),
  ];
}

function storageMetrics({ octets, journalEntries }: StorageFacts): Metric[] {
  return [
    gauge("heliograph_store_size_bytes", "What the data takes: the files, or the database", octets),
    ...(journalEntries === null
      ? []
      : [
          gauge(
            "heliograph_store_journal_entries",
            "Commits in the journal that are not all in their tables",
            journalEntries,
          ),
        ]),
  ];
}

/** Of PostgreSQL. What is not known is left out: a 0 would say that nothing is missing. */
export function replicationMetrics(facts: ReplicationFacts): Metric[] {
  const { mode, standbys, loss } = facts;
  const lag = nearest(facts)?.lag;
  const known = (of: keyof Lag, unit: number): Record<string, number> =>
    Object.fromEntries(
      LAG_STEPS.flatMap((step) => (lag?.[step][of] == null ? [] : [[step, lag[step][of] / unit] as const])),
    );
  const modes = Object.fromEntries(REPLICATION_MODES.map((each) => [each, each === mode ? 1 : 0]));
  const confirming = standbys.filter(({ confirms }) => confirms).length;
  const counts = { confirming, following: standbys.length - confirming, hidden: facts.hidden };
  const name = "heliograph_store_standby_lag";
  const lacks = "What the standby that has flushed most lacks of the log";
  return [
    gauge("heliograph_store_replication", "1 for how the database has standbys", seriesBy("mode", modes)),
    gauge("heliograph_store_standbys", "Standbys that are connected to the database", seriesBy("state", counts)),
    gauge(`${name}_bytes`, lacks, seriesBy("step", known("octets", 1))),
    gauge(`${name}_seconds`, `${lacks}, in time`, seriesBy("step", known("ms", 1_000))),
    ...(loss.octets === null
      ? []
      : [gauge("heliograph_store_failover_loss_bytes", "What a failover now would lose of the log", loss.octets)]),
  ];
}
