/** A batch of reports for one URL, until it is delivered or given up. */
import type { ReportBatch } from "../../message/message.ts";
import type { PushedForm } from "../../message/report-form.ts";
import { digits, int, long, type NewRow, oneOf, type Row, type RowChange, Table, text } from "./table.ts";

export const REPORT = new Table("report", ["id"], {
  id: digits(),
  kind: oneOf<ReportBatch["kind"]>()(),
  account_id: long(),
  url: text(),
  content_type: oneOf<PushedForm>()(),
  items: text({ changes: true }),
  due_at_ms: long({ changes: true }),
  held_by: long({ null: true, changes: true }),
  /** The batch that has to be settled before this one. */
  after_id: digits({ null: true, changes: true }),
  attempts: int({ default: 0, later: true, changes: true }),
  dead_at_ms: long({ null: true, later: true, changes: true }),
  reason: text({ null: true, later: true, changes: true }),
  history: text({ default: "[]", later: true, changes: true }),
  tried: int({ default: 0, later: true, changes: true }),
  /** Scheme, name and port of the URL, from the first failure on; see hostOf (runtime/urls.ts). */
  host: text({ null: true, later: true, changes: true }),
});

export type ReportRow = Row<typeof REPORT>;
export type NewReportRow = NewRow<typeof REPORT>;
export type ReportChange = RowChange<typeof REPORT>;
