/**
 * Receipts that matched no message, looked at anew with other spellings of their ids. A carrier whose `receiptIds` are set wrong has its receipts parked: the
 * same number is hexadecimal in the answer and decimal in the receipt, or the reverse. Once that is set right, those that came before are matched too. So a
 * carrier is looked at when its `receiptIds` change, and when the service starts. Only a part of the same phone that was submitted before the receipt came
 * can be meant, and only if it is one.
 */
import { otherSpellings } from "../carriers/smpp/message-id.ts";
import { isAboutPhone, type Receipt } from "../message/receipt.ts";
import type { Clock } from "../runtime/clock.ts";
import { append } from "../runtime/lazy.ts";
import type { Log } from "../runtime/log.ts";
import { MAX_PARTS as MAX_PARTS_OF_MESSAGE } from "../sms/prepared-text.ts";
import type { OutstandingRow, ParkedReceipt } from "../store/port/receipts.ts";
import type { Store } from "../store/port/store.ts";

export interface ParkedReceiptsParts {
  readonly store: Pick<Store, "parkedReceipts" | "outstanding" | "received" | "discard">;
  readonly clock: Clock;
  readonly log: Log;
}

/** A carrier, and how it spells its ids. */
export interface SpellingCarrier {
  readonly id: string;
  readonly receiptIds: string;
}

/** The newest of a carrier's parked receipts that are looked at. */
const MAX_PARKED = 2_000;
const PAGE = 1_000;
/** Parts that wait for a receipt are looked at up to this: a few seconds of the store's time, in steps of some milliseconds. */
const MAX_PARTS = 200_000;
/** A network's clock is none of ours, and neither time is its own: this is for two clocks of our nodes. */
const CLOCKS_APART_MS = 60_000;
const BY = { name: "service", address: null } as const;

export class ParkedReceipts {
  readonly #parts: ParkedReceiptsParts;
  readonly #known = new Map<string, string>();
  #running: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(parts: ParkedReceiptsParts) {
    this.#parts = parts;
  }

  /** The carriers as they are set now. Those whose ids are spelled in another way than before are looked at, one after the other. */
  set(carriers: readonly SpellingCarrier[]): void {
    for (const { id, receiptIds } of carriers) {
      if (this.#known.get(id) === receiptIds) continue;
      this.#known.set(id, receiptIds);
      this.#running = this.#running.then(() => this.#matchAnew(id));
    }
  }

  /** Nobody waits for what is under way: what is not matched by now is with the next start. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Never rejects. */
  async #matchAnew(carrierId: string): Promise<void> {
    const { log } = this.#parts;
    if (this.#isStopping) return;
    try {
      const matched = await this.#match(carrierId);
      if (matched > 0)
        log.info({ carrier: carrierId, receipts: matched }, "receipts that matched no message have found theirs");
    } catch (error) {
      if (this.#isStopping) return;
      // With the next change, or the next start, it is looked at again.
      this.#known.delete(carrierId);
      log.warn({ carrier: carrierId, err: error }, "receipts that match no message could not be looked at anew");
    }
  }

  async #match(carrierId: string): Promise<number> {
    const { store, clock } = this.#parts;
    const { receipts } = await store.parkedReceipts({ carrierId, limit: MAX_PARKED });
    const named = receipts.filter(({ why, to, carrierMessageId }) => {
      return why === "unmatched" && to !== null && carrierMessageId !== "";
    });
    const found = named.length === 0 ? [] : await this.#partsOf(carrierId, named);
    for (let first = 0; first < found.length; first += PAGE) {
      const some = found.slice(first, first + PAGE);
      await store.received({ carrierId, receipts: some.flatMap(({ receipt, id }) => saidAgain(receipt, id)) });
      const ids = some.map(({ receipt }) => String(receipt.id));
      await store.discard({ kind: "receipt", ids, by: BY, atMs: clock.now() });
    }
    return found.length;
  }

  /** Those of the receipts for which exactly one part waits, with the id under which it does. */
  async #partsOf(
    carrierId: string,
    receipts: readonly ParkedReceipt[],
  ): Promise<{ readonly receipt: ParkedReceipt; readonly id: string }[]> {
    const bySpelling = new Map<string, ParkedReceipt[]>();
    for (const receipt of receipts) {
      for (const id of otherSpellings(receipt.carrierMessageId)) append(bySpelling, id, receipt);
    }
    const found = new Map<ParkedReceipt, Set<string>>();
    let afterRow = 0;
    for (let looked = 0; looked < MAX_PARTS && !this.#isStopping; looked += PAGE) {
      const page = await this.#parts.store.outstanding({ carrierId, afterRow, limit: PAGE });
      for (const part of page)
        for (const receipt of bySpelling.get(part.carrierMessageId) ?? [])
          if (isMeant(receipt, part)) found.set(receipt, (found.get(receipt) ?? new Set()).add(part.carrierMessageId));
      if (page.length < PAGE) break;
      afterRow = page.at(-1)!.rowId;
    }
    return [...found].flatMap(([receipt, ids]) => (ids.size === 1 ? [{ receipt, id: [...ids][0]! }] : []));
  }
}

function isMeant(receipt: ParkedReceipt, { to, submittedAtMs }: OutstandingRow): boolean {
  return isAboutPhone(receipt, to) && receipt.atMs >= submittedAtMs - CLOCKS_APART_MS;
}

/** As often as it came, up to the parts of the longest message: a carrier may call all of them the same, and may repeat itself without end. */
function saidAgain(receipt: ParkedReceipt, carrierMessageId: string): Receipt[] {
  const { outcome, errorId, atMs, mccMnc, to, other = null, submittedAtMs = null, times } = receipt;
  const said = { carrierMessageId, outcome, errorId, atMs, mccMnc, to, other, submittedAtMs };
  return Array.from({ length: Math.min(Math.max(1, times), MAX_PARTS_OF_MESSAGE) }, () => said);
}
