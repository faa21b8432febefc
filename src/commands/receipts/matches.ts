/**
 * Receipts and the parts that wait for them: which part a receipt is about, and what it changes. Whoever has parts that come or end asks here, and
 * nobody else in this folder but for the commands:
 *
 *      matches.ts ─▶ candidates.ts    of several parts with the receipt's id the one that is meant
 *                 ─▶ comparisons.ts   what one command compares, which is bounded
 *                 ─▶ repeats.ts       what was applied before, and so is known when it comes again
 *                 ─▶ names.ts         what names a receipt
 *      received.ts, unmatched.ts      the commands: receipts as they come, and what goes of those that match nothing
 */
import { step } from "../../message/life.ts";
import type { MessageKey } from "../../message/message.ts";
import { phoneOf } from "../../message/phones.ts";
import { isAboutPhone, type Receipt, UNKNOWN_PREFIX } from "../../message/receipt.ts";
import { TOLD } from "../../message/report-form.ts";
import { STATUS } from "../../sms/statuses.ts";
import type { CommandParts } from "../../store/command-parts.ts";
import { type PhoneNames, receiptNames } from "../../store/part-names.ts";
import type { CarrierReceipt, ParkedReceipt, PartName, WhyParked } from "../../store/port/receipts.ts";
import { type MessageRow, type NewPartRow, type PartRow, STATE_NUMBER } from "../../store/schema/message.ts";
import { MAX_SAME_ID, type Tables } from "../../store/tables.ts";
import type { Endings, LastWord } from "../endings.ts";
import { CLOCKS_APART_MS, choose } from "./candidates.ts";
import { Comparisons } from "./comparisons.ts";
import { withoutReservedId } from "./names.ts";
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

/** What the receipts of one command are matched with. */
export class Matches {
  readonly #tables: Tables;
  readonly #now: () => number;
  readonly #repeats: Repeats;
  readonly #endings: Endings;
  readonly #comparisons: Comparisons;

  constructor({ tables, now }: Pick<CommandParts, "tables" | "now">, repeats: Repeats, endings: Endings) {
    this.#tables = tables;
    this.#now = now;
    this.#repeats = repeats;
    this.#endings = endings;
    this.#comparisons = new Comparisons(tables);
  }

  /** So much has been compared that the rest is left to another command. */
  get areSpent(): boolean {
    return this.#comparisons.areSpent;
  }

  /** A part has come, and waits for its receipt. */
  add(part: NewPartRow): void {
    this.#tables.parts.insert(part);
    this.#comparisons.come(part);
  }

  /** A part that has this name has its last word. */
  settle(name: PartName, part: PartRow, row: MessageRow | undefined, word: LastWord): void {
    this.#endings.settlePart(part, row, word);
    this.#comparisons.gone(name, part);
  }

  /** The part with the receipt's id; if there is none that is sure, why not. */
  #findById(name: PartName | null, receipt: Receipt): FoundPart | WhyParked {
    const parts = name === null ? [] : this.#comparisons.partsOf(name);
    const [first] = parts;
    if (name === null || first === undefined) return "unmatched";
    // Nearly every id is one part's.
    if (parts.length === 1) {
      const isMeant = first.row === undefined || isAboutPhone(receipt, first.row.recipient);
      const row = this.#comparisons.isKept(name) ? undefined : first.row;
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
  #findByPhone({ to, other }: PhoneNames, receipt: Receipt): FoundPart | null {
    const [direct, swapped] = [to, other].map((name) =>
      name === null ? undefined : this.#tables.parts.named(name)[0],
    );
    if (direct !== undefined && swapped !== undefined) return null;
    const part = direct ?? swapped;
    if (part === undefined) return null;
    const row = this.#tables.messages.get(part.key);
    const isMeant = part === direct || (row !== undefined && phoneOf(row.sender) === receipt.to);
    return isMeant ? { name: (part === direct ? to : other)!, part, row, isById: false, hasRivals: false } : null;
  }

