/** A row of the table `quarantine`, and how much it holds. The commands write such rows, and so does SQLite's engine for what was in its journal. */
import { boundedText } from "../runtime/text.ts";
import type { NewQuarantined } from "./port/quarantine.ts";

const MAX_SUBJECT = 100;
const MAX_REASON = 300;
const MAX_DETAIL = 4_000;

export const QUARANTINE_COLUMNS = "at_ms, command, subject, reason, detail, held_key";

/** The values of a row: whatever they were, they have a place in any database. */
export function quarantineValues(
  { atMs, command, subject, reason, detail, heldKey = null }: NewQuarantined,
  maxDetail = MAX_DETAIL,
) {
  return [
    atMs,
    command,
    boundedText(subject, MAX_SUBJECT),
    boundedText(reason, MAX_REASON),
    boundedText(detail, maxDetail),
    heldKey === null ? null : BigInt(heldKey),
  ] as const;
}

/** A condition on messages: nobody has to decide first whether they may go again. */
export const IS_NOT_HELD = "NOT EXISTS (SELECT 1 FROM quarantine WHERE held_key = message.key)";
