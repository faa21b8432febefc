/** From the lane to the last word, in SQLite: claims, submissions, receipts, endings and the rounds that end what waited too long. */
import { type Receipt, unknownId } from "../../carriers/port.ts";
import { type Event, type Step, step } from "../../message/life.ts";
import { reasonOf } from "../../message/reasons.ts";
import { STATUS } from "../../sms/statuses.ts";
import type { LaneAccounts } from "../lanes.ts";
import { type CommandHandlers, type LaneName, type ParkedReceipt, SWEEP_START } from "../port.ts";
import type { Bulks } from "./bulks.ts";
import type { Db } from "./database.ts";
import type { Ledger } from "./ledger.ts";
import { MESSAGE_COLUMNS, type MessageRow, queuedMessage, reportFacts, STATE_NUMBER } from "./rows.ts";
import type { Unit } from "./unit.ts";

interface PartRow {
  readonly id: number;
  readonly key: string;
  readonly counts: number;
}

export interface DeliveryParts {
  readonly db: Db;
  readonly ledger: Ledger;
  readonly bulks: Bulks;
  readonly lanes: LaneAccounts;
  readonly unit: () => Unit;
  readonly epoch: number;
  readonly now: () => number;
}

type DeliveryCommand =
  | "claimDue"
  | "claimLane"
  | "submitted"
  | "reroute"
  | "postpone"
  | "countUnknown"
  | "finish"
  | "received"
  | "parkedReceipts"
  | "outstanding"
  | "sweep"
  | "handBack"
  | "release"
  | "cluster"
  | "shareBinds";

