/**
 * A message's life as a list of what happened, in the order of time: from its row, its postings and its reports, and where they were noted from its
 * steps (events/trace.ts). What the row says is told in any case; a step tells the same with more detail, and then stands in its place.
 */
import { SUBJECT, type TraceDetails, type TraceKind } from "../events/trace.ts";
import { formatMicros } from "../money/amounts.ts";
import { bodyOf } from "../reports/rendering/report-body.ts";
import { shownUrl } from "../runtime/shown-url.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { findError } from "../sms/errors.ts";
import { statusById } from "../sms/statuses.ts";
import type { LivePosting, MessageLife, UntakenReport } from "../store/port/message-life.ts";
import { plannedMs, waitsForEnd } from "./due.ts";
import { type Routes, routeOf } from "./route.ts";
import { type Step, stepsOf } from "./steps.ts";
import { numberedTries } from "./tries.ts";

export interface EventParts {
  readonly life: MessageLife;
  /** The names of API keys by their ids. */
  readonly keyNames: ReadonlyMap<string, string | null>;
  readonly routes: Routes;
}

/** What was sent with a try to push a report, and what came back. */
export interface Exchange {
  readonly url: string;
  /** The beginning of what was sent. */
  readonly body: string | null;
  readonly status: number | null;
  /** The beginning of what was answered. */
  readonly answer: string | null;
}

export interface MessageEvent {
  readonly atMs: number;
  /** A word for the sign that it is drawn with. */
  readonly kind: string;
  readonly what: string;
  readonly detail: string;
  /** What comes of it is awaited until then. */
  readonly untilMs: number | null;
  readonly isTrouble: boolean;
  readonly exchange: Exchange | null;
}

interface Told {
  readonly atMs: number;
  readonly kind: string;
  readonly what: string;
  readonly detail?: readonly (string | null)[];
  readonly untilMs?: number | null;
  readonly isTrouble?: boolean;
  readonly exchange?: Exchange | null;
}

/** The first and the newest are told. */
const MAX_EVENTS = 200;
const MAX_BODY_LENGTH = 2_000;
/** An answer and what was made of it are noted one after the other. */
const SAME_STEP_MS = 50;

export function messageEvents(parts: EventParts): MessageEvent[] {
  const { life } = parts;
  const of = <Kind extends TraceKind>(kind: Kind) => stepsOf(life, kind);
  const told: Told[] = [
    accepted(parts, of("request")[0]),
    ...held(life),
    ...submitted(life, of("submitted"), of("answer")),
    ...of("again").map(again),
    ...of("postponed").map((step) => postponed(step, life)),
    ...of("rerouted").map(rerouted),
    ...receipts(life, of("receipt")),
    ...ended(life, of("ended")),
    ...refunds(life),
    ...reports(life, of("attempt")),
    ...later(life),
    ...clicked(life),
    ...converted(life),
  ];
  return inOrder(told)
    .filter((_, index) => index === 0 || index > told.length - MAX_EVENTS)
    .map(shown);
}

/** By time; the sort is stable, and the list is in the order of a life. A receipt may come before the answer to its submit is read: it stands behind it. */
function inOrder(told: readonly Told[]): Told[] {
  const byTime = told.toSorted((one, other) => one.atMs - other.atMs);
  const submit = byTime.findIndex(({ kind }) => kind === "submitted");
  const receipt = byTime.findIndex(({ what }) => what === "receipt");
  return submit > receipt && receipt >= 0 ? byTime.toSpliced(receipt, 0, ...byTime.splice(submit, 1)) : byTime;
}

function shown({ detail = [], ...told }: Told): MessageEvent {
  const words = detail.filter((each) => each !== null && each !== "").join(" · ");
  return { untilMs: null, isTrouble: false, exchange: null, ...told, detail: words };
}

/** By the request itself, before it was charged. A quick carrier may refuse within the same millisecond: the times alone do not tell it. */
function isRejectedAtOnce(life: MessageLife): boolean {
  const { sentAtMs, doneAtMs, receivedAtMs, statusId } = life;
  const isOfRequest = doneAtMs === receivedAtMs && statusById(statusId).groupName === "REJECTED";
  return sentAtMs === null && isOfRequest && chargeOf(life) === undefined;
}

function chargeOf({ postings }: MessageLife): LivePosting | undefined {
  return postings.find(({ kind }) => kind === "charge");
}

