/** How each state of a message looks: its colour, and its words. */
import type { MessageItem, StateWord } from "../../../../src/api/console/message-schemas.ts";
import type { StateColour } from "../../parts/Status.tsx";

const COLOURS: Readonly<Record<StateWord, StateColour>> = {
  delivered: "done",
  failed: "failed",
  retrying: "retrying",
  stuck: "retrying",
  scheduled: "waiting",
  waiting: "waiting",
  sent: "moving",
};

const WORDS: Readonly<Record<StateWord, string>> = {
  delivered: "delivered",
  failed: "failed",
  retrying: "retrying",
  stuck: "stuck",
  scheduled: "scheduled",
  waiting: "waiting",
  sent: "with carrier",
};

export const colourOf = (state: StateWord): StateColour => COLOURS[state];

/** What the commonest errors mean, in fewer words than the standards have for them. */
const REASONS: Readonly<Record<string, string>> = {
  EC_UNKNOWN_SUBSCRIBER: "unknown number",
  EC_ABSENT_SUBSCRIBER: "phone is off",
  EC_ABSENT_SUBSCRIBER_SM: "phone is off",
  EC_SM_DF_MEMORYCAPACITYEXCEEDED: "phone is full",
  EC_MESSAGE_EXPIRED: "expired",
  EC_MESSAGE_CANCELED: "canceled",
  EC_SMS_REJECTED_BY_MOBILE_OPERATOR: "rejected by operator",
  EC_DESTINATION_BLOCKED_BY_OPERATOR: "blocked by operator",
};

type Told = Pick<MessageItem, "state" | "status" | "error" | "isOverdue" | "heldBy" | "dueAt">;

/** A failed message says why, and one that waits for what or until when. */
export function wordsOf(message: Told, time: (at: string) => string): string {
  const { state, status, error, isOverdue, heldBy, dueAt } = message;
  if (state === "waiting" && isOverdue) return "waiting for carrier";
  if (state === "scheduled") return heldBy === "bulk" ? "paused" : `scheduled for ${time(dueAt)}`;
  if (state !== "failed") return WORDS[state];
  const reason = REASONS[error?.name ?? ""];
  if (reason !== undefined) return reason;
  return (error?.description ?? status.description).toLowerCase();
}
