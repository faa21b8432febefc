/** What a client asks for, in one shape for all the sending operations, and what it is told. */
import type { GivenFields } from "../message/fields.ts";
import type { Regional } from "../message/regional.ts";
import type { NotifyContentType, ReportForm } from "../message/report-form.ts";
import type { SpeedLimit } from "../schedule/pace.ts";
import type { Day } from "../schedule/window.ts";
import type { LanguageChoice, Transliteration } from "../sms/text.ts";

export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

export interface BinaryFields {
  /** Digits, in which spaces may stand. */
  readonly hex: string;
  readonly dataCoding?: number;
  readonly esmClass?: number;
}

/** The fields of one message of a request, as the client wrote them. */
export type MessageFields = MessageOptions &
  (
    | { readonly text: string; readonly binary?: undefined }
    | { readonly binary: BinaryFields; readonly text?: undefined }
  );

interface MessageOptions extends GivenFields {
  readonly from?: string;
  readonly language?: {
    readonly languageCode?: LanguageChoice;
    readonly singleShift?: boolean;
    readonly lockingShift?: boolean;
  };
  readonly languageCode?: LanguageChoice;
  readonly transliteration?: Transliteration;
  readonly intermediateReport?: boolean;
  readonly notifyUrl?: string;
  readonly notifyContentType?: NotifyContentType;
  readonly validityPeriod?: number;
  readonly sendAt?: string;
  readonly regional?: Regional;
  readonly deliveryTimeWindow?: { readonly days: readonly Day[]; readonly from?: TimeOfDay; readonly to?: TimeOfDay };
}

export interface Destination {
  readonly to: string;
  readonly messageId?: string;
}

export interface RequestedMessage {
  /** Where it stands in the request, for error messages: "messages[0]", or nothing. */
  readonly path: string;
  readonly fields: MessageFields;
  readonly destinations: readonly Destination[];
  /** What is kept and shown in place of its text, which is a secret. */
  readonly shownText?: string;
  /** How it is reported; by its notifyContentType, in the form of the first two versions, unless given. */
  readonly reportForm?: ReportForm;
  /** In place of the fields' validityPeriod, which is in minutes. */
  readonly validityMs?: number | undefined;
}

/** What is to become of the links in the texts of a request. */
export interface LinkWish {
  readonly trackClicks: boolean;
  /** Where clicks are told. */
  readonly trackingUrl: string | null;
  /** Whether a short link is written without its scheme. */
  readonly removeProtocol: boolean;
  readonly customDomain: string | null;
  /** The field of the request that asks for it, for error messages; "urlOptions" unless given. */
  readonly field?: string;
}

/** The client will say which of its messages brought what they were sent for. */
export interface ConversionWish {
  readonly name: string | null;
  readonly processKey: string | null;
}

export interface SendRequest {
  readonly bulkId: string | null;
  readonly messages: readonly RequestedMessage[];
  readonly idempotencyKey: string | null;
  /** Worked out only when it is needed. */
  readonly bodyHash: () => string;
  readonly speedLimit: SpeedLimit | null;
  readonly links: LinkWish | null;
  readonly conversion: ConversionWish | null;
  /** How it came, in a word for people. */
  readonly door?: () => string;
}

/** A field and what is wrong with it: "messages[0].sendAt", "is not a date …". */
export interface Problem {
  readonly field: string;
  readonly says: string;
}

export interface MessageResult {
  readonly to: string;
  readonly statusId: number;
  readonly smsCount: number;
  readonly messageId: string;
  /** Whether the client chose it. */
  readonly isChosen: boolean;
  /** Null of one that was accepted before: prices may have changed since. */
  readonly pricePerPartMicros: bigint | null;
}

export type SendAnswer =
  | {
      kind: "accepted";
      bulkId: string;
      trackingProcessKey: string;
      results: MessageResult[];
      /** What looks odd about the request, a sentence each. */
      warnings?: readonly string[];
    }
  | { kind: "wrong"; problems: Problem[] }
  | { kind: "conflict" };
