/** From the lane to the last word: claims, submissions, receipts, endings and the rounds that end what waited too long. */
import { phoneOf, plainPhone, samePhone } from "../../carriers/phones.ts";
import { type Receipt, UNREADABLE_PREFIX, unknownId } from "../../carriers/port.ts";
import { type Event, type Step, step } from "../../message/life.ts";
import type { MessageKey, PartsTaken } from "../../message/message.ts";
import { reasonOf } from "../../message/reasons.ts";
import { errorByName } from "../../sms/errors.ts";
import { STATUS } from "../../sms/statuses.ts";
import {
  type BulkName,
  type CarrierReceipt,
  type CommandHandlers,
  type LaterReceipt,
  type OutstandingRow,
  type ParkedReceipt,
  type PartName,
  type ReceivedReceipts,
  type SubmittedMessage,
  SWEEP_START,
  type WhyParked,
} from "../port.ts";
import {
  MESSAGE_COLUMNS,
  type MessageRow,
  type PartRow,
  queuedMessage,
  reportFacts,
  STATE_NUMBER,
  takenOf,
} from "../rows.ts";
import { laneOf } from "../tables.ts";
import { type Bulks, putOffVersion } from "./bulks.ts";
import { type Candidate, CLOCKS_APART_MS, choose, isAboutPhone, MAX_SAME_ID } from "./candidates.ts";
import { refund } from "./ledger.ts";
import type { CommandParts } from "./parts.ts";
import { hashOf, type KnownReceipt, MAX_REPEAT_WAIT_MS, Repeats } from "./repeats.ts";

type DeliveryCommand =
  | "claimDue"
  | "claimLane"
  | "submitted"
  | "reroute"
  | "postpone"
  | "again"
  | "finish"
  | "received"
  | "matchParked"
  | "parkedReceipts"
  | "laterReceipts"
  | "outstanding"
  | "sweep"
  | "handBack"
  | "release";

export const PARKED_COLUMNS = `id, carrier_id AS "carrierId", carrier_message_id AS "carrierMessageId", outcome, error_id AS "errorId",
  at_ms AS "atMs", mcc_mnc AS "mccMnc", recipient AS "to", other_address AS other, repeated, why, times, submitted_at_ms AS "submittedAtMs", octets,
  CAST(message_key AS TEXT) AS "messageKey"`;

/** So much is kept of the octets of a receipt that could not be read, in hex. */
export const MAX_OCTETS_LENGTH = 2_048;
const VALIDITY_EXPIRED = errorByName("EC_VALIDITY_EXPIRED").id;

