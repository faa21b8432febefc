/** What Prometheus reads of the store's thread: its groups and how long they take, how messages ended, and of the embedded store the files. */
import { statfsSync, statSync } from "node:fs";
import { logFileOf } from "../drivers/sqlite/store-files.ts";
import type { Clock } from "../runtime/clock.ts";
import { counter, gauge, Histogram, histogram, type Metric, seriesBy } from "../runtime/metrics.ts";
import type { Call, Engine, GroupResult } from "../store/group.ts";
import { COMMAND_MODES, READS } from "../store/modes.ts";

/** What the edge asks the thread for that is no command: no command has such a name. */
export const METRICS_CALL = "its metrics";
/** Whether the embedded store keeps what it is told. */
export const KEEPS_CALL = "whether it keeps";

const GROUP_COMMANDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000];
const COMMIT_SECONDS = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Measures groups: two looks at the clock for each, however many commands it has. */
export class GroupMetrics {
  readonly #clock: Clock;
  readonly #commands = new Histogram(GROUP_COMMANDS);
  readonly #seconds = new Histogram(COMMIT_SECONDS);
  readonly #groups = { committed: 0, failed: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Has the engine run a group. */
  async run(engine: Pick<Engine, "run">, calls: readonly Call[], onHandedOver?: () => void): Promise<GroupResult> {
    if (!calls.some(changesSomething)) return engine.run(calls);
    const fromMs = this.#clock.monotonic();
    let result: GroupResult | null = null;
    try {
      result = await engine.run(calls, onHandedOver);
      return result;
    } finally {
      this.#commands.observe(calls.length);
      this.#seconds.observe((this.#clock.monotonic() - fromMs) / 1_000);
      // What was only read beside them says nothing: with a full disk it can be.
      const isCommitted = result?.outcomes.some(({ ok }, index) => ok && changesSomething(calls[index]!)) === true;
      this.#groups[isCommitted ? "committed" : "failed"]++;
    }
  }

  metrics(): Metric[] {
    return [
      histogram("heliograph_store_group_commands", "Commands that shared a transaction", this.#commands.distribution),
      histogram(
        "heliograph_store_commit_seconds",
        "How long such a transaction took, with its flush to disk",
        this.#seconds.distribution,
      ),
      counter(
        "heliograph_store_groups_total",
        "Such transactions, by what became of them",
        seriesBy("outcome", this.#groups),
      ),
    ];
  }
}

function changesSomething({ command }: Call): boolean {
  return !READS.has(COMMAND_MODES[command]);
}

/** The embedded store's disk and its log. What the system does not tell is left out. */
export function diskMetrics(directory: string): Metric[] {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    const logBytes = statSync(logFileOf(directory), { throwIfNoEntry: false })?.size ?? 0;
    return [
      gauge("heliograph_store_disk_free_bytes", "Room on the disk of the data directory", bavail * bsize),
      gauge("heliograph_store_disk_size_bytes", "Size of that disk", blocks * bsize),
      gauge("heliograph_store_log_bytes", "Size of the write-ahead log", logBytes),
    ];
  } catch {
    return [];
  }
}
