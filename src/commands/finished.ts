/** How many messages have come to an end, by their last status: counted in their transaction, and added up when it is committed. */
import { counter, type Metric } from "../runtime/metrics.ts";
import { STATUS } from "../sms/statuses.ts";
import type { Unit } from "../store/unit.ts";

const FINAL = Object.values(STATUS).filter(({ final }) => final);
const IDS = Math.max(...FINAL.map(({ id }) => id)) + 1;

export class FinishedCounts {
  /** By the id of the status, since the store was opened. */
  readonly #totals = new Float64Array(IDS);
  #unit: Unit | null = null;
  #counts = new Uint32Array(IDS);

  add(unit: Unit, statusId: number): void {
    if (this.#unit !== unit) this.#begin(unit);
    this.#counts[statusId]!++;
  }

  /** The first of a transaction, or the first after another one came in between: each time has its own counts, and all of them are added. */
  #begin(unit: Unit): void {
    const counts = new Uint32Array(IDS);
    this.#unit = unit;
    this.#counts = counts;
    unit.onCommit(() => {
      for (const { id } of FINAL) this.#totals[id]! += counts[id]!;
      if (this.#counts === counts) this.#unit = null;
    });
  }

  metric(): Metric {
    return counter(
      "heliograph_messages_finished_total",
      "Messages that came to an end, by their last status",
      FINAL.map(({ id, name }) => ({ labels: { status: name }, value: this.#totals[id]! })),
    );
  }
}
