/** The rows of `settled_receipt`: the receipts that a commit has applied, as short names with what was said under each (commands/receipts/repeats.ts). */
import type { MessageKey } from "../message/message.ts";

/** In place of a key: several messages had this name, or it is not known which. */
export const NO_KEY = "0";

/** What was said of parts under one name: of which message, and which outcomes, a bit each. */
export interface Settled {
  readonly key: MessageKey;
  readonly outcomes: number;
  /** What the carrier calls the part, for people who ask where their message is; "" where that is not known. */
  readonly id: string;
}

/** Any other could not stand between the spaces of a row. */
const PLAIN_ID = /^[!-~]{1,65}$/;

/** A row that is spoilt says nothing. */
export function settledOf(told: string): Settled {
  const [, key = NO_KEY, outcomes = "0"] = /^(\d{1,19}),(\d{1,2})(?:,|$)/.exec(told) ?? [];
  return { key, outcomes: Number(outcomes), id: "" };
}

export function settledText({ key, outcomes, id }: Settled): string {
  return PLAIN_ID.test(id) ? `${key},${outcomes},${id}` : `${key},${outcomes}`;
}

/** The row of a unit that applied these, by their names; null when it applied none. */
export function settledRow(settled: ReadonlyMap<number, Settled>): { names: string; count: number } | null {
  if (settled.size === 0) return null;
  let names = "";
  for (const [name, told] of settled) names += `${names === "" ? "" : " "}${name},${settledText(told)}`;
  return { names, count: settled.size };
}
