/** The body of a request: a batch in the form its client asked for. */
import type { NotifyContentType, ReportBatch } from "../message/message.ts";
import { incomingResults } from "./incoming.ts";
import { reportItem } from "./item.ts";
import { jsonBody } from "./json.ts";
import { xmlBody } from "./xml.ts";

const BODIES: Readonly<Record<NotifyContentType, (results: readonly object[], counts?: object) => string>> = {
  "application/json": jsonBody,
  "application/xml": xmlBody,
};

export function bodyOf(batch: ReportBatch): string {
  const body = BODIES[batch.contentType];
  if (batch.kind === "delivery") return body(batch.items.map(reportItem));
  const { results, ...counts } = incomingResults(batch.items, 0);
  return body(results, counts);
}
