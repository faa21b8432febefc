/**
 * Why an account's messages fail: how many of a time ended with which error, the most frequent first, and the latest of each. The messages are looked
 * at from the newest back, a page at a time and up to a bound; what was looked at is told with the figures.
 */
import { findError } from "../sms/errors.ts";
import { STATUS, statusById } from "../sms/statuses.ts";
import { ANY_MESSAGE, type FoundMessage, SEARCH_ROWS } from "../store/port/message-search.ts";
import type { Store } from "../store/port/store.ts";
import type { LogPosition } from "../store/port/tracking.ts";
import type { Period } from "./statements.ts";

/** Messages that are looked at for one answer. */
export const MAX_EXAMINED = 100_000;
/** Messages that are shown of each reason. */
const MAX_EXAMPLES = 5;

const FAILED_IDS = Object.values(STATUS)
  .filter(({ final, groupName }) => final && groupName !== "DELIVERED")
  .map(({ id }) => id);

export interface FailureReason {
  readonly statusId: number;
  /** 0 where there is none beside the status. */
  readonly errorId: number;
  readonly count: number;
  /** The newest, newest first. */
  readonly latest: readonly FoundMessage[];
}

export interface Failures {
  /** Messages of the time that were looked at, whatever became of them. */
  readonly examined: number;
  readonly failed: number;
  /** Whether those were all. */
  readonly isWhole: boolean;
  readonly reasons: readonly FailureReason[];
}

/** The end of the period is included here. */
export async function failuresOf(
  find: Store["findMessages"],
  { accountId, sinceMs, untilMs }: Period,
): Promise<Failures> {
  const reasons = new Map<string, { statusId: number; errorId: number; count: number; latest: FoundMessage[] }>();
  let examined = 0;
  let failed = 0;
  let after: LogPosition | null = null;
  do {
    const page: Awaited<ReturnType<Store["findMessages"]>> = await find({
      ...ANY,
      accountId,
      sinceMs,
      untilMs,
      statusIds: FAILED_IDS,
      limit: SEARCH_ROWS,
      after,
    });
    for (const message of page.messages) {
      const { statusId, errorId } = message;
      const name = `${statusId} ${errorId}`;
      const reason = reasons.get(name) ?? { statusId, errorId, count: 0, latest: [] };
      reason.count++;
      if (reason.latest.length < MAX_EXAMPLES) reason.latest.push(message);
      reasons.set(name, reason);
    }
    failed += page.messages.length;
    examined += page.examined;
    after = page.next;
  } while (after !== null && examined < MAX_EXAMINED);
  const sorted = [...reasons.values()].sort((one, other) => other.count - one.count);
  return { examined, failed, isWhole: after === null, reasons: sorted };
}

/** Every other filter is open, and nothing is asked about what waits. */
const ANY = { ...ANY_MESSAGE, stuckBeforeMs: 0, overdueBeforeMs: 0 };

/** In words: what the network or the service said of it. */
export function reasonWords({ statusId, errorId }: Pick<FailureReason, "statusId" | "errorId">): string {
  const { description } = statusById(statusId);
  const error = errorId === 0 ? undefined : findError(errorId);
  return error === undefined ? description : `${description}: ${error.description}`;
}
