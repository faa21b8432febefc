/**
 * The phones of the simulated network. How one behaves is told by the last digits of its number; docs/sandbox.md shows this table to
 * the client's developer. All others are switched on and take what they get.
 */
import type { Submission } from "../carriers/port.ts";
import type { ReceiptOutcome } from "../message/receipt.ts";
import type { Random } from "../runtime/random.ts";
import { errorByName, errorRows } from "../sms/errors.ts";
import type { OwnHandset } from "./profile.ts";

/** What the network says when a part is handed to it. */
export type HandsetAnswer = "accept" | Exclude<Submission, { kind: "accepted" }>;

export interface PlannedReceipt {
  readonly outcome: ReceiptOutcome;
  readonly errorId: number;
  /** On top of the second or so that every handset takes to answer; both count from the submit. */
  readonly laterMs: number;
}

export interface Handset {
  readonly name: string;
  /** To the first submit, the second and so on; the last is for all that follow. */
  readonly answers: readonly HandsetAnswer[];
  /** In the order of their time; the last one is final. Empty: nothing is ever heard of the part again. */
  readonly receipts: readonly PlannedReceipt[];
}

/** Six digits, so that counting up numbers for a load test meets them only after 999,000 of them. */
const SUFFIX_DIGITS = 6;

export const BUSY_FOR_MS = 1000;

const DELIVERED: PlannedReceipt = { outcome: "delivered", errorId: 0, laterMs: 0 };
const BUSY: HandsetAnswer = { kind: "not now", retryAfterMs: BUSY_FOR_MS };

/** One that takes what it gets, unless it answers otherwise. */
export function phone(
  name: string,
  receipts: readonly PlannedReceipt[],
  answers: readonly HandsetAnswer[] = ["accept"],
): Handset {
  return { name, answers, receipts };
}

/** A receipt with an error, by its name. */
export function failed(outcome: ReceiptOutcome, errorName: string): PlannedReceipt {
  return { outcome, errorId: errorByName(errorName).id, laterMs: 0 };
}

const ORDINARY = phone("delivered", [DELIVERED]);
const ABSENT = failed("held", "EC_ABSENT_SUBSCRIBER");
const BLOCKED: HandsetAnswer = { kind: "refused", errorId: errorByName("EC_DESTINATION_BLOCKED_BY_OPERATOR").id };

export const HANDSETS_BY_SUFFIX: ReadonlyMap<string, Handset> = new Map([
  // Longer than the shortest validity, so that one minute of it can be seen to run out.
  ["999001", phone("delivered late", [{ ...DELIVERED, laterMs: 90_000 }])],
  ["999002", phone("absent, then delivered", [ABSENT, { ...DELIVERED, laterMs: 10_000 }])],
  ["999003", phone("unknown subscriber", [failed("undeliverable", "EC_UNKNOWN_SUBSCRIBER")])],
  ["999004", phone("handset full", [failed("undeliverable", "EC_SM_DF_MEMORYCAPACITYEXCEEDED")])],
  ["999005", phone("rejected by the operator", [failed("rejected", "EC_SMS_REJECTED_BY_MOBILE_OPERATOR")])],
  ["999006", phone("refused by the operator at once", [], [BLOCKED])],
  ["999007", phone("expired", [failed("expired", "EC_MESSAGE_EXPIRED")])],
  ["999008", phone("never a receipt", [])],
  ["999009", phone("busy twice, then delivered", [DELIVERED], [BUSY, BUSY, "accept"])],
  ["999010", phone("connection lost once, then delivered", [DELIVERED], [{ kind: "unknown" }, "accept"])],
]);

/** What the network says of a part whose handset would have answered only after its validity. */
export const EXPIRED = failed("expired", "EC_MESSAGE_EXPIRED");

export function handsetOf(number: string): Handset {
  return HANDSETS_BY_SUFFIX.get(number.slice(-SUFFIX_DIGITS)) ?? ORDINARY;
}

const USUAL_ERRORS: Readonly<Record<OwnHandset["outcome"], string>> = {
  delivered: "NO_ERROR",
  undeliverable: "EC_UNKNOWN_SUBSCRIBER",
  rejected: "EC_SMS_REJECTED_BY_MOBILE_OPERATOR",
  expired: "EC_MESSAGE_EXPIRED",
  refused: "EC_DESTINATION_BLOCKED_BY_OPERATOR",
  silent: "NO_ERROR",
};

export function isErrorName(name: string): boolean {
  return errorRows.some((row) => row.name === name);
}

/** How a phone behaves, the operator's own handsets first, and of those the longest ending. */
export function handsetsWith(own: readonly OwnHandset[]): (number: string) => Handset {
  if (own.length === 0) return handsetOf;
  const bySuffix = own
    .toSorted((one, other) => other.suffix.length - one.suffix.length)
    .map((handset) => ({ suffix: handset.suffix, handset: ownHandset(handset) }));
  return (number) => bySuffix.find(({ suffix }) => number.endsWith(suffix))?.handset ?? handsetOf(number);
}

function ownHandset({ suffix, outcome, error, laterMs = 0 }: OwnHandset): Handset {
  const errorId = errorByName(error ?? USUAL_ERRORS[outcome]).id;
  const name = `${outcome} (…${suffix})`;
  if (outcome === "refused") return phone(name, [], [{ kind: "refused", errorId }]);
  return phone(name, outcome === "silent" ? [] : [{ outcome, errorId, laterMs }]);
}

/** A part that a handset will say something about. */
export interface PartForHandset {
  readonly handset: Handset;
  readonly submittedAtMs: number;
  readonly expiresAtMs: number;
  /** How long the handset takes to answer. */
  readonly answerAfterMs: number;
}

export interface DueReceipt {
  readonly outcome: ReceiptOutcome;
  readonly errorId: number;
  readonly atMs: number;
  /** Which of the handset's receipts comes after it; null when it is the last. */
  readonly following: number | null;
}

/** The receipt at `place` of the handset's list, or the part's expiry if that comes first. */
export function dueReceipt(part: PartForHandset, place: number): DueReceipt {
  const { handset, submittedAtMs, expiresAtMs } = part;
  const { outcome, errorId, laterMs } = handset.receipts[place]!;
  const atMs = Math.round(submittedAtMs + part.answerAfterMs + laterMs);
  if (atMs > expiresAtMs) {
    const { outcome, errorId } = EXPIRED;
    return { outcome, errorId, atMs: Math.max(expiresAtMs, submittedAtMs), following: null };
  }
  return { outcome, errorId, atMs, following: place === handset.receipts.length - 1 ? null : place + 1 };
}

const JITTER = 0.2;

/** How long one handset takes, where they all take so long give or take a fifth. */
export function answerTime(answerAfterMs: number, random: Random): number {
  return answerAfterMs * (1 + JITTER * (2 * random.next() - 1));
}
