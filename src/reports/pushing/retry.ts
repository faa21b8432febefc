/** When a report that was not taken is tried again. */
import type { Random } from "../../runtime/random.ts";

const MINUTE_MS = 60_000;

export interface RetryRules {
  /** How often a report is tried again before it becomes a dead letter. */
  readonly retries: number;
  /** Up to this share of a wait is added by chance, so that what failed together does not come back together. */
  readonly jitter: number;
  /** No receiver can put us off for longer than this with a Retry-After. */
  readonly retryAfterLimitMs: number;
}

/** The n-th retry, from 0, waits 1 + n² minutes: 20 of them last 41.5 hours. */
function serviceMinutes(rules: RetryRules, retry: number): number | undefined {
  return retry < rules.retries ? 1 + retry * retry : undefined;
}

/**
 * How long to wait after the `attempts`-th try, or null when that was the last, by the account's own schedule if it has one. A
 * Retry-After can only lengthen the wait: a short one would use up the retries in no time.
 */
export function retryDelayMs(
  rules: RetryRules,
  random: Random,
  attempts: number,
  retryAfterMs: number | null,
  accountMinutes: readonly number[] | null = null,
): number | null {
  const retry = attempts - 1;
  const minutes = accountMinutes === null ? serviceMinutes(rules, retry) : accountMinutes[retry];
  if (minutes === undefined) return null;
  const scheduledMs = minutes * MINUTE_MS * (1 + rules.jitter * random.next());
  return Math.round(Math.max(scheduledMs, Math.min(retryAfterMs ?? 0, rules.retryAfterLimitMs)));
}

/** The longest date has 33 characters, the obsolete one with the whole name of a Wednesday. */
const MAX_DATE_LENGTH = 64;

/** RFC 9110 §10.2.3: a number of seconds or a date. Null when it is neither. */
export function readRetryAfterMs(value: string, nowMs: number): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const atMs = text.length > MAX_DATE_LENGTH ? Number.NaN : Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(atMs - nowMs, 0);
}
