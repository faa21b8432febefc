/**
 * What the audit kept of a change, as people are shown it. The store keeps amounts as millionths of a unit, under names that end in "Micros". They are
 * shown as amounts, under their names without that ending, as everywhere else: "creditLimitMicros": "5000000" → "creditLimit": 5. So are moments, which it
 * keeps as milliseconds: "retiredAtMs": 1794900000000 → "retiredAt": "2026-11-17T06:40:00.000+0000".
 */
import type { Micros } from "../money/amounts.ts";
import { formatDateTime } from "../schedule/date-time.ts";

export type Facts = Readonly<Record<string, unknown>>;

const MICROS = /^(.+)Micros$/;
const MOMENT = /^(.+At)Ms$/;
const WHOLE = /^-?\d{1,30}$/;

/** `amountOf` says how an amount is written. What is no object has no fields of its own, and is called "value". */
export function auditFacts(json: string | null, amountOf: (micros: Micros) => string | number): Facts | null {
  if (json === null) return null;
  const kept: unknown = JSON.parse(json);
  if (typeof kept !== "object" || kept === null) return kept === null ? null : { value: kept };
  return shown(kept, amountOf) as Facts;
}

function shown(value: unknown, amountOf: (micros: Micros) => string | number): unknown {
  if (Array.isArray(value)) return value.map((item) => shown(item, amountOf));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const amount = MICROS.exec(name)?.[1];
      const isAmount = amount !== undefined && WHOLE.test(String(inner));
      const moment = MOMENT.exec(name)?.[1];
      if (moment !== undefined && inner === null) return [moment, null];
      if (moment !== undefined && Number.isSafeInteger(inner)) return [moment, formatDateTime(inner as number)];
      return isAmount ? [amount, amountOf(BigInt(String(inner)))] : [name, shown(inner, amountOf)];
    }),
  );
}
