/**
 * How long a connection that was lost waits between two rounds of its hosts. Pure.
 *
 *   lost ──ten minutes: at most two seconds──▶ then a tenth of the time since, up to the profile's bound
 *   refused ──▶ at least one second, two, four … up to the bound; wrong name or password: the bound
 *   bound and dropped at once, the third time in a row and more ──▶ the same: two seconds, four, eight …
 *
 * In the first ten minutes a carrier that could not be reached and comes back is bound within five seconds: a round of all its hosts takes two seconds at most
 * (`hostPatienceMs`), the wait behind it two more, and the last one is for the connection and the bind themselves. Chance takes up to half of each
 * wait off, so that a carrier is not met by all its customers at once.
 */
import { backoffMs } from "../../runtime/backoff.ts";
import type { Random } from "../../runtime/random.ts";

export interface Away {
  /** Since the connection was lost, or was first asked for. */
  readonly awayMs: number;
  /** The carrier said that name or password are wrong: asking again soon only locks the account. */
  readonly isWrongLogin: boolean;
  /** Binds that were answered with a refusal, in a row (bind-refusals.ts). */
  readonly refusals: number;
  /** Connections that were bound and did not last, in a row. */
  readonly drops: number;
  /** The longest wait, by the profile. */
  readonly maxMs: number;
}

/** For so long every wait is short. */
export const EARLY_MS = 600_000;
const FIRST_WAIT_MS = 1_000;
const EARLY_WAIT_MS = 2_000;
const ROUND_MS = 2_000;
/** Whoever has been away for an hour may be away for some minutes more. */
const SHARE_OF_TIME_AWAY = 0.1;
const JITTER = 0.5;

/** A connection that was bound for so long was a good one. */
export const LASTING_MS = 5_000;
/** Who is started anew may drop one or two. */
const EXCUSED_DROPS = 2;

export function retryWaitMs({ awayMs, isWrongLogin, refusals, drops, maxMs }: Away, random: Random): number {
  const grownMs =
    awayMs < EARLY_MS
      ? Math.min(Math.max(FIRST_WAIT_MS, awayMs * SHARE_OF_TIME_AWAY), EARLY_WAIT_MS)
      : EARLY_WAIT_MS + (awayMs - EARLY_MS) * SHARE_OF_TIME_AWAY;
  const refusedMs = refusals === 0 ? 0 : FIRST_WAIT_MS * 2 ** (refusals - 1);
  const droppedMs = FIRST_WAIT_MS * 2 ** Math.max(0, drops - EXCUSED_DROPS);
  const waitMs = isWrongLogin ? maxMs : Math.min(Math.max(grownMs, refusedMs, droppedMs), maxMs);
  return backoffMs({ firstMs: waitMs, maxMs: waitMs, jitter: JITTER }, 1, random);
}

/** How long one of so many hosts may leave a try without an answer before the next host is tried beside it. */
export function hostPatienceMs(hosts: number): number {
  return ROUND_MS / hosts;
}
