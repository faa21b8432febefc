/** What a provider's answer to a message means: taken, later, or never. Pure. */
import { unknownId } from "../../message/receipt.ts";
import { errorByName, errorRows } from "../../sms/errors.ts";
import type { OutgoingMessage, Submission } from "../port.ts";
import { isUsableId } from "../usable-id.ts";
import type { AnswerRule, SendDescription } from "./description.ts";
import { fulfils, listAt, textAt } from "./paths.ts";

/** An answer that came to its end. `data` is its JSON, or its text where it is none. */
export interface ReadAnswer {
  readonly status: number;
  readonly data: unknown;
  readonly retryAfterMs: number | null;
}

export type AnswerDescription = Pick<SendDescription, "rules" | "id" | "code" | "errors">;

const REJECTED = errorByName("EC_SMS_REJECTED_BY_MOBILE_OPERATOR").id;
/** A carrier that says "later" and not when. */
const PAUSE_MS = 1_000;
/** Of a message that is put off for the first time; each further time it is twice as long. */
const PUT_OFF_MS = 1_000;
const MAX_PAUSE_MS = 3_600_000;
/** Ids that are kept of one message: as many as it may have parts. */
const MAX_IDS = 255;
const MAX_WORD = 100;

const USUAL: readonly AnswerRule[] = [
  { status: "2xx", is: "accepted" },
  { status: "429", is: "later" },
  { status: "503", is: "later" },
  { status: "401", is: "login refused" },
  { status: "403", is: "login refused" },
  { status: "408", is: "unknown" },
  { status: "5xx", is: "not now" },
];

function fits({ status, where }: AnswerRule, answer: ReadAnswer, item: unknown): boolean {
  const written = String(answer.status);
  const isStatus = status === undefined || (status.endsWith("xx") ? written[0] === status[0] : written === status);
  return isStatus && fulfils(item, where);
}

/** What an answer says of a message; or that the provider does not take who we are, which says nothing of the message. */
export type Said = Submission | { readonly kind: "login refused"; readonly status: string };

/**
 * The meaning of an answer for one message. `item` is what the answer says of it: the whole answer, or its place in a list. `key` is our own id of the
 * message, for a provider that has no other, and `to` its phone.
 */
export function readSubmission(
  description: AnswerDescription,
  answer: ReadAnswer,
  item: unknown,
  { key = "", to }: Pick<OutgoingMessage, "key" | "to">,
): Said {
  const { rules = [], errors = {} } = description;
  if (isUnreadable(description, answer)) return { kind: "unknown" };
  const isRule = (each: AnswerRule): boolean => fits(each, answer, item);
  const rule = rules.find(isRule) ?? USUAL.find(isRule);
  if (rule?.is === "accepted") return { kind: "accepted", ...idsOf(description, item, key, to) };
  const code = textAt(item, description.code)?.slice(0, MAX_WORD);
  const status = code === undefined ? `HTTP ${answer.status}` : code;
  switch (rule?.is) {
    case "login refused":
      return { kind: "login refused", status };
    case "later":
      return { kind: "later", retryAfterMs: Math.min(answer.retryAfterMs ?? PAUSE_MS, MAX_PAUSE_MS), status };
    case "not now":
      return { kind: "not now", retryAfterMs: Math.min(answer.retryAfterMs ?? PUT_OFF_MS, MAX_PAUSE_MS), status };
    case "unknown":
      return { kind: "unknown" };
    default:
      return { kind: "refused", errorId: errorIdOf(rule?.error ?? errorName(errors, code)), status };
  }
}

/** Whether an answer of success has to be looked into, and cannot be: nobody knows then what it says of the message. */
function isUnreadable({ rules = [], id }: AnswerDescription, { status, data }: ReadAnswer): boolean {
  const isLookedInto = id !== undefined || rules.some(({ where }) => where !== undefined);
  return status < 300 && isLookedInto && (typeof data !== "object" || data === null);
}

/** Our name of an error that the provider calls so; one of the same family calls it as we do. */
export function errorName(errors: Readonly<Record<string, string>>, code: string | undefined): string | undefined {
  if (code === undefined) return undefined;
  if (Object.hasOwn(errors, code)) return errors[code];
  return errorRows.some(({ name }) => name === code) ? code : undefined;
}

export function errorIdOf(name: string | undefined): number {
  return name === undefined ? REJECTED : errorByName(name).id;
}

function idsOf({ id: path }: AnswerDescription, item: unknown, key: string, to: string) {
  if (path === undefined) return { carrierMessageId: key };
  const ids = listAt(item, path).flatMap((each) => {
    const id = textAt(each, "");
    return id !== undefined && isUsableId(id) ? [id] : [];
  });
  // Taken without an id by which its receipt could be known: only its phone can tell.
  const [carrierMessageId = unknownId(to), ...others] = ids.slice(0, MAX_IDS);
  return others.length === 0 ? { carrierMessageId } : { carrierMessageId, others };
}
