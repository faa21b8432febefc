/** Receipts as they come: those that find their part are applied, and the others are parked until it comes, or somebody looks at them. */
import type { MessageKey } from "../../message/message.ts";
import type { Receipt } from "../../message/receipt.ts";
import { isAboutPhone } from "../../message/receipt.ts";
import { counting } from "../../store/by-name.ts";
import type { CommandParts } from "../../store/command-parts.ts";
import { nameKey } from "../../store/part-names.ts";
import type { LaterReceipt, ParkedReceipt, PartName, ReceivedReceipts, WhyParked } from "../../store/port/receipts.ts";
import { LATER, PARKED } from "../../store/schema/receipts.ts";
import type { Awaitable } from "../../store/sql.ts";
import { commands, grouped } from "../entry.ts";
import { isUnclear, type Matches } from "./matches.ts";
import { boundedReceipt, distinct, parkedName, saidBy, withoutReservedId } from "./names.ts";
import type { KnownReceipt, Repeats } from "./repeats.ts";

/** A receipt that is to be parked: no part was waiting for it, or one has heard it, and somebody has to look at it. */
interface Missed {
  readonly receipt: Receipt;
  readonly why: WhyParked;
  readonly heardBy: MessageKey | null;
}

type ParkedCounts = Omit<ReceivedReceipts, "strangers" | "early">;

const NONE_MISSED: ParkedCounts = { unmatched: 0, foreign: 0, doubtful: 0, repeated: 0, later: 0 };

/** Receipts that came together, and what has become of them so far. */
interface Batch {
  readonly carrierId: string;
  readonly receipts: readonly Receipt[];
  readonly matches: Matches;
  readonly missed: Missed[];
  /** Places of those that are none. */
  readonly strangers: number[];
  /** Places of those that are left alone, where that may be. */
  readonly early: number[] | null;
  /** Names under which parts of other messages still wait: a receipt that was doubtful may no longer be. */
  readonly contested: PartName[];
  look: "needed" | "done";
}

