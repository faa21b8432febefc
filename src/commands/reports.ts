/** Report batches: written in the unit that makes them, kept until their receiver has them. */
import type { ReportAttempt } from "../message/callback.ts";
import type { ReportBatch } from "../message/message.ts";
import { hostOf } from "../runtime/urls.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { REPORT, type ReportRow } from "../store/schema/report.ts";
import type { PendingBatch, Unit } from "../store/unit.ts";
import { commands, grouped } from "./entry.ts";
import { batchOf, serializeItems } from "./report-items.ts";

const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);

/** Of a report's tries, so many are kept. */
const KEPT_ATTEMPTS = 25;

/** Writes what the unit gathered and returns the batches that may go out from here now. Called last in the transaction. */
export function flushReports({ tables, ids, epoch, pushes, now }: CommandParts, unit: Unit): ReportBatch[] {
  const ready = unit.unblocked.map((id) => batchOf(tables.reports.get(id)!));
  const written = new Map<PendingBatch, string>();
  for (const batch of unit.batches) {
    const { kind, accountId, url, form, items, afterId, afterPending } = batch;
    const id = ids.take(1);
    written.set(batch, id);
    // The batch to wait for, unless it was settled by another command of this unit.
    const stored = afterId !== null && tables.reports.waits(afterId) ? afterId : null;
    const after = afterPending === null ? stored : (written.get(afterPending) ?? null);
    tables.reports.insert({
      id,
      kind,
      account_id: accountId,
      url,
      content_type: form,
      items: serializeItems(items),
      due_at_ms: now(),
      held_by: after === null && pushes ? epoch : null,
      after_id: after,
    });
    for (const key of batch.ordered) {
      const row = tables.messages.get(key);
      if (row !== undefined) tables.messages.change(row, { last_report_id: id });
    }
    if (after !== null) continue;
    // A pending batch holds items of its own kind only (Unit).
    ready.push({ id, kind, accountId, url, form, items, attempts: 0 } as ReportBatch);
  }
  if (pushes) return ready;
  if (ready.length > 0) unit.reportsWait = true;
  return [];
}

export function reportCommands({ sql, tables, unit, epoch, pushes, now }: CommandParts) {
  const due = sql.prepare<[number, number], ReportRow>(
    `SELECT ${REPORT.list} FROM report
     WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL AND due_at_ms <= ? ORDER BY due_at_ms, report.id LIMIT ?
     ${sql.dialect.lockFree()}`,
  );
  const nextDue = sql.prepare<[], { atMs: number | null }>(
    `SELECT min(due_at_ms) AS "atMs" FROM report WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL`,
  );
  /** The tries so far and this one; of very many the last. */
  const historyWith = (history: string, attempt: ReportAttempt | null): string =>
    attempt === null
      ? history
      : JSON.stringify([...(JSON.parse(history) as ReportAttempt[]), attempt].slice(-KEPT_ATTEMPTS));

  /** What is known of a batch only once it has failed. */
  const failedAgain = (id: string, attempt: ReportAttempt | null) => {
    const row = tables.reports.get(id);
    if (row === undefined) return {};
    return { history: historyWith(row.history, attempt), host: row.host ?? hostOf(row.url) };
  };

  const settle = (id: string): void => {
    for (const follower of tables.reports.followers(id)) {
      if (follower.items === "[]") {
        // It went out as part of the one that is settled now.
        tables.reports.delete(follower.id);
        settle(follower.id);
      } else {
        tables.reports.change(follower.id, { after_id: null, held_by: pushes ? epoch : null });
        unit().unblocked.push(follower.id);
      }
    }
  };

  return commands({
    async dueReports({ nowMs, limit }) {
      const rows = await due.all(nowMs, limit);
      for (const { id } of rows) tables.reports.change(id, { held_by: epoch });
      const more = rows.length === limit;
      // What is handed out is held, so it is not among those.
      const nextDueAtMs = more ? null : (await nextDue.get())!.atMs;
      return { batches: rows.map(batchOf), more, nextDueAtMs };
    },
    reportsDelivered: grouped(
      ({ ids }) => ({ leaders: ids }),
      ({ ids }) => {
        for (const id of ids) {
          tables.reports.delete(id);
          settle(id);
        }
      },
    ),
    reportsFailed: grouped(
      ({ failures }) => ({ reports: idsOf(failures), leaders: idsOf(failures) }),
      ({ failures }) => {
        for (const { id, attempts, retryAtMs, reason, attempt } of failures) {
          const failed = { attempts, reason, ...failedAgain(id, attempt), held_by: null };
          if (retryAtMs === null) {
            tables.reports.change(id, { ...failed, dead_at_ms: now() });
            settle(id);
          } else {
            tables.reports.change(id, { ...failed, due_at_ms: retryAtMs });
          }
        }
      },
    ),
    reportsReleased: grouped(
      () => ({}),
      ({ releases }) => {
        for (const { id, dueAtMs } of releases) tables.reports.change(id, { held_by: null, due_at_ms: dueAtMs });
      },
    ),
    mergeReports: grouped(
      ({ ids }) => ({ reports: ids }),
      ({ ids }) => {
        const rows = ids.flatMap((id) => tables.reports.get(id) ?? []);
        const [first, ...others] = rows;
        if (first === undefined || others.length === 0) return;
        tables.reports.change(first.id, { items: `[${rows.map(({ items }) => items.slice(1, -1)).join(",")}]` });
        // The others stay as empty rows behind it, because messages and batches may wait for them by their ids.
        for (const { id } of others) tables.reports.change(id, { items: "[]", after_id: first.id, held_by: null });
      },
    ),
  });
}
