/** Tells customers what became of their parts, if they asked for it: once and in time, or as the faults want. */
import type { Clock } from "../runtime/clock.ts";
import type { Timetable } from "../simulator/timetable.ts";
import { errorByName } from "../sms/errors.ts";
import type { Deliveries } from "./deliveries.ts";
import type { ActiveFaults } from "./faults.ts";
import type { TakenPart } from "./part.ts";
import { isWanted, type Manner, PLAIN, type ReceiptToSend, receiptPdu } from "./receipts.ts";

export interface ReceiptSenderOptions {
  readonly clock: Clock;
  readonly timetable: Timetable<() => void>;
  readonly deliveries: Deliveries;
  readonly faults: () => ActiveFaults;
}

const DEFAULT_DELAY_MS = 5000;
/** What a contradiction says of a part that was delivered. */
const CONTRADICTION_ERROR_ID = errorByName("EC_ABSENT_SUBSCRIBER").id;

export class ReceiptSender {
  readonly #options: ReceiptSenderOptions;

  constructor(options: ReceiptSenderOptions) {
    this.#options = options;
  }

  /** `then` when the receipt is acknowledged, or will not be. */
  tell(fact: Omit<ReceiptToSend, "manner">, then?: () => void): void {
    const { part, outcome } = fact;
    const { dropReceipt, delayReceipt, doubleReceipt, contradictReceipt } = this.#options.faults();
    const to = part.destination.address;
    if (!isWanted(part.registeredDelivery, outcome) || this.#isOtherPart(part) || dropReceipt?.strikes(to)) {
      then?.();
      return;
    }
    const receipt = { ...fact, manner: this.#mannerFor(to) };
    const lateMs = delayReceipt?.strikes(to) ? (delayReceipt.settings.ms ?? DEFAULT_DELAY_MS) : 0;
    this.#sendAfter(lateMs, receipt, then);
    if (doubleReceipt?.strikes(to)) this.#sendAfter(lateMs, receipt);
    if (outcome !== "held" && contradictReceipt?.strikes(to)) {
      this.#sendAfter(lateMs + (contradictReceipt.settings.ms ?? 0), opposite(receipt));
    }
  }

  /** Only the first or the last part of a long message has a receipt, and it is not that one. */
  #isOtherPart({ place, destination }: TakenPart): boolean {
    const { receiptParts } = this.#options.faults();
    if (receiptParts === null || place === null || !receiptParts.strikes(destination.address)) return false;
    return place.sequence !== (receiptParts.settings.as === "first" ? 1 : place.total);
  }

  #mannerFor(to: string): Manner {
    const { receiptForm, unmarkedReceipt, impossibleDates, strangeState } = this.#options.faults();
    if (receiptForm === null && unmarkedReceipt === null && impossibleDates === null && strangeState === null) {
      return PLAIN;
    }
    const { word = "MYSTERY", state = 99 } = strangeState?.settings ?? {};
    return {
      form: receiptForm?.strikes(to) ? (receiptForm.settings.as ?? "text") : "both",
      marked: !unmarkedReceipt?.strikes(to),
      impossibleDates: impossibleDates?.strikes(to) ?? false,
      state: strangeState?.strikes(to) ? { word, state } : null,
    };
  }

  #sendAfter(ms: number, receipt: ReceiptToSend, then?: () => void): void {
    const { clock, timetable, deliveries } = this.#options;
    const delivery = { systemId: receipt.part.systemId, pdu: () => receiptPdu(receipt), onEnd: then };
    if (ms === 0) deliveries.add(delivery);
    else timetable.note(clock.monotonic() + ms, () => deliveries.add(delivery));
  }
}

function opposite(receipt: ReceiptToSend): ReceiptToSend {
  if (receipt.outcome !== "delivered") return { ...receipt, outcome: "delivered", errorId: 0 };
  return { ...receipt, outcome: "undeliverable", errorId: CONTRADICTION_ERROR_ID };
}
