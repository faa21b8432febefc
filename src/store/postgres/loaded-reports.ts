/** The batches of reports that a transaction has read and locked, and which of them wait for another. */
import { append } from "../../runtime/lazy.ts";
import { type NewReportRow, REPORT, type ReportChange, type ReportRow } from "../schema/report.ts";
import type { ReportTable } from "../tables.ts";
import type { Found } from "./found.ts";
import { LoadedRows } from "./loaded-rows.ts";
import { FIND, WRITES } from "./statements.ts";

const byKey = (ids: readonly string[]): { key: string }[] => ids.map((key) => ({ key }));

export class LoadedReports implements ReportTable {
  readonly #found: Found;
  readonly rows = new LoadedRows(WRITES.report);
  /** Those that are neither settled nor dead. */
  readonly #waiting = new Set<string>();
  readonly #followers = new Map<string, string[]>();

  constructor(found: Found) {
    this.#found = found;
  }

  clear(): void {
    for (const known of [this.rows, this.#waiting, this.#followers]) known.clear();
  }

  async load(ids: readonly string[] = []): Promise<void> {
    for (const row of await this.#found.find<ReportRow>(FIND.reports, byKey(ids))) this.rows.keep(row);
  }

  async loadFollowers(ids: readonly string[] = []): Promise<void> {
    // First the lock: whoever adds a follower shares it until the follower can be seen.
    const [, rows] = await Promise.all([
      this.#found.find(FIND.leaders, byKey(ids)),
      this.#found.find<ReportRow & { after_id: string }>(FIND.followers, byKey(ids)),
    ]);
    for (const row of rows) if (this.rows.keep(row) !== undefined) append(this.#followers, row.after_id, row.id);
    // Behind one that went out as part of another there may be more.
    const empty = rows.filter(({ items }) => items === "[]").map(({ id }) => id);
    if (empty.length > 0) await this.loadFollowers(empty);
  }

  async loadWaiting(ids: readonly string[]): Promise<void> {
    for (const { id } of await this.#found.find<{ id: string }>(FIND.waiting, byKey(ids)))
      if (!this.rows.isGone(id)) this.#waiting.add(id);
  }

  get(id: string): ReportRow | undefined {
    return this.rows.get(id);
  }

  waits(id: string): boolean {
    return this.#waiting.has(id);
  }

  insert(fresh: NewReportRow): void {
    this.rows.insert(REPORT.create(fresh));
  }

  change(id: string, change: ReportChange): void {
    this.rows.changeByKey({ id }, change);
    if (change.dead_at_ms != null) this.#waiting.delete(id);
  }

  delete(id: string): void {
    this.rows.delete({ id });
    this.#waiting.delete(id);
  }

  followers(id: string): ReportRow[] {
    return (this.#followers.get(id) ?? []).flatMap((follower) => this.get(follower) ?? []);
  }
}
