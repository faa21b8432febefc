/** The body of a request: a batch in the form its client asked for. */
import type { AlertFacts, NotifyContentType, ReportBatch } from "../message/message.ts";
import { formatDateTime } from "../schedule/date-time.ts";
import { incomingResults } from "./incoming.ts";
import { reportItem, unitsOf } from "./item.ts";
import { jsonBody } from "./json.ts";
import { xmlBody } from "./xml.ts";

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
