/**
 * All that is known of one message: its row, what it cost, its reports, and the steps that were noted of it. Each is found by a key or an index, and
 * a bounded number of rows is read.
 *
 * No row says which report a message is in, unless it has several or one was replayed. So a report that waits is looked for among those of its receiver that failed, and
 * of all that were made when the message ended: ids of reports have their time in them. One that was taken has left, and only the trace may say so.
 */
import { SUBJECT, type TraceDetails } from "../events/trace.ts";
import { firstIdAt } from "../runtime/ids.ts";
import { hostOf } from "../runtime/urls.ts";
import type { CommandParts } from "../store/command-parts.ts";
import type { LivePosting, MessageLife, TraceStep, UntakenReport } from "../store/port/message-life.ts";
import { IS_NOT_REJECTED, IS_REJECTED, keyOf } from "../store/rows.ts";
import { lifeOfRow, MESSAGE, type MessageRow } from "../store/schema/message.ts";
import { REPORT, type ReportRow } from "../store/schema/report.ts";
import type { Value } from "../store/sql.ts";
import { conversionOf } from "./conversions.ts";
import type { Endings } from "./endings.ts";
import { commands } from "./entry.ts";
import { partReader } from "./message-parts.ts";
import { batchOf } from "./report-items.ts";

/** Rows that a search for postings of one moment looks at. */
const LOOKED_AT = 500;
/** Reports that a search for those of one moment looks at: so many pages of so many, in each of the states that a report can be in. */
const REPORT_ROWS = 1_000;
const REPORT_PAGES = 20;
const MAX_STEPS = 200;
const MAX_REPORTS = 5;
/** A report is made by the transaction that ends its message, or by one soon after. Merged ones go under the id of an earlier one. */
const BEFORE_END_MS = 5_000;
const AFTER_END_MS = 60_000;
const LONG_BEFORE_END_MS = 3_600_000;

interface PostingRow extends Omit<LivePosting, "amountMicros"> {
  readonly amount: string;
}

