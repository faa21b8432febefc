/**
 * When a message may be deleted: when its end is so long ago as the operator says messages are kept, and its report does not wait to be fetched any
 * more. It counts from the end, for a message may have been accepted months before it was sent. Reports that are pushed have rows of their own.
 */
import { REPORT_FETCH_MS } from "./port/reports.ts";

/** In its whole life an account may spend more than 64 bits hold: at 2^62 one is carried. */
export const CARRIED = 2n ** 62n;

/** The end of a message is when we heard of it, by our own clock. What is not final has none. */
export function isOver(beforeMs: string, unfetchedBeforeMs: string): string {
  return `state = 4 AND coalesce(done_at_ms, received_at_ms) < ${beforeMs} AND (pull IS NULL OR pull_at_ms <= ${unfetchedBeforeMs})`;
}

/** Reports that have waited since before this are not handed out any more. */
export function unfetchedBefore(nowMs: number): number {
  return nowMs - REPORT_FETCH_MS;
}

/**
 * Adds to what the messages of an account have cost that have left the store: one row of `retired_charge` for each account. Both databases take the
 * statement, with their own marks for the values.
 */
export const keepCharge = (account: string, charged: string): string =>
  `INSERT INTO retired_charge (account_id, charged_micros) VALUES (${account}, ${charged})
   ON CONFLICT (account_id) DO UPDATE SET charged_micros = (retired_charge.charged_micros & ${CARRIED - 1n}) + excluded.charged_micros,
     carried = retired_charge.carried + (retired_charge.charged_micros >> 62)`;

/** An amount in as many pieces as can be added at once. */
export function* chargePieces(amountMicros: bigint): Generator<bigint> {
  let left = amountMicros;
  for (; left > CARRIED; left -= CARRIED) yield CARRIED;
  if (left > 0n) yield left;
}
