/**
 * Comma-separated values (RFC 4180) that a spreadsheet takes for what they are. Every file that the service writes is of this form: the first line has
 * the names of the columns, as the API's JSON spells them, times are as in the API, and an amount is a decimal with its currency in a column beside it.
 *
 * A description is somebody else's text: one that begins like a formula would be run when the file is opened. Such a text gets an apostrophe before it. A
 * number stays a number, also a negative one.
 */

/** Begins a formula; the full-width and small forms are taken for the same by spreadsheets that know them. */
const SIGN = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b";
/** What may stand before it: spreadsheets cut off spaces, and some cut off quotes. */
const BEFORE = "[\\s\\p{C}\\p{Z}\"'`]*";
const FORMULA = `${BEFORE}[${SIGN}]`;
const BEGINS = new RegExp(`^([\\t\\r\\n]|${FORMULA})`, "u");
/** Within a text: some programs cut at other separators than commas, or do not know how quotes are doubled. */
const BEGINS_WITHIN = new RegExp(`([;|\\t\\r\\n]|",)(?=${FORMULA})`, "gu");
const NUMBER = /^-?\d+(\.\d+)?$/;
const TO_QUOTE = /[",;|\t\r\n]|^\s|\s$/;

export type CsvValue = string | number | null;

/** One cell, as it stands in the file. */
export function csvCell(value: CsvValue): string {
  const text = String(value ?? "");
  if (NUMBER.test(text)) return text;
  const guarded = (BEGINS.test(text) ? "'" : "") + text.replace(BEGINS_WITHIN, "$1'");
  return TO_QUOTE.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** A line. RFC 4180 ends lines so, on every system. */
export function csvRow(cells: readonly CsvValue[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}
