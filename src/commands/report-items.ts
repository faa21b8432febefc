/** The items of a report as they are kept: as JSON, whose amounts are texts. Pure. */
import { carriedOf } from "../message/fields.ts";
import type { DeliveryBatch, ReportBatch, ReportBatchItem, ReportFacts } from "../message/message.ts";
import { compiled } from "../runtime/compiled.ts";
import { literalOf, namesOf, REPORTED_OF_ROW } from "../store/fields-of-rows.ts";
import type { ReportRow } from "../store/schema/report.ts";

/** What a report's item may have none of. */
const WITHOUT = { bulkId: null, mccMnc: null, ...carriedOf({}) };

/** What is null is left out: it is written twice, and most items have much of it. */
const STORED = namesOf(REPORTED_OF_ROW).map((name) => [name, `facts.${name} ?? undefined`] as const);
const storedFacts = compiled<(facts: ReportFacts) => Record<keyof ReportFacts, string | number | undefined>>(
  "facts",
  literalOf({ ...Object.fromEntries(STORED), pricePerPartMicros: "facts.pricePerPartMicros.toString()" }),
);

export function serializeItems(items: readonly ReportBatchItem[]): string {
  // Amounts replaced here and not by a function for JSON.stringify, which it would call for every field.
  return JSON.stringify(
    items.map((item) => {
      if ("pricePerPartMicros" in item) return storedFacts(item);
      if (!("belowMicros" in item)) return item;
      return { ...item, balanceMicros: item.balanceMicros.toString(), belowMicros: item.belowMicros.toString() };
    }),
  );
}

/** A batch holds items of its kind only. */
function parseItems({ kind, items: text }: Pick<ReportRow, "kind" | "items">) {
  // Amounts are the only texts of digits whose names end so.
  const read = JSON.parse(text, (name, value) => (name.endsWith("Micros") ? BigInt(value) : value));
  const items = kind === "delivery" ? read.map((item: object) => ({ ...WITHOUT, ...item })) : read;
  return { kind, items } as Pick<DeliveryBatch, "kind" | "items">;
}

export function batchOf(row: ReportRow): ReportBatch {
  return {
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    form: row.content_type,
    ...parseItems(row),
    attempts: row.attempts,
    ...(row.tried === 1 ? { tried: true } : {}),
  };
}
