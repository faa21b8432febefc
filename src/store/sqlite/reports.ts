/** Report batches in SQLite: written in the unit that makes them, kept until their receiver has them. */
import type { NotifyContentType, ReportBatch } from "../../message/message.ts";
import type { IdSource } from "../../runtime/ids.ts";
import type { CommandHandlers } from "../port.ts";
import type { Db } from "./database.ts";
import { parseItems, serializeItems } from "./rows.ts";
import type { PendingBatch, Unit } from "./unit.ts";

interface ReportRow {
  readonly id: string;
  readonly kind: ReportBatch["kind"];
  readonly account_id: number;
  readonly url: string;
  readonly content_type: NotifyContentType;
  readonly items: string;
  readonly attempts: number;
}

const COLUMNS = "CAST(id AS TEXT) AS id, kind, account_id, url, content_type, items, attempts";

function batchOf(row: ReportRow): ReportBatch {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    contentType: row.content_type,
    ...parseItems(row.kind, row.items),
    attempts: row.attempts,
  };
}

export interface ReportParts {
  readonly db: Db;
  readonly ids: IdSource;
  readonly unit: () => Unit;
  readonly epoch: number;
  readonly now: () => number;
}

type ReportCommand = "dueReports" | "reportsDelivered" | "reportsFailed" | "reportsReleased" | "callbackSecrets";

export class Reports {
  readonly #parts: ReportParts;
  readonly #insert;
  readonly #remember;
  readonly #held;
  readonly #waiting;

  constructor(parts: ReportParts) {
    this.#parts = parts;
    this.#insert = parts.db.prepare(
      `INSERT INTO report (id, kind, account_id, url, content_type, items, due_at_ms, held_by, after_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#remember = parts.db.prepare<[bigint, bigint]>("UPDATE message SET last_report_id = ? WHERE key = ?");
    this.#waiting = parts.db.prepare<[bigint], unknown>("SELECT 1 FROM report WHERE id = ? AND dead_at_ms IS NULL");
    this.#held = parts.db.prepare<[bigint], ReportRow>(`SELECT ${COLUMNS} FROM report WHERE id = ?`);
  }

  /** Writes what the unit gathered and returns the batches that may go out now. Called last in the transaction. */
  flush(unit: Unit): ReportBatch[] {
    const { epoch, ids, now } = this.#parts;
    if (unit.batches.length === 0 && unit.unblocked.length === 0) return [];
    const ready = unit.unblocked.map((id) => batchOf(this.#held.get(BigInt(id))!));
    const written = new Map<PendingBatch, string>();
    for (const batch of unit.batches) {
      const id = ids.take(1);
      written.set(batch, id);
      const after =
        batch.afterPending === null ? this.#unsettled(batch.afterId) : (written.get(batch.afterPending) ?? null);
      this.#insert.run(
        BigInt(id),
        batch.kind,
        batch.accountId,
        batch.url,
        batch.contentType,
        serializeItems(batch.items),
        now(),
        after === null ? epoch : null,
        after === null ? null : BigInt(after),
      );
      for (const key of batch.ordered) this.#remember.run(BigInt(id), BigInt(key));
      if (after !== null) continue;
      const { kind, accountId, url, contentType, items } = batch;
      // A pending batch holds items of its own kind only (Unit).
      ready.push({ id, kind, accountId, url, contentType, items, attempts: 0 } as ReportBatch);
    }
    return ready;
  }

  /** The batch to wait for, unless it was settled by another command of this unit. */
  #unsettled(id: string | null): string | null {
    return id !== null && this.#waiting.get(BigInt(id)) !== undefined ? id : null;
  }

  commands(): Pick<CommandHandlers, ReportCommand> {
    const { db, unit, epoch, now } = this.#parts;
    const due = db.prepare<[number, number], ReportRow>(
      `SELECT ${COLUMNS} FROM report
       WHERE held_by IS NULL AND after_id IS NULL AND dead_at_ms IS NULL AND due_at_ms <= ? ORDER BY due_at_ms, report.id LIMIT ?`,
    );
    const hold = db.prepare<[number, bigint]>("UPDATE report SET held_by = ? WHERE id = ?");
    const release = db.prepare<[number, bigint]>("UPDATE report SET held_by = NULL, due_at_ms = ? WHERE id = ?");
    const remove = db.prepare<[bigint]>("DELETE FROM report WHERE id = ?");
    const retry = db.prepare<[number, number, string, bigint]>(
      "UPDATE report SET attempts = ?, due_at_ms = ?, reason = ?, held_by = NULL WHERE id = ?",
    );
    const bury = db.prepare<[number, number, string, bigint]>(
      "UPDATE report SET attempts = ?, dead_at_ms = ?, reason = ?, held_by = NULL WHERE id = ?",
    );
    const followers = db.prepare<[bigint], { id: string }>(
      "SELECT CAST(id AS TEXT) AS id FROM report WHERE after_id = ?",
    );
    const follow = db.prepare<[number, bigint]>("UPDATE report SET after_id = NULL, held_by = ? WHERE id = ?");
    const secretOf = db.prepare<[number], { secret: string }>(
      "SELECT callback_secret AS secret FROM account WHERE id = ?",
    );

    const settle = (id: string): void => {
      for (const follower of followers.all(BigInt(id))) {
        follow.run(epoch, BigInt(follower.id));
        unit().unblocked.push(follower.id);
      }
    };

    return {
      dueReports({ nowMs, limit }) {
        const rows = due.all(nowMs, limit);
        for (const row of rows) hold.run(epoch, BigInt(row.id));
        return { batches: rows.map(batchOf), more: rows.length === limit };
      },
      reportsDelivered({ ids }) {
        for (const id of ids) {
          remove.run(BigInt(id));
          settle(id);
        }
      },
      reportsFailed({ failures }) {
        for (const { id, attempts, retryAtMs, reason } of failures) {
          if (retryAtMs === null) {
            bury.run(attempts, now(), reason, BigInt(id));
            settle(id);
          } else {
            retry.run(attempts, retryAtMs, reason, BigInt(id));
          }
        }
      },
      reportsReleased({ releases }) {
        for (const { id, dueAtMs } of releases) release.run(dueAtMs, BigInt(id));
      },
      callbackSecrets({ accountId }) {
        return secretOf.all(accountId).map((row) => row.secret);
      },
    };
  }
}
