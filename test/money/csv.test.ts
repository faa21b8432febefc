/** Cells of a CSV file: given back by a parser as they were, and taken for a formula by no spreadsheet. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvCell, csvRow } from "../../src/money/csv.ts";
import fc from "../support/chance.ts";

/** As RFC 4180 has it read: cells between separators, quotes doubled within quotes. */
function parsed(line: string, separator = ","): string[] {
  const cells: string[] = [];
  for (let rest = `${separator}${line}`; rest !== ""; ) {
    const quoted = /^"((?:[^"]|"")*)"/.exec(rest.slice(1));
    const plain = rest.slice(1).split(separator, 1)[0]!;
    const cell = quoted?.[0] ?? plain;
    cells.push(quoted === null ? plain : quoted[1]!.replaceAll('""', '"'));
    rest = rest.slice(1 + cell.length);
    assert.ok(rest === "" || rest.startsWith(separator), line);
  }
  return cells;
}

const SIGNS = ["=", "+", "-", "@", "＝", "＋", "－", "＠", "﹦", "﹢", "﹣", "﹫"];
const SPACES = [
  "",
  " ",
  "   ",
  "\t",
  "\r",
  "\n",
  "\r\n",
  "\u00a0",
  "\u3000",
  "\u2003",
  "\u200b",
  "\ufeff",
  "\u0000",
  "\u001b",
  '"',
  "'",
  '" "',
  " \t\n",
];

/** What a spreadsheet sees first of a cell. */
function first(text: string): string {
  return text.replace(/^[\s\p{C}\p{Z}"]*/u, "")[0] ?? "";
}

test("whatever stands before a formula's sign, the cell begins with an apostrophe and is otherwise as it was", () => {
  for (const sign of SIGNS) {
    for (const space of SPACES) {
      const text = `${space}${sign}cmd|' /C calc'!A0`;
      const [cell] = parsed(csvCell(text));
      assert.equal(cell![0], "'", JSON.stringify(text));
      // Behind a tab or a line's end some programs begin another cell, so that there is one more there.
      const again = /[\t\r\n]/.test(space) ? cell!.slice(1).replace(/(?<=[\t\r\n])'/g, "") : cell!.slice(1);
      assert.equal(again, text, JSON.stringify(text));
    }
  }
  for (const text of ["\ttext", "\rtext", "\ntext"]) assert.deepEqual(parsed(csvCell(text)), [`'${text}`]);
});

test("a program that cuts at semicolons, tabs or every line's end finds no formula either", () => {
  for (const between of [";", "|", "\t", "\n", "\r\n", '",', '"",', ";\u00a0", '; "']) {
    const text = `Invoice 7${between}=HYPERLINK(1)`;
    const line = csvRow(["2026-02-01", "funds", "-5", text]).slice(0, -2);
    for (const cell of line.split(/[;|\t\r\n]|",/)) assert.ok(!SIGNS.includes(first(cell)) || /^-5/.test(cell), line);
    const [, , amount, description] = parsed(line);
    assert.equal(amount, "-5");
    assert.equal(description!.replaceAll("'", ""), text);
  }
});

test("numbers stay numbers, and what only looks like one is guarded", () => {
  for (const number of ["0", "5", "-5", "-0.02", "1234567890123456789", 12])
    assert.equal(csvCell(number), String(number));
  assert.equal(csvCell(null), "");
  for (const text of ["-5+1", "+5", "-0.02 ", "--5", "-", "-1e5", "－5"])
    assert.deepEqual(parsed(csvCell(text)), [`'${text}`]);
});

test("everyday descriptions are as they were written", () => {
  for (const text of [
    'February, "first"',
    "a-b=c @home + more",
    "%0A=1+1",
    "5 - 3",
    "Müller & Co; 3",
    "o'clock",
    "ＡＢＣ",
    "a\nb",
  ])
    assert.deepEqual(parsed(csvCell(text)), [text]);
});

test("any row comes back from a parser, each cell as it was but for apostrophes", () => {
  const text = fc.string({
    unit: fc.constantFrom("=", "-", '"', ",", ";", "'", " ", "\t", "\n", "\r", "a", "1", "＝"),
  });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (cells) => {
      const plain = (cell: string): string => cell.replaceAll("'", "");
      assert.deepEqual(parsed(csvRow(cells).slice(0, -2)).map(plain), cells.map(plain));
    }),
  );
});
