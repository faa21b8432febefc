/** One message object of a request becomes the content that its destinations share, or a list of what is wrong with it. Pure. */
import type { Content } from "../message/message.ts";
import { parseDateTime } from "../schedule/date-time.ts";
import { expiry, firstSendable, tooFarAhead } from "../schedule/sending-time.ts";
import type { DeliveryWindow } from "../schedule/window.ts";
import { isSender } from "../sms/addresses.ts";
import { STATUS } from "../sms/statuses.ts";
import { MAX_PARTS, type PreparedText, prepareText, type TextOptions } from "../sms/text.ts";
import type { MessageFields, Problem, TimeOfDay } from "./request.ts";

const LONGEST_URL = 2_048;
/**
 * No text of this length fits into 25 parts in any alphabet, so it is not even looked at; and what is kept of something that was
 * rejected is cut, because each of thousands of destinations would keep it.
 */
const HOPELESS_TEXT_LENGTH = 40_000;
const KEPT_TEXT_LENGTH = 4_000;
const KEPT_ADDRESS_LENGTH = 64;

export interface ContentRules {
  readonly nowMs: number;
  readonly defaultSender: string | null;
  readonly sendAtDays: number;
}

export interface PreparedContent {
  readonly content: Content;
  /** Set when no destination can get it, whatever its number: the status that says why. */
  readonly rejectedStatusId: number | null;
}

export function clipAddress(address: string): string {
  return address.slice(0, KEPT_ADDRESS_LENGTH).toWellFormed();
}

export function prepareContent(path: string, fields: MessageFields, rules: ContentRules): PreparedContent | Problem[] {
  const problems: Problem[] = [];
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);

  const sendAtMs = fields.sendAt === undefined ? null : parseDateTime(fields.sendAt);
  if (fields.sendAt !== undefined && sendAtMs === null) {
    problems.push({ field: at("sendAt"), says: "is not a date and time like 2026-02-12T09:58:20.323+0000" });
  } else if (sendAtMs !== null && tooFarAhead(sendAtMs, rules.nowMs, rules.sendAtDays)) {
    problems.push({ field: at("sendAt"), says: `is more than ${rules.sendAtDays} days ahead` });
  }
  if (fields.notifyUrl !== undefined && fields.notifyUrl.length > LONGEST_URL) {
    problems.push({ field: at("notifyUrl"), says: `is longer than ${LONGEST_URL} characters` });
  } else if (fields.notifyUrl !== undefined && !isCallbackUrl(fields.notifyUrl)) {
    problems.push({ field: at("notifyUrl"), says: "is not an absolute http or https URL" });
  }
  const window = readWindow(at("deliveryTimeWindow"), fields.deliveryTimeWindow, problems);
  if (problems.length > 0) return problems;

  const from = fields.from ?? rules.defaultSender ?? "";
  const senderIsFine = isSender(from);
  const prepared =
    fields.text.length > HOPELESS_TEXT_LENGTH ? tooLong(fields.text) : prepareText(fields.text, textOptions(fields));
  const fits = prepared.partCount <= MAX_PARTS;
  const firstMs = firstSendable({ nowMs: rules.nowMs, sendAtMs, window });
  return {
    rejectedStatusId: !senderIsFine ? STATUS.REJECTED_SOURCE.id : !fits ? STATUS.REJECTED_MESSAGE_TOO_LONG.id : null,
    content: {
      from: senderIsFine ? from : clipAddress(from),
      text: fits ? prepared.text : prepared.text.slice(0, KEPT_TEXT_LENGTH).toWellFormed(),
      encoding: prepared.encoding,
      partCount: prepared.partCount,
      flash: fields.flash ?? false,
      notifyUrl: fields.notifyUrl ?? null,
      notifyContentType: fields.notifyContentType ?? "application/json",
      callbackData: fields.callbackData ?? null,
      intermediateReport: fields.intermediateReport ?? false,
      sendAtMs,
      dueAtMs: firstMs > rules.nowMs ? firstMs : null,
      window,
      expiresAtMs: expiry(firstMs, fields.validityPeriod ?? null),
    },
  };
}

/** The flat form of the language is the older one; where both are given the nested one counts. */
function textOptions(fields: MessageFields): TextOptions {
  const { languageCode = fields.languageCode, singleShift, lockingShift } = fields.language ?? {};
  return {
    ...(languageCode === undefined ? {} : { languageCode }),
    ...(singleShift === undefined ? {} : { singleShift }),
    ...(lockingShift === undefined ? {} : { lockingShift }),
    ...(fields.transliteration === undefined ? {} : { transliteration: fields.transliteration }),
  };
}

function tooLong(text: string): PreparedText {
  return { text, encoding: "gsm7", partCount: MAX_PARTS + 1, charactersRemaining: 0 };
}

function isCallbackUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text)) return false;
  return URL.parse(text)?.hostname !== undefined;
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
