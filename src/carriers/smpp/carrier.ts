/**
 * A carrier reached by SMPP: the policy above its connections. Which connection a part takes, how fast, what the answers mean, and
 * that a receipt is acknowledged only when it is safe. How one carrier differs from the next is in its profile. What that allows the
 * carrier's customer is for all nodes together: this one has some of the connections, and as large a share of the rate.
 */
import { type Receipt, unknownId } from "../../message/receipt.ts";
import type { Lease } from "../../node/lease.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type Log, LogLimiter } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import { errorByName } from "../../sms/errors.ts";
import type { ConnectionFacts } from "../facts.ts";
import { CarrierPace } from "../pace/carrier-pace.ts";
import { SentLog } from "../pace/sent-log.ts";
import {
  type Carrier,
  type CarrierListener,
  NOBODY,
  type OutgoingMessage,
  type PartToSubmit,
  type Submission,
} from "../port.ts";
import { isUsableId } from "../usable-id.ts";
import { BusyPhones } from "./busy-phones.ts";
import { CarrierLink, WINDOW } from "./carrier-link.ts";
import type { Pdu } from "./codec/pdu.ts";
import { statusName } from "./codec/statuses.ts";
import { readTlv } from "./codec/tlvs.ts";
import { meaningOf } from "./command-status.ts";
import { type Delivered, readDelivered } from "./incoming.ts";
import { idInAnswer } from "./message-id.ts";
import { partsOf, submitOf } from "./outgoing.ts";
import type { SmppCounts } from "./problems.ts";
import type { SmppProfile } from "./profile.ts";
import type { MessageRequestName, Reply, SessionAnswer, Unreadable } from "./session/contract.ts";

export interface SmppCarrierParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly lease: Lease;
  /** What is wrong with what carriers send, counted. */
  readonly counts?: SmppCounts;
  /** When parts went to each carrier, by its id. It outlives a carrier that is set up anew, which may not send a second's parts at once again. */
  readonly sentLogs?: Map<string, SentLog>;
}

const NO_CONNECTION_MS = 1_000;
/** Of a message that is put off for the first time; each further time it is twice as long. */
const PUT_OFF_MS = 1_000;
const INVALID_COMMAND = 0x03;
/** What is kept of a PDU that cannot be read: its header, its addresses and most of its text, if that is what it has. */
const MAX_UNREADABLE_OCTETS = 1_024;
const BAD_SENDER = errorByName("EC_INVALID_SOURCE_ADDRESS").id;
const UNENCODABLE = errorByName("EC_INVALID_PDU_FORMAT").id;

export class SmppCarrier implements Carrier {
  readonly id: string;
  readonly partRule;
  readonly unknownPolicy;
  readonly #profile: SmppProfile;
  readonly #parts: SmppCarrierParts;
  readonly #counts: SmppCounts;
  readonly #binds: number;
  /** Those of each slot that is ours. */
  readonly #bySlot = new Map<number, readonly CarrierLink[]>();
  #links: readonly CarrierLink[] = [];
  #started = false;
  readonly #pace: CarrierPace;
  readonly #busyPhones: BusyPhones;
  readonly #limiter: LogLimiter;
  /** Parts of messages that were begun, and wait for the pace: of one long message at most, for while there are any there is no room for others. */
  readonly #queue: { readonly part: PartToSubmit; readonly resolve: (submission: Submission) => void }[] = [];
  #isStopped = false;
  /** The last part that was a whole message: many of a request's messages have the same text, and need not be encoded again. */
  #lastAlone: PartToSubmit | null = null;
  #listener = NOBODY;

  constructor(profile: SmppProfile, parts: SmppCarrierParts) {
    this.id = profile.id;
    this.partRule = profile.partRule ?? "every";
    this.unknownPolicy = profile.unknownOutcome ?? "resend";
    this.#profile = profile;
    this.#parts = parts;
    this.#counts = parts.counts ?? { unusableIds: 0, problems: 0, mended: 0 };
    const sentLog = parts.sentLogs?.get(profile.id) ?? new SentLog();
    parts.sentLogs?.set(profile.id, sentLog);
    const limit = profile.partsPerSecond ?? Number.POSITIVE_INFINITY;
    this.#pace = new CarrierPace(limit, parts.clock, sentLog, () => this.#changed());
    this.#busyPhones = new BusyPhones(parts.clock);
    this.#limiter = new LogLimiter(parts.clock);
    this.#binds = profile.binds ?? 1;
    this.#open([...Array(this.#binds).keys()]);
  }

