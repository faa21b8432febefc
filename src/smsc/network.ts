/**
 * The simulated network behind the SMPP connections: it takes parts, asks the handsets of the simulator what becomes of them, and
 * has their receipts delivered, spoilt as the faults want it.
 *
 *   submit ──taken──▶ in hand ──due──▶ receipt ──final──▶ done, remembered for query_sm
 *                        ▲                │
 *                        └──held──────────┘
 */
import { SentLog } from "../carriers/pace/sent-log.ts";
import type { Pdu, PduDraft } from "../carriers/smpp/codec/pdu.ts";
import { type CommandStatus, statusCode } from "../carriers/smpp/codec/statuses.ts";
import { formatAbsoluteTime } from "../carriers/smpp/codec/times.ts";
import { NO_TLVS } from "../carriers/smpp/codec/tlvs.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Random } from "../runtime/random.ts";
import { Answers } from "../simulator/answers.ts";
import { answerTime, type DueReceipt, dueReceipt, type HandsetAnswer, handsetOf } from "../simulator/handsets.ts";
import type { Timetable } from "../simulator/timetable.ts";
import type { Deliveries } from "./deliveries.ts";
import { type ActiveFaults, statusOf } from "./faults.ts";
import { endOf, startOf } from "./lifetime.ts";
import { type Address, octetsOf, placeOf, type SubmitPdu, type TakenPart, vendorTlvsOf } from "./part.ts";
import { Parts } from "./parts.ts";
import { ReceiptSender } from "./receipt-sender.ts";
import { STATES } from "./receipts.ts";

export type Taking =
  | { readonly kind: "taken"; readonly part: TakenPart }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "cut" }; // the handset is one at which the connection breaks

/** Who submits. */
export interface Submitter {
  readonly id: number;
  readonly systemId: string;
}

export interface NetworkOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly timetable: Timetable<() => void>;
  readonly deliveries: Deliveries;
  readonly answerAfterMs: number;
  readonly capacity: number;
  readonly record: number;
  readonly onPart: (part: TakenPart) => void;
}

/** For query_sm and cancel_sm, however short the record. */
const FEWEST_REMEMBERED = 10_000;
const DEFAULT_PARTS_PER_SECOND = 10;

/** What an address of submit_sm and deliver_sm holds; that of data_sm is longer, and no receipt could name it. */
const DESTINATION = /^\+?[0-9]{1,19}$/;
const MAX_SOURCE = 20;
/** A payload of as many parts as a message may have, some 3,800 octets; the record holds each part whole. */
const MAX_PART_OCTETS = 4_096;

/** What a handset that does not take a part is in SMPP's words. */
const STATUS_BY_ANSWER: Readonly<Record<Exclude<HandsetAnswer, "accept">["kind"], CommandStatus>> = {
  later: "ESME_RTHROTTLED",
  "not now": "ESME_RMSGQFUL",
  refused: "ESME_RSUBMITFAIL",
  unknown: "ESME_RSYSERR",
};

export class SmscNetwork {
  readonly #options: NetworkOptions;
  readonly #parts: Parts;
  readonly #answers: Answers;
  readonly #receiptSender: ReceiptSender;
  #faults!: ActiveFaults;
  /** When parts were taken, while there is a limit to that. */
  #takenLog = new SentLog();
  #inHand = 0;

  constructor(options: NetworkOptions, faults: ActiveFaults) {
    this.#options = options;
    this.#parts = new Parts(Math.max(options.record, FEWEST_REMEMBERED), options.clock.now());
    this.#answers = new Answers(options.clock);
    this.faults = faults;
    this.#receiptSender = new ReceiptSender({ ...options, faults: () => this.#faults });
  }

  /** Those that are on. */
  get faults(): ActiveFaults {
    return this.#faults;
  }

  set faults(faults: ActiveFaults) {
    this.#faults = faults;
    this.#takenLog = new SentLog();
  }

  /** Parts that the last word has not been spoken about. */
  get inHand(): number {
    return this.#inHand;
  }

