/** Messages as people look for them: which ones, and where in them. */
import type { MessageKey } from "../../message/message.ts";
import type { LogPosition } from "./tracking.ts";

/** Rows that one search looks at: after that it answers what it has found, and says how far back it looked. */
export const SEARCH_ROWS = 2_000;

/** A text as a whole, or the beginning of one. */
export interface TextMatch {
  readonly text: string;
  readonly isPrefix: boolean;
}

/** Where a message is in its life, beyond what its status says. */
export type LifeWord = "retrying" | "stuck" | "scheduled";

/** Null means: whatever it is. */
export interface MessageFilter {
  readonly to: TextMatch | null;
  readonly from: TextMatch | null;
  readonly statusIds: readonly number[] | null;
  readonly errorIds: readonly number[] | null;
  readonly carrierId: string | null;
  /** Somewhere in the text, in capitals or not. */
  readonly text: string | null;
  readonly bulkId: string | null;
  readonly messageId: string | null;
  readonly life: LifeWord | null;
  /** Both are included. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Every filter is open; of what time is for the asker to say. */
export const ANY_MESSAGE: Omit<MessageFilter, "sinceMs" | "untilMs"> = {
  to: null,
  from: null,
  statusIds: null,
  errorIds: null,
  carrierId: null,
  text: null,
  bulkId: null,
  messageId: null,
  life: null,
};

export interface MessageSearch extends MessageFilter {
  /** Null for all accounts. */
  readonly accountId: number | null;
  /** What waits since before this is stuck. */
  readonly stuckBeforeMs: number;
  /** What should have gone before this, and has not, is overdue: its carrier does not take it. */
  readonly overdueBeforeMs: number;
  readonly limit: number;
  /** Where the last page ended. */
  readonly after: LogPosition | null;
}

export interface FoundMessage {
  readonly key: MessageKey;
  readonly accountKey: string;
  /** Its place: by its time in the logs among those of an account, by its acceptance among those of all. */
  readonly atMs: number;
  readonly receivedAtMs: number;
  readonly doneAtMs: number | null;
  readonly dueAtMs: number;
  readonly from: string;
  readonly to: string;
  /** Its beginning. */
  readonly text: string;
  readonly statusId: number;
  readonly errorId: number;
  readonly partCount: number;
  readonly bulkId: string;
  readonly carrierId: string | null;
  readonly isRetrying: boolean;
  readonly isStuck: boolean;
  readonly isOverdue: boolean;
  readonly isScheduled: boolean;
  /** It is scheduled, and its bulk is paused. */
  readonly isPaused: boolean;
}

export interface MessagePage {
  readonly messages: FoundMessage[];
  /** Where to go on; null when there is nothing more. */
  readonly next: LogPosition | null;
  /** How many rows were looked at, whether they matched or not. */
  readonly examined: number;
}

/**
 * How many messages are in each state that somebody might want to know of. What failed, and what is stuck with a carrier, is counted among the newest;
 * what waits with us among all, as far as SEARCH_ROWS of each kind.
 */
export interface MessageCounts {
  /** How many of the newest were looked at. */
  readonly examined: number;
  readonly failed: number;
  readonly retrying: number;
  readonly stuck: number;
  readonly scheduled: number;
  /** Whether all that wait were looked at. */
  readonly isAllWaiting: boolean;
}
