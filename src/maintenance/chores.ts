/**
 * The chores of maintenance, as one table. Each of them is a command of the store that does a page of work and says whether there is more.
 * What a command deletes, and by which rule, is the store's own; how often it is called, and with which ages, stands here.
 */
import { MAX_SESSION_MS } from "../auth/sessions.ts";
import { PURGE_START, type PurgeCursor, SWEEP_START, type SweepCursor } from "../store/port/delivery.ts";
import type { Store } from "../store/port/store.ts";

export type MaintenanceStore = Pick<
  Store,
  | "cluster"
  | "sweep"
  | "sweepIncoming"
  | "dropUnmatched"
  | "quarantined"
  | "purgeMessages"
  | "purgeExpired"
  | "purgeListedBulks"
  | "fillIn"
  | "purgeLoginEvents"
  | "purgeTrace"
  | "purgeLinks"
  | "purgePins"
>;

export interface MaintenanceSettings {
  /** How often a round is made. */
  readonly everyMs: number;
  /** How long after a message's validity its receipt may still come. */
  readonly receiptWaitMs: number;
  /** How long receipts and messages from phones that match nothing are kept, and how many of each. */
  readonly unmatchedDays: number;
  readonly unmatchedRows: number;
  /** How long messages are kept; 0 for ever. */
  readonly retentionDays: number;
  /** How long the audit keeps logins. */
  readonly loginAuditDays: number;
  /** How long steps of messages are kept: no longer than the messages. */
  readonly timelineDays: number;
}

export interface MaintenanceCounts {
  /** Messages from phones, made whole here, to a number that is nobody's. */
  incomingUnmatched: number;
  unmatchedDropped: number;
  /** What the store has kept aside by now. */
  quarantined: number;
}

