/**
 * One sentence that says where a message stands: what is final, or what is awaited and until when. Pure, and the same in the browser: times are
 * written as the reader writes them.
 */
import { numberFault, senderFault } from "../../sms/addresses.ts";
import type { MessageAnswer } from "./message-schemas.ts";

export interface Wording {
  /** A moment, as the reader writes it. */
  readonly time: (at: string) => string;
  readonly duration: (ms: number) => string;
}

const between = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from));

export function messageSentence(message: MessageAnswer, wording: Wording): string {
  const words = `${stateWords(message, wording)}${reportWords(message, wording)}.`;
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

function stateWords(message: MessageAnswer, { time, duration }: Wording): string {
  const { state, status, error, receivedAt, sentAt, doneAt, dueAt, expiresAt, carrier } = message;
  const because = error === null ? status.description.toLowerCase() : error.description.toLowerCase();
  switch (state) {
    case "delivered":
      return `delivered to the handset ${duration(between(receivedAt, doneAt ?? receivedAt))} after it was sent to us`;
    case "failed":
      if (status.groupName === "REJECTED") return `rejected at once: ${whyRejected(message) ?? because}`;
      if (status.name === "EXPIRED_DLR_UNKNOWN")
        return `no receipt came until ${time(doneAt!)}, so it is not known whether it arrived`;
      if (status.name === "UNDELIVERABLE_NOT_SENT") return `called off at ${time(doneAt!)}; it was not sent`;
      return `failed after ${duration(between(receivedAt, doneAt ?? receivedAt))}: ${because}`;
    case "scheduled":
      return heldWords(message, time);
    case "retrying": {
      if (message.carrierDownSince !== null) return `${downWords(message, time)}; it is tried until ${time(expiresAt)}`;
      const trouble = troubleIn(message);
      const why = trouble === null ? "" : `, because ${trouble}`;
      const when =
        Date.parse(dueAt) > Date.parse(receivedAt) && message.heldBy === "carrier" ? ` at ${time(dueAt)}` : "";
      return `it is handed to ${carrierWords(carrier)} again${when}${why}; it is tried until ${time(expiresAt)}`;
    }
    case "sent":
      if (message.isPhoneAway)
        return `the phone is off or out of reach; the network holds it, and a receipt is awaited until ${time(message.receiptUntil)}`;
      return `${carrierWords(carrier)} has it since ${time(sentAt ?? dueAt)}; a receipt is awaited until ${time(message.receiptUntil)}`;
    case "stuck":
      return stuckWords(message, time);
    case "waiting":
      if (message.carrierDownSince !== null) return `${downWords(message, time)}; it is sent until ${time(expiresAt)}`;
      if (message.isOverdue)
        return `${carrierWords(carrier)} has not taken it yet; it waits since ${time(dueAt)}, and is sent until ${time(expiresAt)}`;
      return `it waits for its turn with ${carrierWords(carrier)}; it is sent until ${time(expiresAt)}`;
  }
}

type Rejected = Pick<MessageAnswer, "from" | "to"> & { readonly status: { readonly name: string } };

/** What is wrong with its number or its sender, where that is why. */
export function whyRejected({ status: { name }, from, to }: Rejected): string | null {
  const isOfSender = name === "REJECTED_SOURCE";
  const fault = isOfSender ? senderFault(from) : name === "REJECTED_DESTINATION" ? numberFault(to) : null;
  return fault === null ? null : `the ${isOfSender ? "sender" : "number"} ${fault}`;
}

/** Why a carrier last did not take it, if that was noted. */
function troubleIn({ events }: MessageAnswer): string | null {
  const last = events.findLast(({ kind, isTrouble }) => isTrouble && (kind === "again" || kind === "held"));
  if (last === undefined) return null;
  return last.detail.split(" · ").find((part) => !part.startsWith("carrier ")) ?? last.detail;
}

const downWords = ({ carrier, carrierDownSince }: MessageAnswer, time: Wording["time"]): string =>
  `${carrierWords(carrier)} has no connection since ${time(carrierDownSince!)}`;

function stuckWords(message: MessageAnswer, time: Wording["time"]): string {
  const { sentAt, dueAt, receiptUntil, expiresAt, carrier, isPhoneAway } = message;
  if (sentAt !== null) {
    const why = isPhoneAway ? "and the network holds it for a phone that is off" : "and has sent no receipt";
    return `stuck since ${time(sentAt)}: ${carrierWords(carrier)} has it since then ${why}; one is awaited until ${time(receiptUntil)}`;
  }
  const trouble = troubleIn(message);
  const why =
    message.carrierDownSince !== null
      ? downWords(message, time)
      : `${carrierWords(carrier)} does not take it${trouble === null ? "" : `, because ${trouble}`}`;
  return `stuck since ${time(dueAt)}: ${why}; it is tried until ${time(expiresAt)}`;
}

const HELD: Readonly<Record<string, string>> = {
  time: "by its sendAt",
  window: "by its time window",
  carrier: "by its carrier, which put it off",
};

function heldWords({ heldBy, dueAt, expiresAt }: MessageAnswer, time: Wording["time"]): string {
  if (heldBy === "bulk") return `held, because its bulk is paused; it expires at ${time(expiresAt)}`;
  if (heldBy === "missed window")
    return `it missed its time window, which does not open again before it expires at ${time(expiresAt)}`;
  return `held until ${time(dueAt)} ${HELD[heldBy ?? "time"]}`;
}

const carrierWords = (carrier: string | null): string => (carrier === null ? "a carrier" : `the carrier ${carrier}`);

/** What became of its report; nothing while there is none. */
function reportWords(message: MessageAnswer, { time }: Wording): string {
  const { state, notifyUrl, reports, reportTakenAt, timeline, toFetch } = message;
  if (state !== "delivered" && state !== "failed") return "";
  if (notifyUrl === null) return toFetch ? "; its report waits to be fetched" : "";
  const waiting = reports.find(({ isDead }) => !isDead);
  const dead = reports.find(({ isDead }) => isDead);
  if (waiting !== undefined && waiting.attempts > 0 && waiting.nextTryAt !== null)
    return `; try ${waiting.attempts + 1} for your server at ${time(waiting.nextTryAt)}, the last one ${failureWords(waiting.reason)}`;
  if (waiting !== undefined) return "; its report is on its way to your server";
  if (dead !== undefined)
    return `; your server was not told: its report is a dead letter after ${dead.attempts} tries, the last one ${failureWords(dead.reason)}`;
  if (reportTakenAt !== null) return `; your server was told at ${time(reportTakenAt)}`;
  return timeline === "off" ? "" : "; your server took its report at the first try";
}

function failureWords(reason: string | null): string {
  if (reason === null) return "failed";
  return reason.startsWith("answered") ? reason : `failed: ${reason}`;
}
