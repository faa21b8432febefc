/** The list of messages: searched, newest first, a bounded number of rows at a time, and how many of the newest went wrong. */
import { Type } from "../../runtime/type.ts";
import type { Settings } from "../../settings/settings.ts";
import { findError } from "../../sms/errors.ts";
import { statusById } from "../../sms/statuses.ts";
import type { Account } from "../../store/port/accounts.ts";
import { type FoundMessage, type MessageSearch, SEARCH_ROWS } from "../../store/port/message-search.ts";
import type { Store } from "../../store/port/store.ts";
import type { LogPosition } from "../../store/port/tracking.ts";
import { mayLookBeyond, notBeyond, seesAll } from "../beyond.ts";
import { ApiError, badField } from "../errors.ts";
import type { ApiParts } from "../parts.ts";
import { type Fields, readForm, readText, readWhole } from "../query.ts";
import { OptionalText, OptionalWhole } from "../shapes.ts";
import { MessageCounts, type MessageItem, MessageList, type StateWord } from "./message-schemas.ts";
import { MAX_SEARCH_LENGTH, type MessageTerms, readMessageSearch, SearchProblem } from "./message-search.ts";
import { isoTime, isoTimeOrNull } from "./schemas.ts";
import { TRACKING, type View } from "./view.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
/** What waits for so long without a word is stuck. */
const STUCK_MS = 10 * 60_000;
/** Nothing waits for so long while its carrier takes what it is given. */
const OVERDUE_MS = 5_000;
const FAR_MS = 8_640_000_000_000_000;
/** A moment, and a key up to what a signed number of 64 bits can hold. */
const PLACE = /^(\d{1,15})\.([0-9]{1,18}|[1-8][0-9]{18})$/;
const ZONE = /^-?\d{1,4}$/;

const MessagesQuery = Type.Object({
  q: Type.Optional(
    Type.String({ maxLength: MAX_SEARCH_LENGTH, description: "The search; docs/console.md has its words." }),
  ),
  account: OptionalText("For operators and resellers: whose messages. The same as account: in the search."),
  after: OptionalText("What the page before gave as next."),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })),
  zone: OptionalWhole("The reader's zone in minutes east of UTC: today and 14:00 are by it."),
});

export function messagesViews(parts: ApiParts): View[] {
  const { store, clock } = parts;
  return [
    {
      name: "messages",
      summary: "Search messages, newest first",
      ...TRACKING,
      query: MessagesQuery,
      answer: MessageList,
      async read(caller, fields) {
        const { terms, limit, after } = readQuery(fields, clock.now());
        const { accountKey, sinceMs, untilMs, ...filter } = terms;
        const named = readText(fields, "account");
        // Of two that are not the same there is no message.
        if (named !== null && accountKey !== null && named !== accountKey)
          throw badField("account", "is another one than in q: give one of them");
        const accountId = await accountOfSearch(parts, caller, named ?? accountKey);
        const { messages, next, examined } = await store.findMessages({
          ...filter,
          accountId,
          sinceMs: sinceMs ?? 0,
          untilMs: untilMs ?? FAR_MS,
          ...waitMoments(clock.now()),
          limit,
          after,
        });
        return {
          results: messages.map(itemOf),
          next: next === null ? null : `${next.atMs}.${next.key}`,
          lookedBackTo: next === null ? null : isoTime(next.atMs),
          examined,
        };
      },
    },
    {
      name: "message-counts",
      summary: "Count what waits, and what went wrong among the newest messages",
      ...TRACKING,
      query: Type.Object({ account: Type.Optional(Type.String()) }),
      answer: MessageCounts,
      async read(caller, fields) {
        const accountId = await accountOfSearch(parts, caller, readText(fields, "account"));
        const { examined, ...counts } = await store.countMessages({ accountId, ...waitMoments(clock.now()) });
        return { of: examined, isAll: examined < SEARCH_ROWS, ...counts };
      },
    },
  ];
}

function readQuery(fields: Fields, nowMs: number): { terms: MessageTerms; limit: number; after: LogPosition | null } {
  const { q = "" } = fields;
  if (typeof q !== "string") throw badField("q", "must be given once");
  const zone = readForm(fields, "zone", ZONE, "must be minutes east of UTC");
  const limit = readWhole(fields, "limit", MAX_LIMIT, DEFAULT_LIMIT);
  const place = readForm(fields, "after", PLACE, "must be what the page before gave as next");
  const [, atMs, key] = place === null ? [] : PLACE.exec(place)!;
  try {
    const terms = readMessageSearch(q, { nowMs, zoneMinutes: Math.max(-1_440, Math.min(1_440, Number(zone ?? 0))) });
    return { terms, limit, after: key === undefined ? null : { atMs: Number(atMs), key } };
  } catch (error) {
    if (error instanceof SearchProblem) throw badField("q", error.message);
    throw error;
  }
}

/** Whose messages are meant: the caller's own, those of an account that it may look into, or, for an operator, everybody's (null). */
export async function accountOfSearch(
  parts: { readonly store: Pick<Store, "account">; readonly settings: Settings },
  caller: Account,
  key: string | null,
): Promise<number | null> {
  if (key === null) return seesAll(caller) ? null : caller.id;
  if (key === caller.key) return caller.id;
  if (caller.kind === "client") throw badField("account", "is for operators and resellers");
  if (!mayLookBeyond(caller)) throw notBeyond();
  if (caller.kind === "reseller" && !parts.settings.resellers.clientMessages)
    throw new ApiError(
      "forbidden",
      "A reseller does not see its clients' messages here: the setting resellers.clientMessages lets it.",
    );
  const resellerId = caller.kind === "operator" ? null : caller.id;
  const account = await parts.store.account({ resellerId, key });
  if (account === null) throw new ApiError("accountNotFound");
  return account.id;
}

/** What waits since before these is stuck, or overdue. */
export const waitMoments = (nowMs: number): Pick<MessageSearch, "stuckBeforeMs" | "overdueBeforeMs"> => ({
  stuckBeforeMs: nowMs - STUCK_MS,
  overdueBeforeMs: nowMs - OVERDUE_MS,
});

export function stateOf(
  statusId: number,
  is: Pick<FoundMessage, "isRetrying" | "isStuck" | "isScheduled"> & { readonly isSent: boolean },
): StateWord {
  const { final, groupName } = statusById(statusId);
  if (groupName === "DELIVERED") return "delivered";
  if (final) return "failed";
  if (is.isRetrying) return "retrying";
  if (is.isStuck) return "stuck";
  if (is.isScheduled) return "scheduled";
  return is.isSent ? "sent" : "waiting";
}

/** What is told of a status and of an error. */
export function outcomeOf(statusId: number, errorId: number): Pick<MessageItem, "status" | "error"> {
  const error = errorId === 0 ? undefined : findError(errorId);
  return { status: statusById(statusId), error: error ?? null };
}

const WAITING_FOR_RECEIPT = "PENDING_WAITING_DELIVERY";

function itemOf(found: FoundMessage): MessageItem {
  const outcome = outcomeOf(found.statusId, found.errorId);
  return {
    ...found,
    id: found.key,
    account: found.accountKey,
    at: isoTime(found.atMs),
    receivedAt: isoTime(found.receivedAtMs),
    doneAt: isoTimeOrNull(found.doneAtMs),
    dueAt: isoTime(found.dueAtMs),
    state: stateOf(found.statusId, { ...found, isSent: outcome.status.name === WAITING_FOR_RECEIPT }),
    heldBy: found.isPaused ? "bulk" : null,
    ...outcome,
    parts: found.partCount,
    carrier: found.carrierId,
  };
}
