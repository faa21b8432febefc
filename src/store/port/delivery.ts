/** Delivering: what is told of messages on their way to a carrier, and what a commit has for delivery. */
import type { Event } from "../../message/life.ts";
import type { MessageKey, PartsTaken, QueuedMessage, ReportBatch } from "../../message/message.ts";
import type { PartName } from "./receipts.ts";

export interface SubmittedMessage {
  readonly key: MessageKey;
  readonly carrierId: string;
  /** The parts that the carrier took, in order; at least one. */
  readonly parts: readonly SubmittedPart[];
  /** Why it refused another part of the message, if it did: the message cannot arrive whole. */
  readonly refusedErrorId: number | null;
  readonly atMs: number;
}

export interface SubmittedPart {
  readonly carrierMessageId: string;
  /** Whether the message waits for this part's receipt. Some carriers send one for the first or the last part only. */
  readonly counts: boolean;
}

/** A message whose carrier did not take it whole. */
export interface HandedAgain {
  readonly key: MessageKey;
  /** The link died before an answer: counted. */
  readonly unknown: boolean;
  /** What the carrier has of it by now. */
  readonly taken: PartsTaken | null;
  /** The name under which a receipt that has come already proves that its carrier has it all; left out where none would. */
  readonly provenBy?: PartName | null;
}

export interface HandedAgainAnswer {
  /** The places of those that do not wait here any more: a receipt has proved that their carrier has them, or they have gone on before. */
  readonly gone: readonly number[];
}

/** A message that waits in the store until it is due, and why. */
export interface Postponed {
  readonly key: MessageKey;
  readonly dueAtMs: number;
  readonly event: "window closed" | "slot missed" | "put off";
}

/** The end of a message that no carrier took. */
export interface Ending {
  readonly key: MessageKey;
  readonly event: Extract<Event, "refused" | "gave up" | "no route" | "validity over">;
  readonly errorId: number;
  readonly atMs: number;
  /** As in HandedAgain: then it has not ended. */
  readonly provenBy?: PartName | null;
}

/** Where a round through the parts stands: behind which row, and up to which one, for others come while it is made. */
export interface SweepCursor {
  readonly afterPart: number;
  readonly upToPart: number;
}

export const SWEEP_START: SweepCursor = { afterPart: 0, upToPart: 0 };

export interface Swept {
  /** Where the next page begins. */
  readonly cursor: SweepCursor;
  readonly more: boolean;
  /**
   * Whether anything waits, on this page or in the backlog. If not, nothing will have waited too long before something is written. What came in the
   * last seconds may be missing; it counts as written when it is in its table.
   */
  readonly waits: boolean;
}

/** Where a pass over the old messages stands: behind which message, and behind which message from a phone. */
export interface PurgeCursor {
  readonly message: MessageKey;
  readonly incoming: MessageKey;
}

export const PURGE_START: PurgeCursor = { message: "0", incoming: "0" };

/** What a commit has for delivery on this node. It arrives in the order of the commits. */
export interface Feed {
  readonly messages: readonly QueuedMessage[];
  readonly reports: readonly ReportBatch[];
  /** Lanes of which some messages stayed in the store, to be claimed when there is room. */
  readonly overflowed: readonly LaneName[];
  /** The earliest time at which a message scheduled by this commit is due. */
  readonly earliestDueAtMs: number | null;
  /** Reports wait in the store that nobody has in memory. */
  readonly reportsWait?: boolean;
}

/** Of a commit that has nothing for it. */
export const NOTHING_FED: Feed = { messages: [], reports: [], overflowed: [], earliestDueAtMs: null };

export interface LaneName {
  readonly accountId: number;
  readonly carrierId: string;
}