  get taken(): number {
    return this.#parts.arrivals;
  }

  record(): TakenPart[] {
    return this.#parts.latest(this.#options.record);
  }

  /** Forgets what is in hand; its timetable is stopped by whoever owns it. */
  forget(): void {
    for (const part of this.#parts.all()) part.inHand = false;
    this.#inHand = 0;
  }

  /**
   * Takes a part, or says why not; its ids are its own unless given. For one that is taken, whoever asked says when it may be told
   * of: `expect` or `tellNow`.
   */
  submit(submitter: Submitter, pdu: SubmitPdu, destination: Address, ids?: TakenPart["ids"]): Taking {
    const { clock, random, record, answerAfterMs } = this.#options;
    const { alphabet, throttle } = this.#faults;
    const to = destination.address;
    if (pdu.sourceAddr.length > MAX_SOURCE) return refused("ESME_RINVSRCADR");
    const octets = octetsOf(pdu);
    if (octets.length > MAX_PART_OCTETS) return refused("ESME_RINVMSGLEN");
    const refusal = this.#refusalOf(to);
    if (refusal !== null) return refusal;
    const nowMs = clock.now();
    const submittedAtMs = startOf(pdu, nowMs);
    if (submittedAtMs === null) return refused("ESME_RINVSCHED");
    const expiresAtMs = endOf(pdu, nowMs);
    if (expiresAtMs === null) return refused("ESME_RINVEXPIRY");
    const handset = handsetOf(to);
    const monotonicMs = clock.monotonic();
    const answer = this.#answers.next(handset, to);
    if (answer !== "accept")
      return answer.kind === "unknown" ? { kind: "cut" } : refused(STATUS_BY_ANSWER[answer.kind]);

    const part: TakenPart = {
      ids: ids ?? this.#nextIds(to),
      arrival: this.#parts.nextArrival(),
      systemId: submitter.systemId,
      connection: submitter.id,
      source: { ton: pdu.sourceAddrTon, npi: pdu.sourceAddrNpi, address: pdu.sourceAddr },
      destination,
      esmClass: pdu.esmClass,
      dataCoding: pdu.dataCoding,
      alphabet: alphabet?.strikes(to) ? (alphabet.settings.as ?? "latin1") : "gsm",
      registeredDelivery: pdu.registeredDelivery,
      // A view into what was received must not be kept: it would keep all that came with it.
      octets: record === 0 ? null : Buffer.from(octets),
      tlvs: record === 0 ? NO_TLVS : vendorTlvsOf(pdu, MAX_PART_OCTETS),
      place: placeOf(pdu, octets),
      handset,
      takenAtMs: nowMs,
      submittedAtMs,
      expiresAtMs,
      answerAfterMs: answerTime(answerAfterMs, random),
      monotonicAheadMs: monotonicMs - nowMs,
      inHand: false,
      outcome: "held",
      errorId: 0,
      doneAtMs: null,
    };
    this.#parts.add(part);
    if (throttle !== null) this.#takenLog.written(1, monotonicMs);
    this.#options.onPart(part);
    return { kind: "taken", part };
  }

  #nextIds(to: string): TakenPart["ids"] {
    const { ids, sameIds } = this.#faults;
    const style = ids?.strikes(to) ? (ids.settings.as ?? "hex") : "decimal";
    const beginAnewAfter = sameIds?.strikes(to) ? (sameIds.settings.every ?? 10) : null;
    return this.#parts.nextIds(style, beginAnewAfter);
  }

  #refusalOf(to: string): Taking | null {
    const { throttle, queueFull, systemError, refuseSubmit } = this.#faults;
    if (!DESTINATION.test(to)) return refused("ESME_RINVDSTADR");
    if (throttle !== null && this.#isAbove(throttle.settings.perSecond) && throttle.strikes(to))
      return refused("ESME_RTHROTTLED");
    if (queueFull?.strikes(to)) return refused("ESME_RMSGQFUL");
    if (systemError?.strikes(to)) return refused("ESME_RSYSERR");
    if (refuseSubmit?.strikes(to)) return refused(refuseSubmit.settings.status ?? "ESME_RSUBMITFAIL");
    return this.#inHand >= this.#options.capacity ? refused("ESME_RMSGQFUL") : null;
  }

