/** Batches of reports, which are written behind, and those that wait for another. */
import { type NewReportRow, REPORT, type ReportChange, type ReportRow } from "../schema/report.ts";
import type { ReportTable } from "../tables.ts";
import type { BehindTables } from "./behind-tables.ts";
import type { WriteBehind } from "./write-behind.ts";

export class SqliteReports implements ReportTable {
  readonly #rows: WriteBehind<typeof REPORT>;
  /** Of the batches in memory those that wait for another. */
  readonly #following = new Set<string>();
  readonly #followers;

  constructor(behind: BehindTables) {
    this.#rows = behind.table(REPORT, ({ id }) => this.#following.delete(id));
    this.#followers = this.#rows.statements.select<[string]>("after_id = ?");
  }

  /** Memory was dropped. */
  reset(): void {
    this.#following.clear();
  }

  get(id: string): ReportRow | undefined {
    return this.#rows.get(id);
  }

  waits(id: string): boolean {
    const row = this.get(id);
    return row !== undefined && row.dead_at_ms === null;
  }

  insert(fresh: NewReportRow): void {
    const row = REPORT.create(fresh);
    this.#rows.insert(row);
    if (row.after_id !== null) this.#following.add(row.id);
  }

  change(id: string, change: ReportChange): void {
    const known = this.get(id);
    if (known === undefined) return;
    const { after_id } = this.#rows.change(known, change);
    if (after_id === null) this.#following.delete(id);
    else this.#following.add(id);
  }

  delete(id: string): void {
    this.#rows.delete(id);
    this.#following.delete(id);
  }

  followers(id: string): ReportRow[] {
    const written = this.#followers.all(id);
    const kept = [...this.#following].map((follower) => this.#rows.kept(follower)!);
    return [
      ...written.filter((row) => this.#rows.kept(row.id) === undefined && !this.#rows.isGone(row.id)),
      ...kept.filter(({ after_id }) => after_id === id),
    ];
  }
}