export function receiptCommands(
  { sql, tables, hasOthers }: CommandParts,
  repeats: Repeats,
  beginMatches: () => Matches,
) {
  const newestParked = sql.prepare<[string | null, number, number], ParkedReceipt>(
    `SELECT ${PARKED.list} FROM parked_receipt
     WHERE repeated = 0 AND ${sql.dialect.plain("carrier_id")} = coalesce(?, carrier_id) AND at_ms < ? ORDER BY id DESC LIMIT ?`,
  );
  const countParked = counting<[]>(sql, "parked_receipt WHERE repeated = 0");
  const laterOf = sql.prepare<[bigint], LaterReceipt & { id: number }>(
    `SELECT id, ${LATER.list} FROM later_receipt WHERE message_key = ?`,
  );

  /** The message that has had a receipt of this name. A name is only a hash, so carrier and phone are looked at. */
  function besideWhich(carrierId: string, receipt: Receipt, known: KnownReceipt | null): MessageKey | null {
    const key = known?.key ?? null;
    const row = key === null ? undefined : tables.messages.get(key);
    return row?.carrier_id === carrierId && isAboutPhone(receipt, row.recipient) ? key : null;
  }

  /**
   * Parks receipts that were not applied. Of one that is parked already the newer counts: it may be about a newer message. Those that came again, or
   * after the last word, wait a short while only; the second are recorded beside their message, and that is all that they do.
   */
  async function parkNew({ carrierId, missed, matches }: Batch): Promise<ParkedCounts> {
    const counts = { unmatched: 0, foreign: 0, doubtful: 0, repeated: 0, later: 0 };
    const names = missed.flatMap(({ receipt }) => parkedName(carrierId, receipt) ?? []);
    await tables.load({ parked: names });
    await repeats.look();
    // By what they say: a batch may have thousands of one id.
    const saidBefore = new Map<string, Map<string, ParkedReceipt>>();
    for (const name of distinct(names))
      saidBefore.set(nameKey(name), new Map(tables.receipts.parked(name).map((receipt) => [saidBy(receipt), receipt])));
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
      if (parked !== undefined) tables.receipts.unpark(parked);
      const isUnreadable = receipt.octets != null;
      const isHidden = !isUnreadable && (isRepeat || beside !== null);
      const again = tables.receipts.park({
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
        matches.recordLater({ ...receipt, carrierId }, beside);
        counts.later++;
      } else if (isRepeat || parked !== undefined) counts.repeated++;
      else if (heardBy === null) {
        counts.unmatched++;
        if (why === "foreign" || why === "doubtful") counts[why]++;
      }
    }
    return counts;
  }

  /** Applies receipts from this one on, and gathers what is to be done about the others. It waits only where it has to be known what came before. */
  function applyFrom(batch: Batch, from: number): Promise<void> | undefined {
    const { carrierId, receipts, matches, missed, strangers, early, contested } = batch;
    for (let index = from; index < receipts.length; index++) {
      const receipt = receipts[index]!;
      const found = matches.find(carrierId, receipt, batch.look);
      if (found === null) {
        batch.look = "done";
        return repeats.look().then(() => applyFrom(batch, index));
      }
      if (typeof found === "object") {
        matches.apply(carrierId, receipt, found);
        if (found.hasRivals && receipt.outcome !== "held") contested.push(found.name);
        if (isUnclear(receipt)) missed.push({ receipt, why: "unreadable", heardBy: found.part.key });
      }
      // Whatever a phone wrote: it is never parked, because it would come back as if the carrier had said it.
      else if (receipt.unmarked === true) strangers.push(index);
      else if (early !== null && found === "unmatched") early.push(index);
      else missed.push({ receipt, why: found, heardBy: null });
    }
  }

  /** Parks what was not applied, and looks again at what was doubtful until another receipt of its id was applied. */
  async function parkAndMatch(batch: Batch): Promise<ParkedCounts> {
    const { missed, contested, matches } = batch;
    const counts = missed.length === 0 ? NONE_MISSED : await parkNew(batch);
    const names = distinct(contested);
    if (names.length > 0) await tables.load({ parked: names });
    for (const name of names) matches.matchName(name);
    return counts;
  }

  return commands({
    received: grouped(
      ({ carrierId, receipts }) => ({ receipts: receipts.map((receipt) => ({ ...receipt, carrierId })) }),
      ({ carrierId, receipts, mayBeEarly = false }) => {
        const places = { strangers: [], ...(mayBeEarly && hasOthers() ? { early: [] } : {}) };
        const gathered = { missed: [], contested: [], matches: beginMatches() };
        const batch: Batch = { carrierId, receipts, ...gathered, early: null, ...places, look: "needed" };
        const finish = (): Awaitable<ReceivedReceipts> =>
          batch.missed.length + batch.contested.length === 0
            ? { ...NONE_MISSED, ...places }
            : parkAndMatch(batch).then((counts) => ({ ...counts, ...places }));
        const rest = applyFrom(batch, 0);
        return rest === undefined ? finish() : rest.then(finish);
      },
    ),

    matchParked: grouped(
      ({ names }) => ({ parts: names, parked: names }),
      ({ names }) => {
        const matches = beginMatches();
        for (const name of distinct(names)) matches.matchName(name);
      },
    ),

    parkedReceipts: async ({ carrierId = null, beforeMs = Number.MAX_SAFE_INTEGER, limit }) => ({
      count: await countParked(),
      receipts: (await newestParked.all(carrierId, beforeMs, limit)).map(withoutReservedId),
    }),

    async laterReceipts({ messageKey }) {
      const rows = await laterOf.all(BigInt(messageKey));
      return rows.sort((one, other) => one.id - other.id).map(({ id: _id, ...receipt }) => receipt);
    },
  });
}