function accepted({ life, keyNames, routes }: EventParts, request: Step<"request"> | undefined): Told {
  const status = statusById(life.statusId);
  const isRejected = isRejectedAtOnce(life);
  const charge = chargeOf(life);
  const cost = life.pricePerPartMicros * BigInt(life.partCount);
  return {
    atMs: life.receivedAtMs,
    kind: isRejected ? "rejected" : "accepted",
    what: isRejected ? "rejected" : "accepted",
    isTrouble: isRejected,
    detail: [
      request === undefined ? null : doorOf(request.detail, keyNames),
      isRejected ? `${status.name}${errorWords(life.errorId)}` : null,
      charge === undefined
        ? null
        : `charged ${formatMicros(cost)} ${life.currency}, posting ${charge.id}${shareOf(charge.amountMicros, cost, life.currency)}`,
      isRejected ? null : (routeOf(life, routes)?.why ?? null),
    ],
  };
}

/** A posting pays for all messages of a request. */
function shareOf(amount: bigint, cost: bigint, currency: string): string {
  return amount === cost ? "" : ` (${formatMicros(amount)} ${currency} for the whole request)`;
}

/** "key “shop”", "user demo" */
export function callerOf(
  { apiKey, user }: Pick<TraceDetails["request"], "apiKey" | "user">,
  keyNames: EventParts["keyNames"],
): string | null {
  if (apiKey !== null) return `key "${keyNames.get(apiKey) ?? apiKey}"`;
  return user === null ? null : `user ${user}`;
}

function doorOf(request: TraceDetails["request"], keyNames: EventParts["keyNames"]): string {
  const { door, messages } = request;
  return [door, callerOf(request, keyNames), messages > 1 ? `with ${messages - 1} others` : null]
    .filter((words) => words !== null && words !== "")
    .join(", ");
}

/** As it was when it came. What its carrier or a window that it missed did to it since is a step of its own. */
function held(life: MessageLife): Told[] {
  const { receivedAtMs, dueAtMs, window, bulk, state } = life;
  const paused = bulk?.state === "paused" && state === "scheduled";
  const untilMs = paused ? dueAtMs : plannedMs(life);
  if (untilMs <= receivedAtMs) return [];
  const why = paused ? "its bulk is paused" : window !== null ? "by its time window" : "by its sendAt";
  return [{ atMs: receivedAtMs, kind: "held", what: "held", detail: [why], untilMs }];
}

function submitted(life: MessageLife, steps: readonly Step<"submitted">[], answers: readonly Step<"answer">[]): Told[] {
  if (steps.length === 0) {
    if (life.sentAtMs === null) return [];
    const detail = [`to carrier ${life.carrierId}`];
    return [{ atMs: life.sentAtMs, kind: "submitted", what: partsWords("submitted", life.partCount), detail }];
  }
  return steps.map(({ atMs, detail: { carrier, ids, refusedErrorId, status } }) => {
    const answer = answers.find(
      (each) => Math.abs(each.atMs - atMs) <= SAME_STEP_MS && each.detail.carrier === carrier,
    );
    return {
      atMs,
      kind: "submitted",
      what: partsWords("submitted", life.partCount, ids.length),
      isTrouble: refusedErrorId !== null,
      detail: [
        `to carrier ${carrier}`,
        ids.length === 1 ? `its id ${ids[0]}` : `its ids ${ids.join(", ")}`,
        answer === undefined ? null : `answered in ${answer.detail.tookMs} ms`,
        answer === undefined ? null : `window ${answer.detail.inFlight} of ${answer.detail.window}`,
        refusedErrorId === null ? null : `the other parts were refused${errorWords(refusedErrorId)}`,
        answeredWords(status),
      ],
    };
  });
}

function partsWords(what: string, parts: number, taken = parts): string {
  if (parts === 1) return what;
  return taken === parts ? `${what}, ${parts} parts` : `${what}, ${taken} of ${parts} parts`;
}

const CAUSES: Readonly<Record<string, string>> = {
  later: "the carrier is busy (throttled)",
  "not now": "the carrier cannot take this one now",
  unknown: "the link died before the answer",
};

/** The carrier's own word for it, by which its people can be asked. */
function answeredWords(status: string | undefined): string | null {
  return status === undefined ? null : `the carrier answered ${status}`;
}

