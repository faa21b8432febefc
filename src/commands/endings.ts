/** The last word about a message: its final state, what it gives back, and its report. */
import { type Event, type Step, step } from "../message/life.ts";
import { reasonOf } from "../message/reasons.ts";
import { formFor, NO_REPORT, TOLD, type Told } from "../message/report-form.ts";
import { STATUS } from "../sms/statuses.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { type ReportedState, reportFacts } from "../store/rows.ts";
import { type MessageRow, type PartRow, STATE_NUMBER } from "../store/schema/message.ts";
import type { Unit } from "../store/unit.ts";
import { refund } from "./ledger.ts";
import type { Hearers } from "./live-news.ts";

/** The last word about a part. */
export interface LastWord {
  readonly event: Event;
  readonly errorId: number;
  readonly atMs: number;
  readonly mccMnc: string | null;
}

export type Endings = ReturnType<typeof endings>;

/** What a report of a final status tells, by Kannel's numbers. What no carrier took never came as far as the network. */
function toldOf({ sent_at_ms }: MessageRow, statusId: number): Told {
  if (statusId === STATUS.DELIVERED_TO_HANDSET.id) return TOLD.delivered;
  return sent_at_ms === null ? TOLD.refused : TOLD.failed;
}

export function endings({ tables, unit, now }: CommandParts, { finished, news }: Hearers) {
  function report(row: MessageRow, now: ReportedState, told = toldOf(row, now.statusId)): void {
    let order = null;
    if (row.intermediate === 1) {
      const previous = row.last_report_id;
      const waiting = previous !== null && tables.reports.waits(previous);
      order = { key: row.key, afterId: waiting ? previous : null };
    }
    push(row, told, now, order);
  }

  /**
   * A report that was settled goes out anew, if its client wants it at all. The row is told its id, so that nobody makes another one while it is on
   * its way.
   */
  function reportAgain(row: MessageRow, now: ReportedState): boolean {
    return push(row, toldOf(row, now.statusId), now, { key: row.key, afterId: null });
  }

  function push(row: MessageRow, told: Told, now: ReportedState, order: Parameters<Unit["report"]>[2]): boolean {
    const { account_id: accountId, notify_url: url, notify_type } = row;
    const form = formFor(notify_type, told);
    if (url === null || form === null) return false;
    unit().report({ accountId, url, form }, reportFacts(row, now), order);
    return true;
  }

  /** Writes a final state, gives the charge back where the life's table says so, and reports it. */
  function conclude(row: MessageRow, made: Step, errorId: number, atMs: number, mccMnc: string | null): void {
    const statusId = STATUS[made.status].id;
    const reason = errorId === 0 ? reasonOf(statusId) : errorId;
    const { account_id: accountId, key, charged_micros, part_count: partCount } = row;
    // Booked when it is booked: a statement of a time that is over does not change any more.
    const refunded =
      made.refund === true &&
      refund(tables, { accountId, key, amountMicros: BigInt(charged_micros), partCount }, now());
    // Where there is no URL the report waits to be fetched: by our time, for a network's own may be off by days.
    const toPull = row.notify_url === null && row.notify_type !== NO_REPORT;
    tables.messages.change(row, {
      state: STATE_NUMBER.done,
      status_id: statusId,
      error_id: reason,
      done_at_ms: atMs,
      mcc_mnc: mccMnc,
      charged_micros: refunded ? "0" : row.charged_micros,
      owner: null,
      secret_body: null,
      parts_pending: 0,
      pull: toPull ? 0 : null,
      pull_at_ms: toPull ? now() : null,
    });
    finished.add(unit(), statusId);
    report(refunded ? { ...row, price: "0" } : row, { statusId, errorId: reason, atMs, mccMnc });
    if (news.isOn) news.ended(row, statusId, reason);
  }

  /** One part has its last word; with the last part the message has its. The worst word counts. */
  function settlePart(part: PartRow, row: MessageRow | undefined, { event, errorId, atMs, mccMnc }: LastWord): void {
    tables.parts.delete(part);
    if (row === undefined || row.state !== STATE_NUMBER.submitted) return;
    if (part.counts === 0 && (event === "delivered" || event === "no receipt")) return;
    const spoiled = row.worst_event !== null && row.worst_event !== "delivered";
    const worst = (spoiled ? row.worst_event : event) as Event;
    const worstErrorId = spoiled ? row.error_id : errorId;
    const network = mccMnc ?? row.mcc_mnc;
    const pending = row.parts_pending - part.counts;
    const made = pending > 0 ? null : step("submitted", worst);
    if (made !== null) {
      conclude(row, made, worstErrorId, atMs, network);
      return;
    }
    const heard = { worst_event: worst, error_id: worstErrorId, mcc_mnc: network };
    tables.messages.change(row, { parts_pending: pending, ...heard });
  }

  return { report, reportAgain, conclude, settlePart };
}