export interface Chore {
  readonly name: string;
  /** How long it is left alone after it was done; 0 means that it is done in every round. */
  readonly everyMs: number;
  /** Not in the first round, but so long after the start. */
  readonly waitsFirst?: true;
  /** Only where messages are not kept for ever. */
  readonly ofRetention?: true;
  /** How many pages one round does at most. The next round goes on where this one stopped. */
  readonly pages: number;
  /** Whether it found nothing at all, so that it need not be done again before something is written to the store. */
  readonly isOver?: () => boolean;
  /** Does one page, and says whether there is more. */
  readonly page: (nowMs: number) => Promise<boolean>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How long the missing parts of a message from a phone are waited for. */
const INCOMING_WAIT_MS = 10 * MINUTE_MS;
/** How long idempotency keys are kept. */
const REPLAY_MS = DAY_MS;
/** How long PINs are kept after their time is over, unless messages are kept for less. */
const PIN_DAYS = 30;
const PAGE_ROWS = 500;
/** Steps are small, and there may be several of each message. */
const TRACE_PAGE_ROWS = 2_000;

export function choresOf(
  store: MaintenanceStore,
  settings: MaintenanceSettings,
  counts: MaintenanceCounts,
): readonly Chore[] {
  const { receiptWaitMs, unmatchedDays, unmatchedRows, retentionDays, loginAuditDays, timelineDays } = settings;
  const limit = PAGE_ROWS;
  /** As many days, unless messages are kept for less. */
  const withMessages = (days: number): number => (retentionDays === 0 ? days : Math.min(days, retentionDays));
  let swept: SweepCursor = SWEEP_START;
  // Until a round has said otherwise, and after one that failed.
  let [messagesWait, setsWait] = [true, true];
  let purged: PurgeCursor = PURGE_START;
  let purgedLinks = PURGE_START.message;
  const chores: Chore[] = [
    {
      name: "overdue messages",
      everyMs: 0,
      pages: 20,
      isOver: () => !messagesWait,
      async page(nowMs) {
        // A pass over several pages has found something.
        const isBegun = swept.afterPart > 0;
        messagesWait = true;
        const { cursor, more, waits } = await store.sweep({ nowMs, receiptWaitMs, limit, cursor: swept });
        swept = cursor;
        messagesWait = waits || isBegun;
        return more;
      },
    },
    {
      name: "messages from phones that are not whole",
      everyMs: 0,
      pages: 20,
      isOver: () => !setsWait,
      async page(nowMs) {
        setsWait = true;
        const { unmatched, more, waits } = await store.sweepIncoming({ nowMs, waitMs: INCOMING_WAIT_MS, limit });
        setsWait = waits;
        counts.incomingUnmatched += unmatched;
        return more;
      },
    },
    {
      name: "what matched nothing",
      everyMs: MINUTE_MS,
      pages: 200,
      async page(nowMs) {
        const beforeMs = nowMs - unmatchedDays * DAY_MS;
        const { count, more } = await store.dropUnmatched({ beforeMs, keepRows: unmatchedRows, limit });
        counts.unmatchedDropped += count;
        return more;
      },
    },
    {
      name: "what is kept aside",
      everyMs: MINUTE_MS,
      pages: 1,
      async page() {
        counts.quarantined = (await store.quarantined({ limit: 0 })).count;
        return false;
      },
    },
    {
      name: "what an older version has left out",
      everyMs: 10 * MINUTE_MS,
      pages: 20,
      page: async () => (await store.fillIn({ limit })).more,
    },
    {
      name: "sessions and answers that nobody can use any more",
      everyMs: 10 * MINUTE_MS,
      waitsFirst: true,
      pages: 20,
      page: async (nowMs) =>
        (await store.purgeExpired({ nowMs, replayMs: REPLAY_MS, sessionMs: MAX_SESSION_MS, limit })).more,
    },
    {
      name: "old logins",
      everyMs: 10 * MINUTE_MS,
      waitsFirst: true,
      pages: 20,
      page: async (nowMs) => (await store.purgeLoginEvents({ beforeMs: nowMs - loginAuditDays * DAY_MS, limit })).more,
    },
    {
      name: "old PINs",
      everyMs: 10 * MINUTE_MS,
      waitsFirst: true,
      pages: 100,
      page: async (nowMs) =>
        (await store.purgePins({ beforeMs: nowMs - withMessages(PIN_DAYS) * DAY_MS, nowMs, limit })).more,
    },
    {
      name: "old bulks",
      ofRetention: true,
      everyMs: HOUR_MS,
      waitsFirst: true,
      pages: 20,
      page: async (nowMs) => (await store.purgeListedBulks({ beforeMs: nowMs - retentionDays * DAY_MS, limit })).more,
    },
    {
      name: "old steps of messages",
      everyMs: 10 * MINUTE_MS,
      waitsFirst: true,
      pages: 100,
      async page(nowMs) {
        const beforeMs = nowMs - withMessages(timelineDays) * DAY_MS;
        return (await store.purgeTrace({ beforeMs, limit: TRACE_PAGE_ROWS })).more;
      },
    },
    {
      name: "old messages",
      ofRetention: true,
      everyMs: HOUR_MS,
      pages: 100,
      async page(nowMs) {
        const beforeMs = nowMs - retentionDays * DAY_MS;
        const { cursor, more } = await store.purgeMessages({ beforeMs, nowMs, limit, cursor: purged });
        purged = cursor;
        return more;
      },
    },
    {
      name: "links of old messages",
      ofRetention: true,
      everyMs: HOUR_MS,
      pages: 100,
      async page(nowMs) {
        const beforeMs = nowMs - retentionDays * DAY_MS;
        const { next } = await store.purgeLinks({ beforeMs, after: purgedLinks, limit });
        purgedLinks = next ?? PURGE_START.message;
        return next !== null;
      },
    },
  ];
  return retentionDays === 0 ? chores.filter(({ ofRetention }) => ofRetention !== true) : chores;
}