export function deliveryCommands(
  { sql, tables, lanes, unit, epoch, now }: CommandParts,
  bulks: Bulks,
): Pick<CommandHandlers, DeliveryCommand> {
  const { dialect } = sql;
  const repeats = new Repeats(sql, unit, now);
  const due = sql.prepare<[number, number], MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM message WHERE state = 0 AND due_at_ms <= ? ORDER BY due_at_ms, message.key LIMIT ?
     ${dialect.lockFree()}`,
  );
  const nextDue = sql.prepare<[], { at: number | null }>("SELECT min(due_at_ms) AS at FROM message WHERE state = 0");
  const unowned = sql.prepare<[string, number, number], MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM message
     WHERE state = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? ORDER BY message.key LIMIT ? ${dialect.lockFree()}`,
  );
  const newestParked = sql.prepare<[number], ParkedReceipt>(
    `SELECT ${PARKED_COLUMNS} FROM parked_receipt WHERE repeated = 0 ORDER BY id DESC LIMIT ?`,
  );
  const countParked = sql.prepare<[], { count: number }>(
    "SELECT count(*) AS count FROM parked_receipt WHERE repeated = 0",
  );
  const laterOf = sql.prepare<[bigint], LaterReceipt & { id: number }>(
    `SELECT id, CAST(message_key AS TEXT) AS "messageKey", carrier_id AS "carrierId", carrier_message_id AS "carrierMessageId", outcome,
       error_id AS "errorId", at_ms AS "atMs"
     FROM later_receipt WHERE message_key = ?`,
  );
  const outstandingParts = sql.prepare<[number, string, number], OutstandingRow>(
    `SELECT part.id AS "rowId", carrier_message_id AS "carrierMessageId", message.recipient AS "to",
       submitted_at_ms AS "submittedAtMs", part.expires_at_ms AS "expiresAtMs"
     FROM part JOIN message ON message.key = part.message_key
     WHERE part.id > ? AND ${dialect.plain("part.carrier_id")} = ? ORDER BY part.id LIMIT ?`,
  );
  const lastPart = sql.prepareLagging<[], { id: number | null }>("SELECT max(id) AS id FROM part");
  const partsAfter = sql.prepareLagging<
    [number, number, number],
    PartRow & PartName & { id: number; expiresAtMs: number }
  >(
    `SELECT id, carrier_id AS "carrierId", carrier_message_id AS "carrierMessageId", CAST(message_key AS TEXT) AS key, counts,
       submitted_at_ms AS "submittedAtMs", expires_at_ms AS "expiresAtMs"
     FROM part WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
  );
  const partById = sql.prepare<[number], PartRow & PartName>(
    `SELECT id, carrier_id AS "carrierId", carrier_message_id AS "carrierMessageId", CAST(message_key AS TEXT) AS key, counts,
       submitted_at_ms AS "submittedAtMs"
     FROM part WHERE id = ?`,
  );
  const expiredBacklog = sql.prepareLagging<[number, number], { key: string }>(
    `SELECT CAST(key AS TEXT) AS key FROM message ${dialect.along("message_backlog_by_expiry")}
     WHERE state = 1 AND owner IS NULL AND expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?`,
  );
  const owned = sql.prepare<[number, number], MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM message WHERE state = 1 AND owner = ? LIMIT ? ${dialect.lockFree()}`,
  );

  function leaveLane(row: MessageRow): void {
    const lane = laneOf(row);
    lanes.leave(lane);
    unit().onRollback(() => lanes.take(lane, 1));
  }

  /**
   * A message that waits here. What is told of one that another node has by now, or of one that has gone on, comes too late: it was told
   * before, and the answer was lost.
   */
  function ownMessage(key: MessageKey): MessageRow | null {
    const row = tables.message(key);
    return row?.state === STATE_NUMBER.queued && row.owner === epoch ? row : null;
  }

  function report(row: MessageRow, statusId: number, errorId: number, atMs: number, mccMnc: string | null): void {
    if (row.notify_url === null) return;
    let order = null;
    if (row.intermediate === 1) {
      const previous = row.last_report_id;
      const waiting = previous !== null && tables.reportWaits(previous);
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
    const { account_id: accountId, key, charged_micros, part_count: partCount } = row;
    // Booked when it is booked: a statement of a time that is over does not change any more.
    const refunded =
      made.refund === true &&
      refund(tables, { accountId, key, amountMicros: BigInt(charged_micros), partCount }, now());
    // Where there is no URL the report waits to be fetched: by our time, for a network's own may be off by days.
    const toPull = row.notify_url === null;
    tables.changeMessage(row, {
      state: STATE_NUMBER.done,
      status_id: statusId,
      error_id: reason,
      done_at_ms: atMs,
      mcc_mnc: mccMnc,
      charged_micros: refunded ? "0" : row.charged_micros,
      owner: null,
      parts_pending: 0,
      pull: toPull ? 0 : null,
      pull_at_ms: toPull ? now() : null,
    });
    report(refunded ? { ...row, price: "0" } : row, statusId, reason, atMs, mccMnc);
  }

  /** One part has its last word; with the last part the message has its. The worst word counts. */
  function settlePart(part: PartRow, row: MessageRow | undefined, { event, errorId, atMs, mccMnc }: LastWord): void {
    tables.deletePart(part);
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
    tables.changeMessage(row, { parts_pending: pending, ...heard });
  }

  /** The part with the receipt's id; if there is none that is sure, why not. */
  function findById(name: PartName | null, receipt: Receipt): FoundPart | WhyParked {
    const parts = name === null ? [] : tables.parts(name);
    const [first] = parts;
    if (first === undefined) return "unmatched";
    if (parts.length > MAX_SAME_ID) return "doubtful";
    if (parts.length === 1) {
      const row = tables.message(first.key);
      return row === undefined || isAboutPhone(receipt, row.recipient) ? { part: first, row } : "foreign";
    }
    const about = parts
      .map((part) => ({ part, row: tables.message(part.key) }))
      .filter(({ row }) => row === undefined || isAboutPhone(receipt, row.recipient));
    const [only] = about;
    if (only === undefined) return "foreign";
    const found = about.length === 1 ? only : choose(receipt, about);
    if (found === null) return "doubtful";
    const rivals = parts.some(({ key }) => key !== found.part.key) ? name : null;
    return { ...found, rivals };
  }

  /**
   * The part whose id was never learnt, by its phone: the receipt's first address, or the second where a carrier swaps them. If something waits
   * under both, nobody knows which is meant, and the receipt waits. For the second, the first has to be the message's sender: else a receipt of
   * any message that the phone itself has sent would do.
   */
  function findByPhone({ to, other }: PhoneNames, receipt: Receipt): FoundPart | null {
    const [direct, swapped] = [to, other].map((name) => (name === null ? undefined : tables.parts(name)[0]));
    if (direct !== undefined && swapped !== undefined) return null;
    const part = direct ?? swapped;
    if (part === undefined) return null;
    const row = tables.message(part.key);
    const isMeant = part === direct || (row !== undefined && phoneOf(row.sender) === receipt.to);
    return isMeant ? { part, row } : null;
  }

  /**
   * Whether a message was waiting for this receipt, and if not, why not. A receipt about another phone than the message's is "foreign", and changes
   * nothing: ids are easily guessed. With `only` it is for that message or none. `contested` is told under which names parts of other messages
   * still wait: a receipt that was doubtful may no longer be.
   */
  function applyReceipt(
    carrierId: string,
    receipt: Receipt,
    { only = null, contested = null }: { only?: MessageKey | null; contested?: PartName[] | null } = {},
  ): "applied" | WhyParked {
    const names = receiptNames(carrierId, receipt);
    const byId = findById(names.byId, receipt);
    const found = typeof byId === "object" ? byId : byId === "doubtful" ? null : findByPhone(names.byPhone, receipt);
    if (found === null) return typeof byId === "object" ? "unmatched" : byId;
    const { part, row, rivals = null } = found;
    if (only !== null && part.key !== only) return "unmatched";
    repeats.note(carrierId, receipt, part.key);
    const { outcome, errorId, atMs } = receipt;
    if (outcome !== "held") {
      settlePart(part, row, { event: outcome, errorId, atMs, mccMnc: receipt.mccMnc });
      if (rivals !== null) contested?.push(rivals);
      return "applied";
    }
    const made = step("submitted", "held")!;
    // A part that does not count may still be heard of when the message is final.
    if (row === undefined || row.state !== STATE_NUMBER.submitted) return "applied";
    const statusId = STATUS[made.status].id;
    const mccMnc = receipt.mccMnc ?? row.mcc_mnc;
    tables.changeMessage(row, { status_id: statusId, error_id: receipt.errorId, mcc_mnc: mccMnc });
    if (row.intermediate === 1) report(row, statusId, receipt.errorId, receipt.atMs, receipt.mccMnc);
    return "applied";
  }

  /** The message that has had a receipt of this name. A name is only a hash, so carrier and phone are looked at. */
  function besideWhich(carrierId: string, receipt: Receipt, known: KnownReceipt | null): MessageKey | null {
    const key = known?.key ?? null;
    const row = key === null ? undefined : tables.message(key);
    return row?.carrier_id === carrierId && isAboutPhone(receipt, row.recipient) ? key : null;
  }

  /**
   * Parks receipts that were not applied. Of one that is parked already the newer counts: it may be about a newer message. Those that came again, or
   * after the last word, wait a short while only; the second are recorded beside their message, and that is all that they do.
   */
  async function parkNew(carrierId: string, missed: readonly Missed[]): Promise<Omit<ReceivedReceipts, "strangers">> {
    const counts = { unmatched: 0, foreign: 0, doubtful: 0, repeated: 0, later: 0 };
    await tables.load({ parked: missed.flatMap(({ receipt }) => parkedName(carrierId, receipt) ?? []) });
    await repeats.look();
    const found = missed.map(({ receipt, why }) => (why === "doubtful" ? null : repeats.find(carrierId, receipt)));
    const keys = found.flatMap((known) => known?.key ?? []);
    if (keys.length > 0) await tables.load({ messages: keys });
    for (const [index, one] of missed.entries()) {
      const { receipt } = one;
      // What is recorded here is known to the next.
      const known = found[index] === null ? null : repeats.find(carrierId, receipt);
      const isRepeat = known?.isRepeat === true;
      const beside = isRepeat ? null : besideWhich(carrierId, receipt, known);
      // Two messages of this name have had their last word.
      const why = known?.key === null && !isRepeat ? "doubtful" : one.why;
      const name = parkedName(carrierId, receipt);
      const parked = name === null ? undefined : tables.parked(name).find((known) => isSame(known, receipt));
      if (parked !== undefined) tables.unpark(parked);
      tables.park({
        ...boundedReceipt(receipt),
        carrierId,
        carrierMessageId: name?.carrierMessageId ?? "",
        repeated: isRepeat || beside !== null ? 1 : 0,
        why: receipt.octets == null ? why : "unreadable",
        times: (parked?.times ?? 0) + 1,
        messageKey: beside ?? parked?.messageKey ?? null,
      });
      if (beside !== null) {
        recordLater({ ...receipt, carrierId }, beside);
        counts.later++;
      } else if (isRepeat || parked !== undefined) counts.repeated++;
      else {
        counts.unmatched++;
        if (why === "foreign" || why === "doubtful") counts[why]++;
      }
    }
    return counts;
  }

  /**
   * Whether a receipt that looks like a repeat may be the first of this message. It is more likely one of the message before, so everything has to
   * fit: the phone, the id (a part without one takes no repeats), and the time, without allowance for clocks.
   */
  function mayBeFirst(receipt: ParkedReceipt, { recipient, received_at_ms }: MessageRow): boolean {
    const sinceMs = Math.max(received_at_ms, now() - MAX_REPEAT_WAIT_MS);
    return receipt.atMs >= sinceMs && isAboutPhone(receipt, recipient);
  }

  /** A receipt can overtake the answer to its submit: it waits among the parked ones. */
  function matchParked(name: PartName, row: MessageRow, isWanted: (receipt: ParkedReceipt) => boolean = always): void {
    const { carrierId, carrierMessageId } = name;
    const isUnknown = carrierMessageId === unknownId(row.recipient);
    const candidates = isUnknown ? tables.parkedForPhone(carrierId, plainPhone(row.recipient)) : tables.parked(name);
    // Only from after the message came: a carrier may use an id again, and an old receipt says nothing of a new message.
    const sinceMs = isUnknown ? row.received_at_ms : row.received_at_ms - CLOCKS_APART_MS;
    let isSettled = false;
    for (const receipt of candidates) {
      if (receipt.atMs < sinceMs || !isWanted(receipt)) continue;
      if (receipt.repeated === 1 && (isUnknown || !mayBeFirst(receipt, row))) continue;
      if (applyParked(receipt, row.key)) isSettled ||= receipt.outcome !== "held";
      // The last word and what was said after it have both overtaken the answer.
      else if (isSettled && !isUnknown && tables.parts(name).length === 0 && isAboutPhone(receipt, row.recipient))
        recordLater(receipt, row.key);
      else continue;
      tables.unpark(receipt);
    }
  }

  /** Records what was said after the last word beside its message, and knows it when it comes again. */
  function recordLater(receipt: CarrierReceipt, messageKey: MessageKey): void {
    const { carrierId, carrierMessageId, outcome, errorId, atMs } = receipt;
    tables.insertLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
    repeats.note(carrierId, receipt, messageKey);
  }

  /** If its carrier calls all parts of the message the same, it is the receipt of as many as it has come for. */
  function applyParked(receipt: ParkedReceipt, only: MessageKey): boolean {
    const { carrierId, carrierMessageId, outcome, errorId, atMs, messageKey } = receipt;
    const apply = (): boolean => applyReceipt(carrierId, withoutReservedId(receipt), { only }) === "applied";
    if (!apply()) return false;
    const others = outcome === "held" ? 0 : receipt.times - 1;
    for (let left = others; left > 0 && apply(); ) left--;
    // It was not the other message's after all.
    if (messageKey !== null) tables.deleteLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
    return true;
  }

  /** The carrier has all that it will get of the message: from now on its receipts are waited for. */
  function taken(row: MessageRow, { carrierId, parts, refusedErrorId, atMs }: SubmittedMessage): void {
    // Nothing would ever be heard of it.
    if (!parts.some(({ counts }) => counts)) {
      conclude(row, step("submitting", "gave up")!, refusedErrorId ?? 0, atMs, null);
      return;
    }
    const statusId = STATUS[step("submitting", "accepted")!.status].id;
    const changed = tables.changeMessage(row, {
      state: STATE_NUMBER.submitted,
      status_id: statusId,
      owner: null,
      sent_at_ms: atMs,
      parts_pending: parts.filter((part) => part.counts).length,
      worst_event: refusedErrorId === null ? null : "rejected",
      error_id: refusedErrorId ?? 0,
      ...(row.taken === null ? {} : { taken: null }),
    });
    bulks.sent(row);
    for (const { carrierMessageId, counts } of parts) {
      const times = { submittedAtMs: atMs, expiresAtMs: row.expires_at_ms };
      tables.insertPart({ carrierId, carrierMessageId, messageKey: row.key, counts, ...times });
    }
    if (row.intermediate === 1) report(changed, statusId, 0, atMs, null);
    if (!tables.anyParked(carrierId)) return;
    for (const { carrierMessageId } of parts) matchParked({ carrierId, carrierMessageId }, row);
  }

  /** Its validity is over before all of it went. Of what the carrier has, the receipts are waited for, and it stays charged. */
  function expire(row: MessageRow, atMs: number): void {
    const begun = takenOf(row);
    if (begun === null) {
      conclude(row, step("queued", "validity over")!, 0, atMs, null);
      return;
    }
    const parts = begun.ids.flatMap((id) => (id === null ? [] : [{ carrierMessageId: id, counts: true }]));
    taken(row, { key: row.key, carrierId: row.carrier_id, parts, refusedErrorId: VALIDITY_EXPIRED, atMs });
  }

  /** A part as it is now, with its message loaded. Of very many under one name it may not be among those that are. */
  async function stillWaiting(name: PartRow & PartName): Promise<PartRow | undefined> {
    const named = tables.parts(name);
    const part = named.find(({ id }) => id === name.id);
    if (part !== undefined || named.length <= MAX_SAME_ID) return part;
    await tables.load({ messages: [name.key], refunds: true });
    return partById.get(name.id!);
  }

  /** The parts of that name may be another node's, and their rows have to be loaded. */
  function matchName(name: PartName, isWanted?: (receipt: ParkedReceipt) => boolean): void {
    if (!tables.anyParked(name.carrierId)) return;
    for (const key of new Set(tables.parts(name).map((part) => part.key))) {
      const row = tables.message(key);
      if (row !== undefined) matchParked(name, row, isWanted);
    }
  }

  /** Parks what was not applied, and looks again at what was doubtful until another receipt of its id was applied. */
  async function parkAndMatch(
    carrierId: string,
    missed: readonly Missed[],
    contested: readonly PartName[],
  ): Promise<Omit<ReceivedReceipts, "strangers">> {
    const counts = missed.length === 0 ? NONE_MISSED : await parkNew(carrierId, missed);
    if (contested.length > 0) await tables.load({ parked: contested });
    for (const name of contested) matchName(name);
    return counts;
  }

  return {
    async claimDue({ nowMs, limit }) {
      const cancel = (row: MessageRow): void => conclude(row, step("scheduled", "canceled")!, 0, nowMs, null);
      const moreTurns = await bulks.takeTurn(nowMs, limit, cancel);
      const rows = tables.adopt(await due.all(nowMs, limit));
      await tables.load({
        lockedBulks: rows.filter((row) => row.bulk_version !== null).map(bulkNameOf),
        purses: rows.map((row) => row.account_id),
        parked: rows.filter((row) => row.taken !== null).flatMap(takenNames),
      });
      for (const dueRow of rows) {
        const { kind, row } = bulks.fateOf(dueRow, nowMs);
        if (kind === "canceled") cancel(row);
        if (kind === "expired") expire(row, nowMs);
        if (kind !== "goes") continue;
        const lane = laneOf(row);
        const owned = lanes.enter(lane);
        const statusId = STATUS[step("scheduled", "due")!.status].id;
        tables.changeMessage(row, {
          state: STATE_NUMBER.queued,
          status_id: statusId,
          owner: owned ? epoch : null,
        });
        if (owned) {
          unit().onRollback(() => lanes.leave(lane));
          unit().messages.push(queuedMessage(row));
        } else {
          unit().spill(lane);
        }
      }
      await tables.flush();
      return { more: moreTurns || rows.length === limit, nextDueAtMs: (await nextDue.get())?.at ?? null };
    },

    async claimLane({ accountId, carrierId, limit }) {
      const lane = { accountId, carrierId };
      const wanted = Math.min(limit, lanes.room(lane));
      if (wanted <= 0) return { claimed: 0, more: true };
      const rows = tables.nextWaiting(lane, wanted) ?? tables.adopt(await unowned.all(carrierId, accountId, wanted));
      if (rows.length > 0) tables.claimedUpTo(lane, rows.at(-1)!.key);
      for (const row of rows) tables.changeMessage(row, { owner: epoch });
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
        const row = tables.message(message.key);
        if (row === undefined) continue;
        if (row.owner === epoch) leaveLane(row);
        if (row.state <= STATE_NUMBER.queued) taken(row, message);
      }
    },

    reroute({ messages }) {
      for (const { key, carrierId } of messages) {
        const row = ownMessage(key);
        if (row === null) continue;
        const lane = { accountId: row.account_id, carrierId };
        leaveLane(row);
        lanes.take(lane, 1);
        unit().onRollback(() => lanes.leave(lane));
        tables.changeMessage(row, { carrier_id: carrierId });
      }
    },

    postpone({ messages }) {
      for (const { key, dueAtMs, event } of messages) {
        const row = ownMessage(key);
        if (row === null) continue;
        leaveLane(row);
        const isPutOff = event === "put off";
        const statusId = STATUS[step(isPutOff ? "submitting" : "queued", event)!.status].id;
        const waiting = { state: STATE_NUMBER.scheduled, status_id: statusId, owner: null, due_at_ms: dueAtMs };
        tables.changeMessage(row, isPutOff ? { ...waiting, bulk_version: putOffVersion(row) } : waiting);
        unit().due(dueAtMs);
      }
    },

    again({ messages }) {
      for (const { key, unknown, taken } of messages) {
        const row = ownMessage(key);
        if (row === null) continue;
        tables.changeMessage(row, {
          ...(unknown ? { unknown_count: row.unknown_count + 1 } : {}),
          ...(taken === null ? {} : { taken: JSON.stringify(mergeTaken(takenOf(row), taken)) }),
        });
      }
    },

    finish({ endings }) {
      for (const { key, event, errorId, atMs } of endings) {
        const row = ownMessage(key);
        if (row === null) continue;
        leaveLane(row);
        conclude(row, step("submitting", event)!, errorId, atMs, null);
      }
    },

    received({ carrierId, receipts }) {
      const missed: Missed[] = [];
      const strangers: number[] = [];
      const contested: PartName[] = [];
      const telling = { contested };
      for (const [index, receipt] of receipts.entries()) {
        const found = applyReceipt(carrierId, receipt, telling);
        if (found === "applied") continue;
        // Where several parts of its phone have its id, it is a receipt.
        if (receipt.unmarked === true && found !== "doubtful") strangers.push(index);
        else missed.push({ receipt, why: found });
      }
      if (missed.length + contested.length === 0) return { ...NONE_MISSED, strangers };
      return parkAndMatch(carrierId, missed, contested).then((counts) => ({ ...counts, strangers }));
    },

    matchParked({ names }) {
      for (const name of names) matchName(name);
    },

    parkedReceipts: async ({ limit }) => ({
      count: (await countParked.get())!.count,
      receipts: (await newestParked.all(limit)).map(withoutReservedId),
    }),

    async laterReceipts({ messageKey }) {
      const rows = await laterOf.all(BigInt(messageKey));
      return rows.sort((one, other) => one.id - other.id).map(({ id: _id, ...receipt }) => receipt);
    },

    outstanding: async ({ carrierId, afterRow, limit }) => outstandingParts.all(afterRow, carrierId, limit),

    async sweep({ nowMs, receiptWaitMs, limit, cursor: { afterPart, upToPart } }) {
      const last = afterPart === 0 ? ((await lastPart.get())?.id ?? 0) : upToPart;
      const parts = await partsAfter.all(afterPart, last, limit);
      const late = parts.filter(({ expiresAtMs }) => expiresAtMs + receiptWaitMs <= nowMs);
      const expired = await expiredBacklog.all(nowMs, limit);
      // As they are now: another node may have heard of them since.
      await tables.load({ parts: late, parked: parts, messages: expired.map((waiting) => waiting.key), refunds: true });
      // A part and its receipt, written by two nodes at the same moment, do not see each other, and who was to look again may have died.
      // That a part has waited too long does not say that a doubtful receipt was another's.
      for (const name of parts) matchName(name, ({ why }) => why !== "doubtful");
      for (const name of late) {
        const part = await stillWaiting(name);
        if (part === undefined) continue;
        settlePart(part, tables.message(part.key), { event: "no receipt", errorId: 0, atMs: nowMs, mccMnc: null });
      }
      const begun = expired.flatMap(({ key }) => tables.message(key) ?? []).filter((row) => row.taken !== null);
      if (begun.length > 0) await tables.load({ parked: begun.flatMap(takenNames) });
      for (const waiting of expired) {
        const row = tables.message(waiting.key);
        if (row?.state !== STATE_NUMBER.queued || row.owner !== null) continue;
        expire(row, nowMs);
      }
      const isLastPage = parts.length < limit;
      const cursor = isLastPage ? SWEEP_START : { afterPart: parts.at(-1)!.id, upToPart: last };
      return { cursor, more: !isLastPage || expired.length === limit };
    },

    async handBack({ limit }) {
      const rows = tables.adopt(await owned.all(epoch, limit));
      for (const row of rows) tables.changeMessage(row, { owner: null });
      return { more: rows.length === limit };
    },

    release({ keys }) {
      for (const key of keys) {
        const row = ownMessage(key);
        if (row === null) continue;
        leaveLane(row);
        tables.changeMessage(row, { owner: null });
        lanes.setSpilled(laneOf(row), true);
        unit().spill(laneOf(row));
      }
    },
  };
}