  /** Its id is known to be another part's: a part whose id was never learnt is not meant. Up to what was read of that by now. */
  #isOfAnother(carrierId: string, receipt: Receipt, key: MessageKey): boolean {
    const known = this.#repeats.find(carrierId, receipt);
    return known !== null && (known.key !== key || known.hasLastWord);
  }

  /**
   * The part that was waiting for this receipt, and if there is none, why not. A receipt about another phone than the message's is "foreign", and
   * changes nothing: ids are easily guessed. `look` is for who can wait: null then means that it has to be known first what came before.
   */
  find(carrierId: string, receipt: Receipt, look: "needed" | "done" = "done"): FoundPart | WhyParked | null {
    const names = receiptNames(carrierId, receipt);
    const byId = this.#findById(names.byId, receipt);
    if (typeof byId === "object" || byId === "doubtful") return byId;
    const byPhone = this.#findByPhone(names.byPhone, receipt);
    if (byPhone === null) return byId;
    if (names.byId !== null && look === "needed") return null;
    return this.#isOfAnother(carrierId, receipt, byPhone.part.key) ? byId : byPhone;
  }

  /** The part hears it. */
  apply(carrierId: string, receipt: Receipt, found: FoundPart): void {
    const { name, part, row = this.#tables.messages.get(part.key) } = found;
    this.#repeats.note(carrierId, receipt, part.key);
    const { outcome, errorId, atMs } = receipt;
    if (outcome !== "held") {
      this.settle(name, part, row, { event: outcome, errorId, atMs, mccMnc: receipt.mccMnc });
      return;
    }
    const made = step("submitted", "held")!;
    // A part that does not count may still be heard of when the message is final.
    if (row === undefined || row.state !== STATE_NUMBER.submitted) return;
    const statusId = STATUS[made.status].id;
    const mccMnc = receipt.mccMnc ?? row.mcc_mnc;
    this.#tables.messages.change(row, { status_id: statusId, error_id: errorId, mcc_mnc: mccMnc });
    if (row.intermediate === 1)
      this.#endings.report(row, { statusId, errorId, atMs, mccMnc: receipt.mccMnc }, TOLD.buffered);
  }

  /**
   * Whether a receipt that looks like a repeat may be the first of this message. It is more likely one of the message before, so everything has to
   * fit: the phone, the id (a part without one takes no repeats), and the time, without allowance for clocks.
   */
  #mayBeFirst(receipt: ParkedReceipt, { recipient, received_at_ms }: MessageRow): boolean {
    const sinceMs = Math.max(received_at_ms, this.#now() - MAX_REPEAT_WAIT_MS);
    return receipt.atMs >= sinceMs && isAboutPhone(receipt, recipient);
  }

  /** Only from after the message came: a carrier may use an id again, and an old receipt says nothing of a new message. */
  #isOfTime(receipt: ParkedReceipt, row: MessageRow, isUnknown: boolean): boolean {
    if (receipt.repeated === 1) return !isUnknown && this.#mayBeFirst(receipt, row);
    return receipt.atMs >= row.received_at_ms - (isUnknown ? 0 : CLOCKS_APART_MS);
  }

  /**
   * A receipt can overtake the answer to its submit: it waits among the parked ones, and is looked for here when parts of that name have come, or
   * have become fewer. With `only` for that message alone. The parts of that name may be another node's, and their rows have to be loaded.
   */
  matchName(name: PartName, { only = null, isWanted = always }: Wanted = {}): void {
    const { carrierId, carrierMessageId } = name;
    if (this.#comparisons.areSpent || !this.#tables.receipts.anyParked(carrierId)) return;
    const isUnknown = carrierMessageId.startsWith(UNKNOWN_PREFIX);
    const parked = isUnknown
      ? this.#tables.receipts.parkedForPhone(carrierId, carrierMessageId.slice(UNKNOWN_PREFIX.length))
      : this.#tables.receipts.parked(name);
    let waiting = parked.filter(
      (receipt) =>
        isWanted(receipt) &&
        !hasBeenHeard(receipt) &&
        (only === null ||
          (this.#isOfTime(receipt, only, isUnknown) && (isUnknown || isAboutPhone(receipt, only.recipient)))),
    );
    if (waiting.length === 0) return;
    const parts = this.#tables.parts.named(name);
    // Of so many all receipts are doubtful.
    if (parts.length > MAX_SAME_ID && !isUnknown) return;
    const keys = only === null ? new Set(parts.map(({ key }) => key)) : new Set([only.key]);
    let settled: MessageRow | null = null;
    /** Whether it has found its place. */
    const isPlaced = (receipt: ParkedReceipt): boolean => {
      const found = this.find(carrierId, withoutReservedId(receipt));
      const isFound = found !== null && typeof found === "object" && keys.has(found.part.key);
      const row = isFound ? this.#tables.messages.get(found.part.key) : undefined;
      if (isFound && row !== undefined && this.#isOfTime(receipt, row, isUnknown)) {
        this.#applyParked(receipt, found);
        if (receipt.outcome !== "held") settled = row;
        return true;
      }
      // The last word and what was said after it have both overtaken the answer.
      const isLater =
        settled !== null &&
        !isUnknown &&
        this.#isOfTime(receipt, settled, isUnknown) &&
        isAboutPhone(receipt, settled.recipient) &&
        this.#tables.parts.named(name).length === 0;
      if (!isLater) return false;
      this.recordLater(receipt, settled!.key);
      this.#tables.receipts.unpark(receipt);
      return true;
    };
    // What was doubtful may not be when another has settled its rival.
    for (let before = waiting.length + 1; waiting.length < before; ) {
      before = waiting.length;
      waiting = waiting.filter((receipt) => this.#comparisons.areSpent || !isPlaced(receipt));
    }
  }

  /** Records what was said after the last word beside its message, and knows it when it comes again. */
  recordLater(receipt: CarrierReceipt, messageKey: MessageKey): void {
    const { carrierId, carrierMessageId, outcome, errorId, atMs } = receipt;
    this.#tables.receipts.insertLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
    this.#repeats.note(carrierId, receipt, messageKey);
  }

  /** If its carrier calls all parts of the message the same, it is the receipt of as many as it has come for. */
  #applyParked(receipt: ParkedReceipt, found: FoundPart): void {
    const { carrierId, carrierMessageId, outcome, errorId, atMs, messageKey, times } = receipt;
    const { key } = found.part;
    const said = withoutReservedId(receipt);
    this.apply(carrierId, said, found);
    for (let left = found.isById && outcome !== "held" ? times - 1 : 0; left > 0; left--) {
      const next = this.#findById(found.name, said);
      if (typeof next !== "object" || next.part.key !== key) break;
      this.apply(carrierId, said, next);
    }
    // It was not the other message's after all.
    if (messageKey !== null)
      this.#tables.receipts.deleteLater({ messageKey, carrierId, carrierMessageId, outcome, errorId, atMs });
    this.#tables.receipts.unpark(receipt);
    if (isUnclear(receipt)) this.#tables.receipts.park({ ...receipt, messageKey: key });
  }
}
