/** What Kannel says: the texts and statuses of its smsbox, of errors and of what became of a request. */
import type { MessageResult } from "../../intake/request.ts";
import { STATUS, statusById } from "../../sms/statuses.ts";
import type { ApiError, ErrorName } from "../errors.ts";
import { shownDescription } from "../errors.ts";
import { DENIED } from "./parameters.ts";

export interface KannelAnswer {
  readonly status: number;
  readonly text: string;
}

export const SENDSMS_PATH = "/cgi-bin/sendsms";
export const PLAIN_TEXT = "text/plain; charset=utf-8";

const ACCEPTED = 202;
const NOT_AUTHORIZED: KannelAnswer = { status: 403, text: "Authorization failed for sendsms" };
const LATER = "Temporal failure, try again later.";

/** All others have their own status, and say what is wrong. */
const ERRORS: Readonly<Partial<Record<ErrorName, KannelAnswer>>> = {
  unauthorized: NOT_AUTHORIZED,
  forbidden: NOT_AUTHORIZED,
  unsupportedMediaType: { status: 415, text: "Unsupported content-type, rejected" },
  tooManyRequests: { status: 429, text: LATER },
  general: { status: 500, text: "Sending failed." },
  unavailable: { status: 503, text: LATER },
};

/** Fields that the intake finds fault with, by the names that they have here. */
const FIELDS: Readonly<Record<string, string>> = {
  sendAt: "Deferred field misformed, rejected",
  notifyUrl: "DLR-URL field misformed, rejected",
  "binary.hex": "Empty text not allowed, rejected",
};

export function errorInKannelsWords(error: ApiError): KannelAnswer {
  const known = ERRORS[error.kindName];
  if (known !== undefined) return known;
  const { status, text } = error.kind;
  const field = FIELDS[error.details.variables?.[0] ?? ""];
  return { status, text: field ?? shownDescription(error) ?? text };
}

const NOT_ROUTABLE: KannelAnswer = { status: 403, text: "Not routable. Do not try again." };

/** Why a message was rejected though its request was not, by its status. What is not named here cannot be sent to that number. */
const REJECTIONS: Readonly<Record<number, KannelAnswer>> = {
  [STATUS.REJECTED_DESTINATION.id]: { status: 400, text: DENIED },
  [STATUS.REJECTED_SOURCE.id]: { status: 400, text: "Sender not allowed, rejected" },
  [STATUS.REJECTED_MESSAGE_TOO_LONG.id]: { status: 400, text: "Text is too long, rejected" },
  [STATUS.REJECTED_INVALID_UDH.id]: { status: 400, text: "UDH field misformed, rejected" },
  [STATUS.REJECTED_NOT_ENOUGH_CREDITS.id]: { status: 403, text: "Not enough credits, rejected" },
};

const NO_SENDER: KannelAnswer = { status: 400, text: "Sender missing and no global set, rejected" };

/** One answer for all numbers. Those that were denied while others were not are named behind it. */
export function answerOf(
  results: readonly MessageResult[],
  denied: readonly string[],
  hasSender: boolean,
): KannelAnswer {
  const { good = [], bad = [] } = Object.groupBy(results, ({ statusId }) =>
    statusById(statusId).groupId === STATUS.REJECTED_SOURCE.groupId ? "bad" : "good",
  );
  if (good.length === 0) {
    const { statusId } = results[0]!;
    if (statusId === STATUS.REJECTED_SOURCE.id && !hasSender) return NO_SENDER;
    return REJECTIONS[statusId] ?? NOT_ROUTABLE;
  }
  const isHeld = good.every(({ statusId }) => statusId === STATUS.PENDING_ACCEPTED.id);
  const says = isHeld ? "3: Queued for later delivery" : "0: Accepted for delivery";
  const others = [...denied, ...bad.map(({ to }) => to)];
  if (others.length === 0) return { status: ACCEPTED, text: says };
  return { status: ACCEPTED, text: `${says} Denied receivers are: ${others.map(shown).join(" ")}` };
}

const MAX_SHOWN = 64;

/** A caller's own words, without what could move a cursor or end a line. */
function shown(receiver: string): string {
  return receiver.slice(0, MAX_SHOWN).replace(/[^\x21-\x7e]/g, "?");
}