function again({ atMs, detail: { carrier, cause, afterMs, isUnknown, tookMs, status } }: Step<"again">): Told {
  return {
    atMs,
    kind: "again",
    what: "not taken, goes again",
    isTrouble: true,
    untilMs: afterMs > 0 ? atMs + afterMs : null,
    detail: [
      `carrier ${carrier}`,
      CAUSES[cause] ?? cause,
      answeredWords(status),
      isUnknown && cause !== "unknown" ? "a part was not answered" : null,
      tookMs === null ? null : `after ${tookMs} ms`,
    ],
  };
}

const HELD: Readonly<Record<string, readonly [what: string, why: string]>> = {
  "window closed": ["held", "its time window closed before it could go"],
  "slot missed": ["held", "it could not go when its bulk's speed limit let it, and waits for its next turn"],
};

function postponed({ atMs, detail: { event, dueAtMs } }: Step<"postponed">, { expiresAtMs }: MessageLife): Told {
  const [what, why] = HELD[event] ?? ["put off", "its carrier put it off"];
  const isOver = event === "window closed" && waitsForEnd({ dueAtMs, expiresAtMs });
  return {
    atMs,
    kind: "held",
    what,
    isTrouble: what !== "held" || isOver,
    untilMs: dueAtMs,
    detail: [why, isOver ? "it does not open again before the message expires" : null],
  };
}

function rerouted({ atMs, detail: { carrier } }: Step<"rerouted">): Told {
  const detail = [`to carrier ${carrier}, because its own is down or gone`];
  return { atMs, kind: "rerouted", what: "rerouted", isTrouble: true, detail };
}

const OUTCOMES: Readonly<Record<string, string>> = {
  held: "the network holds it for the phone",
  delivered: "delivered to the handset",
  undeliverable: "cannot be delivered",
  rejected: "rejected by the network",
  expired: "the network gave up",
  lost: "the network does not know what became of it",
};

function receipts(life: MessageLife, steps: readonly Step<"receipt">[]): Told[] {
  const noted = steps.map(({ atMs, detail: { carrier, id, outcome, errorId, network, raw } }) => ({
    atMs,
    kind: outcome === "delivered" ? "delivered" : "receipt",
    what: "receipt",
    isTrouble: outcome !== "delivered" && outcome !== "held",
    detail: [
      `${OUTCOMES[outcome] ?? outcome}${errorWords(errorId)}`,
      `carrier ${carrier}, id ${id}`,
      network === null ? null : `network ${network}`,
      raw === null ? null : `“${raw.trim()}”`,
    ],
  }));
  const isLastWordNoted = steps.some(({ detail: { outcome } }) => outcome !== "held");
  if (isLastWordNoted || life.state !== "done" || life.sentAtMs === null) return noted;
  const status = statusById(life.statusId);
  const isDelivered = status.groupName === "DELIVERED";
  const what = status.name === "EXPIRED_DLR_UNKNOWN" ? "no receipt came" : "receipt";
  const detail = [`${status.name}${errorWords(life.errorId)}`];
  return [
    ...noted,
    { atMs: life.doneAtMs!, kind: isDelivered ? "delivered" : "receipt", what, isTrouble: !isDelivered, detail },
  ];
}

const ENDINGS: Readonly<Record<string, string>> = {
  refused: "the carrier refused it",
  "gave up": "given up: its carrier never answered",
  "no route": "no carrier serves it any more",
  "validity over": "its validity ended before a carrier took it",
};

/** The end of a message that no carrier took. */
function ended(life: MessageLife, [step]: readonly Step<"ended">[]): Told[] {
  if (life.state !== "done" || life.sentAtMs !== null || isRejectedAtOnce(life)) return [];
  const status = statusById(life.statusId);
  const why = step === undefined ? status.description : (ENDINGS[step.detail.event] ?? step.detail.event);
  return [
    {
      atMs: life.doneAtMs!,
      kind: "ended",
      what: "ended",
      isTrouble: true,
      detail: [
        step?.detail.carrier === undefined ? null : `carrier ${step.detail.carrier}`,
        why,
        answeredWords(step?.detail.status),
        `${status.name}${errorWords(life.errorId)}`,
      ],
    },
  ];
}

function refunds({ postings, currency }: MessageLife): Told[] {
  return postings
    .filter(({ kind }) => kind === "refund")
    .map(({ kind, atMs, id, amountMicros }) => {
      return { atMs, kind, what: "refunded", detail: [`${formatMicros(amountMicros)} ${currency}, posting ${id}`] };
    });
}