  /** Whether the last second has as many parts as that. */
  #isAbove(perSecond = DEFAULT_PARTS_PER_SECOND): boolean {
    return this.#takenLog.countAfter(this.#options.clock.monotonic() - 1_000) >= perSecond;
  }

  /** The part's receipts come in their time. */
  expect(part: TakenPart): void {
    if (part.handset.receipts.length === 0) return;
    part.inHand = true;
    this.#inHand++;
    this.#await(part, 0);
  }

  /** The part's last receipt comes at once; `then` when it is acknowledged or will not be. */
  tellNow(part: TakenPart, then: () => void): void {
    const { receipts } = part.handset;
    if (receipts.length === 0) {
      then();
      return;
    }
    const last = { ...dueReceipt(part, receipts.length - 1), atMs: this.#options.clock.now() };
    this.#happened(part, last);
    this.#receiptSender.tell({ part, ...last }, then);
  }

  #await(part: TakenPart, place: number): void {
    const due = dueReceipt(part, place);
    this.#options.timetable.note(due.atMs + part.monotonicAheadMs, () => {
      // It was cancelled meanwhile.
      if (part.doneAtMs !== null) return;
      this.#happened(part, due);
      if (due.following !== null) this.#await(part, due.following);
      this.#receiptSender.tell({ part, ...due });
    });
  }

  #happened(
    part: TakenPart,
    { outcome, errorId, atMs, following }: Omit<DueReceipt, "outcome"> & Pick<TakenPart, "outcome">,
  ): void {
    part.outcome = outcome;
    part.errorId = errorId;
    if (following !== null) return;
    part.doneAtMs = atMs;
    if (part.inHand) this.#inHand--;
    part.inHand = false;
  }

  query(submitter: Submitter, { messageId, sourceAddr }: Pdu<"query_sm">): PduDraft<"query_sm_resp"> {
    const part = this.#parts.find(messageId);
    if (part === null || !belongsTo(part, submitter, sourceAddr)) {
      return { command: "query_sm_resp", status: statusCode("ESME_RQUERYFAIL") };
    }
    return {
      command: "query_sm_resp",
      messageId,
      finalDate: part.doneAtMs === null ? "" : formatAbsoluteTime(part.doneAtMs),
      messageState: STATES[part.outcome].state,
      // One octet is all the room there is.
      errorCode: Math.min(part.errorId, 0xff),
    };
  }

  /** One message by its id; without one, all from that sender to that recipient. */
  cancel(submitter: Submitter, pdu: Pdu<"cancel_sm">): PduDraft<"cancel_sm_resp"> {
    const { messageId, sourceAddr, destinationAddr } = pdu;
    const named = messageId === "" ? null : this.#parts.find(messageId);
    const meant =
      messageId === ""
        ? this.#parts.all().filter((part) => part.destination.address === destinationAddr)
        : named === null
          ? []
          : [named];
    const undone = meant.filter((part) => part.doneAtMs === null && belongsTo(part, submitter, sourceAddr));
    if (undone.length === 0) return { command: "cancel_sm_resp", status: statusCode("ESME_RCANCELFAIL") };
    for (const part of undone) this.#cancel(part);
    return { command: "cancel_sm_resp" };
  }

  #cancel(part: TakenPart): void {
    const deleted = { outcome: "deleted", errorId: 0, atMs: this.#options.clock.now(), following: null } as const;
    this.#happened(part, deleted);
    this.#receiptSender.tell({ part, ...deleted });
  }
}

function refused(status: CommandStatus | number): Taking {
  return { kind: "refused", status: statusOf(status) };
}

/** 3.4 §4.8: whoever asks must name the message's sender as its submit did. */
function belongsTo(part: TakenPart, { systemId }: Submitter, sourceAddr: string): boolean {
  return part.systemId === systemId && part.source.address === sourceAddr;
}
