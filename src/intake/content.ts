/** One message object of a request becomes the content that its destinations share, or a list of what is wrong with it. Pure. */
import { carriedOf, usedOf } from "../message/fields.ts";
import type { AsWritten, Content } from "../message/message.ts";
import { readRegional } from "../message/regional.ts";
import { type Subscription, subscriptionFor } from "../message/subscription.ts";
import { given } from "../runtime/given.ts";
import { urlProblem } from "../runtime/urls.ts";
import { parseDateTime } from "../schedule/date-time.ts";
import { expiry, firstSendable, tooFarAhead } from "../schedule/sending-time.ts";
import type { DeliveryWindow } from "../schedule/window.ts";
import { chosenSender, maySendAs, type SenderRules, senderFault } from "../sms/addresses.ts";
import { STATUS } from "../sms/statuses.ts";
import { type KnownBodies, type PreparedBody, prepareBody } from "./body.ts";
import type { MessageFields, Problem, RequestedMessage, TimeOfDay } from "./request.ts";

const KEPT_ADDRESS_LENGTH = 64;

export interface ContentRules extends SenderRules {
  /** The account's; absent where it has none. */
  readonly subscriptions?: readonly Subscription[] | undefined;
  readonly nowMs: number;
  readonly sendAtDays: number;
}

export interface PreparedContent {
  readonly content: Content;
  /** Set when no destination can get it, whatever its number: the status that says why. */
  readonly rejectedStatusId: number | null;
  /** What is wrong with its sender, as a sentence; null where nothing is. */
  readonly senderSays: string | null;
}

export function clipAddress(address: string): string {
  return address.slice(0, KEPT_ADDRESS_LENGTH).toWellFormed();
}

/** `isWanted`: whether any destination may get it, as far as is known without it. */
export function prepareContent(
  { path, fields, reportForm, validityMs }: Omit<RequestedMessage, "destinations">,
  rules: ContentRules,
  isWanted = true,
  known?: KnownBodies,
): PreparedContent | Problem[] {
  const problems: Problem[] = [];
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);

  const sendAtMs = fields.sendAt === undefined ? null : parseDateTime(fields.sendAt);
  if (fields.sendAt !== undefined && sendAtMs === null) {
    problems.push({ field: at("sendAt"), says: "is not a date and time like 2026-02-12T09:58:20.323+0000" });
  } else if (sendAtMs !== null && tooFarAhead(sendAtMs, rules.nowMs, rules.sendAtDays)) {
    problems.push({ field: at("sendAt"), says: `is more than ${rules.sendAtDays} days ahead` });
  }
  const urlSays = fields.notifyUrl === undefined ? null : urlProblem(fields.notifyUrl);
  if (urlSays !== null) problems.push({ field: at("notifyUrl"), says: urlSays });
  const hexSays = fields.binary === undefined ? null : faultOfHex(fields.binary.hex);
  if (hexSays !== null) problems.push({ field: at("binary.hex"), says: hexSays });
  const window = readWindow(at("deliveryTimeWindow"), fields.deliveryTimeWindow, problems);
  if (problems.length > 0) return problems;

  const from = chosenSender(fields.from, rules);
  const wrong = faultOfSender(rules, from);
  const senderIsFine = wrong === null;
  const body = prepareBody(fields, isWanted && senderIsFine, known);
  const standing = subscriptionOf(rules, fields, from);
  const firstMs = firstSendable({ nowMs: rules.nowMs, sendAtMs, window });
  return {
    rejectedStatusId: senderIsFine ? body.rejectedStatusId : STATUS.REJECTED_SOURCE.id,
    senderSays: senderIsFine ? null : `${at("from")} ${wrong}`,
    content: {
      from: senderIsFine ? from : clipAddress(from),
      text: body.text,
      encoding: body.encoding,
      partCount: body.partCount,
      notifyUrl: fields.notifyUrl ?? standing?.notifyUrl ?? null,
      reportForm: reportForm ?? fields.notifyContentType ?? "application/json",
      intermediateReport: fields.intermediateReport ?? false,
      sendAtMs,
      dueAtMs: firstMs > rules.nowMs ? firstMs : null,
      window,
      expiresAtMs: expiry(firstMs, validityMs ?? minutes(fields.validityPeriod)),
      regional: readRegional(fields.regional),
      written: writtenOf(fields, body),
      ...usedOf(fields),
      ...carriedOf(fields),
      callbackData: fields.callbackData ?? standing?.callbackData ?? null,
    },
  };
}

function faultOfSender(rules: SenderRules, from: string): string | null {
  const fault = senderFault(from);
  if (fault === null) return maySendAs(rules, from) ? null : "is no sender that this account may use";
  return from === "" ? "is missing, and the account has no default sender" : fault;
}

/** For the logs, which tell the client's own text and what he asked to be done with it. */
function writtenOf(
  { text, transliteration, language, languageCode }: MessageFields,
  body: PreparedBody,
): string | null {
  if (transliteration === undefined && language === undefined && languageCode === undefined) return null;
  const isOther = body.rejectedStatusId === null && text !== body.text;
  const written: AsWritten = given({
    text: isOther ? text : undefined,
    transliteration,
    language: language ?? (languageCode === undefined ? undefined : { languageCode }),
  });
  return JSON.stringify(written);
}

/** What reports it where it names no URL of its own. */
function subscriptionOf({ subscriptions }: ContentRules, { notifyUrl, text }: MessageFields, from: string) {
  if (subscriptions === undefined || notifyUrl !== undefined) return null;
  return subscriptionFor(subscriptions, "delivery", { address: from, text: text ?? null });
}

function minutes(count: number | undefined): number | null {
  return count === undefined ? null : count * 60_000;
}

function faultOfHex(hex: string): string | null {
  const digits = hex.replaceAll(" ", "");
  if (digits === "") return "must not be empty";
  if (!/^[0-9a-fA-F]+$/.test(digits)) return "must be hexadecimal digits, with or without spaces";
  return digits.length % 2 === 0 ? null : "must have an even number of digits";
}

function readWindow(
  field: string,
  wanted: MessageFields["deliveryTimeWindow"],
  problems: Problem[],
): DeliveryWindow | null {
  if (wanted === undefined) return null;
  const { days, from, to } = wanted;
  if (from === undefined && to === undefined) return { days, hours: null };
  if (from === undefined || to === undefined) {
    problems.push({
      field: `${field}.${from === undefined ? "from" : "to"}`,
      says: "is missing: from and to are given both or not at all",
    });
    return null;
  }
  if (minuteOfDay(from) === minuteOfDay(to)) {
    problems.push({ field: `${field}.to`, says: "is the same time as from" });
    return null;
  }
  return { days, hours: { fromMinute: minuteOfDay(from), toMinute: minuteOfDay(to) } };
}

function minuteOfDay({ hour, minute }: TimeOfDay): number {
  return hour * 60 + minute;
}
