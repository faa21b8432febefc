/** What could not be recorded as it was said. */
import type { MessageKey } from "../../message/message.ts";

/** What waits for somebody to look at it: a receipt or a message from a phone that matched nothing, or what the store refused. */
export type AsideKind = "receipt" | "incoming" | "quarantine";

/** What becomes of a message that is held, when somebody has decided. */
export type HeldFate = "goes again" | "ends";

/** Something that could not be recorded as it was said, kept aside. */
export interface Quarantined {
  readonly id: number;
  readonly atMs: number;
  /** Which command refused it. */
  readonly command: string;
  /** What it is about: a message's key, or what else names it. */
  readonly subject: string;
  readonly reason: string;
  /** JSON, cut off at a bound; what was in the journal is whole. */
  readonly detail: string;
  /** The message whose outcome it is, if that is in doubt: it is handed over to nobody as long as this is kept. */
  readonly heldKey: MessageKey | null;
}

/** One that is to be kept. */
export type NewQuarantined = Omit<Quarantined, "id" | "heldKey"> & Partial<Pick<Quarantined, "heldKey">>;

export interface QuarantineCounts {
  readonly count: number;
  /** Those that were in the journal. */
  readonly promised: number;
  /** Those that hold a message. */
  readonly held: number;
}
