/** The body of a request: a batch in the form its client asked for. */
import type { NotifyContentType, ReportBatch } from "../message/message.ts";
import { type ReportItem, reportItem } from "./item.ts";
import { jsonBody } from "./json.ts";
import { xmlBody } from "./xml.ts";

const BODIES: Readonly<Record<NotifyContentType, (results: readonly ReportItem[]) => string>> = {
  "application/json": jsonBody,
  "application/xml": xmlBody,
};

export function bodyOf(batch: ReportBatch): string {
  return BODIES[batch.contentType](batch.items.map(reportItem));
}
