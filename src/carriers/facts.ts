/** How it stands with a carrier on one node, as plain data: what delivery tells to whoever watches its carriers. */
import type { TimesSummary } from "../runtime/recent-times.ts";

/** One connection of a carrier, or the place of one that is not there just now. */
export interface LinkFacts {
  /** "transceiver", "transmitter" or "receiver". */
  readonly kind: string;
  readonly host: string;
  readonly isBound: boolean;
  /** It is not bound, and the last answer to a bind was a refusal. */
  readonly isRefused: boolean;
  /** Since when it is bound, or is not. */
  readonly sinceMs: number;
  /** What last went wrong with it, as a sentence, and when; null when nothing did since the start. */
  readonly problem: string | null;
  readonly problemMs: number | null;
  /** When it will be tried again; null while it is bound or being tried. */
  readonly nextTryMs: number | null;
  /** Requests without an answer. */
  readonly inFlight: number;
}

/** How it stands with a carrier's connections on this node. */
export interface ConnectionFacts {
  readonly links: readonly LinkFacts[];
  /** What the carrier says that people should know though it works, as a sentence. */
  readonly warning?: string;
  /** Parts a second: what the profile allows this node, and what the carrier was found to take; null where there is no such limit. */
  readonly paceLimit: number | null;
  readonly paceFound: number | null;
  /** Answers that it is sent too much, since the start. */
  readonly throttled: number;
  /** How long ago the last of them came; null when none did. */
  readonly throttledAgoMs: number | null;
}

/** How well a carrier is that can be reached, by what it answered in the last seconds. */
export interface HealthFacts {
  /** slow: it hardly takes anything just now, or comes back after it was sick. sick: messages take another carrier where there is one. */
  readonly state: "well" | "slow" | "sick";
  readonly sinceMs: number;
  /** A sentence; null while it is well. */
  readonly why: string | null;
  /** Of the new messages on its routes: 1 while it is not sick, and less while it is or comes back. */
  readonly share: number;
}

export interface CarrierFacts {
  readonly id: string;
  readonly isUp: boolean;
  /** When it last went up or down. */
  readonly sinceMs: number;
  readonly health: HealthFacts;
  /** Null for a carrier that has none. */
  readonly connections: ConnectionFacts | null;
  /** Parts that were handed over and are not recorded yet, of so many. */
  readonly windowUsed: number;
  readonly window: number;
  /** Messages in memory that wait for it, and that it put off by themselves. */
  readonly waiting: number;
  readonly putOff: number;
  readonly inFlight: number;
  readonly lanes: number;
  /** Lanes with more messages in the store than here. */
  readonly overflowedLanes: number;
  /** It said "later", and nothing goes to it for a moment. */
  readonly isPaused: boolean;
  /** Since it was started here. */
  readonly messages: number;
  readonly parts: number;
  readonly refused: number;
  readonly later: number;
  readonly unknown: number;
  readonly receipts: number;
  readonly delivered: number;
  readonly failed: number;
  /** By the id of the error, the most frequent first. */
  readonly reasons: readonly (readonly [errorId: number, count: number])[];
  readonly answerTimes: TimesSummary | null;
  readonly receiptTimes: TimesSummary | null;
  readonly lastReceiptMs: number | null;
}
