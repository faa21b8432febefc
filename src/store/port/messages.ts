/** Accepting: a request with its messages, and what is answered to it. */
import type { NewLinks } from "../../message/links.ts";
import type { Content, MessageKey } from "../../message/message.ts";

export interface NewMessage {
  /** Which of the acceptance's contents it carries. */
  readonly content: number;
  readonly to: string;
  readonly clientMessageId: string | null;
  readonly carrierId: string | null;
  readonly pricePerPartMicros: bigint;
  /** Set when it is already known that it cannot go: the status that says why. */
  readonly rejectedStatusId: number | null;
}

/** Lets a request that comes again be answered as the first time. */
export interface ReplayGuard {
  /** The Idempotency-Key header, if there is one. */
  readonly key: string | null;
  /** Whether the bulkId is the client's own, and so guards too. */
  readonly bulk: boolean;
  /** Tells the same request from another one under the same key. */
  readonly bodyHash: string;
}

export interface Acceptance {
  readonly accountId: number;
  readonly bulkId: string;
  readonly replay: ReplayGuard | null;
  readonly receivedAtMs: number;
  /** The messages' keys are this one and the ones that follow it (nthId), in order. */
  readonly firstKey: MessageKey;
  readonly contents: readonly Content[];
  readonly messages: readonly NewMessage[];
  readonly links: NewLinks | null;
  /** KeptConversion as JSON, for all that are not rejected. */
  readonly conversion: string | null;
  readonly speedLimit: { readonly amount: number; readonly unitMs: number } | null;
}

export type AcceptanceOutcome =
  /** One status id a message, in order. After a replay bulkId and firstKey are those of the first time. */
  | {
      kind: "accepted";
      bulkId: string;
      firstKey: MessageKey;
      statusIds: number[];
      replayed: boolean;
      /** Of a replay: the parts of each message, and the price of one, as they were charged, whatever its text would take today. */
      partCounts?: number[];
      pricesMicros?: bigint[];
    }
  /** The Idempotency-Key was used for another request. */
  | { kind: "conflict" };
