/** Short links in the texts of messages, and who opened them. Plain data. */

/** A code is so many letters and digits: 65 bits, which nobody guesses. All codes are as long, so a text has as many parts whichever it holds. */
export const CODE_LENGTH = 11;

/** Of the clicks on one link so many are told to the client. All are counted. */
export const MAX_TOLD_CLICKS = 100;

/** A link in a text that several messages share: the code that stands there in place of each message's own, and where it leads. */
export interface LinkInText {
  readonly code: string;
  readonly target: string;
}

/** The links of a request. */
export interface NewLinks {
  /** By the number of the content whose text has them, in their order. */
  readonly contents: ReadonlyMap<number, readonly LinkInText[]>;
  /** Where clicks are told; null for nowhere. */
  readonly trackingUrl: string | null;
}

/** What opened a link, as far as it says so. */
export interface Device {
  readonly deviceType: string | null;
  readonly os: string | null;
  readonly deviceName: string | null;
}

export interface Click extends Device {
  readonly code: string;
  readonly atMs: number;
}

/** A link of a message, and how often it was opened. */
export interface LinkClicks {
  readonly code: string;
  readonly target: string;
  readonly clicks: number;
  readonly firstClickAtMs: number | null;
  readonly lastClickAtMs: number | null;
}
