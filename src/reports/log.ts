/** One item of the logs, as the client reads it: a report's item as it stands now, with the text. */
import type { ReportFacts } from "../message/message.ts";
import { type ReportItem, reportItem } from "./item.ts";

export interface LogFacts extends Omit<ReportFacts, "doneAtMs"> {
  readonly doneAtMs: number | null;
  readonly text: string;
}

export interface LogItem extends Omit<ReportItem, "doneAt"> {
  /** Null for a message that is still on its way. */
  readonly doneAt: string | null;
  readonly text: string;
}

export function logItem(facts: LogFacts): LogItem {
  const { doneAtMs, text } = facts;
  const item = reportItem({ ...facts, doneAtMs: doneAtMs ?? facts.sentAtMs });
  return { ...item, doneAt: doneAtMs === null ? null : item.doneAt, text };
}
