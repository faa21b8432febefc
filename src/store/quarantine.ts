/** A row of the table `quarantine`, and how much it holds. The commands write such rows, and so does SQLite's engine for what was in its journal. */
import { boundedText } from "../runtime/text.ts";
import type { Quarantined } from "./port/quarantine.ts";

const MAX_SUBJECT = 100;
const MAX_REASON = 300;
const MAX_DETAIL = 4_000;

export const QUARANTINE_COLUMNS = "at_ms, command, subject, reason, detail";

/** The values of a row: whatever they were, they have a place in any database. */
export function quarantineValues(
  { atMs, command, subject, reason, detail }: Omit<Quarantined, "id">,
  maxDetail = MAX_DETAIL,
) {
  return [
    atMs,
    command,
    boundedText(subject, MAX_SUBJECT),
    boundedText(reason, MAX_REASON),
    boundedText(detail, maxDetail),
  ] as const;
}