  async setSlots(slots: readonly number[]): Promise<void> {
    const leaving = [...this.#bySlot].filter(([slot]) => !slots.includes(slot));
    for (const [slot] of leaving) this.#bySlot.delete(slot);
    this.#open(slots.filter((slot) => !this.#bySlot.has(slot)));
    await Promise.all(leaving.flatMap(([, links]) => links.map((link) => link.stop())));
  }

  #open(slots: readonly number[]): void {
    const { bind, partsPerSecond = Number.POSITIVE_INFINITY } = this.#profile;
    const kinds =
      bind === "transmitter and receiver" ? (["transmitter", "receiver"] as const) : (["transceiver"] as const);
    for (const slot of slots) {
      const links = kinds.map(
        (kind) =>
          new CarrierLink({
            profile: this.#profile,
            kind,
            ...this.#parts,
            counts: this.#counts,
            limiter: this.#limiter,
            onRequest: (pdu, mayWait) => this.#answer(pdu, mayWait),
            onChange: () => this.#changed(),
            handlers: {
              onUnreadable: (request) => this.#keepUnreadable(request),
              onSubmit: () => this.#pace.gathered(),
              onWritten: (submits) => this.#pace.written(submits),
            },
          }),
      );
      this.#bySlot.set(slot, links);
      if (this.#started) for (const link of links) link.start();
    }
    this.#links = [...this.#bySlot.values()].flat();
    if (this.#bySlot.size === 0) return;
    this.#pace.limit = (partsPerSecond * this.#bySlot.size) / this.#binds;
    // Whoever waits for the pace waits for another one now.
    this.#pace.rest();
    this.#changed();
  }

  isUp(): boolean {
    return this.#links.some((link) => link.canSubmit);
  }

  get window(): number {
    return this.#bySlot.size * (this.#profile.window ?? WINDOW);
  }

  room(): number {
    if (this.#queue.length > 0) return 0;
    let onLinks = 0;
    for (const link of this.#links) onLinks += link.room;
    if (onLinks === 0) return 0;
    const byPace = this.#pace.room();
    if (byPace === 0) this.#pace.wake();
    return Math.min(onLinks, byPace);
  }

  partsOf(message: OutgoingMessage): PartToSubmit[] {
    const last = this.#lastAlone;
    if (last !== null && sameBody(last.message, message)) return [{ ...last, message }];
    const parts = partsOf(message, this.#profile);
    // The parts of a long message hold its reference, which is its own.
    if (parts.length === 1) this.#lastAlone = parts[0]!;
    return parts;
  }

  submit(part: PartToSubmit): Promise<Submission> {
    if (!this.isUp()) return later(NO_CONNECTION_MS);
    if (this.#queue.length === 0 && this.#pace.room() > 0) return this.#send(part);
    // The last parts of a long message, whose first have used up the pace: they follow as it allows, and need not wait for an answer.
    return new Promise((resolve) => {
      this.#queue.push({ part, resolve });
      this.#pace.wake();
    });
  }

  #send(part: PartToSubmit): Promise<Submission> {
    const link = this.#roomiest();
    // A window that is full for the moment says so itself when it has room again; nobody need wait for a time.
    if (link === undefined || link.room === 0) return later(this.isUp() ? 0 : NO_CONNECTION_MS);
    const draft = submitOf(part, this.#profile, this.#parts.clock.now());
    if (draft === null) return Promise.resolve({ kind: "refused", errorId: BAD_SENDER });
    const { stamp } = this.#pace;
    return new Promise((resolve) => link.submit(draft, (answer) => resolve(this.#submissionOf(answer, part, stamp))));
  }

  /** Sends those of the parts that wait for the pace which it allows by now. Without a connection, or at the end, they were never sent. */
  #sendQueued(): void {
    const canSend = this.isUp() && !this.#isStopped;
    while (this.#queue.length > 0 && (!canSend || (this.#hasRoom && this.#pace.room() > 0))) {
      const { part, resolve } = this.#queue.shift()!;
      void (canSend ? this.#send(part) : later(NO_CONNECTION_MS)).then(resolve);
    }
    // In a window that is full the next answer makes room.
    if (this.#queue.length > 0 && this.#hasRoom) this.#pace.wake();
  }

  get #hasRoom(): boolean {
    return this.#links.some((link) => link.room > 0);
  }

  #submissionOf(answer: SessionAnswer<"submit_sm">, part: PartToSubmit, stamp: number): Submission {
    // The connection is in the middle of something.
    if (this.#queue.length > 0) queueMicrotask(() => this.#sendQueued());
    if (answer.kind === "unknown") return { kind: "unknown" };
    if (answer.kind === "unsent") {
      if (answer.why === "unencodable") return { kind: "refused", errorId: UNENCODABLE };
      return { kind: "later", retryAfterMs: answer.why === "full" ? 0 : NO_CONNECTION_MS };
    }
    return this.#answered(answer.pdu, part, stamp);
  }

  #roomiest(): CarrierLink | undefined {
    let best = this.#links[0];
    for (const link of this.#links) if (link.room > best!.room) best = link;
    return best;
  }

  #answered(pdu: Pdu<"submit_sm_resp"> | Pdu<"generic_nack">, { message }: PartToSubmit, stamp: number): Submission {
    const meaning = meaningOf(pdu.status);
    this.#pace.congested(readTlv(pdu.tlvs, "congestion_state") ?? 0);
    const isBusy = meaning.kind === "later" && this.#busyPhones.isCarriers(message.to);
    this.#pace.answered(stamp, meaning.kind === "throttled" || isBusy);
    if (pdu.status === 0 && pdu.command === "submit_sm_resp") {
      this.#busyPhones.taken();
      const id = idInAnswer(pdu.messageId, this.#profile.receiptIds ?? "same");
      if (isUsableId(id)) return { kind: "accepted", carrierMessageId: id };
      // Taken without an id that can be kept: only its phone can tell which receipt is its.
      if (pdu.messageId !== "") this.#unusableId(pdu.messageId.length);
      return { kind: "accepted", carrierMessageId: unknownId(message.to) };
    }
    const status = statusName(pdu.status);
    if (meaning.kind === "refused") return { ...meaning, status };
    if (meaning.kind === "later") return { kind: "not now", retryAfterMs: PUT_OFF_MS, status };
    // It goes again in its turn, when the pace allows: others need not wait for it.
    return { kind: "later", retryAfterMs: 0, status };
  }

  #unusableId(length: number): void {
    this.#counts.unusableIds++;
    this.#limiter.write("unusable id", (more) =>
      this.#parts.log.warn(
        { carrier: this.id, length, ...more },
        "the carrier gave a message an id that cannot be used",
      ),
    );
  }

  listen(listener: Partial<CarrierListener>): void {
    this.#listener = { ...this.#listener, ...listener };
  }

  /** What the carrier sends is acknowledged when it is safe, and not before. */
  #answer(pdu: Pdu<MessageRequestName>, mayWait: boolean): Reply | Promise<Reply> {
    if (pdu.command !== "deliver_sm" && pdu.command !== "data_sm")
      return { command: "generic_nack", status: INVALID_COMMAND };
    const delivered = readDelivered(pdu as Delivered, this.#profile, this.#parts.clock.now());
    const safe =
      delivered.kind === "receipt"
        ? this.#listener.onReceipt(delivered.receipt, delivered.asMessage, delivered.raw, mayWait)
        : this.#listener.onIncoming(delivered.part);
    return safe.then(pdu.command === "deliver_sm" ? deliverTaken : dataTaken);
  }

  /**
   * What cannot be read is most likely a receipt. The carrier would drop one that is refused, so it is kept with its octets, among the receipts
   * that match no message, and acknowledged like any other. Of its fields nothing is believed: not even its addresses can be relied on.
   */
  #keepUnreadable({ command, octets }: Unreadable): Promise<Reply> {
    const receipt: Receipt = {
      carrierMessageId: "",
      outcome: "held",
      errorId: 0,
      atMs: this.#parts.clock.now(),
      mccMnc: null,
      to: null,
      octets: octets.toString("hex", 0, Math.min(octets.length, MAX_UNREADABLE_OCTETS)),
    };
    return this.#listener.onReceipt(receipt).then(command === "deliver_sm" ? deliverTaken : dataTaken);
  }

  #changed(): void {
    this.#sendQueued();
    this.#listener.onChange();
  }

  connections(): ConnectionFacts {
    return { links: this.#links.map((link) => link.facts), ...this.#pace.facts };
  }

  connectNow(): void {
    for (const link of this.#links) link.connectNow();
  }

  async start(): Promise<void> {
    this.#started = true;
    for (const link of this.#links) link.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sendQueued();
    await Promise.all(this.#links.map((link) => link.stop()));
    this.#pace.rest();
  }
}

/** One for all that a carrier sends. */
const DELIVER_TAKEN: Reply = Object.freeze({ command: "deliver_sm_resp", status: 0 });
const DATA_TAKEN: Reply = Object.freeze({ command: "data_sm_resp", status: 0 });
const deliverTaken = (): Reply => DELIVER_TAKEN;
const dataTaken = (): Reply => DATA_TAKEN;

function later(retryAfterMs: number): Promise<Submission> {
  return Promise.resolve({ kind: "later", retryAfterMs });
}

function sameBody(one: OutgoingMessage, other: OutgoingMessage): boolean {
  return one.text === other.text && one.encoding === other.encoding && one.flash === other.flash;
}
