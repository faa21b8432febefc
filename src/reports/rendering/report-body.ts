/** The body of a request: a batch of reports in the form its client asked for, JSON or XML. */
import { XMLBuilder } from "fast-xml-parser";
import type { AlertFacts, NotifyContentType, ReportBatch } from "../../message/message.ts";
import { formatDateTime } from "../../schedule/date-time.ts";
import { incomingResults } from "./incoming-item.ts";
import { reportItem, unitsOf } from "./report-item.ts";

const BODIES: Readonly<Record<NotifyContentType, (results: readonly object[], counts?: object) => string>> = {
  "application/json": jsonBody,
  "application/xml": xmlBody,
};

export function bodyOf(batch: ReportBatch): string {
  const body = BODIES[batch.contentType];
  if (batch.kind === "delivery") return body(batch.items.map(reportItem));
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

const builder = new XMLBuilder({ processEntities: true });

/** The names of the JSON body, inside `reportResponse`. What is null in JSON is an empty element here. */
export function xmlBody(results: readonly object[], counts: object = {}): string {
  const document: string = builder.build({ reportResponse: { results: { result: results }, ...counts } });
  // §2.11: a reader takes a bare carriage return for a line feed.
  return DECLARATION + document.replace(NOT_XML, "\uFFFD").replaceAll("\r", "&#13;");
}