/** A receipt that no part was waiting for. */
interface Missed {
  readonly receipt: Receipt;
  readonly why: WhyParked;
}

const NONE_MISSED = { unmatched: 0, foreign: 0, doubtful: 0, repeated: 0, later: 0 };
const always = (): boolean => true;

/** Whether they say the same of the same: the second is the first again. */
function isSame(one: Receipt, other: Receipt): boolean {
  const saidBy = (receipt: Receipt): string => {
    const { to, other = null, outcome, submittedAtMs = null, octets } = boundedReceipt(receipt);
    return JSON.stringify([to, other, outcome, submittedAtMs, withoutSequence(octets)]);
  };
  return saidBy(one) === saidBy(other);
}

/** What is kept of a receipt. */
function boundedReceipt<Some extends Receipt>(receipt: Some): Some {
  const { submittedAtMs, octets } = receipt;
  return {
    ...receipt,
    submittedAtMs: Number.isSafeInteger(submittedAtMs) ? submittedAtMs : null,
    octets: octets == null ? null : octets.slice(0, MAX_OCTETS_LENGTH),
  };
}

/** A PDU that comes again has another sequence number: the last four octets of its header of sixteen. */
function withoutSequence(octets: string | null | undefined): string {
  return octets == null ? "" : octets.slice(0, 24) + octets.slice(32);
}

