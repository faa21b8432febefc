/** How commands show things: aligned tables for people, JSON for scripts, and what a change has changed. */
import type { Command } from "commander";
import { counted } from "../runtime/text.ts";
import { visibleLine } from "../runtime/visible.ts";
import { say } from "./console.ts";

export { counted };

/** What a terminal takes for commands, or would break the line, is written out. */
export const printable = visibleLine;

export interface JsonOption {
  readonly json?: boolean;
}

export function withJson(command: Command): Command {
  return command.option("--json", "as JSON, for scripts: field names stay the same, amounts are strings");
}

export type Cell = string | number | null;

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Cell;
  readonly right?: true;
}

export function showTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const cells = rows.map((row) => columns.map(({ of }) => printable(String(of(row) ?? "-"))));
  const table = [columns.map(({ title }) => title), ...cells];
  // Not with Math.max(…): a list may be longer than a call can have arguments.
  const widths = columns.map((_, index) => table.reduce((most, row) => Math.max(most, [...row[index]!].length), 0));
  for (const row of table) {
    const padded = row.map((cell, index) => {
      const gap = " ".repeat(widths[index]! - [...cell].length);
      return columns[index]!.right === true ? gap + cell : cell + gap;
    });
    say(padded.join("  ").trimEnd());
  }
}

/** A name and its value on each line. */
export function showFields(fields: Readonly<Record<string, Cell>>): void {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  for (const [name, value] of Object.entries(fields))
    say(`${name.padEnd(width)}  ${printable(String(value ?? "-"))}`.trimEnd());
}

export function showJson(value: unknown): void {
  say(JSON.stringify(value, null, 2));
}

/** Shows it as JSON where that is wanted; false where people are to read it. */
export function shownAsJson({ json = false }: JsonOption, value: unknown): boolean {
  if (json) showJson(value);
  return json;
}

/** "There are no routes.", "1 route.", "2 routes." */
export function howMany(count: number, noun: string, none = `There are no ${noun}s.`): string {
  return count === 0 ? none : `${counted(count, noun)}.`;
}

/** A list for whoever wants it: the rows as they are, or as a table with a last line that says how many there are. */
export function showList<Row>(
  options: JsonOption,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  lastLine: string,
): void {
  if (shownAsJson(options, rows)) return;
  if (rows.length > 0) showTable(columns, rows);
  say(lastLine);
}

/** Two values are the same if they say the same, whatever the order of their fields. */
function isSame(first: unknown, second: unknown): boolean {
  return ordered(first) === ordered(second);
}

function ordered(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([first], [second]) => (first < second ? -1 : 1)))
      : part,
  );
}

export interface Difference {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Field by field; what is not there is undefined. */
export function differences(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((field) => !isSame(before[field] ?? null, after[field] ?? null))
    .map((field) => ({ field, before: before[field], after: after[field] }));
}

/** "price: 0.01 → 0.5" */
export function differenceLine({ field, before, after }: Difference): string {
  return printable(`${field}: ${written(before)} → ${written(after)}`);
}

export function written(value: unknown): string {
  if (value === undefined || value === null) return "none";
  return typeof value === "string" ? printable(value === "" ? '""' : value) : printable(JSON.stringify(value));
}
