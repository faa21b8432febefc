/** Receipts and the parts that wait for them: which part a receipt is about, and what it changes. */

import { step } from "../message/life.ts";
import type { MessageKey } from "../message/message.ts";
import { phoneOf } from "../message/phones.ts";
import { isAboutPhone, type Receipt, UNKNOWN_PREFIX } from "../message/receipt.ts";
import { TOLD } from "../message/report-form.ts";
import { STATUS } from "../sms/statuses.ts";
import type { CommandParts } from "../store/command-parts.ts";
import { type PhoneNames, receiptNames } from "../store/part-names.ts";
import type { CarrierReceipt, ParkedReceipt, PartName, WhyParked } from "../store/port/receipts.ts";
import { type MessageRow, type PartRow, STATE_NUMBER } from "../store/schema/message.ts";
import { MAX_SAME_ID } from "../store/tables.ts";
import { CLOCKS_APART_MS, choose } from "./candidates.ts";
import type { Comparisons } from "./comparisons.ts";
import type { Endings } from "./endings.ts";
import { withoutReservedId } from "./receipt-names.ts";
import { MAX_REPEAT_WAIT_MS, type Repeats } from "./repeats.ts";

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

/** Which of the parked receipts are looked at. */
interface Wanted {
  readonly only?: MessageRow | null;
  readonly isWanted?: (receipt: ParkedReceipt) => boolean;
}

const always = (): boolean => true;

/** One that could not be read, and says nothing final: the message hears that much, and an operator has to look at the rest. */
export function isUnclear({ octets, outcome }: Receipt): boolean {
  return octets != null && outcome === "held";
}

/** It is kept for an operator only: its message has heard it. */
function hasBeenHeard({ why, messageKey }: ParkedReceipt): boolean {
  return why === "unreadable" && messageKey !== null;
}

export type Matching = ReturnType<typeof matching>;

export function matching({ tables, now }: CommandParts, repeats: Repeats, { report, settlePart }: Endings) {
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
    const [direct, swapped] = [to, other].map((name) => (name === null ? undefined : tables.parts.named(name)[0]));
    if (direct !== undefined && swapped !== undefined) return null;
    const part = direct ?? swapped;
    if (part === undefined) return null;
    const row = tables.messages.get(part.key);
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
    const { name, part, row = tables.messages.get(part.key) } = found;
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
    tables.messages.change(row, { status_id: statusId, error_id: receipt.errorId, mcc_mnc: mccMnc });
    if (row.intermediate === 1) report(row, statusId, receipt.errorId, receipt.atMs, receipt.mccMnc, TOLD.buffered);
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
    if (comparisons.areSpent || !tables.receipts.anyParked(carrierId)) return;
    const isUnknown = carrierMessageId.startsWith(UNKNOWN_PREFIX);
    const parked = isUnknown
      ? tables.receipts.parkedForPhone(carrierId, carrierMessageId.slice(UNKNOWN_PREFIX.length))
      : tables.receipts.parked(name);
    let waiting = parked.filter(
      (receipt) =>
        isWanted(receipt) &&
        !hasBeenHeard(receipt) &&
        (only === null || (isOfTime(receipt, only, isUnknown) && (isUnknown || isAboutPhone(receipt, only.recipient)))),
    );
    if (waiting.length === 0) return;
    const parts = tables.parts.named(name);
    // Of so many all receipts are doubtful.
    if (parts.length > MAX_SAME_ID && !isUnknown) return;
    const keys = only === null ? new Set(parts.map(({ key }) => key)) : new Set([only.key]);
    let settled: MessageRow | null = null;
    /** Whether it has found its place. */
    const isPlaced = (receipt: ParkedReceipt): boolean => {
      const found = find(carrierId, withoutReservedId(receipt), comparisons);
      const isFound = found !== null && typeof found === "object" && keys.has(found.part.key);
      const row = isFound ? tables.messages.get(found.part.key) : undefined;
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
        tables.parts.named(name).length === 0;
      if (!isLater) return false;
      recordLater(receipt, settled!.key);
      tables.receipts.unpark(receipt);
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
    tables.receipts.insertLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
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
    if (messageKey !== null)
      tables.receipts.deleteLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
    tables.receipts.unpark(receipt);
    if (isUnclear(receipt)) tables.receipts.park({ ...receipt, messageKey: key });
  }

  return { find, apply, matchName, recordLater };
}
