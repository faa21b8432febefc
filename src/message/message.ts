/**
 * What a message is to us: the shapes that travel between intake, store, dispatch and reports. Plain data only, so that a batch of
 * them can cross from one thread to another.
 */
import type { DeliveryWindow } from "../schedule/window.ts";
import type { Body, OctetEncoding } from "../sms/body.ts";
import type { Carried, Used } from "./fields.ts";
import type { Device } from "./links.ts";
import type { Regional } from "./regional.ts";
import type { PushedForm, ReportForm } from "./report-form.ts";

/** An id of our own making: a 19-digit decimal string (runtime/ids.ts). The client may know the message by another name. */
export type MessageKey = string;

/** What one message object of a request says, shared by all its destinations. */
export interface Content extends Carried, Used {
  readonly from: string;
  /** As the phone will show it: transliterated already. Of a binary message, its hex. */
  readonly text: string;
  /** What people may read in place of the text, where that is a secret. */
  readonly shownText?: string | undefined;
  readonly encoding: Body["encoding"];
  readonly partCount: number;
  readonly notifyUrl: string | null;
  readonly reportForm: ReportForm;
  readonly intermediateReport: boolean;
  /** When the client wants it sent, or null for now. */
  readonly sendAtMs: number | null;
  /** When it may first be sent, or null for now. */
  readonly dueAtMs: number | null;
  readonly window: DeliveryWindow | null;
  readonly expiresAtMs: number;
  readonly regional: Regional | null;
  /** AsWritten as JSON, where the client asked for other letters; for the logs. */
  readonly written?: string | null;
}

/** What a client wrote that does not go out so. */
export interface AsWritten {
  /** Left out where it is what went. */
  readonly text?: string;
  readonly transliteration?: string;
  readonly language?: object;
}

/** A message on its way to a carrier, owned by this node. */
export interface QueuedMessage extends Used {
  readonly key: MessageKey;
  readonly accountId: number;
  readonly carrierId: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly encoding: Body["encoding"];
  readonly partCount: number;
  readonly intermediateReport: boolean;
  readonly window: DeliveryWindow | null;
  /** Since when it may go: how long it has waited counts from it. */
  readonly dueAtMs: number;
  readonly expiresAtMs: number;
  /** Until when it may be handed over without another slot, where its bulk has a speed limit (schedule/pace.ts). */
  readonly slotUntilMs: number | null;
  /** How often it was handed to a carrier without a known outcome. */
  readonly unknownCount: number;
  /** What its carrier has of it already; null unless it stopped in the middle. */
  readonly taken: PartsTaken | null;
  readonly regional: Regional | null;
  /** Of a long one: what its parts have in common (store/references.ts). Null of one that was accepted before references were recorded. */
  readonly reference: number | null;
}

/** The parts of a long message that a carrier has taken: the others go on where it stopped, with the same reference. */
export interface PartsTaken {
  readonly reference: number;
  /** What the parts looked like: only parts that look the same can go on with them. */
  readonly cut: string;
  /** The carrier's id of each part, null of those that it does not have. */
  readonly ids: readonly (string | null)[];
}

/** What a delivery report says of a message, before it is JSON or XML. */
export interface ReportFacts extends Carried {
  readonly bulkId: string | null;
  readonly messageId: string;
  readonly to: string;
  readonly from: string;
  readonly sentAtMs: number;
  readonly doneAtMs: number;
  readonly smsCount: number;
  readonly mccMnc: string | null;
  /** Millionths of the currency's unit, for one part. */
  readonly pricePerPartMicros: bigint;
  readonly currency: string;
  readonly statusId: number;
  readonly errorId: number;
}

/** What is told of a message that a phone sent, before it is JSON or XML. */
/** What it carries is the number's; the callbackData of one that is told to a subscription is that one's. */
export interface IncomingFacts extends Partial<Carried> {
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  /** The first word, in capitals, where it is a keyword of the number. */
  readonly keyword: string | null;
  readonly receivedAtMs: number;
  /** How many parts of it came. */
  readonly smsCount: number;
  /** The account's, in which what comes in costs nothing. */
  readonly currency: string;
  /** Of a message that is no text, which then has its hex for one. */
  readonly binary?: OctetEncoding;
}

/** That an account's balance has gone below the amount which its owner named. */
export interface AlertFacts {
  readonly accountKey: string;
  readonly balanceMicros: bigint;
  readonly belowMicros: bigint;
  readonly currency: string;
  readonly atMs: number;
}

/** That somebody opened a short link of a message. */
export interface ClickFacts extends Device, Pick<Carried, "callbackData" | "entityId" | "applicationId"> {
  readonly messageId: string;
  readonly bulkId: string;
  readonly to: string;
  /** Where the link leads. */
  readonly url: string;
  readonly atMs: number;
}

interface Batch {
  /** Also the webhook-id. */
  readonly id: string;
  readonly accountId: number;
  readonly url: string;
  readonly form: PushedForm;
  /** How often it was tried. */
  readonly attempts: number;
  /** An earlier process may have sent it, or it was a dead letter once: what its id stands for must not change any more. */
  readonly tried?: true;
}

type BatchOf<Kind extends string, Item> = Batch & { readonly kind: Kind; readonly items: readonly Item[] };

export type DeliveryBatch = BatchOf<"delivery", ReportFacts>;
export type IncomingBatch = BatchOf<"incoming", IncomingFacts>;
export type AlertBatch = BatchOf<"alert", AlertFacts>;
/** A click is told by itself: its request has one object and no list. */
export type ClickBatch = BatchOf<"click", ClickFacts>;

/** Reports for one URL, all of a kind, that go out in one request and stay together on every try. */
export type ReportBatch = DeliveryBatch | IncomingBatch | AlertBatch | ClickBatch;
/** An item of such a batch. */
export type ReportBatchItem = ReportBatch["items"][number];
