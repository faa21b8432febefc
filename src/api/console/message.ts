/** One message: all that is known of it, and its report once more. */
import type { CarrierFacts } from "../../carriers/facts.ts";
import { SUBJECT } from "../../events/trace.ts";
import { formatMicros } from "../../money/amounts.ts";
import { shownUrl } from "../../runtime/shown-url.ts";
import { Type } from "../../runtime/type.ts";
import { expiry } from "../../schedule/sending-time.ts";
import type { Account } from "../../store/port/accounts.ts";
import type { MessageLife } from "../../store/port/message-life.ts";
import { shownDueMs } from "../../tracking/due.ts";
import { messageEvents } from "../../tracking/events.ts";
import { type Step, stepsOf } from "../../tracking/steps.ts";
import { keyNamesOf } from "../../tracking/track.ts";
import { mayLookBeyond, seesAll } from "../beyond.ts";
import { ApiError, badField } from "../errors.ts";
import { type Api, accountOf, operation } from "../operation.ts";
import type { ApiParts } from "../parts.ts";
import { readText } from "../query.ts";
import { MessageAnswer, ReplayAnswer } from "./message-schemas.ts";
import { standingOf } from "./message-state.ts";
import { outcomeOf } from "./messages.ts";
import { isoTime, isoTimeOrNull } from "./schemas.ts";
import { TRACKING, VIEW_ROOT, type View } from "./view.ts";

const MAX_ID_LENGTH = 200;
const MINUTE_MS = 60_000;

export function messageViews(parts: ApiParts): View[] {
  return [
    {
      name: "message",
      summary: "Read all that is known of a message",
      ...TRACKING,
      query: Type.Object({ id: Type.String({ maxLength: MAX_ID_LENGTH }) }),
      answer: MessageAnswer,
      async read(caller, fields) {
        const life = await lifeOf(parts, caller, readText(fields, "id"));
        const [keyNames, carriers] = await Promise.all([keyNamesOf(parts.store, life), parts.health.carriers()]);
        return answerOf(parts, life, { keyNames, carriers });
      },
    },
  ];
}

export function messageOperations(api: Api, parts: ApiParts): void {
  const { store, clock } = parts;
  api.post(
    `${VIEW_ROOT}messages/:id/replay`,
    operation({
      ...TRACKING,
      id: "consoleReplayReport",
      summary: "Push the last report of a message once more",
      answer: ReplayAnswer,
    }),
    async (request) => {
      const { id } = request.params as { id: string };
      const life = await lifeOf(parts, accountOf(request), id);
      const { accountId, key, reports } = life;
      const reportIds = reports.map((report) => report.id);
      const outcome = await store.replayReport({ accountId, key, reportIds, nowMs: clock.now() });
      if (outcome === "on its way")
        throw new ApiError("conflict", "Its report is already on its way: wait for what becomes of it.");
      if (outcome === "nothing to replay") throw new ApiError("conflict", { description: whyNothing(life) });
      return { outcome };
    },
  );
}

function whyNothing({ notifyUrl, state }: MessageLife): string {
  if (notifyUrl === null) return "The message has no notifyUrl: its report is fetched, and not pushed.";
  return state === "done"
    ? "The message has no report."
    : "The message has no last report yet: it is still on its way.";
}

/** The message, if the caller may see it. For anybody else there is no such message. */
async function lifeOf({ store, settings }: ApiParts, caller: Account, id: string | null): Promise<MessageLife> {
  if (id === null) throw badField("id", "is missing");
  if (id.includes("\0") || id.length > MAX_ID_LENGTH) throw new ApiError("notFound");
  if (seesAll(caller)) return orNotFound(await store.messageLife({ accountId: null, messageId: id }));
  const own = await store.messageLife({ accountId: caller.id, messageId: id });
  const isReseller = caller.kind === "reseller" && mayLookBeyond(caller);
  if (own !== null || !isReseller || !settings.resellers.clientMessages) return orNotFound(own);
  const other = orNotFound(await store.messageLife({ accountId: null, messageId: id }));
  const isClient = (await store.account({ resellerId: caller.id, key: other.accountKey })) !== null;
  return orNotFound(isClient ? other : null);
}

