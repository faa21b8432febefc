/**
 * What can be wrong with the simulated network as a whole, by switch: it counts for all messages from then on. It is kept in memory: a new start has a
 * network without faults.
 */
import type { Submission } from "../carriers/port.ts";
import { errorByName } from "../sms/errors.ts";

export interface NetworkFaults {
  /** Every submit is answered with "too fast, later". */
  readonly throttling: boolean;
  /** Every submit is refused for good. */
  readonly refusing: boolean;
  /** There is no connection to it: messages wait. */
  readonly connectionLost: boolean;
  /** How long it takes to answer a submit. */
  readonly slowAnswersMs: number;
  /** Messages arrive, and nobody ever hears of it. */
  readonly noReceipts: boolean;
  /** Each receipt comes twice. */
  readonly duplicatedReceipts: boolean;
  /** Receipts come so much later. */
  readonly lateReceiptsMs: number;
}

export const NO_FAULTS: NetworkFaults = {
  throttling: false,
  refusing: false,
  connectionLost: false,
  slowAnswersMs: 0,
  noReceipts: false,
  duplicatedReceipts: false,
  lateReceiptsMs: 0,
};

const THROTTLED_MS = 1_000;
const REFUSED = errorByName("EC_SMS_REJECTED_BY_MOBILE_OPERATOR").id;

/** What every submit is answered with; null where the phone decides. */
export function answerOf({ throttling, refusing }: NetworkFaults): Submission | null {
  if (throttling) return { kind: "later", retryAfterMs: THROTTLED_MS };
  return refusing ? { kind: "refused", errorId: REFUSED } : null;
}
