/** Report batches in SQLite: written in the unit that makes them, kept until their receiver has them. */

import type { ReportAttempt } from "../../message/callback.ts";
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
  readonly tried: number;
}

const COLUMNS = "CAST(id AS TEXT) AS id, kind, account_id, url, content_type, items, attempts, tried";

function batchOf(row: ReportRow): ReportBatch {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    contentType: row.content_type,
    ...parseItems(row.kind, row.items),
    attempts: row.attempts,
    ...(row.tried === 1 ? { tried: true } : {}),
  };
}

export interface ReportParts {
  readonly db: Db;
  readonly ids: IdSource;
  readonly unit: () => Unit;
  readonly epoch: number;
  readonly now: () => number;
}

type ReportCommand =
  | "dueReports"
  | "reportsDelivered"
  | "reportsFailed"
  | "reportsReleased"
  | "mergeReports"
  | "callbackPolicy";

/** Of a report's tries, so many are kept. */
const KEPT_ATTEMPTS = 25;

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
    const retry = db.prepare<[number, number, string, string, bigint]>(
      "UPDATE report SET attempts = ?, due_at_ms = ?, reason = ?, history = ?, held_by = NULL WHERE id = ?",
    );
    const bury = db.prepare<[number, number, string, string, bigint]>(
      "UPDATE report SET attempts = ?, dead_at_ms = ?, reason = ?, history = ?, held_by = NULL WHERE id = ?",
    );
    const historyOf = db.prepare<[bigint], { history: string }>("SELECT history FROM report WHERE id = ?");
    const rewrite = db.prepare<[string, bigint]>("UPDATE report SET items = ? WHERE id = ?");
    const empty = db.prepare<[bigint, bigint]>(
      "UPDATE report SET items = '[]', after_id = ?, held_by = NULL WHERE id = ?",
    );
    const followers = db.prepare<[bigint], { id: string; isEmpty: number }>(
      "SELECT CAST(id AS TEXT) AS id, items = '[]' AS isEmpty FROM report WHERE after_id = ?",
    );
    const follow = db.prepare<[number, bigint]>("UPDATE report SET after_id = NULL, held_by = ? WHERE id = ?");
    const policyOf = db.prepare<[number], { secret: string; oldSecret: string | null; retryMinutes: string | null }>(
      `SELECT callback_secret AS secret, old_callback_secret AS oldSecret, retry_minutes AS retryMinutes FROM account WHERE id = ?`,
    );

    /** The tries so far and this one; of very many the last. */
    const historyWith = (id: string, attempt: ReportAttempt | null): string => {
      const history = historyOf.get(BigInt(id))?.history ?? "[]";
      if (attempt === null) return history;
      return JSON.stringify([...(JSON.parse(history) as ReportAttempt[]), attempt].slice(-KEPT_ATTEMPTS));
    };

    const settle = (id: string): void => {
      for (const follower of followers.all(BigInt(id))) {
        if (follower.isEmpty === 1) {
          // It went out as part of the one that is settled now.
          remove.run(BigInt(follower.id));
          settle(follower.id);
        } else {
          follow.run(epoch, BigInt(follower.id));
          unit().unblocked.push(follower.id);
        }
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
        for (const { id, attempts, retryAtMs, reason, attempt } of failures) {
          const history = historyWith(id, attempt);
          if (retryAtMs === null) {
            bury.run(attempts, now(), reason, history, BigInt(id));
            settle(id);
          } else {
            retry.run(attempts, retryAtMs, reason, history, BigInt(id));
          }
        }
      },
      reportsReleased({ releases }) {
        for (const { id, dueAtMs } of releases) release.run(dueAtMs, BigInt(id));
      },
      mergeReports: ({ ids }) => {
        const rows = ids.flatMap((id) => this.#held.get(BigInt(id)) ?? []);
        const [first, ...others] = rows;
        if (first === undefined || others.length === 0) return;
        rewrite.run(`[${rows.map(({ items }) => items.slice(1, -1)).join(",")}]`, BigInt(first.id));
        // The others stay as empty rows behind it, because messages and batches may wait for them by their ids.
        for (const { id } of others) empty.run(BigInt(first.id), BigInt(id));
      },
      callbackPolicy({ accountId }) {
        const row = policyOf.get(accountId);
        if (row === undefined) return { secrets: [], retryMinutes: null };
        const { secret, oldSecret, retryMinutes } = row;
        return {
          secrets: oldSecret === null ? [secret] : [secret, oldSecret],
          retryMinutes: retryMinutes === null ? null : JSON.parse(retryMinutes),
        };
      },
    };
  }
}
