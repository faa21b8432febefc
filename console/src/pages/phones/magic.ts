/** Numbers whose phones answer differently, by their ending: the table of docs/sandbox.md. */
export interface MagicNumber {
  readonly suffix: string;
  /** What the phone does. */
  readonly does: string;
  /** What comes of it. */
  readonly comes: string;
}

export const MAGIC_NUMBERS: readonly MagicNumber[] = [
  { suffix: "999001", does: "takes it late", comes: "delivered after 91 s" },
  { suffix: "999002", does: "is off, then on", comes: "held, then delivered after 11 s" },
  { suffix: "999003", does: "does not exist", comes: "undeliverable: unknown subscriber" },
  { suffix: "999004", does: "is full", comes: "undeliverable: memory exceeded" },
  { suffix: "999005", does: "its operator rejects it", comes: "rejected by the operator" },
  { suffix: "999006", does: "is blocked", comes: "refused at once, and not paid for" },
  { suffix: "999007", does: "cannot be reached", comes: "expired" },
  { suffix: "999008", does: "its network says nothing", comes: "no receipt ever" },
  { suffix: "999009", does: "has no room twice", comes: "delivered after 4 s" },
  { suffix: "999010", does: "its connection breaks once", comes: "sent again, then delivered" },
];

/** A whole number with this ending. */
export const magicNumber = (suffix: string): string => `41793${suffix}`;