/** Tries as they were noted; of a report that still waits, for want of those, what is in its history. */
function reports(life: MessageLife, steps: readonly Step<"attempt">[]): Told[] {
  const noted = [...Map.groupBy(steps, ({ subject }) => subject)].flatMap(([subject, some]) => {
    const report = life.reports.find(({ id }) => SUBJECT.report(id) === subject);
    return triesOf(some, report === undefined ? null : bodyShown(report));
  });
  const isNoted = ({ id }: UntakenReport): boolean => steps.some(({ subject }) => subject === SUBJECT.report(id));
  return [
    ...noted,
    ...life.reports.flatMap((report) => (isNoted(report) ? [] : historyOf(report))),
    ...life.reports.filter(isReplayedUntried).map(({ dueAtMs }) => replayed(dueAtMs)),
  ];
}

/** A dead letter that somebody had sent again, and that has not been tried since. */
function isReplayedUntried({ attempts, history, deadAtMs }: UntakenReport): boolean {
  return deadAtMs === null && attempts === 0 && history.length > 0;
}

function replayed(atMs: number): Told {
  return { atMs, kind: "replayed", what: "report sent again", detail: ["somebody had the dead letter replayed"] };
}

/** Those of one report. What is sent is the same on every try, so it is shown with the first. */
function triesOf(steps: readonly Step<"attempt">[], body: string | null): Told[] {
  const numbers = numberedTries(steps);
  return steps.flatMap(({ atMs, detail }, index) => {
    const { number, isReplay } = numbers[index]!;
    const told = tried(atMs, number, { ...detail, body: detail.body ?? (index === 0 ? body : null) });
    return isReplay ? [replayed(atMs), told] : [told];
  });
}

function tried(atMs: number, number: number, detail: Omit<TraceDetails["attempt"], "try">): Told {
  const { status, reason, tookMs, items, isDead, retryAtMs, url, body, excerpt } = detail;
  return {
    atMs,
    kind: reason === null ? "reported" : "report failed",
    what: `report, try ${number}`,
    isTrouble: reason !== null,
    untilMs: retryAtMs,
    detail: [
      status === null ? reason : `answered ${status} in ${tookMs} ms`,
      items > 1 ? `with ${items - 1} others in one request` : null,
      isDead ? "this was the last try: it is a dead letter now" : null,
    ],
    exchange: { url: shownUrl(url), body, status, answer: excerpt === "" ? null : excerpt },
  };
}

function bodyShown({ batch }: UntakenReport): string {
  return bodyOf(batch).slice(0, MAX_BODY_LENGTH).toWellFormed();
}

/** How many reports went with it in one request its row does not say. */
function historyOf(report: UntakenReport): Told[] {
  const { batch, history, deadAtMs, dueAtMs } = report;
  return history.map(({ atMs, durationMs: tookMs, ...attempt }, index) => {
    const isLast = index === history.length - 1;
    return tried(atMs, index + 1, {
      ...attempt,
      tookMs,
      items: 1,
      url: batch.url,
      body: index === 0 ? bodyShown(report) : null,
      isDead: isLast && deadAtMs !== null,
      retryAtMs: isLast && deadAtMs === null ? dueAtMs : null,
    });
  });
}

function later({ later: receipts }: MessageLife): Told[] {
  return receipts.map(({ atMs, carrierId, carrierMessageId, outcome, errorId }) => ({
    atMs,
    kind: "receipt",
    what: "another receipt, after the last word",
    detail: [
      `${OUTCOMES[outcome] ?? outcome}${errorWords(errorId)}`,
      `carrier ${carrierId}, id ${carrierMessageId}`,
      "it changes nothing",
    ],
  }));
}

/** The first click on each of its links; how many there were since is told with it. */
function clicked({ links }: MessageLife): Told[] {
  return links.flatMap(({ target, clicks, firstClickAtMs, lastClickAtMs }) => {
    if (firstClickAtMs === null || lastClickAtMs === null) return [];
    const since = clicks === 1 ? null : `${clicks} clicks, the last at ${formatDateTime(lastClickAtMs)}`;
    return [{ atMs: firstClickAtMs, kind: "clicked", what: "link opened", detail: [`leads to ${target}`, since] }];
  });
}

function converted({ conversion }: MessageLife): Told[] {
  if (conversion === null || conversion.endedAtMs === null) return [];
  const { name, processKey, endedAtMs } = conversion;
  return [{ atMs: endedAtMs, kind: "converted", what: "conversion", detail: [name, `process key ${processKey}`] }];
}

function errorWords(errorId: number): string {
  const error = errorId === 0 ? undefined : findError(errorId);
  return error === undefined ? "" : `, ${error.name}: ${error.description}`;
}
