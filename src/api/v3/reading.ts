/** A request of version 3 becomes what intake takes: the same fields under other names, and a few that only this version has. */
import type {
  ConversionWish,
  LinkWish,
  MessageFields,
  Problem,
  RequestedMessage,
  TimeOfDay,
} from "../../intake/request.ts";
import { formOfV3, NO_REPORT, type ReportForm } from "../../message/report-form.ts";
import { given } from "../../runtime/given.ts";
import type { Static } from "../../runtime/type.ts";
import { urlProblem } from "../../runtime/urls.ts";
import { type SpeedLimit, speedLimitOf } from "../../schedule/pace.ts";
import { VALIDITY_UNITS_MS } from "../../schedule/sending-time.ts";
import { badFields } from "../errors.ts";
import type * as schemas from "./schemas.ts";

type Body = Static<typeof schemas.MessagesRequest>;
type Message = Body["messages"][number];

/** What a whole request says, in the words of all versions. */
export interface ReadRequest {
  readonly bulkId: string | undefined;
  readonly messages: RequestedMessage[];
  readonly speedLimit: SpeedLimit | null;
  readonly links: LinkWish | null;
  readonly conversion: ConversionWish | null;
}

/** The narrowest window that version 3 takes. */
const MIN_WINDOW_MINUTES = 60;
const DAY_MINUTES = 1_440;

export function readRequest({ messages, options = {} }: Body): ReadRequest {
  const { schedule = {}, tracking, conversionTracking } = options;
  const { bulkId, sendAt, sendingSpeedLimit } = schedule;
  const problems: Problem[] = [];
  const read = messages.map((message, index) => readMessage(`messages[${index}]`, message, sendAt, problems));
  const links = readLinks(tracking, "options.tracking.trackingUrl", problems);
  if (problems.length > 0) throw badFields(problems);
  return {
    bulkId,
    messages: read,
    speedLimit: speedLimitOf(sendingSpeedLimit),
    links,
    conversion:
      conversionTracking?.useConversionTracking === true
        ? { name: conversionTracking.conversionTrackingName ?? null, processKey: null }
        : null,
  };
}

type Tracking = NonNullable<Body["options"]>["tracking"];

/** Links are shortened wherever there is a word of tracking, unless told not to. */
export function readLinks(tracking: Tracking, field: string, problems: Problem[]): LinkWish | null {
  if (tracking === undefined) return null;
  const { shortenUrl = true, trackClicks = true, trackingUrl, removeProtocol = false, customDomain } = tracking;
  const says = trackingUrl === undefined ? null : urlProblem(trackingUrl);
  if (says !== null) problems.push({ field, says });
  if (!shortenUrl) return null;
  return {
    trackClicks,
    trackingUrl: trackingUrl ?? null,
    removeProtocol,
    customDomain: customDomain ?? null,
    field: field.replace(/\.trackingUrl$/, ""),
  };
}

function readMessage(
  path: string,
  message: Message,
  sendAt: string | undefined,
  problems: Problem[],
): RequestedMessage {
  const { destinations, options = {}, webhooks = {} } = message;
  const { platform = {}, validityPeriod, deliveryTimeWindow: window, campaignReferenceId, regional, flash } = options;
  const { delivery = {}, callbackData } = webhooks;
  if (window?.from !== undefined && window.to !== undefined && minutesOf(window.from, window.to) < MIN_WINDOW_MINUTES)
    problems.push({ field: `${path}.options.deliveryTimeWindow.to`, says: "must be at least an hour after from" });
  const { sender, from } = message;
  const { entityId, applicationId } = platform;
  const { intermediateReport, url } = delivery;
  const fields: MessageFields = {
    ...readContent(`${path}.content`, message.content, problems),
    ...given({ from: sender || from }),
    ...(flash === undefined ? {} : { flash }),
    ...(sendAt === undefined ? {} : { sendAt }),
    ...(window === undefined ? {} : { deliveryTimeWindow: window }),
    ...(regional === undefined ? {} : { regional }),
    ...(url === undefined || url === "" ? {} : { notifyUrl: url }),
    ...(intermediateReport === undefined ? {} : { intermediateReport }),
    ...(callbackData === undefined ? {} : { callbackData }),
    ...(campaignReferenceId === undefined ? {} : { campaignReferenceId }),
    ...(entityId === undefined ? {} : { entityId }),
    ...(applicationId === undefined ? {} : { applicationId }),
  };
  return {
    path,
    fields,
    destinations,
    reportForm: reportFormOf(message),
    ...(validityPeriod === undefined
      ? {}
      : { validityMs: validityPeriod.amount * VALIDITY_UNITS_MS[validityPeriod.timeUnit ?? "MINUTES"] }),
  };
}

/** The content type stands beside `delivery`; one gateway puts it inside. */
function reportFormOf({ webhooks: { delivery = {}, contentType } = {} }: Message): ReportForm {
  if (delivery.notify === false) return NO_REPORT;
  return formOfV3(contentType ?? delivery.contentType ?? "application/json");
}

function readContent(field: string, content: Message["content"], problems: Problem[]): MessageFields {
  const { text, hex, transliteration, language, dataCoding, esmClass } = content;
  if ((text === undefined) === (hex === undefined)) problems.push({ field, says: "must have either text or hex" });
  if (text === undefined) {
    const coding = {
      ...(dataCoding === undefined ? {} : { dataCoding }),
      ...(esmClass === undefined ? {} : { esmClass }),
    };
    return { binary: { hex: hex ?? "", ...coding } };
  }
  return {
    text,
    ...(transliteration === undefined ? {} : { transliteration }),
    ...(language === undefined ? {} : { language }),
  };
}

/** From one time of the day to another, over midnight where it must be. */
function minutesOf(from: TimeOfDay, to: TimeOfDay): number {
  const minutes = to.hour * 60 + to.minute - (from.hour * 60 + from.minute);
  return (minutes + DAY_MINUTES) % DAY_MINUTES;
}

/** Where this version has what intake names in the words of the first. */
const PLACES: readonly (readonly [beginning: string, place: string])[] = [
  ["notifyUrl", "webhooks.delivery.url"],
  ["binary.hex", "content.hex"],
  ["deliveryTimeWindow", "options.deliveryTimeWindow"],
  ["from", "sender"],
  ["text", "content.text"],
];

/** What intake finds wrong, in the names of version 3, each once: the time is one for all messages. */
export function inNamesOfV3(problems: readonly Problem[]): Problem[] {
  const named = new Map<string, Problem>();
  for (const { field, says } of problems) {
    const place = placeOf(field);
    named.set(`${place} ${says}`, { field: place, says });
  }
  return [...named.values()];
}

function placeOf(field: string): string {
  if (field === "sendingSpeedLimit") return "options.schedule.sendingSpeedLimit";
  const [, path, name] = /^(messages\[\d+\])\.(.+)$/.exec(field) ?? [];
  if (path === undefined || name === undefined) return field;
  if (name === "sendAt") return "options.schedule.sendAt";
  const known = PLACES.find(([beginning]) => name === beginning || name.startsWith(`${beginning}.`));
  return known === undefined ? field : `${path}.${known[1]}${name.slice(known[0].length)}`;
}
