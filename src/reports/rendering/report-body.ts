/** The body of a request: a batch of reports in the form its client asked for, JSON or XML. */
import type { AlertFacts, ReportBatch, ReportFacts } from "../../message/message.ts";
import { isInUrl, type PushedForm } from "../../message/report-form.ts";
import { library, once } from "../../runtime/lazy.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { clickItem } from "./click-item.ts";
import { incomingResults } from "./incoming-item.ts";
import { deliveryNotification, inboundList, inboundNotification } from "./oneapi-item.ts";
import { reportItem, unitsOf } from "./report-item.ts";
import { reportItemV3 } from "./report-item-v3.ts";

/** What Kannel's reports say stands in their URL (dlr-url.ts). */
const nothing = (): string => "";

const DELIVERIES: Readonly<Record<PushedForm, (items: readonly ReportFacts[]) => string>> = {
  "application/json": (items) => jsonBody(items.map(reportItem)),
  "application/xml": (items) => xmlBody(items.map(reportItem)),
  "v3 json": (items) => jsonBody(items.map(reportItemV3)),
  "v3 xml": (items) => xmlDocument({ DeliveryReports: { results: { result: items.map(reportItemV3) } } }),
  oneapi: (items) => JSON.stringify(deliveryNotification(items)),
  "oneapi xml": (items) => xmlDocument(deliveryNotification(items)),
  "kannel 1": nothing,
  "kannel 2": nothing,
  "kannel 4": nothing,
  "kannel 8": nothing,
  "kannel 16": nothing,
  "get-url": nothing,
  "post-url": nothing,
};

export function bodyOf(batch: ReportBatch): string {
  if (batch.kind === "delivery") return DELIVERIES[batch.form](batch.items);
  if (batch.kind === "click") return JSON.stringify(clickItem(batch.items[0]!));
  if (batch.kind === "incoming" && batch.form === "oneapi") return JSON.stringify(inboundNotification(batch.items));
  if (batch.kind === "incoming" && batch.form === "oneapi xml")
    return xmlDocument({ inboundSMSMessageList: inboundList(batch.items, 0, null) });
  if (batch.kind === "incoming" && isInUrl(batch.form)) return batch.form === "post-url" ? batch.items[0]!.text : "";
  // What a number or an account asks for is else JSON or XML, and has one form in all families.
  const body = batch.form === "application/xml" ? xmlBody : jsonBody;
  if (batch.kind === "alert") return body(batch.items.map(alertItem));
  const { results, ...counts } = incomingResults(batch.items, 0);
  return body(results, counts);
}

function alertItem({ accountKey, balanceMicros, belowMicros, currency, atMs }: AlertFacts): object {
  return {
    accountKey,
    balance: unitsOf(balanceMicros),
    below: unitsOf(belowMicros),
    currency,
    at: formatDateTime(atMs),
  };
}

/** Lone surrogates come out as \u escapes, so the body is always valid UTF-8. */
export function jsonBody(results: readonly object[], counts: object = {}): string {
  return JSON.stringify({ results, ...counts });
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** XML 1.0 §2.2: all but these can be in a document, and these not even as a character reference. */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** §2.11: a reader takes a bare carriage return for a line feed, and some the others too. As a number each stays what it is. */
const LINE_ENDS = /[\r\u0085\u2028\u2029]/g;

/** Loaded with the first report in XML: most clients take JSON. */
const xml = library<typeof import("fast-xml-parser")>("fast-xml-parser");
const builder = once(() => new (xml().XMLBuilder)({ processEntities: true }));

/** The names of the JSON body, inside `reportResponse`. What is left out there is left out here. */
export function xmlBody(results: readonly object[], counts: object = {}): string {
  return xmlDocument({ reportResponse: { results: { result: results }, ...counts } });
}

function xmlDocument(root: object): string {
  const document: string = builder().build(root);
  return DECLARATION + document.replace(NOT_XML, "\uFFFD").replace(LINE_ENDS, (end) => `&#${end.charCodeAt(0)};`);
}
