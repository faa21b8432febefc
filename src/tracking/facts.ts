/** All that is known of one message, as plain values with names: what `heliograph message show` prints and the operator's API answers with. */
import type { NodeCarrierState } from "../admin/carriers.ts";
import { kindOf } from "../catalogue/carrier-kinds.ts";
import type { TraceDetails } from "../events/trace.ts";
import { type AddressPolicy, urlRefusal } from "../http/guard.ts";
import { carriedOf } from "../message/fields.ts";
import { formatMicros } from "../money/amounts.ts";
import { shownUrl } from "../runtime/shown-url.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { expiry } from "../schedule/sending-time.ts";
import type { DeliveryWindow } from "../schedule/window.ts";
import { errorById, findError } from "../sms/errors.ts";
import { statusById } from "../sms/statuses.ts";
import type { MessageLife } from "../store/port/message-life.ts";
import type { LoggedMessage } from "../store/port/tracking.ts";
import { shownDueMs, waitsForEnd } from "./due.ts";
import { callerOf, type EventParts, type MessageEvent, messageEvents } from "./events.ts";
import { type TrackedReport, trackedReports } from "./reports.ts";
import { routeOf } from "./route.ts";
import { stepsOf } from "./steps.ts";

const MINUTE_MS = 60_000;

export interface FactParts extends EventParts {
  /** The same message as the logs have it. */
  readonly logged: LoggedMessage;
  /** Dead letters of its account from after it was sent. */
  readonly deadLetters: number;
  readonly callbacks: AddressPolicy;
  /** How the nodes that run stand with the carriers. */
  readonly carriers: readonly NodeCarrierState[];
  readonly nowMs: number;
}

export type TrackedMessage = ReturnType<typeof trackedMessage>;

export function trackedMessage(parts: FactParts) {
  const { life, logged, routes } = parts;
  const status = statusById(life.statusId);
  const reports = trackedReports(life);
  return {
    id: life.key,
    messageId: life.messageId,
    bulkId: life.bulkId,
    account: life.accountKey,
    from: life.from,
    to: life.to,
    text: life.text,
    encoding: life.encoding,
    parts: life.partCount,
    flash: life.flash,
    receivedAt: formatDateTime(life.receivedAtMs),
    dueAt: formatDateTime(shownDueMs(life)),
    sentAt: formatDateTime(logged.sentAtMs),
    takenAt: momentOf(life.sentAtMs),
    doneAt: momentOf(life.doneAtMs),
    expiresAt: formatDateTime(life.expiresAtMs),
    state: life.state,
    status: status.name,
    statusGroup: status.groupName,
    statusDescription: status.description,
    final: status.final,
    error: errorName(life.errorId),
    carrierStatus: carrierStatusOf(life),
    errorDescription: life.errorId === 0 ? null : (findError(life.errorId)?.description ?? null),
    // Nothing for what was given back.
    pricePerPart: formatMicros(logged.pricePerPartMicros),
    price: formatMicros(logged.pricePerPartMicros * BigInt(logged.smsCount)),
    charged: formatMicros(life.chargedMicros),
    currency: life.currency,
    mccMnc: life.mccMnc,
    ...carriedOf(logged),
    request: requestOf(parts),
    carrier: life.carrierId === null || life.carrierId === "" ? null : life.carrierId,
    carrierHosts: carrierHosts(parts),
    carrierIds: carrierIdsOf(life),
    partsWaiting: life.partsPending,
    unanswered: life.unknownCount,
    waitsFor: waitsFor(parts),
    route: routeOf(life, routes),
    notifyUrl: life.notifyUrl === null ? null : shownUrl(life.notifyUrl),
    notifyContentType: life.notifyUrl === null ? null : life.notifyContentType,
    toFetch: life.pull === 0,
    notCalled: notCalledOf(parts, reports),
    reports,
    nextTryAt: nextTryOf(life, reports),
    deadLetters: parts.deadLetters,
    laterReceipts: life.later.map(({ carrierId, carrierMessageId, outcome, errorId, atMs }) => ({
      receivedAt: formatDateTime(atMs),
      carrier: carrierId,
      carrierMessageId,
      outcome,
      error: errorName(errorId),
    })),
    links: life.links.map(({ firstClickAtMs, lastClickAtMs, ...link }) => ({
      ...link,
      firstClickAt: momentOf(firstClickAtMs),
      lastClickAt: momentOf(lastClickAtMs),
    })),
    conversion: conversionOf(life),
    events: messageEvents(parts).map(eventOf),
  };
}

function momentOf(atMs: number | null): string | null {
  return atMs === null ? null : formatDateTime(atMs);
}

function errorName(errorId: number): string | null {
  return errorId === 0 ? null : errorById(errorId).name;
}

