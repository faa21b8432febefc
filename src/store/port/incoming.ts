/** Messages from phones. */
import type { IncomingFacts } from "../../message/message.ts";

export interface IncomingOutcome {
  /** Messages to a number that is nobody's. */
  readonly unmatched: number;
}

export interface UnmatchedIncoming extends Omit<IncomingFacts, "currency"> {
  readonly carrierId: string;
}
