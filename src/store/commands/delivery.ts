/** From the lane to the last word: claims, submissions, receipts, endings and the rounds that end what waited too long. */

import { type Event, type Step, step } from "../../message/life.ts";
import type { MessageKey, PartsTaken } from "../../message/message.ts";
import { phoneOf } from "../../message/phones.ts";
import { reasonOf } from "../../message/reasons.ts";
import { type Receipt, UNKNOWN_PREFIX } from "../../message/receipt.ts";
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
import { queuedMessage, reportFacts, takenOf } from "../rows.ts";
import { MESSAGE, type MessageRow, type PartRow, STATE_NUMBER } from "../schema/message.ts";
import { PARKED } from "../schema/receipts.ts";
import type { Awaitable } from "../sql.ts";
import { laneOf } from "../tables.ts";
import { type Bulks, putOffVersion } from "./bulks.ts";
import { CLOCKS_APART_MS, choose, isAboutPhone, MAX_SAME_ID } from "./candidates.ts";
import { Comparisons } from "./comparisons.ts";
import { refund } from "./ledger.ts";
import type { CommandParts } from "./parts.ts";
import {
  boundedReceipt,
  distinct,
  nameKey,
  type PhoneNames,
  parkedName,
  receiptNames,
  saidBy,
  withoutReservedId,
} from "./receipt-names.ts";
import { type KnownReceipt, MAX_REPEAT_WAIT_MS, Repeats } from "./repeats.ts";

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

const VALIDITY_EXPIRED = errorByName("EC_VALIDITY_EXPIRED").id;