export function messageLifeCommands({ sql, tables, unit }: CommandParts, { reportAgain }: Endings) {
  const byKey = sql.prepare<[bigint], MessageRow>(`SELECT ${MESSAGE.list} FROM message WHERE key = ?`);
  const nameAlong = (index: string, isMeant: string) =>
    sql.prepare<[number, string], MessageRow>(
      `SELECT ${MESSAGE.list} FROM message ${sql.dialect.along(index)}
       WHERE account_id = ? AND client_message_id = ? AND ${isMeant} LIMIT 1`,
    );
  const byName = nameAlong("message_named_by_client", IS_NOT_REJECTED);
  const rejectedByName = nameAlong("message_rejected_by_name", IS_REJECTED);
  const partsOf = partReader({ sql });
  const accountKey = sql.prepare<[number], { key: string }>("SELECT key FROM account WHERE id = ?");
  const walletOf = sql.prepare<[number], { id: number }>("SELECT id FROM wallet WHERE account_id = ?");
  const bulkOf = sql.prepare<[number, string], { state: "open" | "paused" | "canceled"; sendAtMs: number }>(
    `SELECT state, send_at_ms AS "sendAtMs" FROM bulk WHERE account_id = ? AND bulk_id = ?`,
  );

  const posting = (wallet: string, other: string, wanted: string): string =>
    `SELECT id, "atMs", kind, amount, "partCount" FROM (
       SELECT id, at_ms AS "atMs", kind, CAST(amount_micros AS TEXT) AS amount, part_count AS "partCount", message_key FROM posting
       WHERE ${wallet} = ? AND kind <> '${other}' AND at_ms BETWEEN ? AND ? ORDER BY at_ms, id LIMIT ${LOOKED_AT}) AS looked
     WHERE ${wanted}`;
  // A charge pays for all messages of a request, and names the first.
  const chargeOf = sql.prepare<[number, number, number, bigint], PostingRow>(
    `${posting("from_wallet", "refund", "kind = 'charge' AND message_key <= ?")} ORDER BY message_key DESC LIMIT 1`,
  );
  const refundOf = sql.prepare<[number, number, number, bigint], PostingRow>(
    `${posting("to_wallet", "charge", "kind = 'refund' AND message_key = ?")} LIMIT 1`,
  );

  const reportById = sql.prepare<[bigint, number], ReportRow>(
    `SELECT ${REPORT.list} FROM report WHERE id = ? AND account_id = ?`,
  );
  const reportsIn = (index: string | null, isMeant: string) =>
    sql.prepare<Value[], { id: string; has: number }>(
      `SELECT CAST(report.id AS TEXT) AS id, CASE WHEN kind = 'delivery' AND items LIKE ? ESCAPE '!' THEN 1 ELSE 0 END AS has
       FROM report ${sql.dialect.along(index)} WHERE account_id = ? AND ${isMeant} AND report.id >= ? AND report.id < ?
       ORDER BY report.id LIMIT ${REPORT_ROWS}`,
    );
  const failingReports = reportsIn("report_failing", "dead_at_ms IS NULL AND host = ?");
  const deadReports = reportsIn("report_dead_of_host", "dead_at_ms IS NOT NULL AND host = ?");
  const untriedReports = reportsIn(null, "dead_at_ms IS NULL AND host IS NULL");
  // The newest: they say where it stands.
  const steps = (subjects: number): string =>
    `SELECT subject, at_ms AS "atMs", kind, detail FROM trace WHERE subject IN (${new Array(subjects).fill("?").join(", ")})
     ORDER BY at_ms DESC, id DESC LIMIT ${MAX_STEPS}`;
  const stepsOfMessage = sql.prepare<[string, string], TraceStep>(steps(2));
  const stepsOfReport = sql.prepare<[string], TraceStep>(steps(1));
  const reportsTaken = sql.prepare<[string, string], { detail: string }>(
    `SELECT detail FROM (SELECT detail FROM trace WHERE subject = ? LIMIT ${LOOKED_AT}) AS looked
     WHERE detail LIKE ? ESCAPE '!' LIMIT ${MAX_REPORTS}`,
  );
  const later = sql.prepare<[bigint], MessageLife["later"][number]>(
    `SELECT carrier_id AS "carrierId", carrier_message_id AS "carrierMessageId", outcome, error_id AS "errorId", at_ms AS "atMs"
     FROM later_receipt WHERE message_key = ? ORDER BY id`,
  );

  const links = sql.prepare<[bigint], MessageLife["links"][number]>(
    `SELECT code, target, clicks, first_click_at_ms AS "firstClickAtMs", last_click_at_ms AS "lastClickAtMs"
     FROM link WHERE message_key = ? ORDER BY number`,
  );

  async function find(accountId: number | null, messageId: string): Promise<MessageRow | null> {
    const key = keyOf(messageId);
    const row = key === null ? undefined : await byKey.get(key);
    if (row !== undefined && (accountId === null || row.account_id === accountId)) return row;
    if (accountId === null) return null;
    return (await byName.get(accountId, messageId)) ?? (await rejectedByName.get(accountId, messageId)) ?? null;
  }

  async function postingsOf(row: MessageRow): Promise<LivePosting[]> {
    const wallet = await walletOf.get(row.account_id);
    if (wallet === undefined || row.price === "0") return [];
    const { received_at_ms: from, done_at_ms: done } = row;
    const key = BigInt(row.key);
    const charge = await chargeOf.get(wallet.id, from, from, key);
    const isBack = done !== null && row.charged_micros === "0";
    const refund = isBack ? await refundOf.get(wallet.id, from, done + AFTER_END_MS, key) : undefined;
    return [charge, refund].flatMap((found) => {
      if (found === undefined) return [];
      const { amount, ...rest } = found;
      return [{ ...rest, amountMicros: BigInt(amount) }];
    });
  }

  /** The ids of the reports that it is in, as far as they are found, and of those that it was in, as far as that was noted. */
  async function reportIdsOf(row: MessageRow): Promise<string[]> {
    if (row.notify_url === null) return [];
    const { account_id: accountId, done_at_ms: doneAtMs } = row;
    const own = row.last_report_id === null ? [] : [row.last_report_id];
    if (doneAtMs === null) return own;
    const name = JSON.stringify(row.client_message_id ?? row.key).replace(/[%_!]/g, "!$&");
    const noted = await reportsTaken.all(SUBJECT.ended(accountId, doneAtMs), `%${name}%`);
    const taken = noted
      .map(({ detail }) => JSON.parse(detail) as TraceDetails["reported"])
      .filter(({ names }) => names.includes(row.client_message_id ?? row.key))
      .map(({ report }) => report);
    const waiting = await waitingOf(accountId, hostOf(row.notify_url), doneAtMs, `%"messageId":${name}%`);
    return [...new Set([...taken, ...waiting, ...own])].slice(-MAX_REPORTS);
  }

  /** A report is made when its message ends; one that was merged goes under the id of an earlier one. */
  async function waitingOf(accountId: number, host: string, doneAtMs: number, pattern: string): Promise<string[]> {
    const long = firstIdAt(doneAtMs - LONG_BEFORE_END_MS);
    const before = firstIdAt(doneAtMs - BEFORE_END_MS);
    const after = firstIdAt(doneAtMs + AFTER_END_MS);
    const places = [
      [failingReports, [host], before, after],
      [deadReports, [host], before, after],
      [untriedReports, [], before, after],
      [failingReports, [host], long, before],
      [deadReports, [host], long, before],
    ] as const;
    for (const [statement, names, from, end] of places) {
      let first = from;
      for (let page = 0; page < REPORT_PAGES; page++) {
        const rows = await statement.all(pattern, accountId, ...names, first, end);
        const found = rows.filter(({ has }) => has === 1);
        if (found.length > 0) return found.map(({ id }) => id).slice(0, MAX_REPORTS);
        if (rows.length < REPORT_ROWS) break;
        first = BigInt(rows.at(-1)!.id) + 1n;
      }
    }
    return [];
  }

  async function traceOf(row: MessageRow, reportIds: readonly string[]): Promise<TraceStep[]> {
    const { key, account_id: accountId, bulk_id: bulkId } = row;
    const own = (await stepsOfMessage.all(SUBJECT.message(key), SUBJECT.bulk(accountId, bulkId))).reverse();
    const tries = await Promise.all(
      reportIds.map(async (id) => (await stepsOfReport.all(SUBJECT.report(id))).reverse()),
    );
    return [...own.filter((step) => isAbout(step, key)), ...tries.flat()].sort(
      (first, second) => first.atMs - second.atMs,
    );
  }

  async function reportsOf({ account_id }: MessageRow, ids: readonly string[]): Promise<UntakenReport[]> {
    const found = await Promise.all(ids.map((id) => reportById.get(BigInt(id), account_id)));
    return found.flatMap((row) => (row === undefined ? [] : [untakenReportOf(row)]));
  }

  // Batches that nobody holds: what is held is under way.
  const revive = sql.prepare<Value[]>(
    "UPDATE report SET dead_at_ms = NULL, attempts = 0, tried = 1, due_at_ms = ?, held_by = NULL WHERE id = ? AND account_id = ? AND dead_at_ms IS NOT NULL",
  );
  const hasten = sql.prepare<Value[]>(
    "UPDATE report SET due_at_ms = ? WHERE id = ? AND account_id = ? AND dead_at_ms IS NULL AND held_by IS NULL AND after_id IS NULL",
  );
  const waits = sql.prepare<[bigint, number], { id: string }>(
    "SELECT CAST(id AS TEXT) AS id FROM report WHERE id = ? AND account_id = ?",
  );

  return commands({
    async messageLife({ accountId, messageId }) {
      const row = await find(accountId, messageId);
      if (row === null) return null;
      const reportIds = await reportIdsOf(row);
      return {
        ...lifeOfRow(row),
        accountKey: (await accountKey.get(row.account_id))?.key ?? "",
        bulk: (await bulkOf.get(row.account_id, row.bulk_id)) ?? null,
        postings: await postingsOf(row),
        reports: await reportsOf(row, reportIds),
        parts: await partsOf(row),
        later: await later.all(BigInt(row.key)),
        links: await links.all(BigInt(row.key)),
        conversion: conversionOf(row),
        trace: await traceOf(row, reportIds),
      };
    },

    async replayReport({ accountId, key, reportIds, nowMs }) {
      await tables.load({ messages: [key] });
      const row = tables.messages.get(key);
      if (row === undefined || row.account_id !== accountId) return "nothing to replay";
      // Made by a replay before this one, maybe since somebody looked.
      if (unit().hasReport(key)) return "on its way";
      const last = row.last_report_id === null ? [] : [row.last_report_id];
      const ids = new Set([...last, ...reportIds.slice(0, MAX_REPORTS)].map(BigInt));
      let revived = 0;
      let hastened = 0;
      let waiting = 0;
      for (const id of ids) {
        revived += await revive.run(nowMs, id, accountId);
        hastened += await hasten.run(nowMs, id, accountId);
        waiting += (await waits.get(id, accountId)) === undefined ? 0 : 1;
      }
      if (revived + hastened > 0) unit().reportsWait = true;
      if (revived > 0) return "replayed";
      if (waiting > 0) return hastened > 0 ? "hastened" : "on its way";
      if (row.notify_url === null || row.done_at_ms === null) return "nothing to replay";
      const told = row.charged_micros === "0" ? { ...row, price: "0" } : row;
      const { status_id: statusId, error_id: errorId, done_at_ms: atMs, mcc_mnc: mccMnc } = row;
      return reportAgain(told, { statusId, errorId, atMs, mccMnc }) ? "sent anew" : "nothing to replay";
    },
  });
}

/** Of a request's notes only that of the request with this message: a client may use the name of a bulk again. */
function isAbout({ kind, detail }: TraceStep, key: string): boolean {
  if (kind !== "request") return true;
  const { firstKey, messages } = JSON.parse(detail) as TraceDetails["request"];
  const place = (BigInt(key) - BigInt(firstKey)) >> 10n;
  return place >= 0n && place < BigInt(messages);
}

function untakenReportOf(row: ReportRow): UntakenReport {
  return {
    id: row.id,
    batch: batchOf(row),
    attempts: row.attempts,
    dueAtMs: row.due_at_ms,
    deadAtMs: row.dead_at_ms,
    reason: row.reason,
    history: JSON.parse(row.history),
  };
}
