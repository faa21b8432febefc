/** Where one message stands: as a search says it (commands/message-search.ts), and with what its steps and its carrier tell beyond its row. */
import type { CarrierFacts } from "../../carriers/facts.ts";
import { statusById } from "../../sms/statuses.ts";
import type { MessageLife } from "../../store/port/message-life.ts";
import { waitsForEnd } from "../../tracking/due.ts";
import { stepsOf } from "../../tracking/steps.ts";
import type { MessageAnswer } from "./message-schemas.ts";
import { stateOf, waitMoments } from "./messages.ts";
import { isoTime } from "./schemas.ts";

type Standing = Pick<MessageAnswer, "state" | "heldBy" | "isOverdue" | "carrierDownSince" | "isPhoneAway">;

export function standingOf(life: MessageLife, nowMs: number, carriers: readonly CarrierFacts[]): Standing {
  const { state, statusId, sentAtMs, dueAtMs, unknownCount, partsTaken } = life;
  const { stuckBeforeMs, overdueBeforeMs } = waitMoments(nowMs);
  const isScheduled = state === "scheduled";
  const isQueued = state === "queued";
  const isPutOff = isScheduled && statusById(statusId).name === "PENDING_ENROUTE";
  const isStuck = (isQueued || state === "submitted") && (sentAtMs ?? dueAtMs) < stuckBeforeMs;
  const isRetrying = isPutOff || ((isScheduled || isQueued) && (unknownCount > 0 || partsTaken !== null));
  const down = isQueued ? carriers.find(({ id, isUp }) => id === life.carrierId && !isUp) : undefined;
  return {
    state: stateOf(statusId, {
      isRetrying: isRetrying || (isQueued && !isStuck && wasNotTaken(life)),
      isStuck,
      isScheduled: isScheduled && !isPutOff,
      isSent: state === "submitted",
    }),
    heldBy: heldBy(life),
    isOverdue: isQueued && dueAtMs < overdueBeforeMs,
    carrierDownSince: down === undefined ? null : isoTime(down.sinceMs),
    isPhoneAway: state === "submitted" && wasHeld(life),
  };
}

/** The last that is known of its way to a carrier is that it was not taken. */
function wasNotTaken({ trace }: MessageLife): boolean {
  const last = trace.findLast(({ kind }) => kind === "again" || kind === "postponed" || kind === "rerouted");
  return last?.kind === "again";
}

function wasHeld(life: MessageLife): boolean {
  return stepsOf(life, "receipt").at(-1)?.detail.outcome === "held";
}

/** Why it does not go at once. */
function heldBy(life: MessageLife): MessageAnswer["heldBy"] {
  const { state, statusId, bulk, window, receivedAtMs, dueAtMs } = life;
  if (state !== "scheduled") return null;
  if (statusById(statusId).name === "PENDING_ENROUTE") return "carrier";
  if (bulk?.state === "paused") return "bulk";
  if (window === null) return "time";
  if (waitsForEnd(life)) return "missed window";
  return bulk !== null && bulk.sendAtMs === dueAtMs && dueAtMs > receivedAtMs ? "time" : "window";
}
