/** How figures are written in a table. */
import type { Spread } from "./statistics.ts";

export const integer = (value: number): string => Math.round(value).toLocaleString("en");
export const decimal = (value: number): string => value.toFixed(1);
export const hundredths = (value: number): string => value.toFixed(2);
export const megabytes = (value: number): string => `${(value / 2 ** 20).toFixed(0)} MB`;

/** The median, and in brackets the least and the most. */
export function cell({ median, least, most }: Spread, form: (value: number) => string): string {
  return least === most ? form(median) : `${form(median)} (${form(least)} – ${form(most)})`;
}

/** Rows of a title and a value. */
export function table(rows: readonly [string, string][]): string[] {
  const width = Math.max(...rows.map(([title]) => title.length)) + 2;
  return rows.map(([title, value]) => `  ${title.padEnd(width)}${value}`);
}