/** What its request said, as far as it is stored, and by which door it came, where that was noted. */
function requestOf({ life, keyNames }: FactParts) {
  const request = stepsOf(life, "request")[0]?.detail ?? null;
  return {
    door: request === null || request.door === "" ? null : request.door,
    by: request === null ? null : callerOf(request, keyNames),
    messages: request?.messages ?? null,
    validityMinutes: life.validityMs >= expiry(0, null) ? null : Math.max(1, Math.round(life.validityMs / MINUTE_MS)),
    deliveryWindow: life.window === null ? null : windowWords(JSON.parse(life.window)),
    intermediateReport: life.intermediateReport,
    bulkState: life.bulk?.state ?? null,
  };
}

/** "MONDAY, TUESDAY 08:00–17:30 UTC" */
function windowWords({ days, hours }: DeliveryWindow): string {
  if (hours === null) return `${days.join(", ")} UTC`;
  const time = (minute: number): string =>
    `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  return `${days.join(", ")} ${time(hours.fromMinute)}–${time(hours.toMinute)} UTC`;
}

/** Where its carrier is connected to; none for one that is simulated, or is there no more. */
function carrierHosts({ life, routes }: FactParts): string[] {
  const profile = routes.carriers.find(({ id }) => id === life.carrierId);
  return profile === undefined ? [] : [...kindOf(profile).hosts(profile)];
}

/** What a carrier itself called it that it did not take the message, or a part of it, as far as that was noted. */
function carrierStatusOf({ trace }: MessageLife): string | null {
  const said = trace.flatMap(({ kind, detail }) => {
    if (kind !== "ended" && kind !== "submitted" && kind !== "again") return [];
    return (JSON.parse(detail) as TraceDetails["ended"]).status ?? [];
  });
  return said.at(-1) ?? null;
}

/** From the parts that still wait, and from what was noted of those that do not. */
function carrierIdsOf({ parts, trace, later }: MessageLife): { carrier: string; id: string }[] {
  const noted = trace.flatMap(({ kind, detail }) => {
    if (kind === "submitted") {
      const { carrier, ids } = JSON.parse(detail) as TraceDetails["submitted"];
      return ids.map((id) => ({ carrier, id }));
    }
    if (kind !== "receipt") return [];
    const { carrier, id } = JSON.parse(detail) as TraceDetails["receipt"];
    return [{ carrier, id }];
  });
  const others = [...parts, ...later].map(({ carrierId: carrier, carrierMessageId: id }) => ({ carrier, id }));
  const all = [...noted, ...others].filter(({ id }) => id !== "");
  return [...new Map(all.map((each) => [`${each.carrier} ${each.id}`, each])).values()];
}

/** Why nothing will be pushed to its URL, before that was tried: from then on the tries say it, by the settings of whoever tried. */
function notCalledOf({ life, callbacks }: FactParts, reports: readonly TrackedReport[]): string | null {
  const { notifyUrl, statusId } = life;
  // One that was taken at the first try has left no mark.
  const isTried = reports.length === 0 ? statusById(statusId).final : reports.some(({ tries }) => tries > 0);
  return notifyUrl === null || isTried ? null : urlRefusal(notifyUrl, callbacks);
}

/** When something is tried next: its report, or the message itself. */
function nextTryOf(life: MessageLife, reports: readonly TrackedReport[]): string | null {
  if (life.state === "scheduled") return waitsForEnd(life) ? null : formatDateTime(life.dueAtMs);
  return reports.find(({ nextTryAt }) => nextTryAt !== null)?.nextTryAt ?? null;
}

function conversionOf({ conversion }: MessageLife) {
  if (conversion === null) return null;
  const { name, processKey, endedAtMs } = conversion;
  return { name, processKey, endedAt: momentOf(endedAtMs) };
}

/** What was sent and answered stands with the reports. */
function eventOf({ atMs, what, detail, untilMs, isTrouble }: MessageEvent) {
  return { at: formatDateTime(atMs), what, detail, until: momentOf(untilMs), isTrouble };
}

/**
 * The carrier that it waits for because that is not there, since when and why; "not served" where no running service serves it. Null for a message
 * that waits for nothing, or for something else: its time, its turn, its receipt.
 */
function waitsFor({ life, carriers, nowMs }: FactParts) {
  const { state, dueAtMs, carrierId: carrier } = life;
  const mayGo = state === "queued" || (state === "scheduled" && dueAtMs <= nowMs);
  if (!mayGo || carrier === null || carrier === "") return null;
  const states = carriers.filter(({ carrierId }) => carrierId === carrier);
  if (states.some(({ state }) => state === "bound" || state === "ready")) return null;
  // With several nodes, the one that is nearest to having it.
  const [best] = states.toSorted((one, other) => rank(one) - rank(other));
  if (best === undefined) return { carrier, state: "not served" as const, since: null, reason: null, nextTryAt: null };
  const { sinceMs, reason, nextTryMs } = best;
  const nextTryAt = nextTryMs === null ? null : formatDateTime(nextTryMs);
  return { carrier, state: best.state, since: formatDateTime(sinceMs), reason, nextTryAt };
}

const ORDER: readonly NodeCarrierState["state"][] = ["throttled", "slow", "sick", "connecting", "waiting", "refused"];

function rank({ state }: NodeCarrierState): number {
  return ORDER.indexOf(state);
}