/** The name under which a receipt is parked and found again: its id, or for want of one a hash of its octets. */
function parkedName(carrierId: string, receipt: Receipt): PartName | null {
  if (receipt.carrierMessageId !== "") return { carrierId, carrierMessageId: receipt.carrierMessageId };
  const { octets } = boundedReceipt(receipt);
  if (octets == null) return null;
  return { carrierId, carrierMessageId: `${UNREADABLE_PREFIX}${hashOf(withoutSequence(octets))}` };
}

/** As it came: one that could not be read has no id. */
function withoutReservedId(receipt: ParkedReceipt): ParkedReceipt {
  return receipt.carrierMessageId.startsWith(UNREADABLE_PREFIX) ? { ...receipt, carrierMessageId: "" } : receipt;
}

interface FoundPart extends Candidate {
  /** Its name, if parts of other messages wait under it. */
  readonly rivals?: PartName | null;
}

/** The names that the two addresses of a receipt stand for. */
interface PhoneNames {
  readonly to: PartName | null;
  readonly other: PartName | null;
}

/**
 * Under which names the part of a receipt may be found: its id, or the phone that stands for an id that was never learnt. For the second it
 * has to be marked: any phone can write a text that looks like a receipt.
 */
export function receiptNames(
  carrierId: string,
  { carrierMessageId, to, other = null, unmarked }: Receipt,
): { readonly byId: PartName | null; readonly byPhone: PhoneNames } {
  const nameOf = (phone: string | null): PartName | null =>
    phone === null || unmarked === true ? null : { carrierId, carrierMessageId: unknownId(phone) };
  const isTwice = to !== null && other !== null && samePhone(to, other);
  return {
    byId:
      carrierMessageId === "" || carrierMessageId.startsWith(UNREADABLE_PREFIX)
        ? null
        : { carrierId, carrierMessageId },
    byPhone: { to: nameOf(to), other: isTwice ? null : nameOf(other) },
  };
}

/** All of them, in the order in which they are tried. */
export function allReceiptNames({ carrierId, ...receipt }: CarrierReceipt): PartName[] {
  const { byId, byPhone } = receiptNames(carrierId, receipt);
  return [byId, byPhone.to, byPhone.other].filter((name) => name !== null);
}

/** What is told later may come first: what is known already is not forgotten for it. */
function mergeTaken(known: PartsTaken | null, told: PartsTaken): PartsTaken {
  if (known === null || known.cut !== told.cut || known.reference !== told.reference) return told;
  return { ...told, ids: told.ids.map((id, index) => id ?? known.ids[index] ?? null) };
}

/** What its carrier calls the parts that it has of a message which stopped in the middle. */
function takenNames(row: MessageRow): PartName[] {
  const ids = takenOf(row)?.ids ?? [];
  return ids.flatMap((id) => (id === null ? [] : [{ carrierId: row.carrier_id, carrierMessageId: id }]));
}

/** The last word about a part. */
interface LastWord {
  readonly event: Event;
  readonly errorId: number;
  readonly atMs: number;
  readonly mccMnc: string | null;
}

function bulkNameOf(row: MessageRow): BulkName {
  return { accountId: row.account_id, bulkId: row.bulk_id };
}