export function deliveryCommands(
  { sql, tables, lanes, unit, epoch, now }: CommandParts,
  bulks: Bulks,
): Pick<CommandHandlers, DeliveryCommand> {
  const { dialect } = sql;
  const repeats = new Repeats(sql, unit, now);
  const due = sql.prepare<[number, number], MessageRow>(
    `SELECT ${MESSAGE.list} FROM message WHERE state = 0 AND due_at_ms <= ? ORDER BY due_at_ms, message.key LIMIT ?
     ${dialect.lockFree()}`,
  );
  const nextDue = sql.prepare<[], { at: number | null }>("SELECT min(due_at_ms) AS at FROM message WHERE state = 0");
  const unowned = sql.prepare<[string, number, number], MessageRow>(
    `SELECT ${MESSAGE.list} FROM message
     WHERE state = 1 AND owner IS NULL AND carrier_id = ? AND account_id = ? ORDER BY message.key LIMIT ? ${dialect.lockFree()}`,
  );
  const newestParked = sql.prepare<[number], ParkedReceipt>(
    `SELECT ${PARKED.list} FROM parked_receipt WHERE repeated = 0 ORDER BY id DESC LIMIT ?`,
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
  const lastPart = sql.prepareStaleRead<[], { id: number | null }>("SELECT max(id) AS id FROM part");
  const partsAfter = sql.prepareStaleRead<
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
  const expiredBacklog = sql.prepareStaleRead<[number, number], { key: string }>(
    `SELECT CAST(key AS TEXT) AS key FROM message ${dialect.along("message_backlog_by_expiry")}
     WHERE state = 1 AND owner IS NULL AND expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?`,
  );
  const owned = sql.prepare<[number, number], MessageRow>(
    `SELECT ${MESSAGE.list} FROM message WHERE state = 1 AND owner = ? LIMIT ? ${dialect.lockFree()}`,
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
  function findById(name: PartName | null, receipt: Receipt, comparisons: Comparisons): FoundPart | WhyParked {
    const parts = name === null ? [] : comparisons.partsOf(name);
    const [first] = parts;
    if (name === null || first === undefined) return "unmatched";
    // Nearly every id is one part's.
    if (parts.length === 1) {
      const isMeant = first.row === undefined || isAboutPhone(receipt, first.row.recipient);
      const row = comparisons.isKept(name) ? undefined : first.row;
      return isMeant ? { name, part: first.part, row, isById: true, hasRivals: false } : "foreign";
    }
    if (parts.length > MAX_SAME_ID) return "doubtful";
    const about = parts.filter(({ row }) => row === undefined || isAboutPhone(receipt, row.recipient));
    const [only] = about;
    if (only === undefined) return "foreign";
    const found = about.length === 1 ? only : choose(receipt, about);
    if (found === null) return "doubtful";
    const hasRivals = parts.some(({ part }) => part.key !== found.part.key);
    return { name, part: found.part, row: undefined, isById: true, hasRivals };
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
    return isMeant ? { name: (part === direct ? to : other)!, part, row, isById: false, hasRivals: false } : null;
  }

  /** Its id is known to be another part's: a part whose id was never learnt is not meant. Up to what was read of that by now. */
  function isOfAnother(carrierId: string, receipt: Receipt, key: MessageKey): boolean {
    const known = repeats.find(carrierId, receipt);
    return known !== null && (known.key !== key || known.hasLastWord);
  }

  /**
   * The part that was waiting for this receipt, and if there is none, why not. A receipt about another phone than the message's is "foreign", and
   * changes nothing: ids are easily guessed. `look` is for who can wait: null then means that it has to be known first what came before.
   */
  function find(
    carrierId: string,
    receipt: Receipt,
    comparisons: Comparisons,
    look: "needed" | "done" = "done",
  ): FoundPart | WhyParked | null {
    const names = receiptNames(carrierId, receipt);
    const byId = findById(names.byId, receipt, comparisons);
    if (typeof byId === "object" || byId === "doubtful") return byId;
    const byPhone = findByPhone(names.byPhone, receipt);
    if (byPhone === null) return byId;
    if (names.byId !== null && look === "needed") return null;
    return isOfAnother(carrierId, receipt, byPhone.part.key) ? byId : byPhone;
  }

  /** The part hears it. */
  function apply(carrierId: string, receipt: Receipt, found: FoundPart, comparisons: Comparisons): void {
    const { name, part, row = tables.message(part.key) } = found;
    repeats.note(carrierId, receipt, part.key);
    const { outcome, errorId, atMs } = receipt;
    if (outcome !== "held") {
      settlePart(part, row, { event: outcome, errorId, atMs, mccMnc: receipt.mccMnc });
      comparisons.gone(name, part);
      return;
    }
    const made = step("submitted", "held")!;
    // A part that does not count may still be heard of when the message is final.
    if (row === undefined || row.state !== STATE_NUMBER.submitted) return;
    const statusId = STATUS[made.status].id;
    const mccMnc = receipt.mccMnc ?? row.mcc_mnc;
    tables.changeMessage(row, { status_id: statusId, error_id: receipt.errorId, mcc_mnc: mccMnc });
    if (row.intermediate === 1) report(row, statusId, receipt.errorId, receipt.atMs, receipt.mccMnc);
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
  async function parkNew(carrierId: string, missed: readonly Missed[]): Promise<ParkedCounts> {
    const counts = { unmatched: 0, foreign: 0, doubtful: 0, repeated: 0, later: 0 };
    const names = missed.flatMap(({ receipt }) => parkedName(carrierId, receipt) ?? []);
    await tables.load({ parked: names });
    await repeats.look();
    // By what they say: a batch may have thousands of one id.
    const saidBefore = new Map<string, Map<string, ParkedReceipt>>();
    for (const name of distinct(names))
      saidBefore.set(nameKey(name), new Map(tables.parked(name).map((receipt) => [saidBy(receipt), receipt])));
    const isKnown = ({ receipt, why, heardBy }: Missed): boolean =>
      why !== "doubtful" && heardBy === null && repeats.find(carrierId, receipt) !== null;
    const known = missed.map(isKnown);
    const keys = missed.flatMap(({ receipt }, index) =>
      known[index] ? (repeats.find(carrierId, receipt)?.key ?? []) : [],
    );
    if (keys.length > 0) await tables.load({ messages: keys });
    for (const [index, one] of missed.entries()) {
      const { receipt, heardBy } = one;
      // What is recorded here is known to the next.
      const before = known[index] ? repeats.find(carrierId, receipt) : null;
      const isRepeat = before?.isRepeat === true;
      const beside = isRepeat ? null : besideWhich(carrierId, receipt, before);
      // Two messages of this name have had their last word.
      const why = before?.key === null && !isRepeat ? "doubtful" : one.why;
      const name = parkedName(carrierId, receipt);
      const said = name === null ? null : { of: saidBefore.get(nameKey(name))!, what: saidBy(receipt) };
      const parked = said?.of.get(said.what);
      if (parked !== undefined) tables.unpark(parked);
      const isUnreadable = receipt.octets != null;
      const isHidden = !isUnreadable && (isRepeat || beside !== null);
      const again = tables.park({
        ...boundedReceipt(receipt),
        carrierId,
        carrierMessageId: name?.carrierMessageId ?? "",
        repeated: isHidden ? 1 : 0,
        why: isUnreadable ? "unreadable" : why,
        times: (parked?.times ?? 0) + 1,
        messageKey: heardBy ?? beside ?? parked?.messageKey ?? null,
      });
      said?.of.set(said.what, again);
      if (beside !== null) {
        recordLater({ ...receipt, carrierId }, beside);
        counts.later++;
      } else if (isRepeat || parked !== undefined) counts.repeated++;
      else if (heardBy === null) {
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

  /** Only from after the message came: a carrier may use an id again, and an old receipt says nothing of a new message. */
  function isOfTime(receipt: ParkedReceipt, row: MessageRow, isUnknown: boolean): boolean {
    if (receipt.repeated === 1) return !isUnknown && mayBeFirst(receipt, row);
    return receipt.atMs >= row.received_at_ms - (isUnknown ? 0 : CLOCKS_APART_MS);
  }

  /**
   * A receipt can overtake the answer to its submit: it waits among the parked ones, and is looked for here when parts of that name have come, or
   * have become fewer. With `only` for that message alone. The parts of that name may be another node's, and their rows have to be loaded.
   */
  function matchName(name: PartName, comparisons: Comparisons, { only = null, isWanted = always }: Wanted = {}): void {
    const { carrierId, carrierMessageId } = name;
    if (comparisons.areSpent || !tables.anyParked(carrierId)) return;
    const isUnknown = carrierMessageId.startsWith(UNKNOWN_PREFIX);
    const parked = isUnknown
      ? tables.parkedForPhone(carrierId, carrierMessageId.slice(UNKNOWN_PREFIX.length))
      : tables.parked(name);
    let waiting = parked.filter(
      (receipt) =>
        isWanted(receipt) &&
        !hasBeenHeard(receipt) &&
        (only === null || (isOfTime(receipt, only, isUnknown) && (isUnknown || isAboutPhone(receipt, only.recipient)))),
    );
    if (waiting.length === 0) return;
    const parts = tables.parts(name);
    // Of so many all receipts are doubtful.
    if (parts.length > MAX_SAME_ID && !isUnknown) return;
    const keys = only === null ? new Set(parts.map(({ key }) => key)) : new Set([only.key]);
    let settled: MessageRow | null = null;
    /** Whether it has found its place. */
    const isPlaced = (receipt: ParkedReceipt): boolean => {
      const found = find(carrierId, withoutReservedId(receipt), comparisons);
      const isFound = found !== null && typeof found === "object" && keys.has(found.part.key);
      const row = isFound ? tables.message(found.part.key) : undefined;
      if (isFound && row !== undefined && isOfTime(receipt, row, isUnknown)) {
        applyParked(receipt, found, comparisons);
        if (receipt.outcome !== "held") settled = row;
        return true;
      }
      // The last word and what was said after it have both overtaken the answer.
      const isLater =
        settled !== null &&
        !isUnknown &&
        isOfTime(receipt, settled, isUnknown) &&
        isAboutPhone(receipt, settled.recipient) &&
        tables.parts(name).length === 0;
      if (!isLater) return false;
      recordLater(receipt, settled!.key);
      tables.unpark(receipt);
      return true;
    };
    // What was doubtful may not be when another has settled its rival.
    for (let before = waiting.length + 1; waiting.length < before; ) {
      before = waiting.length;
      waiting = waiting.filter((receipt) => comparisons.areSpent || !isPlaced(receipt));
    }
  }

  /** Records what was said after the last word beside its message, and knows it when it comes again. */
  function recordLater(receipt: CarrierReceipt, messageKey: MessageKey): void {
    const { carrierId, carrierMessageId, outcome, errorId, atMs } = receipt;
    tables.insertLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
    repeats.note(carrierId, receipt, messageKey);
  }

  /** If its carrier calls all parts of the message the same, it is the receipt of as many as it has come for. */
  function applyParked(receipt: ParkedReceipt, found: FoundPart, comparisons: Comparisons): void {
    const { carrierId, carrierMessageId, outcome, errorId, atMs, messageKey, times } = receipt;
    const { key } = found.part;
    const said = withoutReservedId(receipt);
    apply(carrierId, said, found, comparisons);
    for (let left = found.isById && outcome !== "held" ? times - 1 : 0; left > 0; left--) {
      const next = findById(found.name, said, comparisons);
      if (typeof next !== "object" || next.part.key !== key) break;
      apply(carrierId, said, next, comparisons);
    }
    // It was not the other message's after all.
    if (messageKey !== null) tables.deleteLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
    tables.unpark(receipt);
    if (isUnclear(receipt)) tables.park({ ...receipt, messageKey: key });
  }

  /** The carrier has all that it will get of the message: from now on its receipts are waited for. */
  function taken(
    row: MessageRow,
    { carrierId, parts, refusedErrorId, atMs }: SubmittedMessage,
    comparisons: Comparisons,
  ): void {
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
      tables.insertPart({ carrierId, carrierMessageId, key: row.key, counts: counts ? 1 : 0, ...times });
      comparisons.come({ carrierId, carrierMessageId });
    }
    if (row.intermediate === 1) report(changed, statusId, 0, atMs, null);
    if (!tables.anyParked(carrierId)) return;
    const names = distinct(parts.map(({ carrierMessageId }) => ({ carrierId, carrierMessageId })));
    for (const name of names) matchName(name, comparisons, { only: row });
  }

  /** Its validity is over before all of it went. Of what the carrier has, the receipts are waited for, and it stays charged. */
  function expire(row: MessageRow, atMs: number, comparisons: Comparisons): void {
    const begun = takenOf(row);
    if (begun === null) {
      conclude(row, step("queued", "validity over")!, 0, atMs, null);
      return;
    }
    const parts = begun.ids.flatMap((id) => (id === null ? [] : [{ carrierMessageId: id, counts: true }]));
    const message = { key: row.key, carrierId: row.carrier_id, parts, refusedErrorId: VALIDITY_EXPIRED, atMs };
    taken(row, message, comparisons);
  }

  /** The parts of names as they are now, by their ids; each name is read once. */
  function readerOfParts(): (name: PartName) => ReadonlyMap<number | null, PartRow> {
    const read = new Map<string, ReadonlyMap<number | null, PartRow>>();
    return (name) => {
      const known = read.get(nameKey(name)) ?? new Map(tables.parts(name).map((part) => [part.id, part]));
      read.set(nameKey(name), known);
      return known;
    };
  }

  /** A part as it is now, with its message loaded. Of very many under one name it may not be among those that are. */
  async function stillWaiting(
    { id, key }: PartRow,
    named: ReadonlyMap<number | null, PartRow>,
  ): Promise<PartRow | undefined> {
    const part = named.get(id);
    if (part !== undefined || named.size <= MAX_SAME_ID) return part;
    await tables.load({ messages: [key], refunds: true });
    return partById.get(id!);
  }

  /** Applies receipts from this one on, and gathers what is to be done about the others. It waits only where it has to be known what came before. */
  function applyFrom(batch: Batch, from: number): Promise<void> | undefined {
    const { carrierId, receipts, comparisons, missed, strangers, contested } = batch;
    for (let index = from; index < receipts.length; index++) {
      const receipt = receipts[index]!;
      const found = find(carrierId, receipt, comparisons, batch.look);
      if (found === null) {
        batch.look = "done";
        return repeats.look().then(() => applyFrom(batch, index));
      }
      if (typeof found === "object") {
        apply(carrierId, receipt, found, comparisons);
        if (found.hasRivals && receipt.outcome !== "held") contested.push(found.name);
        if (isUnclear(receipt)) missed.push({ receipt, why: "unreadable", heardBy: found.part.key });
      }
      // Whatever a phone wrote: it is never parked, because it would come back as if the carrier had said it.
      else if (receipt.unmarked === true) strangers.push(index);
      else missed.push({ receipt, why: found, heardBy: null });
    }
  }

  /** Parks what was not applied, and looks again at what was doubtful until another receipt of its id was applied. */
  async function parkAndMatch({ carrierId, comparisons, missed, contested }: Batch): Promise<ParkedCounts> {
    const counts = missed.length === 0 ? NONE_MISSED : await parkNew(carrierId, missed);
    const names = distinct(contested);
    if (names.length > 0) await tables.load({ parked: names });
    for (const name of names) matchName(name, comparisons);
    return counts;
  }

  return {
    async claimDue({ nowMs, limit }) {
      const cancel = (row: MessageRow): void => conclude(row, step("scheduled", "canceled")!, 0, nowMs, null);
      const moreTurns = await bulks.takeTurn(nowMs, limit, cancel);
      const rows = tables.cache(await due.all(nowMs, limit));
      await tables.load({
        lockedBulks: rows.filter((row) => row.bulk_version !== null).map(bulkNameOf),
        wallets: rows.map((row) => row.account_id),
        parked: rows.filter((row) => row.taken !== null).flatMap(takenNames),
      });
      const comparisons = new Comparisons(tables);
      for (const dueRow of rows) {
        const { kind, row } = bulks.fateOf(dueRow, nowMs);
        if (kind === "canceled") cancel(row);
        if (kind === "expired") expire(row, nowMs, comparisons);
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
          unit().overflow(lane);
        }
      }
      await tables.flush();
      return { more: moreTurns || rows.length === limit, nextDueAtMs: (await nextDue.get())?.at ?? null };
    },

    async claimLane({ accountId, carrierId, limit }) {
      const lane = { accountId, carrierId };
      const wanted = Math.min(limit, lanes.room(lane));
      if (wanted <= 0) return { claimed: 0, more: true };
      const rows = tables.nextWaiting(lane, wanted) ?? tables.cache(await unowned.all(carrierId, accountId, wanted));
      if (rows.length > 0) tables.claimedUpTo(lane, rows.at(-1)!.key);
      for (const row of rows) tables.changeMessage(row, { owner: epoch });
      unit().messages.push(...rows.map(queuedMessage));
      const more = rows.length === wanted;
      const before = lanes.isOverflowed(lane);
      lanes.take(lane, rows.length);
      lanes.setOverflowed(lane, more);
      unit().onRollback(() => {
        lanes.take(lane, -rows.length);
        lanes.setOverflowed(lane, before);
      });
      return { claimed: rows.length, more };
    },

    submitted({ messages }) {
      const comparisons = new Comparisons(tables);
      for (const message of messages) {
        const row = tables.message(message.key);
        if (row === undefined) continue;
        if (row.owner === epoch) leaveLane(row);
        if (row.state <= STATE_NUMBER.queued) taken(row, message, comparisons);
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
      const strangers: number[] = [];
      const gathered = { missed: [], strangers, contested: [], comparisons: new Comparisons(tables) };
      const batch: Batch = { carrierId, receipts, ...gathered, look: "needed" };
      const finish = (): Awaitable<ReceivedReceipts> =>
        batch.missed.length + batch.contested.length === 0
          ? { ...NONE_MISSED, strangers }
          : parkAndMatch(batch).then((counts) => ({ ...counts, strangers }));
      const rest = applyFrom(batch, 0);
      return rest === undefined ? finish() : rest.then(finish);
    },

    matchParked({ names }) {
      const comparisons = new Comparisons(tables);
      for (const name of distinct(names)) matchName(name, comparisons);
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
      const page = await partsAfter.all(afterPart, last, limit);
      const isLate = ({ expiresAtMs }: { expiresAtMs: number }): boolean => expiresAtMs + receiptWaitMs <= nowMs;
      const expired = await expiredBacklog.all(nowMs, limit);
      // As they are now: another node may have heard of them since.
      const keys = expired.map((waiting) => waiting.key);
      await tables.load({ parts: page.filter(isLate), parked: page, messages: keys, refunds: true });
      // A part and its receipt, written by two nodes at the same moment, do not see each other, and who was to look again may have died.
      // That a part has waited too long does not say that a doubtful receipt was another's.
      const comparisons = new Comparisons(tables);
      const isWanted = ({ why }: ParkedReceipt): boolean => why !== "doubtful";
      const matched = new Set<string>();
      const parts = page.filter((name) => {
        // The rest is for the next page.
        if (comparisons.areSpent) return false;
        if (!matched.has(nameKey(name))) matchName(name, comparisons, { isWanted });
        matched.add(nameKey(name));
        return true;
      });
      const partsOf = readerOfParts();
      for (const name of parts.filter(isLate)) {
        const part = await stillWaiting(name, partsOf(name));
        if (part === undefined) continue;
        settlePart(part, tables.message(part.key), { event: "no receipt", errorId: 0, atMs: nowMs, mccMnc: null });
        comparisons.gone(name, part);
      }
      const begun = expired.flatMap(({ key }) => tables.message(key) ?? []).filter((row) => row.taken !== null);
      if (begun.length > 0) await tables.load({ parked: begun.flatMap(takenNames) });
      for (const waiting of expired) {
        const row = tables.message(waiting.key);
        if (row?.state !== STATE_NUMBER.queued || row.owner !== null) continue;
        expire(row, nowMs, comparisons);
      }
      const isLastPage = page.length < limit && parts.length === page.length;
      const cursor = isLastPage ? SWEEP_START : { afterPart: parts.at(-1)!.id, upToPart: last };
      return { cursor, more: !isLastPage || expired.length === limit };
    },

    async handBack({ limit }) {
      const rows = tables.cache(await owned.all(epoch, limit));
      for (const row of rows) tables.changeMessage(row, { owner: null });
      return { more: rows.length === limit };
    },

    release({ keys }) {
      for (const key of keys) {
        const row = ownMessage(key);
        if (row === null) continue;
        leaveLane(row);
        tables.changeMessage(row, { owner: null });
        lanes.setOverflowed(laneOf(row), true);
        unit().overflow(laneOf(row));
      }
    },
  };
}

/** A receipt that is to be parked: no part was waiting for it, or one has heard it, and somebody has to look at it. */
interface Missed {
  readonly receipt: Receipt;
  readonly why: WhyParked;
  readonly heardBy: MessageKey | null;
}

type ParkedCounts = Omit<ReceivedReceipts, "strangers">;

/** Receipts that came together, and what has become of them so far. */
interface Batch {
  readonly carrierId: string;
  readonly receipts: readonly Receipt[];
  readonly comparisons: Comparisons;
  readonly missed: Missed[];
  /** Places of those that are none. */
  readonly strangers: number[];
  /** Names under which parts of other messages still wait: a receipt that was doubtful may no longer be. */
  readonly contested: PartName[];
  look: "needed" | "done";
}

/** Which of the parked receipts are looked at. */
interface Wanted {
  readonly only?: MessageRow | null;
  readonly isWanted?: (receipt: ParkedReceipt) => boolean;
}

const NONE_MISSED = { unmatched: 0, foreign: 0, doubtful: 0, repeated: 0, later: 0 };
const always = (): boolean => true;

/** One that could not be read, and says nothing final: the message hears that much, and an operator has to look at the rest. */
function isUnclear({ octets, outcome }: Receipt): boolean {
  return octets != null && outcome === "held";
}

/** It is kept for an operator only: its message has heard it. */
function hasBeenHeard({ why, messageKey }: ParkedReceipt): boolean {
  return why === "unreadable" && messageKey !== null;
}

interface FoundPart {
  readonly part: PartRow;
  /** Its message as it is now; undefined if it has to be read, or has left the store. */
  readonly row: MessageRow | undefined;
  /** Under which it was found: the receipt's id, or what stands for its phone. */
  readonly name: PartName;
  readonly isById: boolean;
  /** Parts of other messages wait under that name. */
  readonly hasRivals: boolean;
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
