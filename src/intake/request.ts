/** What a client asks for, in one shape for all the sending operations, and what it is told. */
import type { CarriedFields } from "../message/carried.ts";
import type { NotifyContentType } from "../message/message.ts";
import type { Day } from "../schedule/window.ts";
import type { LanguageCode, Transliteration } from "../sms/text.ts";

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

interface MessageOptions extends CarriedFields {
  readonly from?: string;
  readonly flash?: boolean;
  readonly language?: {
    readonly languageCode?: LanguageCode;
    readonly singleShift?: boolean;
    readonly lockingShift?: boolean;
  };
  readonly languageCode?: LanguageCode;
  readonly transliteration?: Transliteration;
  readonly intermediateReport?: boolean;
  readonly notifyUrl?: string;
  readonly notifyContentType?: NotifyContentType;
  readonly validityPeriod?: number;
  readonly sendAt?: string;
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
}

export interface SendRequest {
  readonly bulkId: string | null;
  readonly messages: readonly RequestedMessage[];
  readonly idempotencyKey: string | null;
  /** Worked out only when it is needed. */
  readonly bodyHash: () => string;
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
  /** Null where the client chose none and none was given. */
  readonly messageId: string | null;
}

export type SendAnswer =
  | { kind: "accepted"; bulkId: string; trackingProcessKey: string; results: MessageResult[] }
  | { kind: "wrong"; problems: Problem[] }
  | { kind: "conflict" };
