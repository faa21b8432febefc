/** Messages from phones. */
import type { IncomingFacts } from "../../message/message.ts";

export interface IncomingOutcome {
  /** Messages to a number that is nobody's. */
  readonly unmatched: number;
}

export interface UnmatchedIncoming extends Omit<IncomingFacts, "currency"> {
  readonly carrierId: string;
}

/** A message of an account, for whoever looks at them without taking them. */
export interface ListedIncoming extends Omit<IncomingFacts, "currency"> {
  /** It waits to be fetched, was fetched, or is pushed to `forwardUrl`. */
  readonly state: "waiting" | "fetched" | "forwarded";
  readonly forwardUrl: string | null;
  /** What its keyword asked for. */
  readonly wish: "stop" | "start" | null;
}