export function deliveryCommands({
  db,
  ledger,
  bulks,
  lanes,
  unit,
  epoch,
  now,
}: DeliveryParts): Pick<CommandHandlers, DeliveryCommand> {
  const byKey = db.prepare<[bigint], MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM message WHERE key = ?`);
  const due = db.prepare<[number, number], MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM message WHERE state = 0 AND due_at_ms <= ? ORDER BY due_at_ms, message.key LIMIT ?`,
  );
  const nextDue = db.prepare<[], { at: number | null }>("SELECT min(due_at_ms) AS at FROM message WHERE state = 0");
  const unowned = db.prepare<[string, number, number], MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM message
     WHERE state = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? ORDER BY message.key LIMIT ?`,
  );
  const enqueue = db.prepare<[number, number | null, bigint]>(
    "UPDATE message SET state = 1, status_id = ?, owner = ? WHERE key = ?",
  );
  const own = db.prepare<[number | null, bigint]>("UPDATE message SET owner = ? WHERE key = ?");
  const markSubmitted = db.prepare<[number, number, number, string | null, number, bigint]>(
    `UPDATE message SET state = 3, status_id = ?, owner = NULL, sent_at_ms = ?, parts_pending = ?, worst_event = ?, error_id = ?
     WHERE key = ? AND state IN (0, 1)`,
  );
  const insertPart = db.prepare<[string, string, bigint, number, number, number]>(
    `INSERT INTO part (carrier_id, carrier_message_id, message_key, counts, submitted_at_ms, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const findPart = db.prepare<[string, string], PartRow>(
    `SELECT id, CAST(message_key AS TEXT) AS key, counts FROM part WHERE carrier_id = ? AND carrier_message_id = ? ORDER BY id LIMIT 1`,
  );
  const deletePart = db.prepare<[number]>("DELETE FROM part WHERE id = ?");
  const updatePending = db.prepare<[number, string | null, number, string | null, bigint]>(
    "UPDATE message SET parts_pending = ?, worst_event = ?, error_id = ?, mcc_mnc = ? WHERE key = ?",
  );
  const updateHeld = db.prepare<[number, number, string | null, bigint]>(
    "UPDATE message SET status_id = ?, error_id = ?, mcc_mnc = ? WHERE key = ?",
  );
  // Where there is no URL the report waits to be fetched: by our time, for a network's own may be off by days.
  const end = db.prepare<[number, number, number, string | null, bigint, number, bigint]>(
    `UPDATE message SET state = 4, status_id = ?, error_id = ?, done_at_ms = ?, mcc_mnc = ?, charged_micros = ?, owner = NULL,
       parts_pending = 0, pull = iif(notify_url IS NULL, 0, NULL), pull_at_ms = iif(notify_url IS NULL, ?, NULL) WHERE key = ?`,
  );
  const reschedule = db.prepare<[number, number, bigint]>(
    "UPDATE message SET state = 0, status_id = ?, owner = NULL, due_at_ms = ? WHERE key = ? AND state = 1",
  );
  const addUnknown = db.prepare<[bigint]>("UPDATE message SET unknown_count = unknown_count + 1 WHERE key = ?");
  const park = db.prepare<[string, string, string, number, number, string | null, string | null]>(
    `INSERT INTO parked_receipt (carrier_id, carrier_message_id, outcome, error_id, at_ms, mcc_mnc, recipient)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const parkedColumns = `id, carrier_id AS carrierId, carrier_message_id AS carrierMessageId, outcome, error_id AS errorId, at_ms AS atMs,
    mcc_mnc AS mccMnc, recipient AS "to"`;
  const anyParked = db.prepare<[string], unknown>("SELECT 1 FROM parked_receipt WHERE carrier_id = ? LIMIT 1");
  // Only from after the message came: a carrier may use an id again, and an old receipt says nothing of a new message.
  const parkedFor = db.prepare<[string, string, number], ParkedReceipt>(
    `SELECT ${parkedColumns} FROM parked_receipt WHERE carrier_id = ? AND carrier_message_id = ? AND at_ms >= ? ORDER BY id`,
  );
  const parkedForPhone = db.prepare<[string, string, number], ParkedReceipt>(
    `SELECT ${parkedColumns} FROM parked_receipt WHERE carrier_id = ? AND recipient = ? AND at_ms >= ? ORDER BY id`,
  );
  const newestParked = db.prepare<[number], ParkedReceipt>(
    `SELECT ${parkedColumns} FROM parked_receipt ORDER BY id DESC LIMIT ?`,
  );
  const countParked = db.prepare<[], { count: number }>("SELECT count(*) AS count FROM parked_receipt");
  const redirect = db.prepare<[string, bigint]>("UPDATE message SET carrier_id = ? WHERE key = ?");
  const unpark = db.prepare<[number]>("DELETE FROM parked_receipt WHERE id = ?");
  const reportExists = db.prepare<[bigint], unknown>("SELECT 1 FROM report WHERE id = ? AND dead_at_ms IS NULL");
  // The plus keeps SQLite from the index by carrier, whose rows it would have to sort.
  const outstandingParts = db.prepare<[number, string, number], ReturnType<CommandHandlers["outstanding"]>[number]>(
    `SELECT part.id AS rowId, carrier_message_id AS carrierMessageId, message.recipient AS "to",
       submitted_at_ms AS submittedAtMs, part.expires_at_ms AS expiresAtMs
     FROM part JOIN message ON message.key = part.message_key WHERE part.id > ? AND +part.carrier_id = ? ORDER BY part.id LIMIT ?`,
  );
  const partsAfter = db.prepare<[number, number], PartRow & { expiresAtMs: number }>(
    "SELECT id, CAST(message_key AS TEXT) AS key, counts, expires_at_ms AS expiresAtMs FROM part WHERE id > ? ORDER BY id LIMIT ?",
  );
  const backlogAfter = db.prepare<
    [string, number, bigint, number],
    { carrierId: string; accountId: number; key: string; expiresAtMs: number }
  >(
    `SELECT carrier_id AS carrierId, account_id AS accountId, CAST(key AS TEXT) AS key, expires_at_ms AS expiresAtMs FROM message
     WHERE state = 1 AND owner IS NULL AND (carrier_id, account_id, key) > (?, ?, ?) ORDER BY carrier_id, account_id, message.key LIMIT ?`,
  );
  const disown = db.prepare<[number]>("UPDATE message SET owner = NULL WHERE state = 1 AND owner = ?");

  const laneOf = (row: MessageRow): LaneName => ({ accountId: row.account_id, carrierId: row.carrier_id });

  function leaveLane(row: MessageRow): void {
    const lane = laneOf(row);
    lanes.leave(lane);
    unit().onRollback(() => lanes.take(lane, 1));
  }

  function report(row: MessageRow, statusId: number, errorId: number, atMs: number, mccMnc: string | null): void {
    if (row.notify_url === null) return;
    let order = null;
    if (row.intermediate === 1) {
      const previous = row.last_report_id;
      const waiting = previous !== null && reportExists.get(BigInt(previous)) !== undefined;
      order = { key: row.key, afterId: waiting ? previous : null };
    }
    unit().report(
      { accountId: row.account_id, url: row.notify_url, contentType: row.notify_type },
      reportFacts(row, { statusId, errorId, atMs, mccMnc }),
      order,
    );
  }

  /** Writes a final state, gives the charge back where the life's table says so, and reports it. */
  function conclude(row: MessageRow, made: Step, errorId: number, atMs: number, mccMnc: string | null): void {
    const statusId = STATUS[made.status].id;
    const reason = errorId === 0 ? reasonOf(statusId) : errorId;
    const refunded = made.refund === true;
    end.run(statusId, reason, atMs, mccMnc, refunded ? 0n : BigInt(row.charged), now(), BigInt(row.key));
    if (refunded) ledger.refund(row.account_id, row.key, BigInt(row.charged), row.part_count, atMs);
    report(refunded ? { ...row, price: "0" } : row, statusId, reason, atMs, mccMnc);
  }

  /** One part has its last word; with the last part the message has its. The worst word counts. */
  function settlePart(part: PartRow, event: Event, errorId: number, atMs: number, mccMnc: string | null): void {
    const row = byKey.get(BigInt(part.key));
    deletePart.run(part.id);
    if (row === undefined || row.state !== STATE_NUMBER.submitted) return;
    if (part.counts === 0 && (event === "delivered" || event === "no receipt")) return;
    const spoiled = row.worst_event !== null && row.worst_event !== "delivered";
    const worst = (spoiled ? row.worst_event : event) as Event;
    const worstErrorId = spoiled ? row.error_id : errorId;
    const network = mccMnc ?? row.mcc_mnc;
    const pending = row.parts_pending - part.counts;
    const made = pending > 0 ? null : step("submitted", worst);
    if (made === null) updatePending.run(pending, worst, worstErrorId, network, BigInt(row.key));
    else conclude(row, made, worstErrorId, atMs, network);
  }

  /** Returns false when no message is waiting for this receipt. */
  function applyReceipt(carrierId: string, receipt: Receipt): boolean {
    const part =
      findPart.get(carrierId, receipt.carrierMessageId) ??
      (receipt.to === null ? undefined : findPart.get(carrierId, unknownId(receipt.to)));
    if (part === undefined) return false;
    if (receipt.outcome !== "held") {
      settlePart(part, receipt.outcome, receipt.errorId, receipt.atMs, receipt.mccMnc);
      return true;
    }
    const row = byKey.get(BigInt(part.key));
    const made = step("submitted", "held")!;
    // A part that does not count may still be heard of when the message is final.
    if (row === undefined || row.state !== STATE_NUMBER.submitted) return true;
    const statusId = STATUS[made.status].id;
    updateHeld.run(statusId, receipt.errorId, receipt.mccMnc ?? row.mcc_mnc, BigInt(row.key));
    if (row.intermediate === 1) report(row, statusId, receipt.errorId, receipt.atMs, receipt.mccMnc);
    return true;
  }

  return {
    claimDue({ nowMs, limit }) {
      const endBy = (row: MessageRow, event: "canceled" | "validity over"): void =>
        conclude(row, step("scheduled", event)!, 0, nowMs, null);
      const moreTurns = bulks.takeTurn(nowMs, limit, (row) => endBy(row, "canceled"));
      const rows = due.all(nowMs, limit);
      for (const dueRow of rows) {
        const { kind, row } = bulks.fateOf(dueRow, nowMs);
        if (kind === "canceled") endBy(row, "canceled");
        if (kind === "expired") endBy(row, "validity over");
        if (kind !== "goes") continue;
        const lane = laneOf(row);
        const owned = lanes.enter(lane);
        enqueue.run(STATUS[step("scheduled", "due")!.status].id, owned ? epoch : null, BigInt(row.key));
        if (owned) {
          unit().onRollback(() => lanes.leave(lane));
          unit().messages.push(queuedMessage(row));
        } else {
          unit().spill(lane);
        }
      }
      return { more: moreTurns || rows.length === limit, nextDueAtMs: nextDue.get()?.at ?? null };
    },

    claimLane({ accountId, carrierId, limit }) {
      const lane = { accountId, carrierId };
      const wanted = Math.min(limit, lanes.room(lane));
      if (wanted <= 0) return { claimed: 0, more: true };
      const rows = unowned.all(carrierId, accountId, wanted);
      for (const row of rows) own.run(epoch, BigInt(row.key));
      unit().messages.push(...rows.map(queuedMessage));
      const more = rows.length === wanted;
      const before = lanes.isSpilled(lane);
      lanes.take(lane, rows.length);
      lanes.setSpilled(lane, more);
      unit().onRollback(() => {
        lanes.take(lane, -rows.length);
        lanes.setSpilled(lane, before);
      });
      return { claimed: rows.length, more };
    },

    submitted({ messages }) {
      for (const message of messages) {
        const row = byKey.get(BigInt(message.key));
        if (row === undefined) continue;
        leaveLane(row);
        const made = step("submitting", "accepted")!;
        const statusId = STATUS[made.status].id;
        const spoiled = message.refusedErrorId !== null;
        const changes = markSubmitted.run(
          statusId,
          message.atMs,
          message.parts.filter((part) => part.counts).length,
          spoiled ? "rejected" : null,
          message.refusedErrorId ?? 0,
          BigInt(message.key),
        ).changes;
        if (changes === 0) continue;
        bulks.sent(row);
        for (const { carrierMessageId, counts } of message.parts) {
          const key = BigInt(message.key);
          insertPart.run(message.carrierId, carrierMessageId, key, counts ? 1 : 0, message.atMs, row.expires_at_ms);
        }
        if (row.intermediate === 1) report({ ...row, sent_at_ms: message.atMs }, statusId, 0, message.atMs, null);
        // A receipt can overtake the answer to its submit: it waits among the parked ones.
        if (anyParked.get(message.carrierId) === undefined) continue;
        for (const { carrierMessageId } of message.parts) {
          const unknown = carrierMessageId === unknownId(row.recipient);
          const candidates = unknown
            ? parkedForPhone.all(message.carrierId, row.recipient, row.received_at_ms)
            : parkedFor.all(message.carrierId, carrierMessageId, row.received_at_ms);
          for (const parked of candidates) {
            if (applyReceipt(message.carrierId, parked)) unpark.run(parked.id);
          }
        }
      }
    },

    reroute({ messages }) {
      for (const { key, carrierId } of messages) {
        const row = byKey.get(BigInt(key));
        if (row === undefined || row.state !== STATE_NUMBER.queued) continue;
        const lane = { accountId: row.account_id, carrierId };
        leaveLane(row);
        lanes.take(lane, 1);
        unit().onRollback(() => lanes.leave(lane));
        redirect.run(carrierId, BigInt(key));
      }
    },

    postpone({ messages }) {
      for (const { key, dueAtMs } of messages) {
        const row = byKey.get(BigInt(key));
        if (row === undefined || row.state !== STATE_NUMBER.queued) continue;
        leaveLane(row);
        reschedule.run(STATUS[step("queued", "window closed")!.status].id, dueAtMs, BigInt(key));
        unit().due(dueAtMs);
      }
    },

    countUnknown({ keys }) {
      for (const key of keys) addUnknown.run(BigInt(key));
    },

    finish({ endings }) {
      for (const { key, event, errorId, atMs } of endings) {
        const row = byKey.get(BigInt(key));
        if (row === undefined || row.state !== STATE_NUMBER.queued) continue;
        leaveLane(row);
        conclude(row, step("submitting", event)!, errorId, atMs, null);
      }
    },

    received({ carrierId, receipts }) {
      let unmatched = 0;
      for (const receipt of receipts) {
        if (applyReceipt(carrierId, receipt)) continue;
        const { carrierMessageId, outcome, errorId, atMs, mccMnc, to } = receipt;
        park.run(carrierId, carrierMessageId, outcome, errorId, atMs, mccMnc, to);
        unmatched++;
      }
      return { unmatched };
    },

    parkedReceipts: ({ limit }) => ({ count: countParked.get()!.count, receipts: newestParked.all(limit) }),

    outstanding: ({ carrierId, afterRow, limit }) => outstandingParts.all(afterRow, carrierId, limit),

    sweep({ nowMs, receiptWaitMs, limit, cursor }) {
      const parts = partsAfter.all(cursor.part, limit);
      for (const part of parts) {
        if (part.expiresAtMs + receiptWaitMs <= nowMs) settlePart(part, "no receipt", 0, nowMs, null);
      }
      const { carrierId, accountId, key } = cursor.backlog;
      const backlog = backlogAfter.all(carrierId, accountId, BigInt(key), limit);
      for (const waiting of backlog) {
        if (waiting.expiresAtMs > nowMs) continue;
        const row = byKey.get(BigInt(waiting.key))!;
        conclude(row, step("queued", "validity over")!, 0, nowMs, null);
      }
      return {
        part: parts.length === limit ? parts.at(-1)!.id : SWEEP_START.part,
        backlog: backlog.length === limit ? backlog.at(-1)! : SWEEP_START.backlog,
      };
    },

    handBack() {
      disown.run(epoch);
    },

    release({ keys }) {
      for (const key of keys) {
        const row = byKey.get(BigInt(key));
        if (row === undefined || row.state !== STATE_NUMBER.queued) continue;
        leaveLane(row);
        own.run(null, BigInt(key));
        lanes.setSpilled(laneOf(row), true);
        unit().spill(laneOf(row));
      }
    },

    // One machine: all of the work is its own.
    cluster: () => ({ nodes: { api: 1, dispatch: 1, reports: 1 }, leads: true }),

    shareBinds: ({ claims }) =>
      claims.map(({ carrierId, binds }) => ({ carrierId, slots: [...Array(binds).keys()], excess: 0 })),
  };
}