function orNotFound(life: MessageLife | null): MessageLife {
  if (life === null) throw new ApiError("notFound", "There is no message with this id.");
  return life;
}

function answerOf(
  { settings, catalogue, clock }: ApiParts,
  life: MessageLife,
  { keyNames, carriers }: { keyNames: ReadonlyMap<string, string | null>; carriers: readonly CarrierFacts[] },
): MessageAnswer {
  const attempts = stepsOf(life, "attempt");
  const taken = attempts.findLast(({ detail: { reason } }) => reason === null);
  return {
    ...life,
    id: life.key,
    account: life.accountKey,
    ...standingOf(life, clock.now(), carriers),
    ...outcomeOf(life.statusId, life.errorId),
    parts: life.partCount,
    price: {
      perPart: formatMicros(life.pricePerPartMicros),
      charged: formatMicros(life.chargedMicros),
      currency: life.currency,
    },
    carrier: life.carrierId,
    receivedAt: isoTime(life.receivedAtMs),
    dueAt: isoTime(shownDueMs(life)),
    sentAt: isoTimeOrNull(life.sentAtMs),
    doneAt: isoTimeOrNull(life.doneAtMs),
    expiresAt: isoTime(life.expiresAtMs),
    receiptUntil: isoTime(life.expiresAtMs + settings.dispatch.receiptWaitMs),
    notifyUrl: life.notifyUrl === null ? null : shownUrl(life.notifyUrl),
    wished: {
      validityPeriod: life.validityMs >= expiry(0, null) ? null : Math.max(1, Math.round(life.validityMs / MINUTE_MS)),
      intermediateReport: life.intermediateReport,
      ...life.carried,
      window: life.window === null ? null : (JSON.parse(life.window) as MessageAnswer["wished"]["window"]),
    },
    toFetch: life.pull === 0,
    reports: life.reports.map((report) => ({
      id: report.id,
      url: shownUrl(report.batch.url),
      items: report.batch.items.length,
      attempts: report.attempts,
      nextTryAt: report.deadAtMs === null && report.attempts > 0 ? isoTime(report.dueAtMs) : null,
      isDead: report.deadAtMs !== null,
      reason: report.reason,
    })),
    reportTakenAt: taken === undefined ? null : isoTime(taken.atMs),
    reportTries: triesOf(life, attempts),
    links: life.links.map(({ firstClickAtMs, lastClickAtMs, ...link }) => ({
      ...link,
      firstClickAt: isoTimeOrNull(firstClickAtMs),
      lastClickAt: isoTimeOrNull(lastClickAtMs),
    })),
    conversion: conversionOf(life),
    events: messageEvents({ life, keyNames, routes: catalogue.current }).map(({ atMs, untilMs, ...event }) => ({
      at: isoTime(atMs),
      until: isoTimeOrNull(untilMs),
      ...event,
    })),
    timeline: settings.console.timeline,
  };
}

function conversionOf({ conversion }: MessageLife): MessageAnswer["conversion"] {
  if (conversion === null) return null;
  const { name, processKey, endedAtMs } = conversion;
  return { name, processKey, endedAt: isoTimeOrNull(endedAtMs) };
}

/** Not each of them was noted: the last one of a report says how many there were. */
function triesOf({ reports }: MessageLife, noted: readonly Step<"attempt">[]): number {
  const tries = new Map(reports.map(({ id, attempts }) => [SUBJECT.report(id), attempts]));
  for (const { subject, detail } of noted) tries.set(subject, Math.max(detail.try, tries.get(subject) ?? 0));
  return [...tries.values()].reduce((sum, count) => sum + count, 0);
}
